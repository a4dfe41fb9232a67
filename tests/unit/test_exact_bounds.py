"""Bounds never exceed the optimum found by enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from exact_enumeration import optimum

from evosdc.instances import make
from evosdc.suppress.exact.bounds import cut_bound, node_bound
from evosdc.suppress.problem import Problem


@pytest.mark.parametrize("seed", range(6))
def test_bounds_stay_below_the_optimum(seed: int) -> None:
    table = make("random", seed, shape="3,3", sensitive=0.2, zeros=0.2)
    problem = Problem.of(table)
    best = optimum(problem)
    node, cut = node_bound(problem), cut_bound(problem)
    assert node.value <= cut.value + 1e-9
    assert cut.value <= best * (1 + 1e-9)
    assert cut.complete


@pytest.mark.parametrize(
    ("shape", "options"),
    [("2,2,2", {"zeros": 0.0}), ("3,2", {"trees": 1}), ("2,2,2", {"linked": True})],
)
def test_bounds_of_general_tables_stay_below_the_optimum(
    shape: str, options: dict[str, object]
) -> None:
    for seed in range(2):
        table = make("random", seed, shape=shape, sensitive=0.3, **options)
        problem = Problem.of(table)
        free = problem.hideable & ~problem.primary
        # Enumeration is for the few: totals of the first dimension must be published.
        fixed = np.flatnonzero(free)[9:]
        status = table.status.copy()
        status[fixed] = "z"
        problem = Problem.of(table.replace(status=status))
        try:
            best = optimum(problem)
        except AssertionError:
            continue
        node, cut = node_bound(problem), cut_bound(problem)
        assert node.value <= cut.value + 1e-9
        assert cut.value <= best * (1 + 1e-9)


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
