"""Kernel: the cheapest path between two nodes, hidden cells being free.

A search from both ends (Pohl 1971) over arcs sorted by cost: a node's arcs are looked
at one by one as their turn comes, so of a dense table only a small share is touched.
What hidden cells reach for free is often most of the table from one end and little from
the other: only the smaller side's arcs are then looked at.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Net, PatternArrays, Side
from evosdc.suppress.engine.network.paths import residual, slot_end
from evosdc.suppress.structure import heap


@kernel(inline="always")
def _label(
    arcs: Arcs, side: Side, node: int, distance: float, slot: int, now: int
) -> None:
    side.pointer[node] = arcs.start[node]
    side.seen[node] = now
    side.distance[node] = distance
    side.via[node] = slot
    side.queue[side.size[0]] = node
    side.size[0] += 1


@kernel(inner=True)
def _push_next(
    arcs: Arcs,
    live: PatternArrays,
    side: Side,
    node: int,
    forward: bool,
    now: int,
    limit: float,
    best: float,
) -> None:
    """Let a node wait for its next arc through a published cell, if it can matter.

    Nodes labelled already are passed over, but only up to the limit: arcs further away
    may never have their turn.
    """
    base = side.distance[node]
    end = arcs.start[node + 1]
    at = side.pointer[node]
    while at < end:
        slot = arcs.slot[at]
        cell = slot >> 1
        value = base + arcs.price[at]
        if value >= best:
            break
        if not live.hidden[cell]:
            upward = (slot & 1 == 0) == forward
            room = arcs.up[cell] if upward else arcs.down[cell]
            if room > 0 and (value > limit or side.seen[slot_end(arcs, slot)] != now):
                size = heap.lower(
                    side.heap, side.spot, side.key, side.size[2], node, value
                )
                side.size[2] = size
                break
        at += 1
    side.pointer[node] = at


@kernel(inner=True)
def _spread(
    net: Net,
    side: Side,
    other: Side,
    forward: bool,
    banned: int,
    now: int,
    best: float,
    meet: int,
) -> tuple[float, int]:
    """Label what hidden cells reach for free; return the best meeting of both sides."""
    while side.size[1] < side.size[0]:
        node = side.queue[side.size[1]]
        side.size[1] += 1
        distance = side.distance[node]
        if other.seen[node] == now and distance + other.distance[node] < best:
            best = distance + other.distance[node]
            meet = node
        slot = net.live.first[node]
        while slot >= 0:
            through = slot if forward else slot ^ 1
            if slot >> 1 != banned and residual(net.arcs, net.work, through) > 0:
                end = slot_end(net.arcs, slot)
                if side.seen[end] != now:
                    _label(net.arcs, side, end, distance, through, now)
            slot = net.live.following[slot]
    return best, meet


@kernel(inner=True)
def _reach(side: Side) -> float:
    """How near at least every node is that a side has not labelled."""
    reach = np.inf
    if side.size[3] < side.size[0]:
        reach = side.distance[side.queue[side.size[3]]]
    if side.size[2] > 0:
        reach = min(reach, side.key[side.heap[0]])
    return reach


@kernel(inner=True)
def _step(
    arcs: Arcs, live: PatternArrays, side: Side, forward: bool, now: int, best: float
) -> None:
    """Follow the nearest arc of a side."""
    while side.size[3] < side.size[0]:
        node = side.queue[side.size[3]]
        side.size[3] += 1
        _push_next(arcs, live, side, node, forward, now, side.distance[node], best)
    if side.size[2] == 0:
        return
    node = heap.take(side.heap, side.spot, side.key, side.size[2])
    side.size[2] -= 1
    value = side.key[node]
    slot = arcs.slot[side.pointer[node]]
    end = slot_end(arcs, slot)
    if side.seen[end] != now:
        _label(arcs, side, end, value, slot if forward else slot ^ 1, now)
    side.pointer[node] += 1
    _push_next(arcs, live, side, node, forward, now, value, best)


@kernel(inner=True)
def _join(
    arcs: Arcs,
    live: PatternArrays,
    side: Side,
    other: Side,
    forward: bool,
    now: int,
    best: float,
) -> tuple[float, int]:
    """Find an arc from one side to the other that beats the best meeting.

    Both of its ends are labelled by now, but its turn came from neither. Returns the
    cost of the path and the slot in the path's direction, -1 for none.
    """
    joint = -1
    for i in range(side.size[0]):
        node = side.queue[i]
        if other.seen[node] == now:
            continue
        base = side.distance[node]
        for at in range(side.pointer[node], arcs.start[node + 1]):
            value = base + arcs.price[at]
            if value >= best:
                break
            slot = arcs.slot[at]
            cell, end = slot >> 1, slot_end(arcs, slot)
            if other.seen[end] != now or live.hidden[cell]:
                continue
            upward = (slot & 1 == 0) == forward
            room = arcs.up[cell] if upward else arcs.down[cell]
            if room > 0 and value + other.distance[end] < best:
                best = value + other.distance[end]
                joint = slot if forward else slot ^ 1
    return best, joint


@kernel(inner=True)
def cheapest_path(net: Net, source: int, target: int, banned: int) -> float:
    """Find the cheapest path with residual capacity; hidden cells are free.

    The path is left in ``work.ahead.via``; its cost is returned, infinite where there
    is no path. Published cells carry no flow, so only hidden ones have residuals.
    """
    net.work.clock[0] += 1
    now = net.work.clock[0]
    ahead, back = net.work.ahead, net.work.back
    ahead.size[:] = 0
    back.size[:] = 0
    _label(net.arcs, ahead, source, 0.0, -1, now)
    _label(net.arcs, back, target, 0.0, -1, now)
    best, meet = np.inf, -1
    while True:
        best, meet = _spread(net, back, ahead, False, banned, now, best, meet)
        best, meet = _spread(net, ahead, back, True, banned, now, best, meet)
        if _reach(ahead) + _reach(back) >= best:
            break
        if ahead.size[0] < back.size[0]:
            _step(net.arcs, net.live, ahead, True, now, best)
        else:
            _step(net.arcs, net.live, back, False, now, best)
    heap.clear(ahead.heap, ahead.spot, ahead.size[2])
    heap.clear(back.heap, back.spot, back.size[2])
    if best == np.inf:
        return best
    # A crossing arc is looked for from one side only: it would be found from either.
    if ahead.size[0] < back.size[0]:
        best, joint = _join(net.arcs, net.live, ahead, back, True, now, best)
    else:
        best, joint = _join(net.arcs, net.live, back, ahead, False, now, best)
    if joint >= 0:
        meet = slot_end(net.arcs, joint)
        ahead.via[meet] = joint
    while meet != target:
        slot = back.via[meet]
        meet = slot_end(net.arcs, slot)
        ahead.via[meet] = slot
    return best
