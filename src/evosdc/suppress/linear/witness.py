"""Witnesses: for each demand a deviation that covers it, and who uses which cell.

A deviation stays a witness as long as all its cells are hidden, so taking a cell out of
a pattern puts in doubt only the demands whose witness uses it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.linear.demands import Demands
from evosdc.suppress.linear.model import Move
from evosdc.suppress.problem import Problem

# Rounding in a product of two numbers; a level missed by this share is reached.
ROUNDING = 1e-12


class Witnesses:
    """The witnesses of a growing or shrinking pattern."""

    def __init__(self, problem: Problem, demands: Demands) -> None:
        self.demands = demands
        self.covered = np.zeros(len(demands), dtype=bool)
        self._up, self._down = problem.up, problem.down
        self._scratch = np.zeros(len(problem.table))
        self._cells: dict[int, NDArray[np.int64]] = {}
        self._covers: dict[int, set[int]] = {}
        self._witness = np.full(len(demands), -1, dtype=np.int64)
        self._users: dict[int, set[int]] = {}
        self._next = 0

    def add(self, move: Move, own: int | None = None) -> NDArray[np.int64]:
        """Take a deviation as witness of every open demand it covers; return them.

        It may be scaled up or down and turned round as far as the room of its cells
        allows (Castro 2005 checks all sensitive cells of a path at once). `own` is the
        demand it was made for.
        """
        open_rows = np.flatnonzero(~self.covered)
        self._scratch[move.cells] = move.by
        moved = self._scratch[self.demands.cell[open_rows]]
        self._scratch[move.cells] = 0.0
        forth = moved * self.demands.sign[open_rows]
        with np.errstate(divide="ignore"):
            scale = self.demands.amount[open_rows] / np.abs(forth)
        limit = np.where(forth > 0, self._stretch(move, 1), self._stretch(move, -1))
        rows = open_rows[(forth != 0) & (scale <= limit * (1 + ROUNDING))]
        if own is not None and not self.covered[own]:
            rows = np.union1d(rows, [own])
        if len(rows):
            self._store(move.cells, rows)
        return rows

    def rely_on(self, cells: NDArray[np.int64]) -> None:
        """Let all open demands rest on a set of cells without a known deviation."""
        rows = np.flatnonzero(~self.covered)
        if len(rows):
            self._store(cells, rows)

    def users(self, cell: int) -> NDArray[np.int64]:
        """Demands whose witness uses a cell."""
        found: set[int] = set()
        for number in self._users.get(cell, ()):
            found |= self._covers[number]
        return np.array(sorted(found), dtype=np.int64)

    def release(self, rows: NDArray[np.int64]) -> None:
        """Forget the witnesses of some demands."""
        for row in rows.tolist():
            number = int(self._witness[row])
            self._witness[row] = -1
            self.covered[row] = False
            left = self._covers[number]
            left.discard(row)
            if not left:
                for cell in self._cells.pop(number).tolist():
                    self._users[cell].discard(number)
                del self._covers[number]

    def _stretch(self, move: Move, turn: int) -> float:
        by = turn * move.by
        room = np.where(by > 0, self._up[move.cells], self._down[move.cells])
        return float((room / np.abs(by)).min())

    def _store(self, cells: NDArray[np.int64], rows: NDArray[np.int64]) -> None:
        number = self._next
        self._next += 1
        self._cells[number] = cells
        self._covers[number] = set(rows.tolist())
        self._witness[rows] = number
        self.covered[rows] = True
        for cell in cells.tolist():
            self._users.setdefault(cell, set()).add(number)
