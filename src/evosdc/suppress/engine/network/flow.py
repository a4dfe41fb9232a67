"""Flows on any network given by tails, heads and capacities, whole or real.

These are for callers with capacities of their own: bounds by minimum cuts, minimum cost
flows after Kelly et al., sliding levels. The searches use the incremental kernels of
`cover`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import Flags, Int, Long, Real
from evosdc.suppress.structure import heap


class Graph(NamedTuple):
    """Slots (see `arrays`) by the node they leave: ``slot[start[v]:start[v + 1]]``."""

    tail: Int
    head: Int
    start: Long
    slot: Int


def graph_of(
    tail: Int,
    head: Int,
    use: Flags,
    nodes: int | None = None,
    cost: Real | None = None,
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


@kernel(inner=True)
def _potentials(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    flow: np.ndarray,
    source: int,
    target: int,
    potential: Real,
    via: np.ndarray,
    order: np.ndarray,
    spot: np.ndarray,
    key: Real,
) -> bool:
    """Dijkstra's algorithm on reduced costs; updates the potentials."""
    nodes = len(graph.start) - 1
    distance = np.full(nodes, np.inf)
    final = np.zeros(nodes, dtype=np.bool_)
    distance[source] = 0.0
    via[:] = -1
    size = heap.lower(order, spot, key, 0, source, 0.0)
    while size:
        node = heap.take(order, spot, key, size)
        size -= 1
        final[node] = True
        if node == target:
            break
        for at in range(graph.start[node], graph.start[node + 1]):
            slot = graph.slot[at]
            other = end_of(graph, slot)
            if final[other] or _room(up, down, flow, slot) <= 0:
                continue
            cell = slot >> 1
            # Taking back flow gives its cost back; a cell costs the same both ways.
            backward = flow[cell] > 0 if slot & 1 else flow[cell] < 0
            price = -cost[cell] if backward else cost[cell]
            # Rounding may leave a reduced cost a hair below zero.
            reduced = max(0.0, price + potential[node] - potential[other])
            through = distance[node] + reduced
            if through < distance[other]:
                distance[other] = through
                via[other] = slot
                size = heap.lower(order, spot, key, size, other, through)
    heap.clear(order, spot, size)
    if not final[target]:
        return False
    for node in range(nodes):
        potential[node] += min(distance[node], distance[target])
    return True


@kernel
def min_cost_flow(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    source: int,
    target: int,
    amount: int,
) -> tuple[int, np.ndarray]:
    """Send an amount at least cost; return what is left to send and each cell's flow.

    Successive shortest paths with potentials. Costs are per unit, not negative, and
    the same for a cell that goes up or down.
    """
    nodes = len(graph.start) - 1
    flow = np.zeros_like(up)
    potential = np.zeros(nodes)
    via = np.empty(nodes, dtype=np.int32)
    order = np.empty(nodes, dtype=np.int32)
    spot = np.full(nodes, -1, dtype=np.int32)
    key = np.empty(nodes)
    left = amount
    while left > 0 and _potentials(
        graph,
        up,
        down,
        cost,
        flow,
        source,
        target,
        potential,
        via,
        order,
        spot,
        key,
    ):
        part = left
        node = target
        while node != source:
            slot = via[node]
            cell = slot >> 1
            room = _room(up, down, flow, slot)
            # Stop where the flow is all taken back: beyond it the price changes.
            if slot & 1 and flow[cell] > 0:
                room = flow[cell]
            elif not slot & 1 and flow[cell] < 0:
                room = -flow[cell]
            part = min(part, room)
            node = origin_of(graph, slot)
        node = target
        while node != source:
            slot = via[node]
            flow[slot >> 1] += -part if slot & 1 else part
            node = origin_of(graph, slot)
        left -= part
    return left, flow
