"""Small compiled searches over the equations of a table."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel


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
    done = np.zeros(n, dtype=np.bool_)
    opened = np.zeros(len(row_start) - 1, dtype=np.bool_)
    found = np.empty(min(most, n), dtype=np.int64)
    heap = [(0.0, start)]
    distance[start] = 0.0
    count = 0
    while len(heap) > 0 and count < len(found):
        at, cell = _pop(heap)
        if done[cell]:
            continue
        done[cell] = True
        found[count] = cell
        count += 1
        for e in range(column_start[cell], column_start[cell + 1]):
            row = column_rows[e]
            if opened[row]:
                continue
            opened[row] = True
            for p in range(row_start[row], row_start[row + 1]):
                other = row_cells[p]
                far = at + price[other]
                if far < distance[other]:
                    distance[other] = far
                    _push(heap, far, other)
    return found[:count]


@kernel(inner=True)
def _push(heap: list[tuple[float, int]], key: float, item: int) -> None:
    heap.append((key, item))
    at = len(heap) - 1
    while at > 0:
        above = (at - 1) // 2
        if heap[above] <= heap[at]:
            break
        heap[above], heap[at] = heap[at], heap[above]
        at = above


@kernel(inner=True)
def _pop(heap: list[tuple[float, int]]) -> tuple[float, int]:
    top = heap[0]
    last = heap.pop()
    size = len(heap)
    if size > 0:
        heap[0] = last
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and heap[child + 1] < heap[child]:
                child += 1
            if heap[at] <= heap[child]:
                break
            heap[at], heap[child] = heap[child], heap[at]
            at = child
    return top
