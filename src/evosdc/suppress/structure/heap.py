"""A binary heap of nodes with keys that may fall, on plain arrays.

``heap[:size]`` holds nodes, ``spot[v]`` where node `v` stands in it (-1: nowhere),
``key[v]`` its key. Equal keys leave by node number, so the order is always the same.
"""

from __future__ import annotations

from evosdc.arrays import Int, Real
from evosdc.compile.kernels import kernel


@kernel(inner=True)
def _before(key: Real, a: int, b: int) -> bool:
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@kernel(inner=True)
def lower(heap: Int, spot: Int, key: Real, size: int, node: int, value: float) -> int:
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
def take(heap: Int, spot: Int, key: Real, size: int) -> int:
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
def clear(heap: Int, spot: Int, size: int) -> None:
    """Empty the heap."""
    for at in range(size):
        spot[heap[at]] = -1
