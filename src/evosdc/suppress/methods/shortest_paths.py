"""The shortest path heuristic (SP) and parallel bound and path (PBP), for networks.

SP is due to Carvalho, Dellaert & Osorio (1994), here as described by Almeida, Schuetz &
Carvalho (2008): sensitive cells in any order, cheapest augmenting paths until each
level is covered, cells free once hidden, upper levels first and then lower ones.

PBP is due to Almeida, Schuetz & Carvalho (2008): for each sensitive cell the cheapest
cells that meet the bounds of its row and its column, starting one position later for
each individual; lone cells are exchanged; the shortest path heuristic repairs the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.compile.kernels import kernel
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.base import finish
from evosdc.suppress.engine.network.arrays import Arcs, Graph, PatternArrays
from evosdc.suppress.engine.network.paths import hide
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import network_method
from evosdc.suppress.run.search import Search

ORDERS = ("given", "descending", "ascending", "random")


@dataclass(frozen=True)
class OnceThroughOptions(MethodOptions):
    """Options of methods that go through the sensitive cells once.

    Attributes
    ----------
    order
        Order of the sensitive cells: given, descending or ascending (by weight), or
        random. The authors of SP found no best one.
    clean_up
        Publish what is not needed in the end.
    """

    order: str = option("given", known=ORDERS)
    clean_up: bool = True


@dataclass(frozen=True)
class SpParameters(OnceThroughOptions):
    """Options of SP.

    Attributes
    ----------
    by_side
        All upper levels before all lower ones; otherwise cell by cell.
    """

    by_side: bool = True


def cell_order(problem: Problem, order: str, rng: np.random.Generator) -> Long:
    """Put the sensitive cells in the order of that name."""
    cells = np.flatnonzero(problem.primary)
    weight = problem.table.weight[cells]
    if order == "descending":
        return cells[np.argsort(-weight, kind="stable")]
    if order == "ascending":
        return cells[np.argsort(weight, kind="stable")]
    return rng.permutation(cells) if order == "random" else cells


def run_sp(problem: Problem, parameters: SpParameters, search: Search) -> Pattern:
    """Run SP once."""
    cells = cell_order(problem, parameters.order, search.rng(0))
    network = TableNetwork(problem)
    state = PatternState(network)
    state.cover(network.level_order(cells, parameters.by_side))
    return finish(state, search, parameters.clean_up, "shortest paths")


SP = network_method(
    name="sp",
    summary="cheapest augmenting paths for one level after another, then clean-up",
    source="Carvalho, Dellaert & Osorio 1994; Almeida, Schuetz & Carvalho 2008",
    parameters=SpParameters,
    run=run_sp,
)


# Kernels: meet the row and column bounds of a level by hiding cells at its nodes.


@kernel(inner=True)
def _through(arcs: Arcs, slot: int, leaving: bool) -> int:
    """Room of a slot along its direction, or against it."""
    upward = (slot & 1 == 0) == leaving
    return arcs.up[slot >> 1] if upward else arcs.down[slot >> 1]


@kernel
def meet_node_bound(
    arcs: Arcs,
    graph: Graph,
    live: PatternArrays,
    free: Flags,
    node: int,
    cell: int,
    amount: int,
    leaving: bool,
    shift: int,
) -> None:
    """Hide cells at a node until `amount` can leave (or enter) it through other cells.

    That much must pass the node in any pattern that covers the level, which is the row
    or column bound of Carvalho & Almeida (2005). Cells are taken cheapest first,
    starting at position `shift` of those that qualify and going round.
    """
    slot = live.first[node]
    while slot >= 0:
        if slot >> 1 != cell:
            amount -= _through(arcs, slot, leaving)
            if amount <= 0:
                return
        slot = live.following[slot]
    start, end = graph.start[node], graph.start[node + 1]
    chosen = np.empty(end - start, dtype=np.int64)
    count = 0
    for at in range(start, end):
        other = graph.slot[at] >> 1
        if (
            free[other]
            and not live.hidden[other]
            and _through(arcs, graph.slot[at], leaving) > 0
        ):
            chosen[count] = graph.slot[at]
            count += 1
    for i in range(count):
        if amount <= 0:
            return
        slot = chosen[(i + shift) % count]
        hide(arcs, live, slot >> 1)
        amount -= _through(arcs, slot, leaving)


@dataclass(frozen=True)
class PbpParameters(MethodOptions):
    """Options of PBP.

    Attributes
    ----------
    individuals
        How many patterns are made; the cheapest is the answer. The default is what
        GenSup makes.
    clean_up
        Publish what is not needed in the end.
    """

    individuals: int = option(18, least=1)
    clean_up: bool = True


def run_pbp(problem: Problem, parameters: PbpParameters, search: Search) -> Pattern:
    """Make the individuals one after another and return the cheapest."""
    network = TableNetwork(problem)
    best: Pattern | None = None
    for shift in range(parameters.individuals):
        if best is not None and search.stopped():
            break
        state = bound_and_path(network, shift)
        pattern = finish(state, search, parameters.clean_up, f"individual {shift + 1}")
        if best is None or pattern.cost < best.cost:
            best = pattern
    assert best is not None
    return best


def bound_and_path(network: TableNetwork, shift: int) -> PatternState:
    """Make the individual that starts at a position of the cells sorted by cost."""
    problem, arcs, demands = network.problem, network.arcs, network.demands
    state = PatternState(network)
    free = problem.hideable & ~problem.primary
    cells = cell_order(problem, "descending", np.random.default_rng(0))
    order = network.level_order(cells, by_side=False)
    # The row of each cell first, then the columns.
    for end in (arcs.tail, arcs.head):
        for level in order:
            cell = int(demands.cell[level])
            leaving = bool((demands.sign[level] > 0) == (end is arcs.head))
            meet_node_bound(
                arcs,
                network.graph,
                state.live,
                free,
                int(end[cell]),
                cell,
                int(demands.amount[level]),
                leaving,
                shift,
            )
    _exchange_lone_cells(state)
    state.cover(order)
    return state


def _exchange_lone_cells(state: PatternState) -> None:
    """Move cells that are the only hidden one of a row or column.

    Such a cell covers nothing. The cheapest cell at its other end that meets another
    hidden cell takes its place; where there is none it is published again.
    """
    network = state.network
    arcs, graph, problem = network.arcs, network.graph, network.problem
    for cell in state.secondaries:
        for lone, kept in (
            (arcs.tail[cell], arcs.head[cell]),
            (arcs.head[cell], arcs.tail[cell]),
        ):
            if state.degree(lone) != 1 or state.degree(kept) == 1:
                continue
            for slot in graph.slot[graph.start[kept] : graph.start[kept + 1]].tolist():
                other = slot >> 1
                far = arcs.tail[other] if slot & 1 else arcs.head[other]
                if (
                    not state.hidden[other]
                    and problem.hideable[other]
                    and state.degree(far) > 0
                    and far != lone
                ):
                    state.hide([other])
                    break
            state.publish([cell])
            break


PBP = network_method(
    name="pbp",
    summary="row and column bounds first, from many starts, then shortest paths",
    source="Almeida, Schuetz & Carvalho 2008",
    parameters=PbpParameters,
    run=run_pbp,
)
