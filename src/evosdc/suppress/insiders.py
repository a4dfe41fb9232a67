"""Protect a pattern against lone respondents, whatever method made it.

Every level of every sensitive cell gets deviations such that no lone respondent's cells
are moved by all of them: whoever knows its own cells is left with one that moves only
others. tau-Argus raises the levels of one of two cells in a row, so that a third must
be hidden; asking for the deviation itself does the same in any table and costs no more.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError
from evosdc.suppress.linear.demands import demands_of
from evosdc.suppress.linear.engine import Engine
from evosdc.suppress.linear.model import Move
from evosdc.suppress.problem import Problem
from evosdc.table.singletons import lone_respondents


def guard(
    problem: Problem, hidden: NDArray[np.bool_], keep: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Hide what lone respondents make necessary and publish what nothing needs.

    Parameters
    ----------
    hidden
        A pattern that protects against attackers who know what is published.
    keep
        Cells that stay hidden in any case.

    Raises
    ------
    LevelError
        Where a sensitive cell cannot be protected against a lone respondent even with
        everything hidden.
    """
    respondent = lone_respondents(problem.table)
    engine = Engine(problem)
    demands = demands_of(engine)
    hidden = hidden | problem.primary | keep
    needed = problem.primary | keep
    hopeless: list[tuple[int, int]] = []
    for row in demands.by_weight(problem.table.weight).tolist():
        cell, sign = int(demands.cell[row]), int(demands.sign[row])
        amount = float(demands.amount[row])
        # Deviations that open doubts are closed one respondent at a time.
        price = np.where(hidden, 0.0, problem.cost)
        move = engine.cheapest(cell, sign, amount, price)
        if move is None:
            raise _beyond(problem, [(cell, -1)], respondent)
        doubts = _moved(move, respondent) - {int(respondent[cell])}
        needed[move.cells] = hidden[move.cells] = True
        while doubts:
            who = min(doubts)
            price = np.where(hidden, 0.0, problem.cost)
            price[respondent == who] = np.inf
            move = engine.cheapest(cell, sign, amount, price)
            if move is None:
                hopeless.append((cell, who))
                doubts -= {who}
                continue
            needed[move.cells] = hidden[move.cells] = True
            doubts &= _moved(move, respondent)
    if hopeless:
        raise _beyond(problem, hopeless, respondent)
    return needed


def _moved(move: Move, respondent: NDArray[np.int64]) -> set[int]:
    """Respondents whose cells a deviation moves."""
    return {who for who in respondent[move.cells].tolist() if who >= 0}


def _beyond(
    problem: Problem, pairs: list[tuple[int, int]], respondent: NDArray[np.int64]
) -> LevelError:
    table = problem.table
    shown = "; ".join(
        table.label(cell)
        if who < 0
        else f"{table.label(cell)} against the lone respondent of "
        f"{table.label(int(np.argmax(respondent == who)))}"
        for cell, who in pairs[:5]
    )
    more = f" and {len(pairs) - 5} more" if len(pairs) > 5 else ""
    return LevelError(
        f"{len(pairs)} protection levels are beyond any pattern: {shown}{more}",
        expected="levels that hidden cells can reach without the respondent's own",
        hint="lower these levels, free fixed cells, coarsen the table, or leave "
        "singletons out",
    )
