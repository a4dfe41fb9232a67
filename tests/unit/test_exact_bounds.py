"""Bounds never exceed the optimum found by enumeration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

from evosdc.instances import make
from evosdc.suppress.exact.bounds import cut_bound, node_bound
from evosdc.suppress.problem import Problem


def protects(problem: Problem, hidden: NDArray[np.bool_]) -> bool:
    """Whether every level can be reached, by one plain LP a level."""
    cells = np.flatnonzero(hidden)
    matrix = problem.table.matrix.toarray()[:, cells]
    limits = [
        (-d, u) for d, u in zip(problem.down[cells], problem.up[cells], strict=True)
    ]
    levels = problem.levels
    for cell, sign, amount in zip(levels.cell, levels.sign, levels.amount, strict=True):
        goal = -float(sign) * (cells == cell)
        answer = linprog(goal, A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=limits)
        if answer.status == 0 and -answer.fun < amount * (1 - 1e-7):
            return False
    return True


def optimum(problem: Problem) -> float:
    """Try sets of cells, the cheapest first."""
    free = np.flatnonzero(problem.hideable & ~problem.primary)
    every = sorted(
        (float(problem.cost[list(chosen)].sum()), chosen)
        for size in range(len(free) + 1)
        for chosen in itertools.combinations(free.tolist(), size)
    )
    for cost, chosen in every:
        hidden = problem.primary.copy()
        hidden[list(chosen)] = True
        if protects(problem, hidden):
            return cost
    raise AssertionError("no pattern protects this table")


@pytest.mark.parametrize("seed", range(6))
def test_bounds_stay_below_the_optimum(seed: int) -> None:
    table = make("random", seed, shape="3,3", sensitive=0.2, zeros=0.2)
    problem = Problem.of(table)
    best = optimum(problem)
    node, cut = node_bound(problem), cut_bound(problem)
    assert node.value <= cut.value + 1e-9
    assert cut.value <= best * (1 + 1e-9)
    assert cut.complete


def test_the_cut_bound_is_often_tight() -> None:
    shares = []
    for seed in range(6):
        problem = Problem.of(make("random", seed, shape="3,3", sensitive=0.2))
        best = optimum(problem)
        shares.append(1.0 if best == 0 else cut_bound(problem).value / best)
    assert max(shares) > 0.999
    assert np.mean(shares) > 0.7


def test_no_levels_cost_nothing() -> None:
    problem = Problem.of(make("random", 0, shape="4,4", sensitive=0.0, margins=0.0))
    assert cut_bound(problem).value == 0.0


def test_a_stopped_bound_is_valid_and_says_so() -> None:
    problem = Problem.of(make("class2", 1, rows=12, columns=12))
    stopped = cut_bound(problem, lambda: True)
    full = cut_bound(problem)
    assert not stopped.complete
    assert 0 < stopped.value <= full.value
