"""Cuts of networks inside a table that is none: its planes, and more of the kind.

An attacker who knows only some of the equations is weaker, so every cut of a part of
the equations is one of the table. Equations chosen so that each cell stands in at most
two of them, entering one and leaving the other, form a network: a plane of a table of
three dimensions, or a tree with what crosses it once. There cuts are minimum cuts,
thousands per second; only what they leave open needs the attacker's programs, which
take milliseconds to seconds each. Bridges are separated last: one flow per hidden cell
adds up, and combined equations find most of them.

Each set of equations is packed greedily: of those that still fit, the one joins that
closes most cells, those first whose two equations have not met in an earlier set. In a
table of three flat dimensions this finds all planes of two dimensions, then those of
the other two pairs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.base import Cut
from evosdc.suppress.engine.network.cuts import NetworkCuts
from evosdc.suppress.problem.problem import Problem

# What closing a cell counts whose two equations have met before.
_WORTH_OF_PAIR_MET_BEFORE = 1.0 / 64
# A set is worth having if so large a share of its pairs is new.
_WORTH = 0.02
# Sets of equations that are looked at: the three pairs of flat dimensions, and more
# where trees give a cell up to six equations. With half as many, planes of such tables
# are left to programs; twice as many repeat one another.
_MOST_SETS = 12
# A round ends with the first set that has given so many cuts. At half of it there are
# more relaxations, at twice of it more cuts that one relaxation would have spared.
_CUTS_PER_ROUND = 50
# A set is left where it has given so many. Half as many take more rounds, and most of
# twice as many would be of use for one level only.
_CUTS_PER_SET = 500


def moving_equations(problem: Problem, rows: Long | None = None) -> Any:
    """Return the equations, or some of them, without the cells that cannot move."""
    chosen = problem.table.matrix if rows is None else problem.table.matrix[rows]
    matrix = sparse.csr_array(chosen, copy=True)
    moves = problem.hideable & (problem.up + problem.down > 0)
    matrix.data = np.where(moves[matrix.indices], matrix.data, 0.0)
    matrix.eliminate_zeros()
    return matrix


def subnetworks(problem: Problem, most: int) -> Iterator[Long]:
    """Yield at most so many sets of equations that are networks each.

    Cells that cannot move do not count: no attacker learns from them. Equations that
    close no cell are left out: alone they give the cuts of single equations.
    """
    matrix = moving_equations(problem)
    met: set[tuple[int, int]] = set()
    for _ in range(most):
        packing = _Packing(matrix, met)
        chosen = packing.run()
        # A set with hardly any new pair gives the cuts of earlier sets again.
        if len(packing.fresh) <= _WORTH * len(met):
            return
        yield chosen
        met |= packing.fresh


def _lists(matrix: Any, entries: NDArray[Any]) -> list[list[Any]]:
    """Split entries of a matrix by its rows, or by its columns in CSC form."""
    ends = zip(matrix.indptr[:-1].tolist(), matrix.indptr[1:].tolist(), strict=True)
    every = entries.tolist()
    return [every[start:end] for start, end in ends]


class _Packing:
    """One set of equations as it grows."""

    def __init__(self, matrix: Any, met: set[tuple[int, int]]) -> None:
        self._rows = _lists(matrix, matrix.indices)
        self._signs = _lists(matrix, np.sign(matrix.data).astype(int))
        # Only equations of one size of coefficients can be nodes.
        sizes = _lists(matrix, np.abs(matrix.data))
        self._fits = [len(size) > 1 and len(set(size)) == 1 for size in sizes]
        columns = sparse.csc_array(matrix)
        self._at = _lists(columns, columns.indices)
        self._met = met
        self._flip = [0] * len(self._rows)  # sign given to each equation of the set
        self._first: dict[int, tuple[int, int]] = {}  # cell: equation and sign there
        self._full: set[int] = set()
        self.fresh: set[tuple[int, int]] = set()  # pairs that meet for the first time
        self._again: set[tuple[int, int]] = set()

    def run(self) -> Long:
        """Grow the set until nothing fits; return the equations that close a cell."""
        waiting = [(0.0, row) for row, fits in enumerate(self._fits) if fits]
        heapq.heapify(waiting)
        while waiting:
            worth, row = heapq.heappop(waiting)
            if self._flip[row]:
                continue
            now = self._worth(row)
            if now is None:
                continue
            if -worth > now + 1e-12:
                # It was worth more, or could be joined: look again at its new place.
                heapq.heappush(waiting, (-now, row))
                continue
            for other in self._join(row):
                if not self._flip[other] and self._fits[other]:
                    better = self._worth(other)
                    if better is not None:
                        heapq.heappush(waiting, (-better, other))
        closed = {row for pair in self.fresh | self._again for row in pair}
        return np.array(sorted(closed), dtype=np.int64)

    def _sign(self, row: int) -> int | None:
        """The sign that an equation must take, 1 where it is free, None for neither."""
        sign = 0
        for cell, mine in zip(self._rows[row], self._signs[row], strict=True):
            if cell in self._full:
                return None
            if cell in self._first:
                wanted = -self._first[cell][1] * mine
                if sign and wanted != sign:
                    return None
                sign = wanted
        return sign or 1

    def _worth(self, row: int) -> float | None:
        """How many cells an equation would close, or None where it does not fit."""
        if self._sign(row) is None:
            return None
        worth = 0.0
        for cell in self._rows[row]:
            if cell in self._first:
                other = self._first[cell][0]
                pair = (min(row, other), max(row, other))
                worth += _WORTH_OF_PAIR_MET_BEFORE if pair in self._met else 1.0
        return worth

    def _join(self, row: int) -> list[int]:
        """Take an equation; return those whose worth may have grown."""
        sign = self._sign(row)
        assert sign is not None
        self._flip[row] = sign
        near: set[int] = set()
        for cell, mine in zip(self._rows[row], self._signs[row], strict=True):
            if cell in self._first:
                other = self._first.pop(cell)[0]
                self._full.add(cell)
                pair = (min(row, other), max(row, other))
                (self._again if pair in self._met else self.fresh).add(pair)
            else:
                self._first[cell] = (row, sign * mine)
                near.update(self._at[cell])
        near.discard(row)
        return sorted(near)


class PlaneCuts:
    """Find the cuts that a fractional pattern violates in parts that are networks."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._packings = subnetworks(problem, _MOST_SETS)
        self._parts: list[NetworkCuts] = []
        self._next = 0

    def violated(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round goes on where the last one ended; one without cuts has searched every
        set. Sets are packed when it is their turn for the first time.
        """
        found = searched = 0
        while found < _CUTS_PER_ROUND and not stopped():
            if self._next >= len(self._parts):
                rows = next(self._packings, None)
                if rows is not None:
                    self._parts.append(NetworkCuts(_part(self._problem, rows)))
                else:
                    self._next = 0
            if searched == len(self._parts):
                return
            searched += 1
            before = found
            part = self._parts[self._next]
            for cut in part.violated(x, stopped, _CUTS_PER_SET, bridges=False):
                found += 1
                yield cut
            # A set that has more to give has the next round too.
            if found - before < _CUTS_PER_SET:
                self._next += 1

    def bridges(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield bridge cuts of the sets packed so far, until one has given some."""
        for part in self._parts:
            found = 0
            for cut in part.bridges(x, stopped):
                found += 1
                yield cut
            if found or stopped():
                return


def _part(problem: Problem, rows: Long) -> Problem:
    """Return the problem of an attacker who knows some of the equations only."""
    table = problem.table
    matrix = moving_equations(problem, rows)
    known = replace(table, matrix=matrix, rhs=np.asarray(matrix @ table.value))
    return replace(problem, table=known)
