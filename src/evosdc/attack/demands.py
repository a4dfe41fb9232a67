"""What has to be shown: how far each judged cell must be movable, and how widely."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import TableError
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY


@dataclass(frozen=True, eq=False)
class JudgedLevels:
    """The levels of the judged cells, strict margins included, one row per cell.

    `up`, `down` and `width` are distances; 0 asks for nothing. A row of `apart` asks
    only that the attacker's interval is not a single point.
    """

    cells: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    width: NDArray[np.float64]
    apart: NDArray[np.bool_]


def strict_margin(table: Table) -> NDArray[np.float64]:
    """How much more than its level a cell must reach in the strict reading.

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
    """Collect the levels of the primaries, and of the secondaries where asked.

    Parameters
    ----------
    whole
        Whether cells move by whole numbers only: levels are then rounded up.
    among
        The cells to look at; all where None.
    room
        How far down a cell can be asked to go at most, for an attacker who knows parts
        of it: see `evosdc.table.attackers.OwnShares`.
    """
    asked = (PRIMARY, SECONDARY) if secondaries else (PRIMARY,)
    judged = np.isin(table.status, asked) & table.shown
    cells = np.flatnonzero(judged if among is None else judged & among)
    margin = strict_margin(table)[cells] if strict else np.zeros(len(cells))
    levels = (table.upl[cells], table.lpl[cells], table.spl[cells])
    none = (levels[0] == 0) & (levels[1] == 0) & (levels[2] == 0)
    # Where nothing is asked the value must still not be given away. A sensitive cell
    # whose levels of 0 have to be exceeded is asked for more than that.
    apart = none & (~(margin > 0) | (table.status[cells] == SECONDARY))
    margin[apart] = 0.0
    # Nobody can be made to believe beyond a bound: a level there is reached at best.
    above = np.maximum(table.upper - table.value, 0.0)[cells]
    under = np.maximum(table.value - table.lower, 0.0)[cells]
    up, down, width = (
        np.minimum(level + margin, np.maximum(level, room_there))
        for level, room_there in zip(levels, (above, under, above + under), strict=True)
    )
    apart |= (up == 0) & (down == 0) & (width == 0)
    if whole:
        up, down, width = np.ceil(up), np.ceil(down), np.ceil(width)
    for i, cell in enumerate(cells.tolist()):
        if room is not None and cell in room:
            most = np.floor(room[cell]) if whole else room[cell]
            down[i] = min(down[i], most)
            apart[i] |= up[i] == down[i] == width[i] == 0
    return JudgedLevels(cells, up, down, width, apart)


def nothing_asked() -> JudgedLevels:
    """Return the demands of nobody."""
    none = np.empty(0)
    return JudgedLevels(none.astype(np.int64), none, none, none, none.astype(bool))


def counts_whole(table: Table, whole: bool | None) -> bool:
    """Whether only whole numbers are possible: as asked, else as the table says.

    Raises
    ------
    TableError
        For a table that is said to count people and holds fractions of one.
    """
    chosen = table.origin.in_whole if whole is None else whole
    # Whoever declared that magnitudes are whole numbers knows of those that are not.
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
