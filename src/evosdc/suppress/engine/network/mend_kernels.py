"""Kernels: mend the levels that a change broke, publish what became redundant."""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.draw import draw
from evosdc.suppress.engine.network.arrays import (
    Long,
    Net,
    NetworkDemands,
    PatternArrays,
    Real,
    Work,
)
from evosdc.suppress.engine.network.changes import (
    WAS_HIDDEN,
    WAS_PUBLISHED,
    Log,
    forget,
    gain_of,
    note_cell,
    note_level,
    remove,
    undo,
)
from evosdc.suppress.engine.network.cover import (
    DONE,
    FAILED,
    FULL,
    published,
    reroute,
    uses,
)
from evosdc.suppress.engine.network.paths import hide, publish
from evosdc.suppress.engine.sort import order_of

# Cells a step looks at for redundancy at most.
_TIDIED = 48


@kernel(inner=True)
def _affected(demands: NetworkDemands, live: PatternArrays, levels: Long) -> int:
    """List the levels whose witness runs through published cells."""
    count = 0
    for level in range(len(demands.cell)):
        if published(live, level) > 0:
            levels[count] = level
            count += 1
    return count


@kernel
def recreate(
    net: Net, log: Log, state: np.ndarray, cost: Real, levels: Long, room: float
) -> int:
    """Mend the affected levels in random order, for at most so much cost.

    The cells a step published are worth what they cost, so `room` is what the new ones
    may cost. FAILED where that is too little, or no pattern covers a level.
    """
    count = _affected(net.demands, net.live, levels)
    size = net.live.tally[0]
    result = DONE
    while count > 0:
        pick = draw(state, count)
        level = levels[pick]
        count -= 1
        levels[pick] = levels[count]
        note_level(log, net.live, level)
        result = reroute(net, level, True)
        if result != DONE:
            break
        while size < net.live.tally[0]:
            room -= cost[net.live.extra[size]]
            note_cell(log, net.live.extra[size], WAS_PUBLISHED)
            size += 1
        if room < 0:
            result = FAILED
            break
    while size < net.live.tally[0]:
        note_cell(log, net.live.extra[size], WAS_PUBLISHED)
        size += 1
    return result


@kernel(inner=True)
def _choose(
    live: PatternArrays, work: Work, chosen: Long, count: int, cell: int
) -> int:
    """Add a secondary to a list, once."""
    if count < len(chosen) and live.place[cell] >= 0 and not work.listed[cell]:
        work.listed[cell] = True
        chosen[count] = cell
        count += 1
    return count


@kernel(inner=True)
def _near_changes(net: Net, log: Log, chosen: Long) -> int:
    """List secondaries that are new or meet a cell that changed; return how many.

    They stay marked in ``work.listed``. At most as many as the list takes.
    """
    count = 0
    for i in range(log.counts[0]):
        count = _choose(net.live, net.work, chosen, count, log.cell[i])
    net.work.clock[0] += 1
    now = net.work.clock[0]
    for i in range(log.counts[0] - 1, -1, -1):
        for node in (net.arcs.tail[log.cell[i]], net.arcs.head[log.cell[i]]):
            if net.work.near[node] == now:
                continue
            net.work.near[node] = now
            slot = net.live.first[node]
            while slot >= 0 and count < len(chosen):
                count = _choose(net.live, net.work, chosen, count, slot >> 1)
                slot = net.live.following[slot]
    return count


@kernel(inner=True)
def _concerned(
    demands: NetworkDemands, live: PatternArrays, work: Work, levels: Long
) -> int:
    """List the levels whose witness uses a cell marked in ``work.listed``."""
    count = 0
    for level in range(len(demands.cell)):
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if work.listed[live.pool_cell[at]]:
                levels[count] = level
                count += 1
                break
    return count


@kernel
def prune(
    net: Net, log: Log, order: Long, position: int, levels: Long, critic: np.ndarray
) -> int:
    """Publish, in order from a position on, the secondaries that no level needs.

    Delete and check (Carvalho, Dellaert & Osorio 1994), but only the levels whose
    witness uses the cell are checked, the one that last needed it first. A cell that is
    needed stays needed when others are published, so one pass leaves no redundant cell.
    Needs a witness for each level. Returns where the pool was full, or the number of
    cells.
    """
    for i in range(position, len(order)):
        net.work.listed[order[i]] = True
    count = _concerned(net.demands, net.live, net.work, levels)
    for i in range(position, len(order)):
        net.work.listed[order[i]] = False
    for i in range(position, len(order)):
        cell = order[i]
        if net.live.place[cell] < 0:
            continue
        publish(net.arcs, net.live, cell)
        needed = False
        # Without a level concerned there is none to ask, not even the critic.
        for j in range(-1 if count > 0 else 0, count):
            level = critic[cell] if j < 0 else levels[j]
            if not uses(net.live, level, cell):
                continue
            note_level(log, net.live, level)
            result = reroute(net, level, False)
            if result != DONE:
                hide(net.arcs, net.live, cell)
                critic[cell] = level
                needed = True
                if result == FULL:
                    return i
                break
        if not needed:
            note_cell(log, cell, WAS_HIDDEN)
    return len(order)


@kernel(inner=True)
def tidy(net: Net, log: Log, cost: Real, levels: Long, critic: np.ndarray) -> bool:
    """Publish redundant secondaries near what changed, dearest first.

    False where the pool is full.
    """
    chosen = np.empty(_TIDIED, dtype=np.int64)
    count = _near_changes(net, log, chosen)
    for i in range(count):
        net.work.listed[chosen[i]] = False
    order = chosen[order_of(-cost[chosen[:count]])]
    done = prune(net, log, order, 0, levels, critic)
    return done == len(order)


@kernel
def drop_in_turn(
    net: Net,
    log: Log,
    cost: Real,
    order: Long,
    position: int,
    state: np.ndarray,
    critic: np.ndarray,
) -> int:
    """Drop each cell in turn and keep what covers the levels at less cost.

    The mutation of GenSup (Almeida et al. 2008). Returns where the pool was full, or
    the number of cells.
    """
    levels = np.empty(len(net.demands.cell), dtype=np.int64)
    for i in range(position, len(order)):
        cell = order[i]
        if net.live.place[cell] < 0:
            continue
        remove(net.arcs, net.live, log, cell)
        # What the new cells cost beyond the old one, the tidying must save.
        room = 1.1 * cost[cell]
        result = recreate(net, log, state, cost, levels, room)
        if result == DONE and not tidy(net, log, cost, levels, critic):
            result = FULL
        if result == DONE and gain_of(net.live, log, cost) < 0.0:
            forget(log)
        else:
            undo(net.arcs, net.live, log)
        if result == FULL:
            return i
    return len(order)
