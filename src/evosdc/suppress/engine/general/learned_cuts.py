"""Cells that a pattern needs, as told by cuts that other patterns have failed.

Publishing a cell that is needed is found out by a program without a solution, again and
again: for each cell of each pattern. The multipliers that show why (Farkas) are a cut,
which every safe pattern satisfies. Kept, it answers the same question for all patterns
after that, without a program.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.base import Mask
from evosdc.suppress.engine.cut import MULTIPLIER_GRID, Cut, capacity_cut
from evosdc.suppress.engine.general.model import Demand
from evosdc.suppress.problem.problem import Problem

# A cut is violated where more than this is missing: well above rounding.
_SHORT = 1e-6
# Cuts that are kept: with more of them the older half is forgotten. Half as many answer
# fewer questions without a program, twice as many take longer to look at per pattern.
_MOST_CUTS = 4000


class LearnedCuts:
    """The cuts that patterns of a problem have failed so far.

    Parameters
    ----------
    columns
        The equations that programs are made of, as CSC.
    """

    def __init__(self, problem: Problem, columns: Any) -> None:
        self._problem = problem
        self._columns = columns
        self.cuts: list[Cut] = []
        self.having: dict[int, list[tuple[int, float]]] = {}
        self.forgotten = 0  # how often cuts got other numbers

    @cached_property
    def _transposed(self) -> Any:
        return sparse.csr_array(self._columns.T)

    @cached_property
    def _levels(self) -> dict[tuple[tuple[int, ...], int], float]:
        levels = self._problem.levels
        each = zip(
            levels.cell.tolist(), levels.sign.tolist(), levels.amount, strict=True
        )
        found: dict[tuple[tuple[int, ...], int], float] = {
            ((cell,), sign): float(amount) for cell, sign, amount in each
        }
        for cells, sign, amount in self._problem.sum_levels:
            found[cells, sign] = amount
        return found

    def look_at(self, hidden: Mask) -> Slacks:
        """Begin with a pattern from which cells are to be published."""
        return Slacks(self, hidden)

    def learn(self, asked: Demand, rows: Long, multipliers: Real) -> None:
        """Keep what some equations together say of a level that was not reached.

        Cells count with the room that an attacker leaves them, if one asked. Of a level
        that stands for a width only the part that every pattern needs is kept.
        """
        needed = self._levels.get((tuple(asked.cells), asked.sign), 0.0)
        if not needed:
            return
        least = asked._replace(amount=min(asked.amount, needed))
        cut = self._cut(least, rows, multipliers)
        if cut is None:
            return
        if len(self.cuts) == _MOST_CUTS:
            self._forget()
        number = len(self.cuts)
        self.cuts.append(cut)
        for i, by in zip(cut.cells.tolist(), cut.coefficients.tolist(), strict=True):
            self.having.setdefault(i, []).append((number, by))

    def _cut(self, asked: Demand, rows: Long, multipliers: Real) -> Cut | None:
        """Write the sum of equations as a cut: what lets the cell move must be hidden.

        It holds for all multipliers, so they are rounded to a grid.
        """
        cell, sign, amount, _, more = asked
        y = np.zeros(self._transposed.shape[1])
        y[rows] = multipliers
        if more:
            z = np.asarray(self._transposed @ np.rint(-y * MULTIPLIER_GRID))
            z[asked.cells] += MULTIPLIER_GRID
            return self._written(sign * z / (MULTIPLIER_GRID * amount), asked)
        at = slice(*self._transposed.indptr[cell : cell + 2])
        own = self._transposed.indices[at], self._transposed.data[at]
        size = float(own[1] @ y[own[0]])
        if size == 0.0:
            return None
        z = np.asarray(self._transposed @ np.rint(y / size * MULTIPLIER_GRID))
        if z[cell] == 0.0:
            return None
        moves = -sign * z / (z[cell] * amount)
        moves[cell] = 0.0
        return self._written(moves, asked)

    def _written(self, moves: Real, asked: Demand) -> Cut | None:
        """Write as a cut how a demand is met by what each cell is moved."""
        problem, tight = self._problem, asked.tight
        moves[~problem.hideable] = 0.0
        cells = np.flatnonzero(moves)
        moves = moves[cells]
        up, down = problem.up[cells], problem.down[cells]
        if tight is not None:
            up, down = tight.within(cells, up, down, asked.cell)
        room = np.where(moves > 0, up, down)
        return capacity_cut(cells, np.abs(moves) * room, problem.primary[cells], _SHORT)

    def _forget(self) -> None:
        """Keep the newer half."""
        half = _MOST_CUTS // 2
        self.forgotten += 1
        self.cuts = self.cuts[half:]
        self.having = {
            cell: [(number - half, by) for number, by in entries if number >= half]
            for cell, entries in self.having.items()
        }


class Slacks:
    """Slack of each cut in a pattern that gets smaller."""

    def __init__(self, learned: LearnedCuts, hidden: Mask) -> None:
        self._learned, self._hidden = learned, hidden
        self._slack: list[float] = []
        self._forgotten = learned.forgotten

    def needs(self, cell: int) -> bool:
        """Whether a cut forbids to publish a cell."""
        self._catch_up()
        entries = self._learned.having.get(cell, ())
        return any(self._slack[number] - by < -_SHORT for number, by in entries)

    def publish(self, cell: int, hidden: Mask) -> None:
        """Take note that a cell is published, which leaves a smaller pattern."""
        self._catch_up()
        for number, by in self._learned.having.get(cell, ()):
            self._slack[number] -= by
        self._hidden = hidden

    def _catch_up(self) -> None:
        """Look at cuts that are new."""
        if self._forgotten != self._learned.forgotten:
            self._forgotten, self._slack = self._learned.forgotten, []
        for cut in self._learned.cuts[len(self._slack) :]:
            held = self._hidden[cut.cells]
            self._slack.append(float(cut.coefficients[held].sum()) - cut.least)
