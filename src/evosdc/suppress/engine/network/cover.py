"""Kernels: cover levels, keep their witnesses, take cells away again.

A level is covered when its amount can be sent round through hidden cells other than its
own (Kelly, Golden & Assad 1992). The flow that does so is kept as its witness: taking a
cell away concerns only the levels whose witness uses it, and those only need the flow
through that cell sent another way.
"""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    NetworkDemands,
    PatternArrays,
    Work,
)
from evosdc.suppress.engine.network.blocking import send_in_phases
from evosdc.suppress.engine.network.cheapest import cheapest_path
from evosdc.suppress.engine.network.paths import (
    augment,
    hidden_path,
    hide,
    hide_path,
    publish,
)
from evosdc.suppress.engine.network.simplex import send_by_simplex

# Paths through hidden cells that are sought one at a time; a flow that takes more of
# them is sent in phases.
_PATHS = 32
# Cheapest paths that are sought one at a time; a flow that takes more of them is left
# to the simplex method, in so many parts. Both were tried: fewer are quicker on cells
# that are worth thousands of those round them, and hide more.
_SEARCHES, _PARTS = 1024, 4
# What came of sending a witness another way.
FAILED, DONE, FULL = 0, 1, 2


@kernel
def level_ends(arcs: Arcs, demands: NetworkDemands, level: int) -> tuple[int, int]:
    """Return the nodes that a level's flow runs from and to."""
    cell = demands.cell[level]
    if demands.sign[level] > 0:
        return arcs.head[cell], arcs.tail[cell]
    return arcs.tail[cell], arcs.head[cell]


@kernel(inner=True)
def drop_flow(work: Work) -> None:
    """Set every flow back to zero."""
    for i in range(work.touches[0]):
        cell = work.touched[i]
        work.flow[cell] = 0
        work.listed[cell] = False
    work.touches[0] = 0


@kernel(inner=True)
def send_hidden(
    arcs: Arcs,
    live: PatternArrays,
    work: Work,
    source: int,
    target: int,
    banned: int,
    amount: int,
) -> int:
    """Send what hidden cells take, at most `amount`; return what is left to send."""
    for _ in range(_PATHS):
        if amount == 0 or not hidden_path(arcs, live, work, source, target, banned):
            return amount
        amount -= augment(arcs, work, source, target, amount)
    return send_in_phases(arcs, live, work, source, target, banned, amount)


@kernel(inner=True)
def send_and_hide(
    arcs: Arcs,
    live: PatternArrays,
    work: Work,
    source: int,
    target: int,
    banned: int,
    amount: int,
) -> int:
    """Send a flow, hiding cells along cheapest paths where hidden ones do not do.

    What cannot be sent is returned.
    """
    amount = send_hidden(arcs, live, work, source, target, banned, amount)
    for _ in range(_SEARCHES):
        if amount == 0:
            return amount
        if cheapest_path(arcs, live, work, source, target, banned) == np.inf:
            return amount
        amount -= augment(arcs, work, source, target, amount)
        hide_path(arcs, live, work, source, target)
    return _hide_by_simplex(arcs, live, work, source, target, banned, amount)


@kernel(inner=True)
def _hide_by_simplex(
    arcs: Arcs,
    live: PatternArrays,
    work: Work,
    source: int,
    target: int,
    banned: int,
    amount: int,
) -> int:
    """Send a large flow on top of the one there is; return what cannot be sent.

    Published cells cost by the unit. What one part hides is free for the next, so that
    the room of a hidden cell is used up, as along cheapest paths.
    """
    cost = np.zeros(len(live.hidden))
    for at in range(len(arcs.slot)):
        cost[arcs.slot[at] >> 1] = arcs.price[at]
    shut = np.zeros(len(live.hidden), dtype=np.bool_)
    shut[banned] = True
    for parts in range(_PARTS, 0, -1):
        sent = amount // parts
        supply = np.zeros(len(live.first), dtype=np.int64)
        supply[source] += sent
        supply[target] -= sent
        for i in range(work.touches[0]):
            cell = work.touched[i]
            supply[arcs.tail[cell]] += work.flow[cell]
            supply[arcs.head[cell]] -= work.flow[cell]
        drop_flow(work)
        left = send_by_simplex(arcs, live, work, shut, supply, cost)
        amount -= sent - left
        if left > 0:
            return amount
        for i in range(work.touches[0]):
            cell = work.touched[i]
            if work.flow[cell] != 0 and not live.hidden[cell]:
                hide(arcs, live, cell)
    return amount


@kernel(inner=True)
def cover_level(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    level: int,
    may_hide: bool,
) -> int:
    """Send a level's flow, hiding cells along cheapest paths where need be.

    This is the step of the shortest path heuristic (Carvalho, Dellaert & Osorio 1994;
    Almeida, Schuetz & Carvalho 2008). The flow is left in ``work.flow``; what cannot
    be sent is returned, and is then beyond any pattern if cells might be hidden.
    """
    source, target = level_ends(arcs, demands, level)
    if source == target:
        return 0
    banned = demands.cell[level]
    amount = demands.amount[level]
    if may_hide:
        return send_and_hide(arcs, live, work, source, target, banned, amount)
    return send_hidden(arcs, live, work, source, target, banned, amount)


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
def covered_without_hiding(
    arcs: Arcs, demands: NetworkDemands, live: PatternArrays, work: Work
) -> np.ndarray:
    """Say which levels the hidden cells cover; nothing is kept."""
    covered = np.zeros(len(demands.cell), dtype=np.bool_)
    for level in range(len(demands.cell)):
        covered[level] = cover_level(arcs, demands, live, work, level, False) == 0
        drop_flow(work)
    return covered


@kernel
def cover_levels(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    order: np.ndarray,
    position: int,
    may_hide: bool,
    left: np.ndarray,
) -> int:
    """Cover levels in order from a position on; return where the pool was full.

    Levels with a witness are passed over. ``left`` is set to what could not be sent:
    where cells might be hidden, no pattern can give it.
    """
    for i in range(position, len(order)):
        level = order[i]
        if live.length[level] >= 0:
            continue
        left[level] = cover_level(arcs, demands, live, work, level, may_hide)
        if left[level] > 0:
            drop_flow(work)
        elif not store_witness(live, work, level):
            return i
    return len(order)


@kernel(inner=True)
def _several_published(live: PatternArrays, level: int) -> bool:
    """Whether a witness runs through more than one published cell."""
    count = 0
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        if not live.hidden[live.pool_cell[at]]:
            count += 1
    return count > 1


@kernel(inner=True)
def reroute(
    arcs: Arcs, demands: NetworkDemands, live: PatternArrays, work: Work, level: int
) -> int:
    """Send the part of a witness that runs through published cells another way.

    Where that fails the old witness stays; no flow covers the level then. What ran
    through one cell can be sent from its one end to its other, or the level is lost.
    With several cells the ends may have to be paired differently, so that a failure
    is certain only once the whole amount has been sent anew.
    """
    lost = False
    banned = demands.cell[level]
    load_witness(live, work, level)
    for at in range(live.begin[level], live.begin[level] + live.length[level]):
        cell = live.pool_cell[at]
        if live.hidden[cell]:
            continue
        flow = work.flow[cell]
        work.flow[cell] = 0
        source, target = arcs.tail[cell], arcs.head[cell]
        if flow < 0:
            source, target, flow = target, source, -flow
        if send_hidden(arcs, live, work, source, target, banned, flow) > 0:
            lost = True
            break
    if lost:
        drop_flow(work)
        if not _several_published(live, level):
            return FAILED
        if cover_level(arcs, demands, live, work, level, False) > 0:
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
def clean_up(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    order: np.ndarray,
    position: int,
) -> int:
    """Publish, in order, every cell that no level needs.

    Delete and check (Carvalho, Dellaert & Osorio 1994), but only the levels whose
    witness uses the cell are checked. A cell that is needed stays needed when others
    are published, so one pass leaves no redundant cell. Needs a witness for each level.
    Returns where the pool was full, or the number of cells.
    """
    for i in range(position, len(order)):
        cell = order[i]
        if live.place[cell] < 0:
            continue
        publish(arcs, live, cell)
        for level in range(len(demands.cell)):
            if uses(live, level, cell):
                result = reroute(arcs, demands, live, work, level)
                if result != DONE:
                    hide(arcs, live, cell)
                    if result == FULL:
                        return i
                    break
    return len(order)


@kernel
def recheck(
    arcs: Arcs, demands: NetworkDemands, live: PatternArrays, work: Work, position: int
) -> int:
    """Find witnesses through published cells and send them another way.

    Levels where that fails lose their witness. Returns the level where the pool was
    full, or the number of levels.
    """
    for level in range(position, len(demands.cell)):
        touched = False
        for at in range(live.begin[level], live.begin[level] + live.length[level]):
            if not live.hidden[live.pool_cell[at]]:
                touched = True
                break
        if touched:
            result = reroute(arcs, demands, live, work, level)
            if result == FULL:
                return level
            if result == FAILED:
                live.length[level] = -1
    return len(demands.cell)


@kernel
def change(arcs: Arcs, live: PatternArrays, cells: np.ndarray, hidden: bool) -> None:
    """Hide or publish cells; sensitive ones and those already so are passed over."""
    for cell in cells:
        if hidden and not live.hidden[cell]:
            hide(arcs, live, cell)
        elif not hidden and live.place[cell] >= 0:
            publish(arcs, live, cell)
