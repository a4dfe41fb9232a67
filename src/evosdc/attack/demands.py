"""What has to be shown: how far each judged cell must be movable, and how widely."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY


@dataclass(frozen=True, eq=False)
class Demands:
    """The levels of the judged cells, strict margins included, a row a cell.

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
    if table.is_integer:
        return np.ones(len(table))
    size = np.abs(table.value)
    return 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))


def demands_of(table: Table, strict: bool, secondaries: bool) -> Demands:
    """Collect the levels of the primaries, and of the secondaries where asked."""
    asked = (PRIMARY, SECONDARY) if secondaries else (PRIMARY,)
    cells = np.flatnonzero(np.isin(table.status, asked))
    up, down, width = table.upl[cells], table.lpl[cells], table.spl[cells]
    none = (up == 0) & (down == 0) & (width == 0)
    apart = none & (table.status[cells] == SECONDARY)
    margin = strict_margin(table)[cells] if strict else np.zeros(len(cells))
    margin[apart] = 0.0
    return Demands(cells, up + margin, down + margin, width + margin, apart)
