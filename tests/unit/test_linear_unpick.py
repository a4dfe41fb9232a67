"""Unpicking: what an attacker finds without a solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from builders import flat_table
from evosdc.instances import make
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.unpick import unpick
from evosdc.table import Table


def square(hidden: set[tuple[int, int]], values: list[int], level: float) -> Table:
    codes = [(i, j) for i in (1, 2, 3) for j in (1, 2, 3)]
    asked = np.array([level if code in hidden else 0.0 for code in codes])
    status = ["u" if code in hidden else "s" for code in codes]
    dims = {"x": "abc", "y": "abc"}
    return flat_table(dims, values, status=status, lpl=asked, upl=asked)


def test_a_lone_unknown_follows_and_gives_away_the_next() -> None:
    hidden = {(1, 1), (2, 1), (2, 2), (3, 2), (2, 3), (3, 3)}
    table = square(hidden, list(range(1, 10)), 0.5)
    found = unpick(Problem.of(table))
    follows = {tuple(table.codes[c].tolist()) for c in np.flatnonzero(found.follows)}
    assert follows == {(1, 1), (2, 1)}


def test_neighbours_with_little_room_leave_a_cell_narrow() -> None:
    corners = {(1, 1), (1, 2), (2, 1), (2, 2)}
    # Rising by 5 means that the neighbour of value 1 falls by 5.
    table = square(corners, [50, 1, 9, 60, 70, 9, 9, 9, 9], 5.0)
    found = unpick(Problem.of(table.replace(lpl=np.where(table.lpl > 0, 1.0, 0.0))))
    assert not found.follows.any()
    narrow = {tuple(table.codes[c].tolist()) for c in np.flatnonzero(found.narrow)}
    assert (1, 1) in narrow


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_found_is_exposed(seed: int) -> None:
    table = make("random", seed)
    problem = Problem.of(table)
    hidden = problem.primary
    bounds = [
        (-d, u) if h else (0.0, 0.0)
        for d, u, h in zip(problem.down, problem.up, hidden, strict=True)
    ]
    for cell in np.flatnonzero(unpick(problem).exposed).tolist():
        levels = problem.levels
        rows = np.flatnonzero(levels.cell == cell)
        short = False
        for row in rows.tolist():
            sign = int(levels.sign[row])
            goal = np.zeros(len(table))
            goal[cell] = -sign
            answer = linprog(
                goal,
                A_eq=table.matrix.toarray(),
                b_eq=np.zeros(table.matrix.shape[0]),
                bounds=bounds,
            )
            if answer.status == 0:
                short |= -answer.fun < levels.amount[row] * (1 - 1e-9)
        sliding = cell in levels.slide.tolist()
        assert short or sliding
