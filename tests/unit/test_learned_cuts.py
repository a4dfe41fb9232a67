"""Cuts that patterns have failed: every safe pattern must meet them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import evosdc
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Table
from evosdc.table.attackers import lone_attackers, respondent_sums


def _row() -> Table:
    """A sensitive cell beside three of lone respondents and an expensive one.

    Any two of the three move the first cell far enough, so that hiding all three is
    safe from each respondent. From all of them together only the last one protects.
    """
    return Table.of(
        [50, 8, 8, 8, 20, 94],
        [[1, 1, 1, 1, 1, -1]],
        weight=[1, 1, 1, 1, 100, 1000],
        status=["u", "s", "s", "s", "s", "s"],
        upper=[100, 16, 16, 16, 40, np.inf],
        lpl=[10, 0, 0, 0, 0, 0],
        upl=[10, 0, 0, 0, 0, 0],
        frequency=[9, 1, 1, 1, 9, 30],
        respondent=["", "r1", "r2", "r3", "", ""],
    )


def _met(problem: Problem, hidden: NDArray[np.bool_]) -> bool:
    """Repair a pattern, and say whether it meets all that was learned meanwhile."""
    engine = GeneralEngine(problem)
    engine.start(hidden).repair()
    return all(
        cut.coefficients[hidden[cut.cells]].sum() >= cut.least - 1e-9
        for cut in engine.learned()
    )


def test_what_attackers_together_ask_is_asked_of_no_pattern() -> None:
    table = _row()
    problem = Problem.of(table, attackers=lone_attackers(table))
    assert _met(problem, np.array([1, 1, 1, 1, 0, 0], dtype=bool))
    result = evosdc.protect(table, stop=evosdc.Stop(evaluations=200))
    assert result.safe
    assert result.cost == result.lower_bound == 3


def test_a_sum_need_not_move_by_one_of_its_cells() -> None:
    """Two rows, each with a cell of one respondent that moves by 5 for little cost."""
    row = [50, 5, 20, 75]
    table = Table.of(
        [*row, *row],
        [[1, 1, 1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1, -1]],
        weight=[1, 1, 100, 1000] * 2,
        status=["u", "s", "s", "s"] * 2,
        upper=[100, 10, 40, np.inf] * 2,
        lpl=[5, 0, 0, 0] * 2,
        upl=[5, 0, 0, 0] * 2,
        frequency=[1, 9, 9, 30] * 2,
        respondent=["r", "", "", ""] * 2,
    )
    cheap = np.array([1, 1, 0, 0] * 2, dtype=bool)
    assert evosdc.audit(table, cheap).safe
    problem = Problem.of(
        table, attackers=lone_attackers(table), sums=respondent_sums(table)
    )
    assert len(problem.sums) == 1
    assert _met(problem, cheap)


def test_a_width_need_not_be_had_upwards() -> None:
    """The first cell may fall by 4 or rise by 4, and the cells that let it differ."""
    table = Table.of(
        [10, 5, 5, 20],
        [[1, 1, 1, -1]],
        weight=[1, 1, 2, 1000],
        status=["u", "s", "s", "s"],
        lower=[0, 5, 1, 0],
        upper=[20, 9, 5, np.inf],
        spl=[4, 0, 0, 0],
    )
    falls = np.array([1, 1, 0, 0], dtype=bool)
    assert evosdc.audit(table, falls).safe
    assert _met(Problem.of(table), falls)
