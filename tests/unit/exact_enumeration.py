"""The optimum of a tiny table by trying sets of cells, the cheapest first."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from evosdc.suppress.problem.problem import Problem


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
