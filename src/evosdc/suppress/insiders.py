"""Protect a pattern against lone respondents, whatever method made it.

Every level of every sensitive cell gets deviations such that no lone respondent's cells
are moved by all of them: whoever knows its own cells is left with one that moves only
others. tau-Argus raises the levels of one of two cells in a row, so that a third must
be hidden; asking for the deviation itself does the same in any table and costs no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.linear.demands import demands_of
from evosdc.suppress.linear.engine import Engine
from evosdc.suppress.linear.model import Move
from evosdc.suppress.problem import Problem
from evosdc.table.singletons import OwnShares, lone_respondents

# Shares of a level that are tried where all of it cannot be had.
_SHARES = (0.9, 0.75, 0.5, 0.25, 0.1, 0.01)


@dataclass(frozen=True, eq=False)
class Guarded:
    """A pattern, and what no pattern can give.

    `hopeless` are pairs of a sensitive cell and the number of a lone respondent (-1 for
    everyone) that it cannot be protected against; `unfinished` is how many levels time
    left as they were.
    """

    hidden: NDArray[np.bool_]
    hopeless: tuple[tuple[int, int], ...]
    unfinished: int


def guard(
    problem: Problem,
    hidden: NDArray[np.bool_],
    keep: NDArray[np.bool_],
    stopped: Callable[[], bool] = lambda: False,
) -> Guarded:
    """Hide what lone respondents make necessary and publish what nothing needs.

    What cannot be protected, or not against somebody, is left out and listed: the
    others are protected all the same.

    Parameters
    ----------
    hidden
        A pattern that protects against attackers who know what is published.
    keep
        Cells that stay hidden in any case.
    stopped
        Says when to end; nothing is published then that was hidden.
    """
    respondent = lone_respondents(problem.table)
    engine = Engine(problem)
    demands = demands_of(engine)
    hidden = hidden | problem.primary | keep
    needed = problem.primary | keep
    hopeless: list[tuple[int, int]] = []
    shares = OwnShares(problem.table)
    room = cache(lambda who: shares.room(np.flatnonzero(respondent == who)))
    rows = demands.by_weight(problem.table.weight).tolist()
    for done, row in enumerate(rows):
        if stopped():
            return Guarded(hidden, tuple(hopeless), len(rows) - done)
        cell, sign = int(demands.cell[row]), int(demands.sign[row])
        amount = float(demands.amount[row])
        # Deviations that open doubts are closed one respondent at a time.
        price = np.where(hidden, 0.0, problem.cost)
        move = engine.cheapest(cell, sign, amount, price)
        if move is None:
            hopeless.append((cell, -1))
            continue
        doubts = _moved(move, respondent) - {int(respondent[cell])}
        needed[move.cells] = hidden[move.cells] = True
        while doubts:
            who = min(doubts)
            price = np.where(hidden, 0.0, problem.cost)
            price[respondent == who] = np.inf
            wanted = amount
            if sign < 0:
                wanted = min(amount, room(who).get(cell, amount))
            if wanted <= 0:
                doubts -= {who}
                continue
            move = engine.cheapest(cell, sign, wanted, price)
            if move is None:
                hopeless.append((cell, who))
                doubts -= {who}
                move = _partly(engine, cell, sign, wanted, price)
                if move is None:
                    continue
            needed[move.cells] = hidden[move.cells] = True
            # A shorter move proves nothing against the others.
            doubts -= {who}
            if wanted == amount:
                doubts &= _moved(move, respondent)
    return Guarded(needed, tuple(hopeless), 0)


def _partly(
    engine: Engine, cell: int, sign: int, amount: float, price: NDArray[np.float64]
) -> Move | None:
    """As much of a level as can be had, in a few steps; None for nothing."""
    for share in _SHARES:
        move = engine.cheapest(cell, sign, share * amount, price)
        if move is not None:
            return move
    return None


def hopeless_words(
    problem: Problem, pairs: Sequence[tuple[int, int]]
) -> tuple[str, ...]:
    """Say which cells cannot be protected against whom."""
    if not pairs:
        return ()
    table, respondent = problem.table, lone_respondents(problem.table)
    distinct = list(dict.fromkeys(pairs))
    shown = "; ".join(
        table.label(cell)
        if who < 0
        else f"{table.label(cell)} against the lone respondent of "
        f"{table.label(int(np.argmax(respondent == who)))}"
        for cell, who in distinct[:5]
    )
    more = f" and {len(distinct) - 5} more" if len(distinct) > 5 else ""
    return (f"no pattern protects in full: {shown}{more}",)


def _moved(move: Move, respondent: NDArray[np.int64]) -> set[int]:
    """Respondents whose cells a deviation moves."""
    return {who for who in respondent[move.cells].tolist() if who >= 0}
