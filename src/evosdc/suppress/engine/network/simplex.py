"""Kernel: minimum cost flows by the network simplex method.

Where a level is worth thousands of the cells round it, its flow takes thousands of
cheapest paths, one search each. The simplex method on a spanning tree (Dantzig 1951;
Ahuja, Magnanti & Orlin 1993, chapter 11) pays a few steps for each cell that it fills
instead. Trees stay strongly feasible (Cunningham 1976), so that it does not cycle;
every cell is an arc each way; missing flow is an arc to a root, dearer than any other,
which is kept as a first cost of its own so that no figure has to be large.
"""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    Flags,
    Long,
    PatternArrays,
    Real,
    Work,
)
from evosdc.suppress.engine.network.paths import slot_end, slot_origin, touch

_LOWER, _BASIC, _UPPER = 1, 0, -1


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
def send_by_simplex(
    arcs: Arcs, live: PatternArrays, work: Work, shut: Flags, supply: Long, cost: Real
) -> int:
    """Send `supply` at least cost, hidden cells being free; return what cannot be sent.

    ``work.flow`` must be empty and holds the flow afterwards.
    """
    slots = _usable(arcs, live, shut)
    m, n = len(slots), len(supply)
    root = n
    tail = np.empty(m + n, dtype=np.int32)
    head = np.empty(m + n, dtype=np.int32)
    price = np.zeros(m + n)
    room = np.empty(m + n, dtype=np.int64)
    flow = np.zeros(m + n, dtype=np.int64)
    state = np.full(m, _LOWER, dtype=np.int8)
    dearest = 0.0
    for k in range(m):
        slot = slots[k]
        cell = slot >> 1
        tail[k], head[k] = slot_origin(arcs, slot), slot_end(arcs, slot)
        room[k] = arcs.down[cell] if slot & 1 else arcs.up[cell]
        if not live.hidden[cell]:
            price[k] = cost[cell]
            dearest = max(dearest, cost[cell])
    least = 1e-9 * dearest

    # The tree: `above` and the arc to it, and who is below as a list of siblings.
    above = np.full(n + 1, root, dtype=np.int32)
    by = np.zeros(n + 1, dtype=np.int32)
    rises = np.zeros(n + 1, dtype=np.bool_)
    depth = np.ones(n + 1, dtype=np.int32)
    below = np.full(n + 1, -1, dtype=np.int32)
    after = np.full(n + 1, -1, dtype=np.int32)
    before = np.full(n + 1, -1, dtype=np.int32)
    missing = np.zeros(n + 1, dtype=np.int32)
    worth = np.zeros(n + 1)
    stack = np.empty(n + 1, dtype=np.int32)
    depth[root] = 0
    above[root] = -1
    for node in range(n):
        k = m + node
        by[node] = k
        rises[node] = supply[node] >= 0
        room[k] = np.iinfo(np.int64).max
        flow[k] = abs(supply[node])
        tail[k], head[k] = (node, root) if rises[node] else (root, node)
        missing[node] = -_missing(supply[node]) if rises[node] else 1
        after[node] = node + 1 if node + 1 < n else -1
        before[node] = node - 1
    below[root] = 0 if n else -1

    block = max(100, int(np.sqrt(m)))
    at, idle = 0, 0
    while idle < m:
        # The worst arc of the next block that has one.
        chosen, worst_missing, worst = -1, 0, -least
        for _ in range(min(block, m)):
            if state[at] != _BASIC:
                short = state[at] * (missing[tail[at]] - missing[head[at]])
                if short <= worst_missing:
                    gain = state[at] * (price[at] + worth[tail[at]] - worth[head[at]])
                    if short < worst_missing or gain < worst:
                        chosen, worst_missing, worst = at, short, gain
            at += 1
            if at == m:
                at = 0
        if chosen < 0:
            idle += block
            continue
        idle = 0

        # How far flow can change round the cycle that the arc closes.
        way = state[chosen]
        first, second = tail[chosen], head[chosen]
        if way == _UPPER:
            first, second = second, first
        a, b = first, second
        while a != b:
            if depth[a] > depth[b]:
                a = above[a]
            else:
                b = above[b]
        join = a
        # Of arcs that block alike, the last one on the way round from the join leaves.
        most, out, side = room[chosen], -1, 0
        a = first
        while a != join:
            k = by[a]
            free = flow[k] if rises[a] else room[k] - flow[k]
            if free < most:
                most, out, side = free, a, 1
            a = above[a]
        b = second
        while b != join:
            k = by[b]
            free = room[k] - flow[k] if rises[b] else flow[k]
            if free <= most:
                most, out, side = free, b, 2
            b = above[b]
        if most > 0:
            flow[chosen] += way * most
            a = first
            while a != join:
                flow[by[a]] += -most if rises[a] else most
                a = above[a]
            b = second
            while b != join:
                flow[by[b]] += most if rises[b] else -most
                b = above[b]
        if side == 0:
            state[chosen] = -way
            continue
        state[chosen] = _BASIC
        leaving = by[out]
        if leaving < m:
            state[leaving] = _LOWER if flow[leaving] == 0 else _UPPER

        # Hang the part that was cut off on the arc chosen, its path turned round.
        node = first if side == 1 else second
        parent = second if side == 1 else first
        top = node
        k, up = chosen, tail[chosen] == node
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
        size = 1
        stack[0] = top
        while size:
            size -= 1
            node = stack[size]
            parent, k = above[node], by[node]
            depth[node] = depth[parent] + 1
            sign = -1 if rises[node] else 1
            missing[node] = missing[parent]
            if k >= m:
                missing[node] += sign * _missing(supply[k - m])
            worth[node] = worth[parent] + sign * price[k]
            child = below[node]
            while child >= 0:
                stack[size] = child
                size += 1
                child = after[child]

    for k in range(m):
        if flow[k] != 0:
            cell = slots[k] >> 1
            touch(work, cell)
            work.flow[cell] += -flow[k] if slots[k] & 1 else flow[k]
    left = 0
    for node in range(n):
        if supply[node] > 0:
            left += flow[m + node]
    return left
