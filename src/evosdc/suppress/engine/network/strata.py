"""Kernel: shortest paths with stratified costs, as Castro's heuristic uses them."""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import Flags, Real
from evosdc.suppress.engine.network.flow import Graph, end_of, trace
from evosdc.suppress.structure import heap


@kernel
def stratified_path(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    hidden: Flags,
    used: Flags,
    source: int,
    target: int,
    amount: int,
    step: float,
) -> np.ndarray:
    """Find the shortest path that shares no cell with `used`; slots, target first.

    A cell with room for the whole amount is free if hidden and costs its cost
    otherwise; a cell with less room costs a step more, two steps if it is not hidden
    either. A step outweighs any path without one: few paths are preferred to few cells
    (Cox 1995; Castro 2005). Empty where there is no path.
    """
    nodes = len(graph.start) - 1
    distance = np.full(nodes, np.inf)
    via = np.full(nodes, -1, dtype=np.int32)
    final = np.zeros(nodes, dtype=np.bool_)
    order = np.empty(nodes, dtype=np.int32)
    spot = np.full(nodes, -1, dtype=np.int32)
    key = np.empty(nodes)
    distance[source] = 0.0
    size = heap.lower(order, spot, key, 0, source, 0.0)
    while size:
        node = heap.take(order, spot, key, size)
        size -= 1
        final[node] = True
        if node == target:
            break
        for at in range(graph.start[node], graph.start[node + 1]):
            slot = graph.slot[at]
            cell = slot >> 1
            room = down[cell] if slot & 1 else up[cell]
            other = end_of(graph, slot)
            if room <= 0 or used[cell] or final[other]:
                continue
            price = 0.0 if hidden[cell] else cost[cell]
            if room < amount:
                price += step if hidden[cell] else 2 * step
            through = distance[node] + price
            if through < distance[other]:
                distance[other] = through
                via[other] = slot
                size = heap.lower(order, spot, key, size, other, through)
    if not final[target]:
        return np.empty(0, dtype=np.int32)
    return trace(graph, via, source, target)
