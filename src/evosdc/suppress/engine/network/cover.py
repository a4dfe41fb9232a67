"""Kernels: cover levels along cheapest paths, keep witnesses, publish cells again.

A level is covered when its amount can be sent round through hidden cells other than its
own (Kelly, Golden & Assad 1992). The flow that does so is kept as its witness: taking a
cell away concerns only the levels whose witness uses it, and those only need the flow
through that cell sent another way.

Hidden cells are free for the cheapest path. It is searched from both ends (Pohl 1971)
over arcs sorted by cost: a node's arcs are looked at one by one as their turn comes, so
of a dense table only a small share is touched. What hidden cells reach for free is
often most of the table from one end and little from the other: only the smaller side's
arcs are then looked at.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    Net,
    NetworkDemands,
    PatternArrays,
    Side,
    Work,
)
from evosdc.suppress.engine.network.paths import (
    ask_again,
    augment,
    drop_flow,
    hidden_path,
    hide,
    hide_path,
    publish,
    residual,
    send_in_phases,
    slot_end,
)
from evosdc.suppress.engine.network.simplex import send_by_simplex
from evosdc.suppress.structure.primitives import heap_clear, heap_pop, heap_push

# Paths through hidden cells that are sought one at a time; a flow that takes more of
# them is sent in phases.
_PATHS = 32
# Cheapest paths that are sought one at a time; a flow that takes more of them is left
# to the simplex method, in so many parts. Both were tried: fewer are quicker on cells
# that are worth thousands of those round them, and hide more.
_SEARCHES, _PARTS = 1024, 4
# What came of sending a witness another way.
FAILED, DONE, FULL = 0, 1, 2


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
                size = heap_push(
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
    node = heap_pop(side.heap, side.spot, side.key, side.size[2])
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
    heap_clear(ahead.heap, ahead.spot, ahead.size[2])
    heap_clear(back.heap, back.spot, back.size[2])
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


@kernel
def level_ends(arcs: Arcs, demands: NetworkDemands, level: int) -> tuple[int, int]:
    """Return the nodes that a level's flow runs from and to."""
    cell = demands.cell[level]
    if demands.sign[level] > 0:
        return arcs.head[cell], arcs.tail[cell]
    return arcs.tail[cell], arcs.head[cell]


@kernel(inner=True)
def send_hidden(net: Net, source: int, target: int, banned: int, amount: int) -> int:
    """Send what hidden cells take, at most `amount`; return what is left to send."""
    for _ in range(_PATHS):
        if amount == 0 or not hidden_path(net, source, target, banned):
            return amount
        amount -= augment(net.arcs, net.work, source, target, amount)
    return send_in_phases(net, source, target, banned, amount, 0)


@kernel(inner=True)
def send_and_hide(net: Net, source: int, target: int, banned: int, amount: int) -> int:
    """Send a flow, hiding cells along cheapest paths where hidden ones do not do.

    What cannot be sent is returned.
    """
    amount = send_hidden(net, source, target, banned, amount)
    for _ in range(_SEARCHES):
        if amount == 0:
            return amount
        if cheapest_path(net, source, target, banned) == np.inf:
            return amount
        amount -= augment(net.arcs, net.work, source, target, amount)
        hide_path(net, source, target)
    return _hide_by_simplex(net, source, target, banned, amount)


@kernel(inner=True)
def _hide_by_simplex(
    net: Net, source: int, target: int, banned: int, amount: int
) -> int:
    """Send a large flow on top of the one there is; return what cannot be sent.

    Published cells cost by the unit. What one part hides is free for the next, so that
    the room of a hidden cell is used up, as along cheapest paths.
    """
    cost = np.zeros(len(net.live.hidden))
    for at in range(len(net.arcs.slot)):
        cost[net.arcs.slot[at] >> 1] = net.arcs.price[at]
    shut = np.zeros(len(net.live.hidden), dtype=np.bool_)
    shut[banned] = True
    for parts in range(_PARTS, 0, -1):
        sent = amount // parts
        supply = np.zeros(len(net.live.first), dtype=np.int64)
        supply[source] += sent
        supply[target] -= sent
        ask_again(net, supply)
        left = send_by_simplex(net, shut, supply, cost)
        amount -= sent - left
        if left > 0:
            return amount
        for i in range(net.work.touches[0]):
            cell = net.work.touched[i]
            if net.work.flow[cell] != 0 and not net.live.hidden[cell]:
                hide(net.arcs, net.live, cell)
    return amount


@kernel(inner=True)
def cover_level(net: Net, level: int, may_hide: bool) -> int:
    """Send a level's flow, hiding cells along cheapest paths where need be.

    This is the step of the shortest path heuristic (Carvalho, Dellaert & Osorio 1994;
    Almeida, Schuetz & Carvalho 2008). The flow is left in ``work.flow``; what cannot
    be sent is returned, and is then beyond any pattern if cells might be hidden.
    """
    source, target = level_ends(net.arcs, net.demands, level)
    if source == target:
        return 0
    banned = net.demands.cell[level]
    amount = net.demands.amount[level]
    if may_hide:
        return send_and_hide(net, source, target, banned, amount)
    return send_hidden(net, source, target, banned, amount)


@kernel(inner=True)
def store_witness(live: PatternArrays, work: Work, level: int) -> bool:
    """Keep the flow as the witness of a level and clear it.

    False, and nothing stored, where the pool has no room left.
    """
    size = 0
    for i in range(work.touches[0]):
        if work.flow[work.touched[i]] != 0:
            size += 1
    if size > live.space[level]:
        if live.tally[1] + size > len(live.pool_cell):
            drop_flow(work)
            return False
        live.begin[level] = live.tally[1]
        live.space[level] = size
        live.tally[1] += size
    at = live.begin[level]
    for i in range(work.touches[0]):
        cell = work.touched[i]
        if work.flow[cell] != 0:
            live.pool_cell[at] = cell
            live.pool_flow[at] = work.flow[cell]
            at += 1
    live.length[level] = size
    drop_flow(work)
    return True


@kernel(inner=True)
def load_witness(live: PatternArrays, work: Work, level: int) -> None:
    """Set the flow to the witness of a level."""
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        cell = live.pool_cell[at]
        work.flow[cell] = live.pool_flow[at]
        work.listed[cell] = True
        work.touched[work.touches[0]] = cell
        work.touches[0] += 1


@kernel
def covered_without_hiding(net: Net) -> np.ndarray:
    """Say which levels the hidden cells cover; nothing is kept."""
    covered = np.zeros(len(net.demands.cell), dtype=np.bool_)
    for level in range(len(net.demands.cell)):
        covered[level] = cover_level(net, level, False) == 0
        drop_flow(net.work)
    return covered


@kernel
def cover_levels(
    net: Net, order: np.ndarray, position: int, may_hide: bool, left: np.ndarray
) -> int:
    """Cover levels in order from a position on; return where the pool was full.

    Levels with a witness are passed over. ``left`` is set to what could not be sent:
    where cells might be hidden, no pattern can give it.
    """
    for i in range(position, len(order)):
        level = order[i]
        if net.live.length[level] >= 0:
            continue
        left[level] = cover_level(net, level, may_hide)
        if left[level] > 0:
            drop_flow(net.work)
        elif not store_witness(net.live, net.work, level):
            return i
    return len(order)


@kernel(inner=True)
def published(live: PatternArrays, level: int) -> int:
    """Count the published cells that a witness runs through."""
    count = 0
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        if not live.hidden[live.pool_cell[at]]:
            count += 1
    return count


@kernel(inner=True)
def reroute(net: Net, level: int, may_hide: bool) -> int:
    """Send the part of a witness that runs through published cells another way.

    What ran through a cell is sent from its one end to its other along hidden cells,
    then, where cells may be hidden, along cheapest paths. If one cell was published,
    that fails only where the level is lost. With several cells the ends may have to be
    paired differently, so that a failure is certain only once the whole amount has been
    sent from its ends. FULL where the pool is full, FAILED where no flow covers the
    level: the old witness stays, and a larger pool would not help.
    """
    live, work = net.live, net.work
    banned = net.demands.cell[level]
    left = np.int64(0)
    load_witness(live, work, level)
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        cell = live.pool_cell[at]
        if live.hidden[cell]:
            continue
        left = work.flow[cell]
        work.flow[cell] = 0
        source, target = net.arcs.tail[cell], net.arcs.head[cell]
        if left < 0:
            source, target, left = target, source, -left
        if may_hide:
            left = send_and_hide(net, source, target, banned, left)
        else:
            left = send_hidden(net, source, target, banned, left)
        if left > 0:
            break
    if left > 0:
        drop_flow(work)
        if not may_hide and published(live, level) < 2:
            return FAILED
        if cover_level(net, level, may_hide) > 0:
            drop_flow(work)
            return FAILED
    return DONE if store_witness(live, work, level) else FULL


@kernel(inline="always")
def uses(live: PatternArrays, level: int, cell: int) -> bool:
    """Whether the witness of a level runs through a cell."""
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        if live.pool_cell[at] == cell:
            return True
    return False


@kernel
def recheck(net: Net, position: int) -> int:
    """Find witnesses through published cells and send them another way.

    Levels where that fails lose their witness. Returns the level where the pool was
    full, or the number of levels.
    """
    for level in range(position, len(net.demands.cell)):
        if published(net.live, level) > 0:
            result = reroute(net, level, False)
            if result == FULL:
                return level
            if result == FAILED:
                net.live.length[level] = -1
    return len(net.demands.cell)


@kernel
def change(arcs: Arcs, live: PatternArrays, cells: np.ndarray, hidden: bool) -> None:
    """Hide or publish cells; sensitive ones and those already so are passed over."""
    for cell in cells:
        if hidden and not live.hidden[cell]:
            hide(arcs, live, cell)
        elif not hidden and live.place[cell] >= 0:
            publish(arcs, live, cell)
