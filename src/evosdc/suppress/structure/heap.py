"""A binary heap of nodes with keys that may fall, on plain arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Int, Real
from evosdc.kernels import kernel


class Heap(NamedTuple):
    """Nodes that wait: ``node[:size]``, the one with the smallest key first.

    ``spot[v]`` is where node `v` stands (-1: nowhere), ``key[v]`` its key. Equal keys
    leave by node number, so the order is always the same. Callers keep the size.
    """

    node: Int
    spot: Int
    key: Real


@kernel
def make_heap(nodes: int) -> Heap:
    """Return an empty heap."""
    return Heap(
        np.zeros(nodes, dtype=np.int32),
        np.full(nodes, -1, dtype=np.int32),
        np.full(nodes, np.inf),
    )


@kernel(inner=True)
def _before(key: Real, a: int, b: int) -> bool:
    return key[a] < key[b] or (key[a] == key[b] and a < b)


@kernel(inner=True)
def lower(heap: Heap, size: int, node: int, value: float) -> int:
    """Put a node in, or lower its key; return the new size."""
    heap.key[node] = value
    at = heap.spot[node]
    if at < 0:
        at = size
        size += 1
    while at > 0:
        above = (at - 1) >> 1
        other = heap.node[above]
        if not _before(heap.key, node, other):
            break
        heap.node[at] = other
        heap.spot[other] = at
        at = above
    heap.node[at] = node
    heap.spot[node] = at
    return size


@kernel(inner=True)
def take(heap: Heap, size: int) -> int:
    """Take out and return the node with the smallest key; the size falls by one."""
    nodes, spot, key = heap.node, heap.spot, heap.key
    top = nodes[0]
    spot[top] = -1
    size -= 1
    if size == 0:
        return top
    node = nodes[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _before(key, nodes[child + 1], nodes[child]):
            child += 1
        if not _before(key, nodes[child], node):
            break
        nodes[at] = nodes[child]
        spot[nodes[at]] = at
        at = child
    nodes[at] = node
    spot[node] = at
    return top


@kernel(inline="always")
def least(heap: Heap) -> float:
    """Return the smallest key."""
    return heap.key[heap.node[0]]


@kernel(inner=True)
def clear(heap: Heap, size: int) -> None:
    """Empty the heap."""
    for at in range(size):
        heap.spot[heap.node[at]] = -1
