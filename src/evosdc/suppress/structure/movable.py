"""Small compiled searches over the equations of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel
from evosdc.suppress.structure import heap


@kernel
def movable(
    hidden: NDArray[np.bool_],
    row_start: NDArray[np.int32],
    row_cells: NDArray[np.int32],
    column_start: NDArray[np.int32],
    column_rows: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Hidden cells that do not follow from an equation with one unknown, repeated."""
    left = hidden.copy()
    rows = len(row_start) - 1
    count = np.zeros(rows, dtype=np.int64)
    waiting = np.empty(rows, dtype=np.int64)
    end = 0
    for row in range(rows):
        for p in range(row_start[row], row_start[row + 1]):
            if left[row_cells[p]]:
                count[row] += 1
        if count[row] == 1:
            waiting[end] = row
            end += 1
    at = 0
    while at < end:
        row = waiting[at]
        at += 1
        if count[row] != 1:
            continue
        for p in range(row_start[row], row_start[row + 1]):
            cell = row_cells[p]
            if not left[cell]:
                continue
            left[cell] = False
            for e in range(column_start[cell], column_start[cell + 1]):
                other = column_rows[e]
                count[other] -= 1
                if count[other] == 1:
                    waiting[end] = other
                    end += 1
            break
    return left


@kernel
def nearest(
    start: int,
    most: int,
    price: NDArray[np.float64],
    row_start: NDArray[np.int32],
    row_cells: NDArray[np.int32],
    column_start: NDArray[np.int32],
    column_rows: NDArray[np.int32],
) -> NDArray[np.int64]:
    """Dijkstra's search over cells that share an equation; the `most` nearest cells.

    An equation is entered from its nearest cell only: later entries are no shorter.
    """
    n = len(price)
    distance = np.full(n, np.inf)
    waiting = np.empty(n, dtype=np.int32)
    spot = np.full(n, -1, dtype=np.int32)
    opened = np.zeros(len(row_start) - 1, dtype=np.bool_)
    found = np.empty(min(most, n), dtype=np.int64)
    size = heap.lower(waiting, spot, distance, 0, start, 0.0)
    count = 0
    while size > 0 and count < len(found):
        cell = heap.take(waiting, spot, distance, size)
        size -= 1
        found[count] = cell
        count += 1
        for e in range(column_start[cell], column_start[cell + 1]):
            row = column_rows[e]
            if opened[row]:
                continue
            opened[row] = True
            for p in range(row_start[row], row_start[row + 1]):
                other = row_cells[p]
                far = distance[cell] + price[other]
                if far < distance[other]:
                    size = heap.lower(waiting, spot, distance, size, other, far)
    return found[:count]
