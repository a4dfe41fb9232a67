"""Kernels: meet the row and column bounds of a level by hiding cells at its nodes."""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Flags, PatternArrays
from evosdc.suppress.engine.network.flow import Graph
from evosdc.suppress.engine.network.paths import hide


@kernel(inner=True)
def _through(arcs: Arcs, slot: int, leaving: bool) -> int:
    """Room of a slot along its direction, or against it."""
    upward = (slot & 1 == 0) == leaving
    return arcs.up[slot >> 1] if upward else arcs.down[slot >> 1]


@kernel
def meet_node_bound(
    arcs: Arcs,
    graph: Graph,
    live: PatternArrays,
    free: Flags,
    node: int,
    cell: int,
    amount: int,
    leaving: bool,
    shift: int,
) -> None:
    """Hide cells at a node until `amount` can leave (or enter) it beside a cell.

    That much must pass the node in any pattern that covers the level, which is the row
    or column bound of Carvalho & Almeida (2005). Cells are taken cheapest first,
    starting at position `shift` of those that qualify and going round.
    """
    slot = live.first[node]
    while slot >= 0:
        if slot >> 1 != cell:
            amount -= _through(arcs, slot, leaving)
            if amount <= 0:
                return
        slot = live.following[slot]
    start, end = graph.start[node], graph.start[node + 1]
    chosen = np.empty(end - start, dtype=np.int64)
    count = 0
    for at in range(start, end):
        other = graph.slot[at] >> 1
        if (
            free[other]
            and not live.hidden[other]
            and _through(arcs, graph.slot[at], leaving) > 0
        ):
            chosen[count] = graph.slot[at]
            count += 1
    for i in range(count):
        if amount <= 0:
            return
        slot = chosen[(i + shift) % count]
        hide(arcs, live, slot >> 1)
        amount -= _through(arcs, slot, leaving)
