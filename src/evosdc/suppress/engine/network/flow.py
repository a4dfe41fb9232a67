"""Flows on any network given by tails, heads and capacities, whole or real.

These are for callers with capacities of their own: bounds by minimum cuts, sliding
levels. The searches use the incremental kernels of `cover` and `cheapest_flow`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel


class Graph(NamedTuple):
    """Slots (see `arrays`) by the node they leave: ``slot[start[v]:start[v + 1]]``."""

    tail: Int
    head: Int
    start: Long
    slot: Int


def graph_of(
    tail: Int, head: Int, use: Flags, nodes: int | None = None, cost: Real | None = None
) -> Graph:
    """Collect the slots of the cells to use, cheapest first if there are costs.

    Loops are left out.
    """
    cells = np.flatnonzero(use & (tail != head))
    slot = np.concatenate([2 * cells, 2 * cells + 1])
    node = np.concatenate([tail[cells], head[cells]])
    price = np.zeros(len(tail)) if cost is None else cost
    order = np.lexsort((slot, price[slot >> 1], node))
    count = int(max(tail.max(), head.max())) + 1 if nodes is None else nodes
    start = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(node, minlength=count), out=start[1:])
    return Graph(tail, head, start, slot[order].astype(np.int32))


@kernel(inner=True)
def end_of(graph: Graph, slot: int) -> int:
    """Return the node that a slot leads to."""
    return graph.tail[slot >> 1] if slot & 1 else graph.head[slot >> 1]


@kernel(inner=True)
def origin_of(graph: Graph, slot: int) -> int:
    """Return the node that a slot leaves."""
    return graph.head[slot >> 1] if slot & 1 else graph.tail[slot >> 1]


@kernel(inner=True)
def _room(up: np.ndarray, down: np.ndarray, flow: np.ndarray, slot: int) -> float:
    cell = slot >> 1
    return down[cell] + flow[cell] if slot & 1 else up[cell] - flow[cell]


@kernel(inner=True)
def _layers(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    flow: np.ndarray,
    source: int,
    target: int,
    slack: float,
    layer: np.ndarray,
    queue: np.ndarray,
) -> bool:
    layer[:] = -1
    layer[source] = 0
    queue[0] = source
    done, size = 0, 1
    while done < size:
        node = queue[done]
        done += 1
        for at in range(graph.start[node], graph.start[node + 1]):
            slot = graph.slot[at]
            other = end_of(graph, slot)
            if layer[other] < 0 and _room(up, down, flow, slot) > slack:
                layer[other] = layer[node] + 1
                if other == target:
                    return True
                queue[size] = other
                size += 1
    return False


@kernel
def max_flow(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    source: int,
    target: int,
    most: float,
    slack: float = 0.0,
) -> tuple[float, np.ndarray]:
    """Send as much as can be sent, at most `most`; return it and the flow of each cell.

    Dinic's algorithm. `up` and `down` are finite capacities, whole or real; with real
    ones a residual of `slack` or less counts as none.
    """
    flow = np.zeros_like(up)
    layer = np.empty(len(graph.start) - 1, dtype=np.int32)
    queue = np.empty(len(layer), dtype=np.int32)
    pointer = np.empty(len(layer), dtype=np.int64)
    path = np.empty(len(layer), dtype=np.int32)
    left = most + flow[0]  # of the kind of the capacities
    sent = left - left
    while left > slack and _layers(
        graph, up, down, flow, source, target, slack, layer, queue
    ):
        pointer[:] = graph.start[:-1]
        node, depth = source, 0
        while left > slack:
            if node == target:
                part = left
                for i in range(depth):
                    part = min(part, _room(up, down, flow, path[i]))
                for i in range(depth):
                    flow[path[i] >> 1] += -part if path[i] & 1 else part
                left -= part
                sent += part
                node, depth = source, 0
                continue
            moved = False
            while pointer[node] < graph.start[node + 1]:
                slot = graph.slot[pointer[node]]
                other = end_of(graph, slot)
                if (
                    layer[other] == layer[node] + 1
                    and _room(up, down, flow, slot) > slack
                ):
                    path[depth] = slot
                    depth += 1
                    node = other
                    moved = True
                    break
                pointer[node] += 1
            if not moved:
                if node == source:
                    break
                depth -= 1
                node = origin_of(graph, path[depth])
                pointer[node] += 1
    return sent, flow


@kernel
def min_cut(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    flow: np.ndarray,
    source: int,
    slack: float = 0.0,
) -> np.ndarray:
    """Mark the nodes on the source's side of the cut that a maximum flow leaves."""
    side = np.zeros(len(graph.start) - 1, dtype=np.bool_)
    queue = np.empty(len(side), dtype=np.int32)
    side[source] = True
    queue[0] = source
    done, size = 0, 1
    while done < size:
        node = queue[done]
        done += 1
        for at in range(graph.start[node], graph.start[node + 1]):
            slot = graph.slot[at]
            other = end_of(graph, slot)
            if not side[other] and _room(up, down, flow, slot) > slack:
                side[other] = True
                queue[size] = other
                size += 1
    return side


@kernel(inner=True)
def trace(graph: Graph, via: np.ndarray, source: int, target: int) -> np.ndarray:
    """Follow `via` back from the target; empty where it was not reached."""
    size, node = 0, target
    while node != source and via[node] >= 0:
        node = origin_of(graph, via[node])
        size += 1
    path = np.empty(size if node == source else 0, dtype=np.int32)
    node = target
    for i in range(len(path)):
        path[i] = via[node]
        node = origin_of(graph, path[i])
    return path
