"""Kernel: large flows through hidden cells in phases of shortest paths (Dinic 1970).

Where a level is worth thousands of the cells round it, its flow runs along thousands of
paths. One search finds them all while they are of one length: an arc that is full or
leads nowhere is passed by for the rest of the phase.
"""

from __future__ import annotations

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Net,
)
from evosdc.suppress.engine.network.paths import (
    augment,
    residual,
    slot_end,
    slot_origin,
)


@kernel(inner=True)
def _layers(net: Net, source: int, target: int, banned: int) -> bool:
    """Number nodes by their distance from the source, up to the target's."""
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
                and residual(net.arcs, net.work, slot) > 0
            ):
                side.seen[end] = now
                side.distance[end] = side.distance[node] + 1
                side.pointer[end] = net.live.first[end]
                side.queue[size] = end
                size += 1
            slot = net.live.following[slot]
    return side.seen[target] == now


@kernel(inner=True)
def send_in_phases(net: Net, source: int, target: int, banned: int, amount: int) -> int:
    """Send what hidden cells take, at most `amount`; return what is left to send."""
    side = net.work.ahead
    while amount > 0 and _layers(net, source, target, banned):
        now = net.work.clock[0]
        node = source
        while amount > 0:
            slot = side.pointer[node]
            while slot >= 0:
                end = slot_end(net.arcs, slot)
                if (
                    side.seen[end] == now
                    and side.distance[end] == side.distance[node] + 1
                    and slot >> 1 != banned
                    and residual(net.arcs, net.work, slot) > 0
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
