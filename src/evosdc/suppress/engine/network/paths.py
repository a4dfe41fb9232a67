"""Kernels: hide and publish cells, find paths through hidden ones, send flow."""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Flags, Int, Long
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    Capacity,
    Graph,
    Net,
    NetworkDemands,
    PatternArrays,
    Work,
    make_live,
    make_work,
)


@kernel(inline="always")
def slot_end(arcs: Arcs | Graph, slot: int) -> int:
    """Return the node that a slot leads to."""
    return arcs.tail[slot >> 1] if slot & 1 else arcs.head[slot >> 1]


@kernel(inline="always")
def slot_origin(arcs: Arcs | Graph, slot: int) -> int:
    """Return the node that a slot leaves."""
    return arcs.head[slot >> 1] if slot & 1 else arcs.tail[slot >> 1]


@kernel(inline="always")
def residual(arcs: Arcs, work: Work, slot: int) -> int:
    """How much more can go through a slot, given the flow so far."""
    cell = slot >> 1
    if slot & 1:
        return arcs.down[cell] + work.flow[cell]
    return arcs.up[cell] - work.flow[cell]


@kernel
def degree(live: PatternArrays, node: int) -> int:
    """How many hidden cells meet at a node."""
    count, slot = 0, live.first[node]
    while slot >= 0:
        count += 1
        slot = live.following[slot]
    return count


@kernel(inner=True)
def _insert(first: np.ndarray, following: np.ndarray, node: int, slot: int) -> None:
    at = first[node]
    if at < 0 or at > slot:
        following[slot] = at
        first[node] = slot
        return
    while following[at] >= 0 and following[at] < slot:
        at = following[at]
    following[slot] = following[at]
    following[at] = slot


@kernel(inner=True)
def _delete(first: np.ndarray, following: np.ndarray, node: int, slot: int) -> None:
    at = first[node]
    if at == slot:
        first[node] = following[slot]
        return
    while following[at] != slot:
        at = following[at]
    following[at] = following[slot]


@kernel(inner=True)
def hide(arcs: Arcs, live: PatternArrays, cell: int) -> None:
    """Hide a cell that is not sensitive."""
    live.hidden[cell] = True
    live.place[cell] = live.tally[0]
    live.extra[live.tally[0]] = cell
    live.tally[0] += 1
    if arcs.tail[cell] != arcs.head[cell]:
        _insert(live.first, live.following, arcs.tail[cell], 2 * cell)
        _insert(live.first, live.following, arcs.head[cell], 2 * cell + 1)


@kernel(inner=True)
def publish(arcs: Arcs, live: PatternArrays, cell: int) -> None:
    """Publish a hidden cell that is not sensitive."""
    live.hidden[cell] = False
    live.tally[0] -= 1
    other = live.extra[live.tally[0]]
    live.extra[live.place[cell]] = other
    live.place[other] = live.place[cell]
    live.place[cell] = -1
    if arcs.tail[cell] != arcs.head[cell]:
        _delete(live.first, live.following, arcs.tail[cell], 2 * cell)
        _delete(live.first, live.following, arcs.head[cell], 2 * cell + 1)


@kernel
def hide_primaries(arcs: Arcs, live: PatternArrays, cells: np.ndarray) -> None:
    """Hide the sensitive cells, given in ascending order, in an empty state."""
    for i in range(len(cells) - 1, -1, -1):
        cell = cells[i]
        live.hidden[cell] = True
        if arcs.tail[cell] != arcs.head[cell]:
            for slot in (2 * cell, 2 * cell + 1):
                node = slot_origin(arcs, slot)
                live.following[slot] = live.first[node]
                live.first[node] = slot


def hidden_network(
    tail: Int, head: Int, up: Capacity, down: Capacity, nodes: int, cells: Long
) -> Net:
    """Return a network of hidden cells without levels, for flows of its own.

    Capacities are whole or real, and so are the flows.
    """
    none = np.zeros(0, dtype=np.int64)
    arcs = Arcs(
        tail=tail,
        head=head,
        up=up,
        down=down,
        start=np.zeros(nodes + 1, dtype=np.int64),
        slot=none.astype(np.int32),
        price=none.astype(np.float64),
    )
    live = make_live(nodes, len(tail), 0, 0)
    hide_primaries(arcs, live, cells)
    demands = NetworkDemands(none, none.astype(np.int8), none)
    return Net(arcs, demands, live, make_work(nodes, len(tail), up.dtype))


@kernel(inner=True)
def hidden_path(net: Net, source: int, target: int, banned: int) -> bool:
    """Find a path with residual capacity through hidden cells other than `banned`.

    Breadth first, so the path has as few cells as can be. Nodes one step from the
    target are marked beforehand: in tables most paths are short, and the search ends
    as soon as it sees such a node. The path is left in ``work.ahead.via``.
    """
    net.work.clock[0] += 1
    now = net.work.clock[0]
    reached = False
    slot = net.live.first[target]
    while slot >= 0:
        into = slot ^ 1
        if slot >> 1 != banned and residual(net.arcs, net.work, into) > 0:
            node = slot_origin(net.arcs, into)
            if net.work.near[node] != now:
                net.work.near[node] = now
                net.work.last[node] = into
                reached = True
        slot = net.live.following[slot]
    if not reached:
        return False
    net.work.ahead.seen[source] = now
    if net.work.near[source] == now:
        net.work.ahead.via[target] = net.work.last[source]
        return True
    net.work.ahead.queue[0] = source
    done, size = 0, 1
    while done < size:
        slot = net.live.first[net.work.ahead.queue[done]]
        done += 1
        while slot >= 0:
            if slot >> 1 != banned and residual(net.arcs, net.work, slot) > 0:
                node = slot_end(net.arcs, slot)
                if net.work.ahead.seen[node] != now:
                    net.work.ahead.seen[node] = now
                    net.work.ahead.via[node] = slot
                    if net.work.near[node] == now:
                        net.work.ahead.via[target] = net.work.last[node]
                        return True
                    net.work.ahead.queue[size] = node
                    size += 1
            slot = net.live.following[slot]
    return False


@kernel(inline="always")
def touch(work: Work, cell: int) -> None:
    """List a cell among those whose flow has to be set back to zero."""
    if not work.listed[cell]:
        work.listed[cell] = True
        work.touched[work.touches[0]] = cell
        work.touches[0] += 1


@kernel(inner=True)
def drop_flow(work: Work) -> None:
    """Set every flow back to zero."""
    for i in range(work.touches[0]):
        cell = work.touched[i]
        work.flow[cell] = 0
        work.listed[cell] = False
    work.touches[0] = 0


@kernel(inner=True)
def ask_again(net: Net, supply: Long) -> None:
    """Drop the flow and add what it sent to the supply of each node."""
    for i in range(net.work.touches[0]):
        cell = net.work.touched[i]
        supply[net.arcs.tail[cell]] += net.work.flow[cell]
        supply[net.arcs.head[cell]] -= net.work.flow[cell]
    drop_flow(net.work)


@kernel(inner=True)
def augment(arcs: Arcs, work: Work, source: int, target: int, most: float) -> float:
    """Send as much as the path found last takes, at most `most`; return how much."""
    sent = most
    node = target
    while node != source:
        slot = work.ahead.via[node]
        sent = min(sent, residual(arcs, work, slot))
        node = slot_origin(arcs, slot)
    node = target
    while node != source:
        slot = work.ahead.via[node]
        cell = slot >> 1
        touch(work, cell)
        work.flow[cell] += -sent if slot & 1 else sent
        node = slot_origin(arcs, slot)
    return sent


@kernel(inner=True)
def hide_path(net: Net, source: int, target: int) -> None:
    """Hide the published cells on the path found last."""
    node = target
    while node != source:
        slot = net.work.ahead.via[node]
        if not net.live.hidden[slot >> 1]:
            hide(net.arcs, net.live, slot >> 1)
        node = slot_origin(net.arcs, slot)


@kernel(inner=True)
def trace(graph: Graph, via: np.ndarray, source: int, target: int) -> np.ndarray:
    """Follow `via` back from the target; empty where it was not reached."""
    size, node = 0, target
    while node != source and via[node] >= 0:
        node = slot_origin(graph, via[node])
        size += 1
    path = np.empty(size if node == source else 0, dtype=np.int32)
    node = target
    for i in range(len(path)):
        path[i] = via[node]
        node = slot_origin(graph, path[i])
    return path


# Kernel: large flows through hidden cells in phases of shortest paths (Dinic 1970).
#
# Where a level is worth thousands of the cells round it, its flow runs along thousands
# of paths. One search finds them all while they are of one length: an arc that is full
# or leads nowhere is passed by for the rest of the phase.


@kernel(inner=True)
def _layers(net: Net, source: int, target: int, banned: int, slack: float) -> bool:
    """Number nodes by their distance from the source, up to the target's.

    Where the target is not reached, the nodes labelled are its side of a minimum cut.
    """
    net.work.clock[0] += 1
    now, side = net.work.clock[0], net.work.ahead
    side.seen[source] = now
    side.distance[source] = 0.0
    side.pointer[source] = net.live.first[source]
    side.queue[0] = source
    done, size = 0, 1
    while done < size and side.seen[target] != now:
        node = side.queue[done]
        done += 1
        slot = net.live.first[node]
        while slot >= 0:
            end = slot_end(net.arcs, slot)
            if (
                side.seen[end] != now
                and slot >> 1 != banned
                and residual(net.arcs, net.work, slot) > slack
            ):
                side.seen[end] = now
                side.distance[end] = side.distance[node] + 1
                side.pointer[end] = net.live.first[end]
                side.queue[size] = end
                size += 1
            slot = net.live.following[slot]
    return side.seen[target] == now


@kernel(inner=True)
def send_in_phases(
    net: Net, source: int, target: int, banned: int, amount: float, slack: float
) -> float:
    """Send what hidden cells take, at most `amount`; return what is left to send.

    Amounts and capacities are whole or real; a residual of `slack` or less counts as
    none.
    """
    side = net.work.ahead
    while amount > slack and _layers(net, source, target, banned, slack):
        now = net.work.clock[0]
        node = source
        while amount > slack:
            slot = side.pointer[node]
            while slot >= 0:
                end = slot_end(net.arcs, slot)
                if (
                    side.seen[end] == now
                    and side.distance[end] == side.distance[node] + 1
                    and slot >> 1 != banned
                    and residual(net.arcs, net.work, slot) > slack
                ):
                    break
                slot = net.live.following[slot]
            side.pointer[node] = slot
            if slot >= 0:
                node = slot_end(net.arcs, slot)
                side.via[node] = slot
                if node == target:
                    amount -= augment(net.arcs, net.work, source, target, amount)
                    node = source
            elif node == source:
                break
            else:
                # A dead end: nothing leads through it in this phase.
                side.distance[node] = -1.0
                node = slot_origin(net.arcs, side.via[node])
    return amount


@kernel
def minimum_cuts(
    net: Net, source: int, target: int, banned: int, amount: float, slack: float
) -> tuple[float, Flags, Flags]:
    """Send what hidden cells take; return what is left to send, and what holds it back.

    That is two sets of nodes with the source inside and the target outside, the cuts
    nearest the source and nearest the target. They say nothing where all can be sent.
    """
    left = send_in_phases(net, source, target, banned, amount, slack)
    arcs, work = net.arcs, net.work
    near = far = work.ahead.seen == work.clock[0]
    if left > slack:
        # Backwards from the target every arc and its flow turn round.
        for i in range(work.touches[0]):
            work.flow[work.touched[i]] *= -1
        turned = Arcs(
            arcs.tail, arcs.head, arcs.down, arcs.up, arcs.start, arcs.slot, arcs.price
        )
        _layers(Net(turned, net.demands, net.live, work), target, source, banned, slack)
        far = work.ahead.seen != work.clock[0]
    drop_flow(work)
    return left, near, far
