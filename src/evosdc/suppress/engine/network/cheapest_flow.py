"""Kernels: minimum cost flows on a network, hidden cells being free.

What hidden cells take is sent first, which costs nothing; the rest along cheapest paths
with potentials (Edmonds & Karp 1972), and where these are too many by the network
simplex method. Several levels in one program are several sources and targets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Net, Work
from evosdc.suppress.engine.network.paths import (
    ask_again,
    slot_end,
    slot_origin,
    touch,
)
from evosdc.suppress.engine.network.simplex import send_by_simplex
from evosdc.suppress.structure.primitives import heap_clear, heap_pop, heap_push

# A flow that takes more searches than this is left to the simplex method: below it
# searches are cheaper than a tree of the whole network.
_SEARCHES = 32
# Reduced costs below this count as nothing.
_TIGHT = 1e-9


class Flows(NamedTuple):
    """Scratch space of minimum cost flows, clean between calls.

    `shut` marks cells whose movement is given; `excess` is what is still to leave a
    node (negative: to arrive), ``ends[:tally[0]]`` the nodes with any. The first heap
    holds nodes labelled, the second settled nodes that wait for the arc at their
    ``pointer``. ``tally[1]`` says that the flow of the level just covered would cover
    it the other way round as well; ``seen[node] == tally[2]`` where the search along
    tight arcs has been. Published cells with flow are listed at both ends:
    ``back_first[node]`` is a slot, ``back_next[slot]`` the next (-1 the end, -2 not
    listed).
    """

    shut: Flags
    excess: Long
    ends: Int
    tally: Long
    potential: Real
    distance: Real
    via: Int
    seen: Long
    heap: Int
    spot: Int
    key: Real
    pointer: Long
    arc_heap: Int
    arc_spot: Int
    arc_key: Real
    back_first: Int
    back_next: Int


def make_flows(nodes: int, cells: int, levels: int) -> Flows:
    """Allocate scratch space."""
    return Flows(
        shut=np.zeros(cells, dtype=np.bool_),
        excess=np.zeros(nodes, dtype=np.int64),
        ends=np.zeros(2 * levels, dtype=np.int32),
        tally=np.zeros(3, dtype=np.int64),
        potential=np.zeros(nodes),
        distance=np.zeros(nodes),
        via=np.zeros(nodes, dtype=np.int32),
        seen=np.zeros(nodes, dtype=np.int64),
        heap=np.zeros(nodes, dtype=np.int32),
        spot=np.full(nodes, -1, dtype=np.int32),
        key=np.zeros(nodes),
        pointer=np.zeros(nodes, dtype=np.int64),
        arc_heap=np.zeros(nodes, dtype=np.int32),
        arc_spot=np.full(nodes, -1, dtype=np.int32),
        arc_key=np.zeros(nodes),
        back_first=np.full(nodes, -1, dtype=np.int32),
        back_next=np.full(2 * cells, -2, dtype=np.int32),
    )


@kernel(inner=True, borrows=True)
def _reach(
    flows: Flows, slot: int, end: int, through: float, size: int, best: float
) -> tuple[int, float]:
    """Note a shorter way to a node; return the nodes waiting and the nearest target."""
    flows.distance[end] = through
    flows.via[end] = slot
    size = heap_push(flows.heap, flows.spot, flows.key, size, end, through)
    if flows.excess[end] < 0:
        best = min(best, through)
    return size, best


@kernel(inner=True, borrows=True)
def _along_hidden(
    net: Net, flows: Flows, node: int, size: int, best: float
) -> tuple[int, float]:
    """Look along the hidden cells of a settled node, which cost nothing."""
    here, potential = flows.distance[node], flows.potential
    slot = net.live.first[node]
    while slot >= 0:
        cell = slot >> 1
        flow = net.work.flow[cell]
        room = net.arcs.down[cell] + flow if slot & 1 else net.arcs.up[cell] - flow
        end = slot_end(net.arcs, slot)
        # Rounding may leave a reduced cost slightly below zero.
        through = max(here, here + potential[node] - potential[end])
        if through < flows.distance[end] and room > 0 and not flows.shut[cell]:
            size, best = _reach(flows, slot, end, through, size, best)
        slot = net.live.following[slot]
    return size, best


@kernel(inner=True, borrows=True)
def _along_flow(
    arcs: Arcs, work: Work, flows: Flows, cost: Real, node: int, size: int, best: float
) -> tuple[int, float]:
    """Look back along flow through published cells: its price is taken back too."""
    here, potential = flows.distance[node], flows.potential
    slot = flows.back_first[node]
    while slot >= 0:
        cell = slot >> 1
        flow = work.flow[cell]
        if flow != 0 and (flow > 0) == (slot & 1 == 1):
            end = slot_end(arcs, slot)
            through = here + potential[node] - cost[cell] - potential[end]
            through = max(here, through)
            if through < flows.distance[end]:
                size, best = _reach(flows, slot, end, through, size, best)
        slot = flows.back_next[slot]
    return size, best


@kernel(inner=True, borrows=True)
def _next_published(
    net: Net, flows: Flows, node: int, at: int, waiting: int, best: float
) -> int:
    """Let the next published cell of a node wait for its turn, if it can matter."""
    base = flows.distance[node] + flows.potential[node]
    while at < net.arcs.start[node + 1]:
        value = base + net.arcs.price[at]
        if value >= best:
            return waiting
        slot = net.arcs.slot[at]
        cell = slot >> 1
        flow = -net.work.flow[cell] if slot & 1 else net.work.flow[cell]
        room = net.arcs.down[cell] if slot & 1 else net.arcs.up[cell]
        if 0 <= flow < room and not net.live.hidden[cell]:
            end = slot_end(net.arcs, slot)
            if value - flows.potential[end] < flows.distance[end]:
                flows.pointer[node] = at
                return heap_push(
                    flows.arc_heap, flows.arc_spot, flows.arc_key, waiting, node, value
                )
        at += 1
    return waiting


@kernel(inner=True)
def _nearest_target(net: Net, flows: Flows, cost: Real) -> int:
    """Dijkstra's algorithm on reduced costs; -1 where no target is reached.

    The arcs of a settled node through published cells are looked at one by one as their
    turn comes, cheapest first. Potentials are never above 0, so the price alone says
    from where on no arc can matter.
    """
    order, key = flows.heap, flows.key
    arc_order, arc_key = flows.arc_heap, flows.arc_key
    flows.distance[:] = np.inf
    size, waiting, best = 0, 0, np.inf
    for i in range(flows.tally[0]):
        node = flows.ends[i]
        if flows.excess[node] > 0 and flows.distance[node] > 0:
            flows.distance[node] = 0.0
            flows.via[node] = -1
            size = heap_push(order, flows.spot, key, size, node, 0.0)
    found = -1
    while size or waiting:
        if waiting and (not size or arc_key[arc_order[0]] < key[order[0]]):
            node = heap_pop(arc_order, flows.arc_spot, arc_key, waiting)
            waiting -= 1
            at = flows.pointer[node]
            slot = net.arcs.slot[at]
            end = slot_end(net.arcs, slot)
            through = max(flows.distance[node], arc_key[node] - flows.potential[end])
            if through < flows.distance[end]:
                size, best = _reach(flows, slot, end, through, size, best)
            at += 1
        else:
            node = heap_pop(order, flows.spot, key, size)
            size -= 1
            if flows.excess[node] < 0:
                found = node
                break
            size, best = _along_hidden(net, flows, node, size, best)
            size, best = _along_flow(net.arcs, net.work, flows, cost, node, size, best)
            at = net.arcs.start[node]
        waiting = _next_published(net, flows, node, at, waiting, best)
    heap_clear(order, flows.spot, size)
    heap_clear(arc_order, flows.arc_spot, waiting)
    return found


@kernel(inner=True)
def _tight_target(net: Net, flows: Flows, cost: Real) -> int:
    """Look for a target along arcs whose reduced cost is nothing; -1 if there is none.

    Paths of the same cost are thus found without another search for the nearest one
    (Ford & Fulkerson 1962, the primal-dual method).
    """
    potential, excess, queue = flows.potential, flows.excess, flows.heap
    flow_of, up, down = net.work.flow, net.arcs.up, net.arcs.down
    flows.tally[2] += 1
    now = flows.tally[2]
    size = 0
    for i in range(flows.tally[0]):
        node = flows.ends[i]
        if excess[node] > 0 and flows.seen[node] != now:
            flows.seen[node] = now
            flows.via[node] = -1
            queue[size] = node
            size += 1
    at = 0
    while at < size:
        node = queue[at]
        at += 1
        if excess[node] < 0:
            return node
        here = potential[node] - _TIGHT
        slot = net.live.first[node]
        while slot >= 0:
            cell = slot >> 1
            end = slot_end(net.arcs, slot)
            if flows.seen[end] != now and here <= potential[end]:
                flow = flow_of[cell]
                room = down[cell] + flow if slot & 1 else up[cell] - flow
                if room > 0 and not flows.shut[cell]:
                    flows.seen[end] = now
                    flows.via[end] = slot
                    queue[size] = end
                    size += 1
            slot = net.live.following[slot]
        slot = flows.back_first[node]
        while slot >= 0:
            cell = slot >> 1
            end = slot_end(net.arcs, slot)
            flow = flow_of[cell]
            if (
                flow != 0
                and (flow > 0) == (slot & 1 == 1)
                and flows.seen[end] != now
                and here - cost[cell] <= potential[end]
            ):
                flows.seen[end] = now
                flows.via[end] = slot
                queue[size] = end
                size += 1
            slot = flows.back_next[slot]
        for k in range(net.arcs.start[node], net.arcs.start[node + 1]):
            # Potentials are never above 0.
            if here + net.arcs.price[k] > 0:
                break
            slot = net.arcs.slot[k]
            end = slot_end(net.arcs, slot)
            if flows.seen[end] != now and here + net.arcs.price[k] <= potential[end]:
                cell = slot >> 1
                flow = -flow_of[cell] if slot & 1 else flow_of[cell]
                room = down[cell] if slot & 1 else up[cell]
                if 0 <= flow < room and not net.live.hidden[cell]:
                    flows.seen[end] = now
                    flows.via[end] = slot
                    queue[size] = end
                    size += 1
    return -1


@kernel(inner=True)
def _room(net: Net, slot: int) -> int:
    """How much can go through a slot before it is full or its price changes."""
    cell = slot >> 1
    flow = -net.work.flow[cell] if slot & 1 else net.work.flow[cell]
    if flow < 0 and not net.live.hidden[cell]:
        return -flow
    return (net.arcs.down[cell] if slot & 1 else net.arcs.up[cell]) - flow


@kernel(inner=True)
def _send_along(net: Net, flows: Flows, target: int) -> None:
    """Send as much as the path to a target takes."""
    sent = -flows.excess[target]
    node = target
    while flows.via[node] >= 0:
        sent = min(sent, _room(net, flows.via[node]))
        node = slot_origin(net.arcs, flows.via[node])
    sent = min(sent, flows.excess[node])
    flows.excess[node] -= sent
    flows.excess[target] += sent
    node = target
    while flows.via[node] >= 0:
        slot = flows.via[node]
        cell = slot >> 1
        touch(net.work, cell)
        net.work.flow[cell] += -sent if slot & 1 else sent
        if not net.live.hidden[cell] and flows.back_next[2 * cell] == -2:
            for side in (2 * cell, 2 * cell + 1):
                end = slot_origin(net.arcs, side)
                flows.back_next[side] = flows.back_first[end]
                flows.back_first[end] = side
        node = slot_origin(net.arcs, slot)


@kernel(inner=True)
def send_cheapest(net: Net, flows: Flows, cost: Real) -> int:
    """Send every excess to the targets at least cost; return what is left to send.

    Needs a flow that is as cheap as any of its amount, such as none, or one through
    hidden cells only.
    """
    flows.potential[:] = 0.0
    left, sendable = 0, False
    for i in range(flows.tally[0]):
        left = max(left, flows.excess[flows.ends[i]])
    searches = 0
    while left > 0 and searches < _SEARCHES:
        searches += 1
        target = _nearest_target(net, flows, cost)
        if target < 0:
            sendable = False
            break
        far = flows.distance[target]
        if far > 0:
            for node in range(len(flows.distance)):
                if flows.distance[node] < far:
                    flows.potential[node] += flows.distance[node] - far
        while left > 0 and target >= 0:
            _send_along(net, flows, target)
            left = 0
            for i in range(flows.tally[0]):
                left = max(left, flows.excess[flows.ends[i]])
            if left > 0:
                target = _tight_target(net, flows, cost)
        sendable = True
    for i in range(net.work.touches[0]):
        cell = net.work.touched[i]
        if flows.back_next[2 * cell] != -2:
            for side in (2 * cell, 2 * cell + 1):
                flows.back_next[side] = -2
                flows.back_first[slot_origin(net.arcs, side)] = -1
    if left > 0 and sendable:
        return _send_many(net, flows, cost)
    return left


@kernel(inner=True)
def _send_many(net: Net, flows: Flows, cost: Real) -> int:
    """Start over by the simplex method, with what was sent and what was not."""
    supply = flows.excess.copy()
    ask_again(net, supply)
    left = send_by_simplex(net, flows.shut, supply, cost)
    for i in range(flows.tally[0]):
        flows.excess[flows.ends[i]] = 0
    return left
