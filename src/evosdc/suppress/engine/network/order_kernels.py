"""Kernels: the incremental attacker on a network, for a whole order at once.

For one level the attacker's program (Smith et al. 2011) is a minimum cost flow: the
level's amount from one end of its cell to the other, hidden cells free, others at their
cost per unit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Net, NetworkDemands, Work
from evosdc.suppress.engine.network.cheapest_flow import Flows, send_cheapest
from evosdc.suppress.engine.network.cover import level_ends, send_hidden
from evosdc.suppress.engine.network.paths import drop_flow, hide
from evosdc.suppress.structure.primitives import order_of


class LevelGroups(NamedTuple):
    """Levels that have one place in an order: ``levels[start[g]:start[g + 1]]``.

    Those of a group are protected one after another, or `together`.
    """

    start: Long
    levels: Long
    together: bool


@kernel(inner=True)
def _ask(net: Net, flows: Flows, level: int, amount: int) -> None:
    """Ask for an amount of a level, whose cell is shut."""
    source, target = level_ends(net.arcs, net.demands, level)
    flows.shut[net.demands.cell[level]] = True
    flows.excess[source] += amount
    flows.excess[target] -= amount
    flows.ends[flows.tally[0]] = source
    flows.ends[flows.tally[0] + 1] = target
    flows.tally[0] += 2


@kernel(inner=True)
def _end_flow(net: Net, flows: Flows, levels: np.ndarray, hide_moved: bool) -> None:
    """Hide what moved if asked to, and leave no trace of the flow."""
    if hide_moved:
        # By number, so that the answer does not depend on how the flow came about.
        moved = net.work.touched[: net.work.touches[0]]
        for i in order_of(moved):
            cell = moved[i]
            if net.work.flow[cell] != 0 and not net.live.hidden[cell]:
                hide(net.arcs, net.live, cell)
    drop_flow(net.work)
    for i in range(flows.tally[0]):
        flows.excess[flows.ends[i]] = 0
    flows.tally[0] = 0
    for level in levels:
        flows.shut[net.demands.cell[level]] = False


@kernel(inner=True)
def protect_level(net: Net, flows: Flows, cost: Real, levels: np.ndarray) -> int:
    """Cover one level (an array of one); return what no pattern can send of it."""
    level = levels[0]
    source, target = level_ends(net.arcs, net.demands, level)
    if source == target:
        return 0
    left = send_hidden(
        net, source, target, net.demands.cell[level], net.demands.amount[level]
    )
    if left > 0:
        _ask(net, flows, level, left)
        left = send_cheapest(net, flows, cost)
    flows.tally[1] = left == 0 and _reversible(net.arcs, net.work)
    _end_flow(net, flows, levels, left == 0)
    return left


@kernel(inner=True)
def _reversible(arcs: Arcs, work: Work) -> bool:
    """Say whether the cells have room for the same flow the other way round."""
    for i in range(work.touches[0]):
        cell = work.touched[i]
        flow = work.flow[cell]
        if flow > arcs.down[cell] or -flow > arcs.up[cell]:
            return False
    return True


@kernel(inner=True)
def _covered_by_reversal(
    demands: NetworkDemands, flows: Flows, last: int, level: int
) -> bool:
    """Say whether the flow of the level before, reversed, covers a level."""
    return (
        flows.tally[1] != 0
        and demands.cell[last] == demands.cell[level]
        and demands.sign[last] != demands.sign[level]
        and demands.amount[last] >= demands.amount[level]
    )


@kernel(inner=True)
def protect_together(
    net: Net, flows: Flows, cost: Real, levels: np.ndarray
) -> tuple[int, int]:
    """Cover levels of one direction in one program.

    Levels that hidden cells cover already are left out. Where the program has no
    solution the levels are halved, and so on. Returns a level beyond any pattern, or
    -1, and what is missing.
    """
    wanted = np.empty(len(levels), dtype=np.int64)
    count = 0
    for level in levels:
        source, target = level_ends(net.arcs, net.demands, level)
        if source == target:
            continue
        short = send_hidden(
            net, source, target, net.demands.cell[level], net.demands.amount[level]
        )
        drop_flow(net.work)
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
            short = protect_level(net, flows, cost, wanted[a:b])
            if short > 0:
                return wanted[a], short
            continue
        for i in range(a, b):
            _ask(net, flows, wanted[i], net.demands.amount[wanted[i]])
        short = send_cheapest(net, flows, cost)
        _end_flow(net, flows, wanted[a:b], short == 0)
        if short > 0:
            middle = (a + b) // 2
            begin[open_ranges], end[open_ranges] = middle, b
            begin[open_ranges + 1], end[open_ranges + 1] = a, middle
            open_ranges += 2
    return -1, 0


@kernel(nogil=True)
def run_order(
    net: Net,
    flows: Flows,
    cost: Real,
    groups: LevelGroups,
    order: Long,
    places: tuple[int, int],
    upto: Int,
) -> tuple[int, int]:
    """Protect the groups of an order from one place up to another.

    After the group at place `i`, ``upto[i]`` secondaries are hidden, in the order of
    ``live.extra``. Returns a level beyond any pattern, or -1, and what is missing.
    """
    for i in range(places[0], places[1]):
        part = groups.levels[groups.start[order[i]] : groups.start[order[i] + 1]]
        if groups.together:
            for sign in (1, -1):
                side = part[net.demands.sign[part] == sign]
                level, short = protect_together(net, flows, cost, side)
                if level >= 0:
                    return level, short
        else:
            for j in range(len(part)):
                if j and _covered_by_reversal(net.demands, flows, part[j - 1], part[j]):
                    continue
                short = protect_level(net, flows, cost, part[j : j + 1])
                if short > 0:
                    return part[j], short
        upto[i] = net.live.tally[0]
    return -1, 0
