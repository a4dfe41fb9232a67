"""Protect a pattern against lone respondents, whatever method made it.

The judge names the sensitive cells that a lone respondent finds. Each of their levels
gets a deviation that leaves the respondent's own cells alone: whoever knows these is
left with it. tau-Argus raises the levels of one of two cells in a row, so that a third
must be hidden; asking for the deviation itself does the same in any table and costs no
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.demands import demands_of
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem import Problem
from evosdc.table import Table
from evosdc.table.singletons import OwnShares, lone_respondents

# A sensitive cell and a cell of the lone respondent who finds it.
Pair = tuple[int, int]

_SHOWN = 5
# Shares of a level that are tried where all of it cannot be had.
_SHARES = (0.9, 0.75, 0.5, 0.25, 0.1, 0.01)


@dataclass(frozen=True, eq=False)
class Guarded:
    """A pattern, and the pairs of a cell and a respondent that no pattern protects.

    `hints` are the deviations that it relies on, for the judge to look at.
    """

    hidden: NDArray[np.bool_]
    hopeless: frozenset[Pair]
    hints: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...]


def guard(
    problem: Problem,
    hidden: NDArray[np.bool_],
    pairs: Iterable[Pair],
    stopped: Callable[[], bool] = lambda: False,
) -> Guarded:
    """Hide what some sensitive cells need against some lone respondents.

    What cannot be had is left out and listed: as much of it as a few steps find is
    protected, and the others are all the same.

    Parameters
    ----------
    hidden
        The pattern so far.
    pairs
        Sensitive cells and a cell of the lone respondent who finds each of them.
    stopped
        Says when to end.
    """
    table = problem.table
    respondent = lone_respondents(table)
    programs = Programs(problem)
    demands = demands_of(programs)
    levels: dict[int, list[tuple[int, float]]] = {}
    for cell, sign, amount in zip(
        demands.cell.tolist(),
        demands.sign.tolist(),
        demands.amount.tolist(),
        strict=True,
    ):
        levels.setdefault(cell, []).append((sign, amount))
    shares = OwnShares(table)
    room = cache(lambda who: shares.room(np.flatnonzero(respondent == who)))
    hidden = hidden.copy()
    hopeless: set[Pair] = set()
    hints: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    # Dear cells first, as in the searches: what they hide helps the others.
    for cell, own in sorted(pairs, key=lambda pair: (-table.weight[pair[0]], pair)):
        if stopped():
            break
        who = int(respondent[own])
        for sign, amount in levels.get(cell, ()):
            wanted = amount
            if sign < 0:
                wanted = min(amount, room(who).get(cell, amount))
            if wanted <= 0:
                continue
            price = np.where(hidden, 0.0, problem.cost)
            price[respondent == who] = np.inf
            move = programs.cheapest(cell, sign, wanted, price)
            if move is None:
                hopeless.add((cell, own))
                move = _partly(programs, cell, sign, wanted, price)
            if move is not None:
                hidden[move.cells] = True
                hints.append((move.cells, move.by))
    return Guarded(hidden, frozenset(hopeless), tuple(hints))


def _partly(
    programs: Programs, cell: int, sign: int, amount: float, price: NDArray[np.float64]
) -> Move | None:
    """As much of a level as can be had, in a few steps; None for nothing."""
    for share in _SHARES:
        move = programs.cheapest(cell, sign, share * amount, price)
        if move is not None:
            return move
    return None


def hopeless_words(table: Table, pairs: Iterable[Pair]) -> tuple[str, ...]:
    """Say which cells cannot be protected against whom."""
    distinct = sorted(set(pairs))
    if not distinct:
        return ()
    shown = "; ".join(
        f"{table.label(cell)} against the lone respondent of {table.label(own)}"
        for cell, own in distinct[:_SHOWN]
    )
    more = f" and {len(distinct) - _SHOWN} more" if len(distinct) > _SHOWN else ""
    return (f"no pattern protects in full: {shown}{more}",)
