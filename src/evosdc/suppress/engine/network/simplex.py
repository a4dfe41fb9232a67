"""Kernel: minimum cost flows by the network simplex method.

Where a level is worth thousands of the cells round it, its flow takes thousands of
cheapest paths, one search each. The simplex method on a spanning tree (Dantzig 1951;
Ahuja, Magnanti & Orlin 1993, chapter 11) pays a few steps for each cell that it fills
instead. Trees stay strongly feasible (Cunningham 1976), so that it does not cycle;
every cell is an arc each way; missing flow is an arc to a root, more expensive than any
other, which is kept as a first cost of its own so that no figure has to be large.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Net, PatternArrays
from evosdc.suppress.engine.network.paths import slot_end, slot_origin, touch

_LOWER, _BASIC, _UPPER = 1, 0, -1


class SlotArcs(NamedTuple):
    """The arcs of a program: a slot each, then one between each node and the root.

    `state` says of slots whether they are empty, full or in the tree; gains up to
    `least` are rounding.
    """

    tail: Int
    head: Int
    price: Real
    room: Long
    flow: Long
    state: np.ndarray
    least: float


class SpanningTree(NamedTuple):
    """The tree: who is `above` a node, the arc `by` which, and if that arc rises.

    Who is `below` is a list of siblings, `after` and `before` each other. `missing`
    and `worth` are the potentials of a node, in flow missing and in costs.
    """

    above: Int
    by: Int
    rises: Flags
    depth: Int
    below: Int
    after: Int
    before: Int
    missing: Int
    worth: Real
    stack: Int


@kernel(inner=True)
def _usable(arcs: Arcs, live: PatternArrays, shut: Flags) -> np.ndarray:
    """Slots that flow may go through: hidden cells, and cells that can be hidden."""
    slots = np.empty(2 * len(shut), dtype=np.int32)
    count = 0
    for node in range(len(live.first)):
        slot = live.first[node]
        while slot >= 0:
            slots[count] = slot
            count += 1
            slot = live.following[slot]
        for at in range(arcs.start[node], arcs.start[node + 1]):
            if not live.hidden[arcs.slot[at] >> 1]:
                slots[count] = arcs.slot[at]
                count += 1
    kept = 0
    for i in range(count):
        cell = slots[i] >> 1
        room = arcs.down[cell] if slots[i] & 1 else arcs.up[cell]
        if room > 0 and not shut[cell]:
            slots[kept] = slots[i]
            kept += 1
    return slots[:kept]


@kernel(inline="always")
def _missing(supply: int) -> int:
    """What a unit to or from the root costs: so that it is missing at an end only."""
    return 1 if supply else 2


@kernel(inner=True)
def _arcs_of(
    arcs: Arcs, live: PatternArrays, slots: Int, supply: Long, cost: Real
) -> SlotArcs:
    """Return the arcs of a program, empty but for those to and from the root."""
    m, n = len(slots), len(supply)
    tail = np.empty(m + n, dtype=np.int32)
    head = np.empty(m + n, dtype=np.int32)
    price = np.zeros(m + n)
    room = np.empty(m + n, dtype=np.int64)
    flow = np.zeros(m + n, dtype=np.int64)
    state = np.full(m, _LOWER, dtype=np.int8)
    highest = 0.0
    for k in range(m):
        slot = slots[k]
        cell = slot >> 1
        tail[k], head[k] = slot_origin(arcs, slot), slot_end(arcs, slot)
        room[k] = arcs.down[cell] if slot & 1 else arcs.up[cell]
        if not live.hidden[cell]:
            price[k] = cost[cell]
            highest = max(highest, cost[cell])
    for node in range(n):
        k = m + node
        room[k] = np.iinfo(np.int64).max
        flow[k] = abs(supply[node])
        tail[k], head[k] = (node, n) if supply[node] >= 0 else (n, node)
    return SlotArcs(tail, head, price, room, flow, state, 1e-9 * highest)


@kernel(inner=True)
def _first_tree(m: int, supply: Long) -> SpanningTree:
    """Return the tree in which every node hangs on the root, the last node."""
    n = len(supply)
    tree = SpanningTree(
        np.full(n + 1, n, dtype=np.int32),
        np.zeros(n + 1, dtype=np.int32),
        np.zeros(n + 1, dtype=np.bool_),
        np.ones(n + 1, dtype=np.int32),
        np.full(n + 1, -1, dtype=np.int32),
        np.full(n + 1, -1, dtype=np.int32),
        np.full(n + 1, -1, dtype=np.int32),
        np.zeros(n + 1, dtype=np.int32),
        np.zeros(n + 1),
        np.empty(n + 1, dtype=np.int32),
    )
    for node in range(n):
        tree.by[node] = m + node
        tree.rises[node] = supply[node] >= 0
        tree.missing[node] = -_missing(supply[node]) if tree.rises[node] else 1
        tree.after[node] = node + 1 if node + 1 < n else -1
        tree.before[node] = node - 1
    tree.depth[n] = 0
    tree.above[n] = -1
    tree.below[n] = 0 if n else -1
    return tree


@kernel(inline="always")
def _worst_of_block(
    slots: SlotArcs, tree: SpanningTree, at: int, block: int
) -> tuple[int, int]:
    """Return the arc that gains most of the next `block`, or -1, and where they end."""
    m = len(slots.state)
    chosen, worst_missing, worst = -1, 0, -slots.least
    for _ in range(min(block, m)):
        state = slots.state[at]
        if state != _BASIC:
            # Without a sign, so that no index is looked at for being negative.
            tail, head = np.uint32(slots.tail[at]), np.uint32(slots.head[at])
            short = state * (tree.missing[tail] - tree.missing[head])
            if short <= worst_missing:
                gain = state * (slots.price[at] + tree.worth[tail] - tree.worth[head])
                if short < worst_missing or gain < worst:
                    chosen, worst_missing, worst = at, short, gain
        at += 1
        if at == m:
            at = 0
    return chosen, at


@kernel(inline="always")
def _join_of(tree: SpanningTree, a: int, b: int) -> int:
    """Return the node where the ways of two nodes to the root meet."""
    while a != b:
        if tree.depth[a] > tree.depth[b]:
            a = tree.above[a]
        else:
            b = tree.above[b]
    return a


@kernel(inline="always")
def _leaving(
    slots: SlotArcs, tree: SpanningTree, chosen: int, first: int, second: int, join: int
) -> tuple[int, int, int]:
    """How far flow can change round the cycle that an arc closes, and what stops it.

    Returns the amount, the node below the arc that leaves (-1: the arc chosen itself)
    and on which side of the join it is. Of arcs that block alike, the last one on the
    way round from the join leaves.
    """
    flow, room = slots.flow, slots.room
    most, out, side = room[chosen], -1, 0
    a = first
    while a != join:
        k = tree.by[a]
        free = flow[k] if tree.rises[a] else room[k] - flow[k]
        if free < most:
            most, out, side = free, a, 1
        a = tree.above[a]
    b = second
    while b != join:
        k = tree.by[b]
        free = room[k] - flow[k] if tree.rises[b] else flow[k]
        if free <= most:
            most, out, side = free, b, 2
        b = tree.above[b]
    return most, out, side


@kernel(inline="always")
def _send_along_cycle(
    slots: SlotArcs,
    tree: SpanningTree,
    chosen: int,
    first: int,
    second: int,
    join: int,
    most: int,
) -> None:
    """Send flow round the cycle that an arc closes."""
    slots.flow[chosen] += slots.state[chosen] * most
    a = first
    while a != join:
        slots.flow[tree.by[a]] += -most if tree.rises[a] else most
        a = tree.above[a]
    b = second
    while b != join:
        slots.flow[tree.by[b]] += most if tree.rises[b] else -most
        b = tree.above[b]


@kernel(inline="always")
def _reattach(
    slots: SlotArcs, tree: SpanningTree, chosen: int, node: int, parent: int, out: int
) -> None:
    """Hang the part that was cut off on the arc chosen, its path turned round."""
    above, by, rises = tree.above, tree.by, tree.rises
    below, after, before = tree.below, tree.after, tree.before
    k, up = chosen, slots.tail[chosen] == node
    while True:
        old, old_k, old_up = above[node], by[node], rises[node]
        if before[node] >= 0:
            after[before[node]] = after[node]
        else:
            below[old] = after[node]
        if after[node] >= 0:
            before[after[node]] = before[node]
        above[node], by[node], rises[node] = parent, k, up
        after[node] = below[parent]
        before[node] = -1
        if below[parent] >= 0:
            before[below[parent]] = node
        below[parent] = node
        if node == out:
            break
        parent, k, up = node, old_k, not old_up
        node = old


@kernel(inline="always")
def _update_below(slots: SlotArcs, tree: SpanningTree, supply: Long, top: int) -> None:
    """Update depths and potentials from a node down."""
    m = len(slots.state)
    stack = tree.stack
    size = 1
    stack[0] = top
    while size:
        size -= 1
        node = stack[size]
        parent, k = tree.above[node], tree.by[node]
        tree.depth[node] = tree.depth[parent] + 1
        sign = -1 if tree.rises[node] else 1
        tree.missing[node] = tree.missing[parent]
        if k >= m:
            tree.missing[node] += sign * _missing(supply[k - m])
        tree.worth[node] = tree.worth[parent] + sign * slots.price[k]
        child = tree.below[node]
        while child >= 0:
            stack[size] = child
            size += 1
            child = tree.after[child]


@kernel(inner=True, borrows=True)
def _pivot_to_the_end(slots: SlotArcs, tree: SpanningTree, supply: Long) -> None:
    """Exchange arcs of the tree until none gains."""
    m = len(slots.state)
    block = max(100, int(np.sqrt(m)))
    at, idle = 0, 0
    while idle < m:
        chosen, at = _worst_of_block(slots, tree, at, block)
        if chosen < 0:
            idle += block
            continue
        idle = 0
        way = slots.state[chosen]
        first, second = slots.tail[chosen], slots.head[chosen]
        if way == _UPPER:
            first, second = second, first
        join = _join_of(tree, first, second)
        most, out, side = _leaving(slots, tree, chosen, first, second, join)
        if most > 0:
            _send_along_cycle(slots, tree, chosen, first, second, join, most)
        if side == 0:
            slots.state[chosen] = -way
            continue
        slots.state[chosen] = _BASIC
        leaving = tree.by[out]
        if leaving < m:
            slots.state[leaving] = _LOWER if slots.flow[leaving] == 0 else _UPPER
        top = first if side == 1 else second
        _reattach(slots, tree, chosen, top, second if side == 1 else first, out)
        _update_below(slots, tree, supply, top)


@kernel(inner=True)
def send_by_simplex(net: Net, shut: Flags, supply: Long, cost: Real) -> int:
    """Send `supply` at least cost, hidden cells being free; return what cannot be sent.

    ``work.flow`` must be empty and holds the flow afterwards.
    """
    usable = _usable(net.arcs, net.live, shut)
    m = len(usable)
    slots = _arcs_of(net.arcs, net.live, usable, supply, cost)
    _pivot_to_the_end(slots, _first_tree(m, supply), supply)
    flow = slots.flow
    for k in range(m):
        if flow[k] != 0:
            cell = usable[k] >> 1
            touch(net.work, cell)
            net.work.flow[cell] += -flow[k] if usable[k] & 1 else flow[k]
    left = 0
    for node in range(len(supply)):
        if supply[node] > 0:
            left += flow[m + node]
    return left
