"""Kernel: the cheapest rectangle that covers both levels of a cell."""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import Flags, Real
from evosdc.suppress.engine.network.flow import Graph, end_of


@kernel(inner=True)
def _fits(up: np.ndarray, down: np.ndarray, slot: int, there: int, back: int) -> bool:
    """Whether a slot takes one amount along its direction and another against it."""
    cell = slot >> 1
    if slot & 1:
        return down[cell] >= there and up[cell] >= back
    return up[cell] >= there and down[cell] >= back


@kernel
def cheapest_rectangle(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    hidden: Flags,
    cell: int,
    rise: int,
    fall: int,
) -> tuple[float, np.ndarray]:
    """Find three cells that form a rectangle with a cell and let it rise and fall.

    A rectangle is a circuit of four cells. Hidden cells are free. Returns the cost and
    the three cells; an infinite cost where no rectangle takes both amounts.
    """
    source, target = graph.head[cell], graph.tail[cell]
    nodes = len(graph.start) - 1
    closing = np.full(nodes, np.inf)
    closer = np.full(nodes, -1, dtype=np.int64)
    for at in range(graph.start[target], graph.start[target + 1]):
        into = graph.slot[at] ^ 1
        other = end_of(graph, graph.slot[at])
        price = 0.0 if hidden[into >> 1] else cost[into >> 1]
        if (
            into >> 1 != cell
            and price < closing[other]
            and _fits(up, down, into, rise, fall)
        ):
            closing[other] = price
            closer[other] = into >> 1
    best = np.inf
    corners = np.full(3, -1, dtype=np.int64)
    for at in range(graph.start[source], graph.start[source + 1]):
        out = graph.slot[at]
        middle = end_of(graph, out)
        first = 0.0 if hidden[out >> 1] else cost[out >> 1]
        if (
            out >> 1 == cell
            or middle == target
            or first >= best
            or not _fits(up, down, out, rise, fall)
        ):
            continue
        for step in range(graph.start[middle], graph.start[middle + 1]):
            across = graph.slot[step]
            corner = end_of(graph, across)
            if corner == source:
                continue
            price = 0.0 if hidden[across >> 1] else cost[across >> 1]
            total = first + price + closing[corner]
            if total < best and _fits(up, down, across, rise, fall):
                best = total
                corners[0] = out >> 1
                corners[1] = across >> 1
                corners[2] = closer[corner]
    return best, corners
