"""The hypercube method on two-dimensional tables: a rectangle for each cell.

Giessing & Repsilber (2002), as Almeida, Schuetz & Carvalho (2008) use it: the cheapest
circuit of four cells that covers both levels. Where there is none the method fails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.errors import ProtectionFailed
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.network.arrays import Graph
from evosdc.suppress.engine.network.paths import slot_end
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.methods.sp import ORDERS, cell_order
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import Method, networks_only
from evosdc.suppress.run.search import Search

# Kernel: the cheapest rectangle that covers both levels of a cell.


@kernel(inner=True)
def _fits(up: np.ndarray, down: np.ndarray, slot: int, there: int, back: int) -> bool:
    """Whether a slot takes one amount along its direction and another against it."""
    cell = slot >> 1
    if slot & 1:
        return down[cell] >= there and up[cell] >= back
    return up[cell] >= there and down[cell] >= back


@kernel
def cheapest_rectangle(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    hidden: Flags,
    cell: int,
    rise: int,
    fall: int,
    adding: bool,
) -> tuple[float, np.ndarray]:
    """Find three cells that form a rectangle with a cell and let it rise and fall.

    A rectangle is a circuit of four cells. Hidden cells are free. Returns the cost and
    the three cells; an infinite cost where no rectangle takes both amounts. When
    `adding`, one of the cells at least is not hidden, and of rectangles of one cost
    the far corner decides: those that rise with the cell first, then by number.
    """
    source, target = graph.head[cell], graph.tail[cell]
    nodes = len(graph.start) - 1
    closing = np.full(nodes, np.inf)
    closer = np.full(nodes, -1, dtype=np.int64)
    for at in range(graph.start[target], graph.start[target + 1]):
        into = graph.slot[at] ^ 1
        other = slot_end(graph, graph.slot[at])
        price = 0.0 if hidden[into >> 1] else cost[into >> 1]
        if (
            into >> 1 != cell
            and price < closing[other]
            and _fits(up, down, into, rise, fall)
        ):
            closing[other] = price
            closer[other] = into >> 1
    best, least = np.inf, 0
    corners = np.full(3, -1, dtype=np.int64)
    for at in range(graph.start[source], graph.start[source + 1]):
        out = graph.slot[at]
        middle = slot_end(graph, out)
        first = 0.0 if hidden[out >> 1] else cost[out >> 1]
        if (
            out >> 1 == cell
            or middle == target
            or (first >= best and not (adding and first == best))
            or not _fits(up, down, out, rise, fall)
        ):
            continue
        for step in range(graph.start[middle], graph.start[middle + 1]):
            across = graph.slot[step]
            corner = slot_end(graph, across)
            if corner == source:
                continue
            price = 0.0 if hidden[across >> 1] else cost[across >> 1]
            total = first + price + closing[corner]
            if total >= best and not (adding and total == best):
                continue
            if not _fits(up, down, across, rise, fall):
                continue
            if adding:
                last = closer[corner]
                if last < 0 or (
                    hidden[out >> 1] and hidden[across >> 1] and hidden[last]
                ):
                    continue
                rank = across >> 1
                if (across & 1 == 0) == (fall > 0):
                    rank += len(cost)
                if total == best and rank >= least:
                    continue
                least = rank
            best = total
            corners[0] = out >> 1
            corners[1] = across >> 1
            corners[2] = closer[corner]
    return best, corners


@dataclass(frozen=True)
class OnceThroughOptions(MethodOptions):
    """Options of methods that go through the sensitive cells once.

    Attributes
    ----------
    order
        Order of the sensitive cells: given, descending, ascending or random.
    clean_up
        Publish what is not needed in the end.
    """

    order: str = option("given", known=ORDERS)
    clean_up: bool = True


@dataclass(frozen=True)
class HypercubeParameters(OnceThroughOptions):
    """Options of the hypercube method.

    Attributes
    ----------
    skip_covered
        Leave out cells that the cells hidden so far protect already, as Herrington
        (2015) does.
    """

    skip_covered: bool = False


def run_hypercube(
    problem: Problem, parameters: HypercubeParameters, search: Search
) -> Pattern:
    """Hide the cheapest rectangle of each sensitive cell."""
    network = TableNetwork(problem)
    state = PatternState(network)
    failed: list[int] = []
    for cell in cell_order(problem, parameters.order, search.rng(0)):
        open_levels = levels_of(network, int(cell))
        if parameters.skip_covered:
            state.check(open_levels)
            open_levels = open_levels[state.live.length[open_levels] < 0]
        if not len(open_levels):
            continue
        corners = cheapest_corners(state, int(cell), open_levels)
        if not len(corners):
            failed.append(int(cell))
        state.hide(corners)
    if failed:
        raise protection_failed(
            problem, "hypercube-2d", failed, "no rectangle of hidden cells covers"
        )
    state.check()
    return finish(state, search, parameters.clean_up, "rectangles")


def levels_of(network: TableNetwork, cell: int) -> Long:
    """Numbers of the open levels of a cell."""
    return np.flatnonzero(network.demands.cell == cell)


def cheapest_corners(
    state: PatternState, cell: int, levels: Long, *, adding: bool = False
) -> Long:
    """Return the corners of the cheapest rectangle for some levels, none if without.

    When `adding`, of one that has room that way, however little, and a cell to hide.
    """
    network, demands = state.network, state.network.demands
    sign, amount = demands.sign[levels], demands.amount[levels]
    if adding:
        amount = np.minimum(amount, 1)
    cost, corners = cheapest_rectangle(
        network.graph,
        network.arcs.up,
        network.arcs.down,
        network.problem.cost,
        state.hidden,
        cell,
        int(amount[sign > 0].sum()),
        int(amount[sign < 0].sum()),
        adding,
    )
    return corners if np.isfinite(cost) else corners[:0]


def protection_failed(
    problem: Problem, method: str, cells: list[int], why: str
) -> ProtectionFailed:
    """Name the cells that a method cannot protect."""
    named = "; ".join(problem.table.label(cell) for cell in cells[:5])
    more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
    return ProtectionFailed(
        f"method {method!r} cannot protect {len(cells)} cells: {why} {named}{more}",
        expected="levels that its circuits of cells can cover",
        hint="lower these levels, or use the method sp",
    )


METHOD = Method(
    name="hypercube-2d",
    summary="the cheapest rectangle for each sensitive cell; may fail",
    tables="two-dimensional",
    source="Giessing & Repsilber 2002; Almeida, Schuetz & Carvalho 2008",
    parameters=HypercubeParameters,
    contracts=False,
    run=run_hypercube,
    takes=networks_only,
    may_fail=True,
)
