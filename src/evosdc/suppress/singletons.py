"""Protect a pattern against lone respondents, whatever method made it.

The judge names the sensitive cells that a lone respondent finds. Each of their levels
gets a deviation that leaves the respondent's own cells alone: whoever knows these is
left with it. tau-Argus raises the levels of one of two cells in a row, so that a third
must be hidden; asking for the deviation itself does the same in any table and costs no
more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.demands import demands_of
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem import Problem
from evosdc.table import Table
from evosdc.table.attackers import OwnCells, OwnShares, lone_respondents

# A sensitive cell and a cell of the lone respondent who finds it.
Pair = tuple[int, int]
Deviation = tuple[NDArray[np.int64], NDArray[np.float64]]

_SHOWN = 5
# What moving a hidden cell costs, as a share of what hiding one does.
_LITTLE = 1e-4
# Shares of a level that are tried where all of it cannot be had.
_SHARES = (0.9, 0.75, 0.5, 0.25, 0.1, 0.01)


@dataclass(frozen=True, eq=False)
class Guarded:
    """A pattern, and the pairs of a cell and a respondent that no pattern protects.

    `hints` are the deviations that it relies on, for the judge to look at.
    """

    hidden: NDArray[np.bool_]
    hopeless: frozenset[Pair]
    hints: tuple[Deviation, ...]


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
    programs = Programs(problem)
    open_levels = _OpenLevels(programs, pairs)
    hidden = hidden.copy()
    price = np.where(problem.hideable, problem.cost, np.inf)
    # Hidden cells cost next to nothing: a deviation of few cells is one for many.
    known = price[np.isfinite(price) & (price > 0)]
    little = _LITTLE * float(np.median(known)) if len(known) else 0.0
    price[hidden & problem.hideable] = little
    hopeless: set[Pair] = set()
    hints: list[Deviation] = []
    # Dear cells first, as in the searches: what they hide helps the others.
    for cell, own in sorted(pairs, key=lambda pair: (-table.weight[pair[0]], pair)):
        if stopped():
            break
        who = open_levels.who(own)
        kept = open_levels.own.of(who)
        for sign in (1, -1):
            wanted = open_levels.amount(cell, who, sign)
            if not wanted:
                continue
            before = price[kept]
            price[kept] = np.inf
            move = programs.cheapest(cell, sign, wanted, price)
            if move is None:
                hopeless.add((cell, own))
                move = _partly(programs, cell, sign, wanted, price)
            price[kept] = before
            if move is not None:
                hidden[move.cells] = True
                price[move.cells] = little
                hints += open_levels.close(move)
    return Guarded(hidden, frozenset(hopeless), tuple(hints))


class _OpenLevels:
    """Levels of cells against respondents that no deviation is known for yet."""

    def __init__(self, programs: Programs, pairs: Iterable[Pair]) -> None:
        problem = programs.problem
        self._up, self._down = problem.up, problem.down
        self._respondent = lone_respondents(problem.table)
        self.own = OwnCells(self._respondent)
        shares = OwnShares(problem.table)
        rooms: dict[int, dict[int, float]] = {}
        # By cell and way: what is asked against each respondent.
        self._open: dict[tuple[int, int], dict[int, float]] = {}
        demands = demands_of(programs)
        asked: dict[int, list[int]] = {}
        for cell, own in pairs:
            asked.setdefault(cell, []).append(self.who(own))
        for cell, sign, amount in zip(
            demands.cell.tolist(),
            demands.sign.tolist(),
            demands.amount.tolist(),
            strict=True,
        ):
            for who in asked.get(cell, ()):
                if who not in rooms:
                    rooms[who] = shares.room_alone(self.own.of(who))
                wanted = (
                    min(amount, rooms[who].get(cell, amount)) if sign < 0 else amount
                )
                if wanted > 0:
                    self._open.setdefault((cell, sign), {})[who] = wanted

    def who(self, own: int) -> int:
        """The respondent of a cell."""
        return int(self._respondent[own])

    def amount(self, cell: int, who: int, sign: int) -> float:
        """How far a cell has still to move against a respondent; 0 where it does."""
        return self._open.get((cell, sign), {}).get(who, 0.0)

    def close(self, move: Move) -> Iterator[Deviation]:
        """Close all that a deviation shows, forth and back, longer or shorter.

        Who has a cell in it is not left with it. Gives the ways in which it was of use.
        """
        touched = set(self._respondent[move.cells].tolist())
        for by in (move.by, -move.by):
            room = np.where(by > 0, self._up[move.cells], self._down[move.cells])
            most = float((room / np.abs(by)).min())
            closed = by is move.by
            for cell, step in zip(move.cells.tolist(), by.tolist(), strict=True):
                left = self._open.get((cell, 1 if step > 0 else -1), {})
                for who, wanted in tuple(left.items()):
                    if who not in touched and wanted <= abs(step) * most:
                        del left[who]
                        closed = True
            if closed:
                yield move.cells, by


def _partly(
    programs: Programs,
    cell: int,
    sign: int,
    amount: float,
    price: NDArray[np.float64],
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
