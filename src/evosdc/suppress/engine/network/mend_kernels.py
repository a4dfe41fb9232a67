"""Kernels: mend the levels that a change broke, publish what became redundant."""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.draw import draw
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    Long,
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
    cover_level,
    drop_flow,
    load_witness,
    reroute,
    send_and_hide,
    store_witness,
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
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if not live.hidden[live.pool_cell[at]]:
                levels[count] = level
                count += 1
                break
    return count


@kernel(inner=True)
def _mend(
    arcs: Arcs, demands: NetworkDemands, live: PatternArrays, work: Work, level: int
) -> int:
    """Send what ran through published cells another way, hiding cells if need be.

    What ran through a cell is sent from its one end to its other along hidden cells,
    then along cheapest paths. Where pairing the ends so leads nowhere, the level is
    covered anew. FULL where the pool is full, FAILED where no pattern covers the level:
    a larger pool would not help.
    """
    banned = demands.cell[level]
    left = np.int64(0)
    load_witness(live, work, level)
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        cell = live.pool_cell[at]
        if live.pool_flow[at] == 0 or live.place[cell] >= 0 or live.hidden[cell]:
            continue
        left = work.flow[cell]
        work.flow[cell] = 0
        source, target = arcs.tail[cell], arcs.head[cell]
        if left < 0:
            source, target, left = target, source, -left
        left = send_and_hide(arcs, live, work, source, target, banned, left)
        if left > 0:
            break
    if left > 0:
        drop_flow(work)
        if cover_level(arcs, demands, live, work, level, True) > 0:
            drop_flow(work)
            return FAILED
    return DONE if store_witness(live, work, level) else FULL


@kernel
def recreate(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    log: Log,
    state: np.ndarray,
    cost: Real,
    levels: Long,
    room: float,
) -> int:
    """Mend the affected levels in random order, for at most so much cost.

    The cells a step published are worth what they cost, so `room` is what the new ones
    may cost. FAILED where that is too little, or no pattern covers a level.
    """
    count = _affected(demands, live, levels)
    size = live.tally[0]
    result = DONE
    while count > 0:
        pick = draw(state, count)
        level = levels[pick]
        count -= 1
        levels[pick] = levels[count]
        note_level(log, live, level)
        result = _mend(arcs, demands, live, work, level)
        if result != DONE:
            break
        while size < live.tally[0]:
            room -= cost[live.extra[size]]
            note_cell(log, live.extra[size], WAS_PUBLISHED)
            size += 1
        if room < 0:
            result = FAILED
            break
    while size < live.tally[0]:
        note_cell(log, live.extra[size], WAS_PUBLISHED)
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
def _near_changes(
    arcs: Arcs, live: PatternArrays, work: Work, log: Log, chosen: Long
) -> int:
    """List secondaries that are new or meet a cell that changed; return how many.

    They stay marked in ``work.listed``. At most as many as the list takes.
    """
    count = 0
    for i in range(log.counts[0]):
        count = _choose(live, work, chosen, count, log.cell[i])
    work.clock[0] += 1
    now = work.clock[0]
    for i in range(log.counts[0] - 1, -1, -1):
        for node in (arcs.tail[log.cell[i]], arcs.head[log.cell[i]]):
            if work.near[node] == now:
                continue
            work.near[node] = now
            slot = live.first[node]
            while slot >= 0 and count < len(chosen):
                count = _choose(live, work, chosen, count, slot >> 1)
                slot = live.following[slot]
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
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    log: Log,
    order: Long,
    position: int,
    levels: Long,
    critic: np.ndarray,
) -> int:
    """Publish, in order from a position on, the secondaries that no level needs.

    The level that last needed a cell is asked first, since it most often still does.
    Returns where the pool was full, or the number of cells.
    """
    for i in range(position, len(order)):
        work.listed[order[i]] = True
    count = _concerned(demands, live, work, levels)
    for i in range(position, len(order)):
        work.listed[order[i]] = False
    for i in range(position, len(order)):
        cell = order[i]
        if live.place[cell] < 0:
            continue
        publish(arcs, live, cell)
        needed = False
        # Without a level concerned there is none to ask, not even the critic.
        for j in range(-1 if count > 0 else 0, count):
            level = critic[cell] if j < 0 else levels[j]
            if not uses(live, level, cell):
                continue
            note_level(log, live, level)
            result = reroute(arcs, demands, live, work, level)
            if result != DONE:
                hide(arcs, live, cell)
                critic[cell] = level
                needed = True
                if result == FULL:
                    return i
                break
        if not needed:
            note_cell(log, cell, WAS_HIDDEN)
    return len(order)


@kernel(inner=True)
def tidy(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    log: Log,
    cost: Real,
    levels: Long,
    critic: np.ndarray,
) -> bool:
    """Publish redundant secondaries near what changed, dearest first.

    False where the pool is full.
    """
    chosen = np.empty(_TIDIED, dtype=np.int64)
    count = _near_changes(arcs, live, work, log, chosen)
    for i in range(count):
        work.listed[chosen[i]] = False
    order = chosen[order_of(-cost[chosen[:count]])]
    done = prune(arcs, demands, live, work, log, order, 0, levels, critic)
    return done == len(order)


@kernel
def drop_in_turn(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
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
    levels = np.empty(len(demands.cell), dtype=np.int64)
    for i in range(position, len(order)):
        cell = order[i]
        if live.place[cell] < 0:
            continue
        remove(arcs, live, log, cell)
        # What the new cells cost beyond the old one, the tidying must save.
        room = 1.1 * cost[cell]
        result = recreate(arcs, demands, live, work, log, state, cost, levels, room)
        if result == DONE and not tidy(
            arcs, demands, live, work, log, cost, levels, critic
        ):
            result = FULL
        if result == DONE and gain_of(live, log, cost) < 0.0:
            forget(log)
        else:
            undo(arcs, live, log)
        if result == FULL:
            return i
    return len(order)
