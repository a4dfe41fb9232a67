"""Kernels: mend the levels that a change broke, publish what became redundant."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Net,
    PatternArrays,
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
from evosdc.suppress.structure.primitives import draw, order_of

# Kernels: a log of what a step changed in a state, and the way back.
#
# Nothing is copied: cells and witnesses are written down before they change, and
# restored from there where the step is not accepted.

# Marks of cells in a step: hidden, or published, when it began.
WAS_HIDDEN, WAS_PUBLISHED = 1, 2
# Most cells that a step looks at for redundancy.
_MOST_TIDIED = 48


class Log(NamedTuple):
    """What a step changed: cells with their state before, witnesses as they were.

    ``counts`` holds the numbers of cells, levels and witness entries logged.
    """

    mark: np.ndarray
    cell: np.ndarray
    level: np.ndarray
    start: np.ndarray
    length: np.ndarray
    logged: Flags
    flow_cell: np.ndarray
    flow: Long
    counts: Long


def make_log(live: PatternArrays) -> Log:
    """Allocate an empty log of changes to a state."""
    cells, levels, pool = len(live.hidden), len(live.length), len(live.pool_cell)
    return Log(
        mark=np.zeros(cells, dtype=np.int8),
        cell=np.zeros(cells, dtype=np.int32),
        level=np.zeros(levels, dtype=np.int32),
        start=np.zeros(levels, dtype=np.int64),
        length=np.zeros(levels, dtype=np.int32),
        logged=np.zeros(levels, dtype=np.bool_),
        flow_cell=np.zeros(pool, dtype=np.int32),
        flow=np.zeros(pool, dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )


@kernel(inner=True)
def note_cell(log: Log, cell: int, mark: int) -> None:
    if log.mark[cell] == 0:
        log.mark[cell] = mark
        log.cell[log.counts[0]] = cell
        log.counts[0] += 1


@kernel(inner=True)
def note_level(log: Log, live: PatternArrays, level: int) -> None:
    """Log a witness before it changes, once per step."""
    if log.logged[level]:
        return
    log.logged[level] = True
    at, size = log.counts[2], max(0, live.length[level])
    log.level[log.counts[1]] = level
    log.start[log.counts[1]] = at
    log.length[log.counts[1]] = live.length[level]
    for i in range(size):
        log.flow_cell[at + i] = live.pool_cell[live.begin[level] + i]
        log.flow[at + i] = live.pool_flow[live.begin[level] + i]
    log.counts[1] += 1
    log.counts[2] += size


@kernel
def forget(log: Log) -> None:
    """Empty the log: the step stands."""
    for i in range(log.counts[0]):
        log.mark[log.cell[i]] = 0
    for i in range(log.counts[1]):
        log.logged[log.level[i]] = False
    log.counts[:] = 0


@kernel(inner=True)
def undo(net: Net, log: Log) -> None:
    """Restore what the log holds. A witness's room never shrinks, so it fits."""
    live = net.live
    for i in range(log.counts[0]):
        cell = log.cell[i]
        before = log.mark[cell] == WAS_HIDDEN
        if before and not live.hidden[cell]:
            hide(net.arcs, live, cell)
        elif not before and live.hidden[cell]:
            publish(net.arcs, live, cell)
    for i in range(log.counts[1]):
        level = log.level[i]
        live.length[level] = log.length[i]
        for k in range(max(0, log.length[i])):
            live.pool_cell[live.begin[level] + k] = log.flow_cell[log.start[i] + k]
            live.pool_flow[live.begin[level] + k] = log.flow[log.start[i] + k]
    forget(log)


@kernel(inner=True)
def remove(net: Net, log: Log, cell: int) -> None:
    """Publish a cell and log it."""
    note_cell(log, cell, WAS_HIDDEN)
    publish(net.arcs, net.live, cell)


@kernel(inner=True)
def gain_of(live: PatternArrays, log: Log, cost: Real) -> float:
    """How much the logged changes add to the cost of the pattern."""
    gain = 0.0
    for i in range(log.counts[0]):
        cell = log.cell[i]
        before = log.mark[cell] == WAS_HIDDEN
        if live.hidden[cell] and not before:
            gain += cost[cell]
        elif before and not live.hidden[cell]:
            gain -= cost[cell]
    return gain


@kernel
def recreate(
    net: Net, log: Log, state: np.ndarray, cost: Real, levels: Long, room: float
) -> int:
    """Mend the affected levels in random order, for at most so much cost.

    The cells a step published are worth what they cost, so `room` is what the new ones
    may cost. FAILED where that is too little, or no pattern covers a level.
    """
    count = 0
    for level in range(len(net.demands.cell)):
        if published(net.live, level) > 0:
            levels[count] = level
            count += 1
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
def _choose(net: Net, chosen: Long, count: int, cell: int) -> int:
    """Add a secondary to a list, once."""
    listed = net.work.listed
    if count < len(chosen) and net.live.place[cell] >= 0 and not listed[cell]:
        listed[cell] = True
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
        count = _choose(net, chosen, count, log.cell[i])
    net.work.clock[0] += 1
    now = net.work.clock[0]
    for i in range(log.counts[0] - 1, -1, -1):
        for node in (net.arcs.tail[log.cell[i]], net.arcs.head[log.cell[i]]):
            if net.work.near[node] == now:
                continue
            net.work.near[node] = now
            slot = net.live.first[node]
            while slot >= 0 and count < len(chosen):
                count = _choose(net, chosen, count, slot >> 1)
                slot = net.live.following[slot]
    return count


@kernel(inner=True)
def _concerned(net: Net, levels: Long) -> int:
    """List the levels whose witness uses a cell marked in ``work.listed``."""
    live, listed = net.live, net.work.listed
    count = 0
    for level in range(len(net.demands.cell)):
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if listed[live.pool_cell[at]]:
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
    count = _concerned(net, levels)
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
    """Publish redundant secondaries near what changed, in order of falling cost.

    False where the pool is full.
    """
    chosen = np.empty(_MOST_TIDIED, dtype=np.int64)
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
        remove(net, log, cell)
        # What the new cells cost beyond the old one, the tidying must save.
        room = 1.1 * cost[cell]
        result = recreate(net, log, state, cost, levels, room)
        if result == DONE and not tidy(net, log, cost, levels, critic):
            result = FULL
        if result == DONE and gain_of(net.live, log, cost) < 0.0:
            forget(log)
        else:
            undo(net, log)
        if result == FULL:
            return i
    return len(order)
