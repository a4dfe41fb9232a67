"""Judged levels: how far each judged cell must be movable, and how widely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import TableError
from evosdc.results import Exposure
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY


@dataclass(frozen=True, eq=False)
class JudgedLevels:
    """The levels of the judged cells, strict margins included, one row per cell.

    `up`, `down` and `width` are distances; 0 requires nothing. A row of `not_a_point`
    requires only that the attacker's interval is not a single point.
    """

    cells: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    width: NDArray[np.float64]
    not_a_point: NDArray[np.bool_]

    @cached_property
    def _row(self) -> dict[int, int]:
        return {cell: row for row, cell in enumerate(self.cells.tolist())}

    def exposure(
        self, table: Table, cell: int, low: float, high: float, reason: str = ""
    ) -> Exposure:
        """Describe a cell of which an attacker finds an interval."""
        row, value = self._row[cell], float(table.value[cell])
        return Exposure(
            cell=cell,
            label=table.label(cell),
            low=low,
            high=high,
            needed_low=value - float(self.down[row]),
            needed_high=value + float(self.up[row]),
            needed_width=float(self.width[row]),
            reason=reason,
        )


def strict_margin(table: Table) -> NDArray[np.float64]:
    """Return how far each cell must exceed its level in the strict reading.

    One unit in tables of whole numbers, as ONS solves them (Smith et al. 2011), and
    otherwise a margin well above rounding errors.
    """
    if table.is_integer or table.origin.whole:
        return np.ones(len(table))
    size = np.abs(table.value)
    return 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))


def judged_levels(
    table: Table,
    strict: bool,
    secondaries: bool,
    *,
    whole: bool = False,
    among: NDArray[np.bool_] | None = None,
    room: Mapping[int, float] | None = None,
) -> JudgedLevels:
    """Collect the levels of the primaries, and optionally of the secondaries.

    Parameters
    ----------
    whole
        Whether cells move by whole numbers only: levels are then rounded up.
    among
        The cells to judge; all where None.
    room
        How far down cells must be movable at most, for an attacker who contributes to
        them: see `evosdc.table.attackers.OwnShares`.
    """
    statuses = (PRIMARY, SECONDARY) if secondaries else (PRIMARY,)
    judged = np.isin(table.status, statuses) & table.shown
    cells = np.flatnonzero(judged if among is None else judged & among)
    margin = strict_margin(table)[cells] if strict else np.zeros(len(cells))
    levels = (table.upl[cells], table.lpl[cells], table.spl[cells])
    none = (levels[0] == 0) & (levels[1] == 0) & (levels[2] == 0)
    # A cell without levels must still not be determined. A sensitive cell whose levels
    # of 0 have to be exceeded needs more than that.
    not_a_point = none & (~(margin > 0) | (table.status[cells] == SECONDARY))
    margin[not_a_point] = 0.0
    # No deviation passes a bound, so a level at a bound can only be reached.
    above = np.maximum(table.upper - table.value, 0.0)[cells]
    below = np.maximum(table.value - table.lower, 0.0)[cells]
    up, down, width = (
        np.minimum(level + margin, np.maximum(level, to_bound))
        for level, to_bound in zip(levels, (above, below, above + below), strict=True)
    )
    not_a_point |= (up == 0) & (down == 0) & (width == 0)
    if whole:
        up, down, width = np.ceil(up), np.ceil(down), np.ceil(width)
    for i, cell in enumerate(cells.tolist() if room else ()):
        if room is not None and cell in room:
            most = np.floor(room[cell]) if whole else room[cell]
            down[i] = min(down[i], most)
            not_a_point[i] |= up[i] == down[i] == width[i] == 0
    return JudgedLevels(cells, up, down, width, not_a_point)


def no_levels() -> JudgedLevels:
    """Return the levels of no cells."""
    none = np.empty(0)
    return JudgedLevels(none.astype(np.int64), none, none, none, none.astype(bool))


def counts_whole(table: Table, whole: bool | None) -> bool:
    """Whether only whole numbers are possible: `whole`, else the table decides.

    Raises
    ------
    TableError
        For a table that is said to count people and holds fractions of one.
    """
    chosen = table.origin.in_whole if whole is None else whole
    # Whoever declared magnitudes to be whole knows of the cells that are not.
    if chosen and not table.origin.whole:
        broken = np.flatnonzero(table.value != np.rint(table.value))
        if len(broken):
            raise TableError(
                f"{len(broken)} cells of a table of counts are not whole numbers, the "
                f"first: {table.label(int(broken[0]))}",
                expected="whole numbers, or a table that is not said to hold counts",
                hint="tabulate the counts again, or judge with whole=False",
            )
    return chosen
