"""Kernels: the incremental attacker on a network, for a whole order at once.

For one level the attacker's program (Smith et al. 2011) is a minimum cost flow: the
level's amount from one end of its cell to the other, hidden cells free, others at their
cost a unit.
"""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import (
    Arcs,
    Int,
    Long,
    NetworkDemands,
    PatternArrays,
    Real,
    Work,
)
from evosdc.suppress.engine.network.cheapest_flow import Flows, send_cheapest
from evosdc.suppress.engine.network.cover import drop_flow, level_ends, send_hidden
from evosdc.suppress.engine.network.paths import hide
from evosdc.suppress.engine.sort import order_of


@kernel(inner=True)
def _ask(
    demands: NetworkDemands,
    flows: Flows,
    level: int,
    source: int,
    target: int,
    amount: int,
) -> None:
    """Ask for a level's amount: its cell is shut, its ends are source and target."""
    flows.shut[demands.cell[level]] = True
    flows.excess[source] += amount
    flows.excess[target] -= amount
    flows.ends[flows.tally[0]] = source
    flows.ends[flows.tally[0] + 1] = target
    flows.tally[0] += 2


@kernel(inner=True)
def _settle(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    flows: Flows,
    levels: np.ndarray,
    hide_moved: bool,
) -> None:
    """Hide what moved if asked to, and leave no trace of the flow."""
    if hide_moved:
        # By number, so that the answer does not depend on how the flow came about.
        moved = work.touched[: work.touches[0]]
        for i in order_of(moved):
            cell = moved[i]
            if work.flow[cell] != 0 and not live.hidden[cell]:
                hide(arcs, live, cell)
    drop_flow(work)
    for i in range(flows.tally[0]):
        flows.excess[flows.ends[i]] = 0
    flows.tally[0] = 0
    for level in levels:
        flows.shut[demands.cell[level]] = False


@kernel(inner=True)
def protect_level(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    flows: Flows,
    cost: Real,
    levels: np.ndarray,
) -> int:
    """Cover one level (an array of one); return what no pattern can send of it."""
    level = levels[0]
    source, target = level_ends(arcs, demands, level)
    if source == target:
        return 0
    left = send_hidden(
        arcs,
        live,
        work,
        source,
        target,
        demands.cell[level],
        demands.amount[level],
    )
    if left > 0:
        _ask(demands, flows, level, source, target, left)
        left = send_cheapest(arcs, live, work, flows, cost)
    flows.tally[1] = left == 0 and _turns(arcs, work)
    _settle(arcs, demands, live, work, flows, levels, left == 0)
    return left


@kernel(inner=True)
def _turns(arcs: Arcs, work: Work) -> bool:
    """Say whether the cells have room for the same flow the other way round."""
    for i in range(work.touches[0]):
        cell = work.touched[i]
        flow = work.flow[cell]
        if flow > arcs.down[cell] or -flow > arcs.up[cell]:
            return False
    return True


@kernel(inner=True)
def _covered_by_turn(
    demands: NetworkDemands, flows: Flows, last: int, level: int
) -> bool:
    """Say whether the flow of the level before, turned round, covers a level."""
    return (
        flows.tally[1] != 0
        and demands.cell[last] == demands.cell[level]
        and demands.sign[last] != demands.sign[level]
        and demands.amount[last] >= demands.amount[level]
    )


@kernel(inner=True)
def protect_together(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    flows: Flows,
    cost: Real,
    levels: np.ndarray,
    left: Long,
) -> int:
    """Cover levels of one direction in one program; return a level beyond any pattern.

    Levels that hidden cells cover already are left out. Where the program has no
    solution the levels are halved, and so on; -1 where all goes well.
    """
    wanted = np.empty(len(levels), dtype=np.int64)
    count = 0
    for level in levels:
        source, target = level_ends(arcs, demands, level)
        if source == target:
            continue
        short = send_hidden(
            arcs,
            live,
            work,
            source,
            target,
            demands.cell[level],
            demands.amount[level],
        )
        drop_flow(work)
        if short > 0:
            wanted[count] = level
            count += 1
    # Ranges of levels still to do, the next one last.
    begin = np.zeros(count + 2, dtype=np.int64)
    end = np.zeros(count + 2, dtype=np.int64)
    end[0] = count
    open_ranges = 1 if count else 0
    while open_ranges:
        open_ranges -= 1
        a, b = begin[open_ranges], end[open_ranges]
        if b - a == 1:
            short = protect_level(arcs, demands, live, work, flows, cost, wanted[a:b])
            if short > 0:
                left[0] = short
                return wanted[a]
            continue
        for i in range(a, b):
            source, target = level_ends(arcs, demands, wanted[i])
            amount = demands.amount[wanted[i]]
            _ask(demands, flows, wanted[i], source, target, amount)
        short = send_cheapest(arcs, live, work, flows, cost)
        _settle(arcs, demands, live, work, flows, wanted[a:b], short == 0)
        if short > 0:
            middle = (a + b) // 2
            begin[open_ranges], end[open_ranges] = middle, b
            begin[open_ranges + 1], end[open_ranges + 1] = a, middle
            open_ranges += 2
    return -1


@kernel(nogil=True)
def run_order(
    arcs: Arcs,
    demands: NetworkDemands,
    live: PatternArrays,
    work: Work,
    flows: Flows,
    cost: Real,
    start: Long,
    levels: Long,
    together: bool,
    order: Long,
    begin: int,
    end: int,
    upto: Int,
    left: Long,
) -> int:
    """Protect the elements ``order[begin:end]`` one after another.

    ``levels[start[e]:start[e + 1]]`` are the levels of element `e`. After the element
    at place `i`, ``upto[i]`` secondaries are hidden, in the order of ``live.extra``.
    Returns a level beyond any pattern, with what is missing in ``left``, or -1.
    """
    for i in range(begin, end):
        part = levels[start[order[i]] : start[order[i] + 1]]
        if together:
            for sign in (1, -1):
                side = part[demands.sign[part] == sign]
                level = protect_together(
                    arcs, demands, live, work, flows, cost, side, left
                )
                if level >= 0:
                    return level
        else:
            for j in range(len(part)):
                if j and _covered_by_turn(demands, flows, part[j - 1], part[j]):
                    continue
                short = protect_level(
                    arcs, demands, live, work, flows, cost, part[j : j + 1]
                )
                if short > 0:
                    left[0] = short
                    return part[j]
        upto[i] = live.tally[0]
    return -1
