"""Kernels that others are built of: random numbers, sorting, a heap.

The heap is a binary heap of nodes with keys that may fall: ``heap[:size]`` holds nodes,
``spot[v]`` where node `v` stands in it (-1: nowhere), ``key[v]`` its key. Equal keys
leave by node number, so the order is always the same.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Int, Real
from evosdc.compile.kernels import kernel

# Numbers that are sorted by insertion before runs of them are merged: at half or twice
# of it sorting takes a little longer.
_RUN = 16


@kernel(inner=True)
def draw(state: np.ndarray, below: int) -> int:
    """Draw a whole number from 0 up to one below (linear congruential, high bits)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(
        1442695040888963407
    )
    high = np.int64(state[0] >> np.uint64(33))
    return int((high * below) >> 31)


@kernel(inner=True)
def order_of(key: np.ndarray) -> np.ndarray:
    """Return the places of the numbers from low to high, equal ones as they come."""
    size = len(key)
    order, other = np.arange(size), np.empty(size, dtype=np.int64)
    for start in range(0, size, _RUN):
        for i in range(start + 1, min(start + _RUN, size)):
            j = i
            while j > start and key[order[j - 1]] > key[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = _RUN
    while width < size:
        for start in range(0, size, 2 * width):
            middle = min(start + width, size)
            end = min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, end):
                if j >= end or (i < middle and key[order[i]] <= key[order[j]]):
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order


@kernel(inner=True)
def _before(key: Real, a: int, b: int) -> bool:
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@kernel(inner=True)
def heap_push(
    heap: Int, spot: Int, key: Real, size: int, node: int, value: float
) -> int:
    """Put a node in, or lower its key; return the new size."""
    key[node] = value
    at = spot[node]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) >> 1
        other = heap[above]
        if not _before(key, node, other):
            break
        heap[at] = other
        spot[other] = at
        at = above
    heap[at] = node
    spot[node] = at
    return size


@kernel(inner=True)
def heap_pop(heap: Int, spot: Int, key: Real, size: int) -> int:
    """Take out and return the node with the smallest key; the size falls by one."""
    top = heap[0]
    spot[top] = -1
    size -= 1
    if size == 0:
        return top
    node = heap[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(key, heap[child + 1], heap[child]):
            child += 1
        if not _before(key, heap[child], node):
            break
        heap[at] = heap[child]
        spot[heap[at]] = at
        at = child
    heap[at] = node
    spot[node] = at
    return top


@kernel(inner=True)
def heap_clear(heap: Int, spot: Int, size: int) -> None:
    """Empty the heap."""
    for at in range(size):
        spot[heap[at]] = -1
