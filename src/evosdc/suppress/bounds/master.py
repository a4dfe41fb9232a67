"""The master LP of the cut bounds: cells as columns, cuts as rows, warm-started."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import highspy
import numpy as np

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.base import Cut

# Cells that a new cut brings into the LP at least. With half as many there are more
# rounds of pricing, with twice as many the LP has more columns that stay at zero.
_CELLS_PER_CUT = 12


@dataclass
class Master:
    """Minimise cost over the cuts found so far, with only some cells as columns.

    Cells enter when their reduced cost is negative, so a table of 100,000 cells needs
    an LP of a few thousand columns. Cuts are kept in full for all cells.
    """

    cost: Real
    cuts: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._column = np.full(len(self.cost), -1, dtype=np.int64)
        self._cells: list[int] = []
        self._alive: list[int] = []  # cut of each row of the LP
        self._waiting: list[int] = []  # cuts that are no rows yet
        self._idle: list[int] = []  # rounds each row has been slack
        self.duals = np.zeros(0)
        self.values = np.zeros(0)

    def add_cells(self, cells: Long) -> None:
        """Make columns of cells that have none."""
        fresh = np.unique(cells[self._column[cells] < 0])
        if not len(fresh):
            return
        self._column[fresh] = len(self._cells) + np.arange(len(fresh))
        cuts = [self.cuts[cut] for cut in self._alive]
        row, cells_in, terms = entries(cuts)
        inside = np.isin(cells_in, fresh)
        row, terms = row[inside], terms[inside]
        place = self._column[cells_in[inside]] - len(self._cells)
        order = np.argsort(place, kind="stable")
        start = np.searchsorted(place[order], np.arange(len(fresh)))
        self._lp.addCols(
            len(fresh),
            self.cost[fresh],
            np.zeros(len(fresh)),
            np.ones(len(fresh)),
            len(order),
            start.astype(np.int32),
            row[order].astype(np.int32),
            terms[order],
        )
        self._cells.extend(fresh.tolist())

    def add_cut(self, cut: Cut) -> None:
        """Add a cut; it becomes a row when the LP is looked at the next time."""
        self.cuts.append(cut)
        self._waiting.append(len(self.cuts) - 1)

    def _take_waiting(self) -> None:
        """Make rows of new cuts, all at once: one by one it takes quadratic time."""
        if not self._waiting:
            return
        cuts = [self.cuts[at] for at in self._waiting]
        self.add_cells(np.concatenate([self._seeds(cut) for cut in cuts]))
        row, cells, terms = entries(cuts)
        inside = self._column[cells] >= 0
        count = len(cuts)
        self._lp.addRows(
            count,
            np.array([cut.least for cut in cuts]),
            np.full(count, highspy.kHighsInf),
            int(inside.sum()),
            np.searchsorted(row[inside], np.arange(count)).astype(np.int32),
            self._column[cells[inside]].astype(np.int32),
            terms[inside],
        )
        self._alive += self._waiting
        self._idle += [0] * count
        self._waiting = []

    def _seeds(self, cut: Cut) -> Long:
        """Return the best cells of a cut by cost per coefficient, to become columns.

        At least a dozen, and as many as the cut needs: the level of a giant cell asks
        for thousands, and with fewer of them the LP would have no solution.
        """
        able = np.flatnonzero(cut.coefficients > 0)
        cells, coefficients = cut.cells[able], cut.coefficients[able]
        best = np.argsort(self.cost[cells] / coefficients, kind="stable")
        needed = int(np.searchsorted(np.cumsum(coefficients[best]), 1.0)) + 2
        return cells[best[: max(_CELLS_PER_CUT, needed)]]

    def solve(self) -> bool:
        """Solve the LP over the present columns and cuts."""
        self._take_waiting()
        if not self.cuts:
            return False
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution: Any = self._lp.getSolution()
        self.duals = np.maximum(np.array(solution.row_dual), 0.0)
        self.values = np.array(solution.col_value)
        return True

    def drop_idle(self, rounds: int) -> list[Cut]:
        """Drop rows that have had a zero dual for so many rounds; return their cuts."""
        for row, dual in enumerate(self.duals.tolist()):
            self._idle[row] = 0 if dual > 1e-9 else self._idle[row] + 1
        gone = [r for r, idle in enumerate(self._idle) if idle >= rounds]
        if len(gone) < 50:
            return []
        dropped = [self.cuts[self._alive[r]] for r in gone]
        self._lp.deleteRows(len(gone), np.array(gone, dtype=np.int32))
        keep = [r for r in range(len(self._alive)) if self._idle[r] < rounds]
        self._alive = [self._alive[r] for r in keep]
        self._idle = [self._idle[r] for r in keep]
        self.duals = self.duals[keep]
        return dropped

    def fractions(self) -> Real:
        """How much of each cell the LP hides."""
        x = np.zeros(len(self.cost))
        x[self._cells[: len(self.values)]] = np.clip(self.values, 0.0, 1.0)
        return x

    def rows(self) -> list[Cut]:
        """Return the cuts that are rows of the LP."""
        self._take_waiting()
        return [self.cuts[at] for at in self._alive]

    def basic_columns(self) -> Long:
        """Column that is basic at each place of the basis, negative for a row."""
        _, basic = self._lp.getBasicVariables()
        return np.array(basic, dtype=np.int64)

    def inverse_row(self, place: int) -> Real:
        """Return a row of the inverse of the basis: multipliers of the LP's rows."""
        return np.array(self._lp.getBasisInverseRow(place)[1], dtype=np.float64)

    def reduced_costs(self) -> Real:
        """Cost of each cell less what the cuts pay for it."""
        paid = np.flatnonzero(self.duals > 0)
        reduced = self.cost.copy()
        row, cells, terms = entries([self.cuts[self._alive[r]] for r in paid])
        np.subtract.at(reduced, cells, self.duals[paid][row] * terms)
        return reduced

    def dual_bound(self, reduced: Real) -> float:
        """Return a lower bound valid for any non-negative duals, however inexact.

        Weak duality with every cell in [0, 1]: the right-hand sides paid, less what
        cells of negative reduced cost could still save.
        """
        least = np.array([self.cuts[cut].least for cut in self._alive])
        paid = float(self.duals @ least[: len(self.duals)])
        return paid + float(np.minimum(reduced, 0.0).sum())

    def price(self, reduced: Real, most: int) -> int:
        """Bring in the cells of most negative reduced cost; return how many."""
        cells = np.flatnonzero((reduced < -1e-9) & (self._column < 0))
        if len(cells) > most:
            cells = cells[np.argsort(reduced[cells], kind="stable")[:most]]
        self.add_cells(cells)
        return len(cells)


def entries(cuts: list[Cut]) -> tuple[Long, Long, Real]:
    """Return the terms of cuts as triplets: number of the cut, cell, coefficient."""
    if not cuts:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    row = np.repeat(np.arange(len(cuts)), [len(cut.cells) for cut in cuts])
    cells = np.concatenate([cut.cells for cut in cuts])
    return row, cells, np.concatenate([cut.coefficients for cut in cuts])
