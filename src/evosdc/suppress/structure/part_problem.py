"""The suppression problem of one sub-table, as the method that solves it sees it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.problem.problem import Levels, Problem
from evosdc.suppress.structure.subtables import Subtable
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SAFE

# What an inherited secondary must be movable by to count as not disclosed, where the
# share asked for is 0: this share of its value.
_EXACT = 1e-4


class PartProblems:
    """Cuts problems of sub-tables out of the problem of a table.

    Parameters
    ----------
    share
        What inherited secondaries must be movable by, as a share of their value; 0
        asks only that they cannot be worked out exactly (de Wolf 2002).
    """

    def __init__(self, problem: Problem, share: float) -> None:
        self.problem = problem
        wanted = max(share, _EXACT) * np.maximum(1.0, np.abs(problem.table.value))
        if problem.table.is_integer:
            wanted = np.maximum(1.0, np.rint(wanted))
        self._upwards = problem.up >= problem.down
        room = np.where(self._upwards, problem.up, problem.down)
        self._wanted = np.minimum(wanted, room)
        levels = problem.levels
        n = len(problem.table)
        self._amounts = {
            sign: _spread(n, levels.cell[way], levels.amount[way])
            for sign, way in ((1, levels.sign > 0), (-1, levels.sign < 0))
        }
        self._slides = _spread(n, levels.slide, levels.slide_amount)

    def of(
        self,
        part: Subtable,
        hidden: Flags,
        shut: Flags,
        price: Real,
        *,
        inherit: bool = True,
    ) -> Problem:
        """Return the problem of a sub-table.

        Parameters
        ----------
        hidden
            Cells of the table that are hidden so far: they cost nothing more, and are
            protected from being worked out exactly unless `inherit` is false.
        shut
            Cells of the table that must stay published.
        price
            What hiding a cell of the table costs.
        """
        whole, at = self.problem, part.cells
        taken = hidden[at]
        may = whole.hideable[at] & ~shut[at] | taken
        status = np.where(taken, PRIMARY, np.where(may, SAFE, FIXED))
        return Problem(
            table=_cut(whole.table, part, status),
            cost=np.where(taken, 0.0, price[at]),
            up=whole.up[at],
            down=whole.down[at],
            hideable=may,
            levels=self._levels(at, taken & ~whole.primary[at] & inherit),
        )

    def _levels(self, at: Long, inherited: Flags) -> Levels:
        up, down = self._amounts[1][at], self._amounts[-1][at]
        least = np.where(inherited, self._wanted[at], 0.0)
        up = np.where(inherited & self._upwards[at], least, up)
        down = np.where(inherited & ~self._upwards[at], least, down)
        cell = np.concatenate([np.flatnonzero(up > 0), np.flatnonzero(down > 0)])
        count = int((up > 0).sum())
        slide = np.flatnonzero(self._slides[at] > 0)
        return Levels(
            cell=cell,
            sign=np.where(np.arange(len(cell)) < count, 1, -1).astype(np.int8),
            amount=np.concatenate([up[up > 0], down[down > 0]]),
            slide=slide,
            slide_amount=self._slides[at][slide],
        )


def _spread(n: int, cells: Long, amounts: Real) -> Real:
    out = np.zeros(n)
    out[cells] = amounts
    return out


def _cut(table: Table, part: Subtable, status: NDArray[np.str_]) -> Table:
    at = part.cells
    labelled = bool(table.dimensions)
    return Table(
        value=table.value[at],
        weight=table.weight[at],
        status=status.astype("U1"),
        lower=table.lower[at],
        upper=table.upper[at],
        lpl=table.lpl[at],
        upl=table.upl[at],
        spl=table.spl[at],
        matrix=table.matrix[part.equations][:, at],
        rhs=table.rhs[part.equations],
        dimensions=table.dimensions,
        codes=table.codes[at] if labelled else np.empty((len(at), 0), np.int32),
        name=table.name,
    )
