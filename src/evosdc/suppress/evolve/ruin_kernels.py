"""Kernels of ruin and recreate: whole runs of steps on one state, undone in place.

A step publishes a few hidden cells, covers the levels that broke along cheapest paths,
publishes what became redundant nearby, and is taken back unless accepted. Nothing is
copied: what a step changed is written to a log and restored from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from evosdc.suppress.network.arrays import Arcs, Demands, Flags, Live, Long, Real, Work
from evosdc.suppress.network.cover import (
    DONE,
    FAILED,
    FULL,
    cover_level,
    drop_flow,
    load_witness,
    reroute,
    send_hidden,
    store_witness,
    uses,
)
from evosdc.suppress.network.paths import (
    augment,
    cheapest_path,
    hide,
    hide_path,
    publish,
)

# How a step chooses the cells to publish.
RANDOM, NEAR, DEAR, WITNESS = 0, 1, 2, 3
# Marks of cells in a step: hidden, or published, when it began.
_WAS_HIDDEN, _WAS_PUBLISHED = 1, 2
# Cells a step looks at for redundancy at most.
_TIDIED = 48


class Log(NamedTuple):
    """What a step changed: cells with their state before, witnesses as they were.

    ``count`` holds the numbers of cells, levels and witness entries logged.
    """

    mark: np.ndarray
    cell: np.ndarray
    level: np.ndarray
    start: np.ndarray
    length: np.ndarray
    logged: Flags
    flow_cell: np.ndarray
    flow: Long
    count: Long


class Walk(NamedTuple):
    """Where a run of steps stands.

    ``state`` is the state of the random numbers; ``cost`` the present and the best
    cost; ``history`` the costs that late acceptance compares with; ``best`` the
    secondaries of the best pattern, ``size`` how many they are; ``steps`` the number
    of steps made; ``slack`` how much dearer a step may be before it is tidied;
    ``critic`` the level that last needed each cell.
    """

    state: np.ndarray
    cost: Real
    history: Real
    best: np.ndarray
    size: Long
    steps: Long
    slack: Real
    critic: np.ndarray


@njit(cache=True)
def draw(state: np.ndarray, below: int) -> int:
    """Draw a whole number from 0 up to one below (linear congruential, high bits)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(
        1442695040888963407
    )
    high = np.int64(state[0] >> np.uint64(33))
    return (high * below) >> 31


@njit(cache=True)
def _note_cell(log: Log, cell: int, mark: int) -> None:
    if log.mark[cell] == 0:
        log.mark[cell] = mark
        log.cell[log.count[0]] = cell
        log.count[0] += 1


@njit(cache=True)
def _note_level(log: Log, live: Live, level: int) -> None:
    """Log a witness before it changes, once a step."""
    if log.logged[level]:
        return
    log.logged[level] = True
    at, size = log.count[2], max(0, live.length[level])
    log.level[log.count[1]] = level
    log.start[log.count[1]] = at
    log.length[log.count[1]] = live.length[level]
    for i in range(size):
        log.flow_cell[at + i] = live.pool_cell[live.begin[level] + i]
        log.flow[at + i] = live.pool_flow[live.begin[level] + i]
    log.count[1] += 1
    log.count[2] += size


@njit(cache=True)
def forget(log: Log) -> None:
    """Empty the log: the step stands."""
    for i in range(log.count[0]):
        log.mark[log.cell[i]] = 0
    for i in range(log.count[1]):
        log.logged[log.level[i]] = False
    log.count[:] = 0


@njit(cache=True)
def undo(arcs: Arcs, live: Live, log: Log) -> None:
    """Restore what the log holds. A witness's room never shrinks, so it fits."""
    for i in range(log.count[0]):
        cell = log.cell[i]
        before = log.mark[cell] == _WAS_HIDDEN
        if before and not live.hidden[cell]:
            hide(arcs, live, cell)
        elif not before and live.hidden[cell]:
            publish(arcs, live, cell)
    for i in range(log.count[1]):
        level = log.level[i]
        live.length[level] = log.length[i]
        for k in range(max(0, log.length[i])):
            live.pool_cell[live.begin[level] + k] = log.flow_cell[log.start[i] + k]
            live.pool_flow[live.begin[level] + k] = log.flow[log.start[i] + k]
    forget(log)


@njit(cache=True)
def _remove(arcs: Arcs, live: Live, log: Log, cell: int) -> None:
    _note_cell(log, cell, _WAS_HIDDEN)
    publish(arcs, live, cell)


@njit(cache=True)
def _ruin_near(arcs: Arcs, live: Live, log: Log, state: np.ndarray, many: int) -> None:
    """Publish cells met on a random walk along hidden cells."""
    cell = live.extra[draw(state, live.tally[0])]
    node = arcs.tail[cell] if draw(state, 2) else arcs.head[cell]
    _remove(arcs, live, log, cell)
    gone = 1
    for _ in range(4 * many):
        if gone == many:
            return
        degree, slot = 0, live.first[node]
        while slot >= 0:
            degree += 1
            slot = live.following[slot]
        if degree == 0:
            return
        slot = live.first[node]
        for _ in range(draw(state, degree)):
            slot = live.following[slot]
        cell = slot >> 1
        node = arcs.tail[cell] if slot & 1 else arcs.head[cell]
        if live.place[cell] >= 0:
            _remove(arcs, live, log, cell)
            gone += 1


@njit(cache=True)
def _ruin_witness(
    arcs: Arcs, live: Live, log: Log, state: np.ndarray, level: int, many: int
) -> None:
    """Publish secondaries that follow one another in a level's witness."""
    size = live.length[level]
    if size <= 0:
        return
    start = draw(state, size)
    for i in range(size):
        cell = live.pool_cell[live.begin[level] + (start + i) % size]
        if live.place[cell] >= 0:
            _remove(arcs, live, log, cell)
            many -= 1
            if many == 0:
                return


@njit(cache=True)
def ruin(
    arcs: Arcs,
    demands: Demands,
    live: Live,
    log: Log,
    cost: Real,
    state: np.ndarray,
    most: int,
) -> None:
    """Publish a few hidden cells."""
    way = draw(state, 4)
    many = min(1 + draw(state, most), live.tally[0])
    if way == NEAR:
        _ruin_near(arcs, live, log, state, many)
        return
    if way == WITNESS:
        level = draw(state, len(demands.cell))
        _ruin_witness(arcs, live, log, state, level, many)
        return
    for _ in range(many):
        cell = live.extra[draw(state, live.tally[0])]
        if way == DEAR:
            other = live.extra[draw(state, live.tally[0])]
            if cost[other] > cost[cell]:
                cell = other
        _remove(arcs, live, log, cell)


@njit(cache=True)
def _affected(demands: Demands, live: Live, levels: Long) -> int:
    """List the levels whose witness runs through published cells."""
    count = 0
    for level in range(len(demands.cell)):
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if not live.hidden[live.pool_cell[at]]:
                levels[count] = level
                count += 1
                break
    return count


@njit(cache=True)
def _mend(arcs: Arcs, demands: Demands, live: Live, work: Work, level: int) -> bool:
    """Send what ran through published cells another way, hiding cells if need be.

    What ran through a cell is sent from its one end to its other along hidden cells,
    then along cheapest paths. Where pairing the ends so leads nowhere, the level is
    covered anew. False where the pool is full.
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
        left = send_hidden(arcs, live, work, source, target, banned, left)
        while left > 0:
            if cheapest_path(arcs, live, work, source, target, banned) == np.inf:
                break
            left -= augment(arcs, work, source, target, left)
            hide_path(arcs, live, work, source, target)
        if left > 0:
            break
    if left > 0:
        drop_flow(work)
        if cover_level(arcs, demands, live, work, level, True) > 0:
            drop_flow(work)
            return False
    return store_witness(live, work, level)


@njit(cache=True)
def recreate(
    arcs: Arcs,
    demands: Demands,
    live: Live,
    work: Work,
    log: Log,
    state: np.ndarray,
    cost: Real,
    levels: Long,
    room: float,
) -> int:
    """Mend the affected levels in random order, for at most so much cost.

    The cells a step published are worth what they cost, so `room` is what the new ones
    may cost.
    """
    count = _affected(demands, live, levels)
    size = live.tally[0]
    result = DONE
    while count > 0:
        pick = draw(state, count)
        level = levels[pick]
        count -= 1
        levels[pick] = levels[count]
        _note_level(log, live, level)
        if not _mend(arcs, demands, live, work, level):
            result = FULL
            break
        while size < live.tally[0]:
            room -= cost[live.extra[size]]
            _note_cell(log, live.extra[size], _WAS_PUBLISHED)
            size += 1
        if room < 0:
            result = FAILED
            break
    while size < live.tally[0]:
        _note_cell(log, live.extra[size], _WAS_PUBLISHED)
        size += 1
    return result


@njit(cache=True)
def _choose(live: Live, work: Work, chosen: Long, count: int, cell: int) -> int:
    """Add a secondary to a list, once."""
    if count < len(chosen) and live.place[cell] >= 0 and not work.listed[cell]:
        work.listed[cell] = True
        chosen[count] = cell
        count += 1
    return count


@njit(cache=True)
def _near_changes(arcs: Arcs, live: Live, work: Work, log: Log, chosen: Long) -> int:
    """List secondaries that are new or meet a cell that changed; return how many.

    They stay marked in ``work.listed``. At most as many as the list takes.
    """
    count = 0
    for i in range(log.count[0]):
        count = _choose(live, work, chosen, count, log.cell[i])
    work.clock[0] += 1
    now = work.clock[0]
    for i in range(log.count[0] - 1, -1, -1):
        for node in (arcs.tail[log.cell[i]], arcs.head[log.cell[i]]):
            if work.seen[node] == now:
                continue
            work.seen[node] = now
            slot = live.first[node]
            while slot >= 0 and count < len(chosen):
                count = _choose(live, work, chosen, count, slot >> 1)
                slot = live.following[slot]
    return count


@njit(cache=True)
def _concerned(demands: Demands, live: Live, work: Work, levels: Long) -> int:
    """List the levels whose witness uses a cell marked in ``work.listed``."""
    count = 0
    for level in range(len(demands.cell)):
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if work.listed[live.pool_cell[at]]:
                levels[count] = level
                count += 1
                break
    return count


@njit(cache=True)
def prune(
    arcs: Arcs,
    demands: Demands,
    live: Live,
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
        for j in range(-1, count):
            level = critic[cell] if j < 0 else levels[j]
            if not uses(live, level, cell):
                continue
            _note_level(log, live, level)
            result = reroute(arcs, demands, live, work, level)
            if result != DONE:
                hide(arcs, live, cell)
                critic[cell] = level
                needed = True
                if result == FULL:
                    return i
                break
        if not needed:
            _note_cell(log, cell, _WAS_HIDDEN)
    return len(order)


@njit(cache=True)
def tidy(
    arcs: Arcs,
    demands: Demands,
    live: Live,
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
    order = chosen[np.argsort(-cost[chosen[:count]], kind="mergesort")]
    done = prune(arcs, demands, live, work, log, order, 0, levels, critic)
    return done == len(order)


@njit(cache=True)
def drop_in_turn(
    arcs: Arcs,
    demands: Demands,
    live: Live,
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
        _remove(arcs, live, log, cell)
        # What the new cells cost beyond the old one, the tidying must save.
        room = 1.1 * cost[cell]
        result = recreate(arcs, demands, live, work, log, state, cost, levels, room)
        if result == DONE and not tidy(
            arcs, demands, live, work, log, cost, levels, critic
        ):
            result = FULL
        if result == DONE and _gain(live, log, cost) < 0.0:
            forget(log)
        else:
            undo(arcs, live, log)
        if result == FULL:
            return i
    return len(order)


@njit(cache=True)
def _gain(live: Live, log: Log, cost: Real) -> float:
    """How much dearer the logged changes made the pattern."""
    gain = 0.0
    for i in range(log.count[0]):
        cell = log.cell[i]
        before = log.mark[cell] == _WAS_HIDDEN
        if live.hidden[cell] and not before:
            gain += cost[cell]
        elif before and not live.hidden[cell]:
            gain -= cost[cell]
    return gain


@njit(cache=True)
def _keep_best(live: Live, walk: Walk) -> None:
    walk.cost[1] = walk.cost[0]
    walk.size[0] = live.tally[0]
    walk.best[: live.tally[0]] = live.extra[: live.tally[0]]


@njit(cache=True)
def _step(
    arcs: Arcs,
    demands: Demands,
    live: Live,
    work: Work,
    log: Log,
    walk: Walk,
    cost: Real,
    most: int,
    levels: Long,
) -> int:
    """Ruin, recreate and tidy up; say whether the step is worth looking at."""
    ruin(arcs, demands, live, log, cost, walk.state, most)
    at = walk.steps[0] % len(walk.history)
    room = max(0.0, walk.history[at] - walk.cost[0])
    room += walk.slack[0] - _gain(live, log, cost)
    result = recreate(arcs, demands, live, work, log, walk.state, cost, levels, room)
    if result != DONE:
        return result
    if not tidy(arcs, demands, live, work, log, cost, levels, walk.critic):
        return FULL
    return DONE


@njit(cache=True)
def walk_on(
    arcs: Arcs,
    demands: Demands,
    live: Live,
    work: Work,
    log: Log,
    walk: Walk,
    cost: Real,
    most: int,
    steps: int,
) -> int:
    """Make steps of ruin and recreate; return how many were made.

    Fewer than asked for where the pool is full; the last step is then taken back. Late
    acceptance (Burke & Bykov 2017): a step stands if its cost is no more than the
    present one or than the one `len(history)` steps ago.
    """
    levels = np.empty(len(demands.cell), dtype=np.int64)
    for step in range(steps):
        if live.tally[0] == 0:
            return steps
        result = _step(arcs, demands, live, work, log, walk, cost, most, levels)
        if result == FULL:
            undo(arcs, live, log)
            return step
        now = walk.cost[0] + _gain(live, log, cost)
        at = walk.steps[0] % len(walk.history)
        if result == DONE and (now <= walk.cost[0] or now <= walk.history[at]):
            walk.cost[0] = now
            forget(log)
            if now < walk.cost[1] * (1 - 1e-12):
                _keep_best(live, walk)
        else:
            undo(arcs, live, log)
        walk.history[at] = walk.cost[0]
        walk.steps[0] += 1
    return steps
