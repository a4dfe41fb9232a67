"""Complete a pattern of which not all could be judged by one that was judged before.

Suppressing more leaves every deviation of hidden cells possible. So the witnesses of
both patterns hold of their union, and where few cells are open few are suppressed more.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evosdc.results import Certificate, TableVerdict
from evosdc.table import Table
from evosdc.table.status import PRIMARY


def undecided(table: Table, verdict: TableVerdict) -> NDArray[np.int64]:
    """Return the sensitive cells that a verdict leaves open or finds exposed."""
    open_labels = set(verdict.open)
    cells = {e.cell for e in verdict.exposed}
    cells |= {
        cell
        for cell in np.flatnonzero(table.status == PRIMARY).tolist()
        if table.label(cell) in open_labels
    }
    return np.array(sorted(cells), dtype=np.int64)


def cells_for(
    table: Table,
    cells: NDArray[np.int64],
    hidden: NDArray[np.bool_],
    cost: NDArray[np.float64],
    safe: Certificate,
    against_all: bool,
) -> NDArray[np.bool_]:
    """Return what has to be hidden for the witnesses of a certificate to cover cells.

    `hidden` is hidden anyway. For each level it is the witness that needs least, and
    those that were made for the cell against attackers beside the public, or for a
    sliding level, are all taken.
    """
    needed = np.zeros(len(table), dtype=bool)
    for cell in cells.tolist():
        for sign, level in ((1, table.upl[cell]), (-1, table.lpl[cell])):
            least, chosen = np.inf, None
            for moved, far in _witnesses(safe, cell, sign):
                extra = float(cost[moved[~(hidden | needed)[moved]]].sum())
                if far >= level and extra < least:
                    least, chosen = extra, moved
            if chosen is not None:
                needed[chosen] = True
        sliding = table.spl[cell] > table.upl[cell] + table.lpl[cell]
        for w in np.flatnonzero(safe.cells == cell).tolist():
            if not (against_all or sliding):
                break
            needed[safe.indices[safe.indptr[w] : safe.indptr[w + 1]]] = True
    return needed


def _witnesses(
    safe: Certificate, cell: int, sign: int
) -> Iterator[tuple[NDArray[np.int64], float]]:
    """Yield the cells of each witness that moves a cell one way, and how far."""
    for entry in np.flatnonzero(safe.indices == cell).tolist():
        w = int(np.searchsorted(safe.indptr, entry, side="right")) - 1
        move = safe.numerators[entry] / safe.denominators[w]
        if move * sign > 0:
            yield safe.indices[safe.indptr[w] : safe.indptr[w + 1]], abs(float(move))
