"""Published methods that go once through the sensitive cells of a network.

hypercube-2d
    Giessing & Repsilber (2002), as Almeida, Schuetz & Carvalho (2008) use it: the
    cheapest circuit of four cells that covers both levels of a cell. Where there is
    none the method fails.
castro
    Castro's shortest path heuristic (2005). The paths of a level share no cell, so no
    residual capacities are kept; every sensitive cell on a path is checked at once,
    both ways round; costs are stratified after Cox (1995). Where no further path is
    free of shared cells, a minimum cost flow recovers. Almeida et al. (2008) compare a
    heuristic of this name that fails far more often and costs far more.
    ``strata=cells``, ``both_ways`` and ``paths=1`` with ``recovery=false`` are the
    readings of their description that are nearest to it.
kelly
    A pair of minimum cost flows for each sensitive cell (Kelly, Golden & Assad 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.errors import ProtectionFailed
from evosdc.options import option
from evosdc.suppress.engine.base import finish
from evosdc.suppress.engine.network.arrays import Graph
from evosdc.suppress.engine.network.paths import slot_end, trace
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.methods.shortest_paths import OnceThroughOptions, cell_order
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import network_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.primitives import heap_pop, heap_push

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


HYPERCUBE = network_method(
    name="hypercube-2d",
    summary="the cheapest rectangle for each sensitive cell; may fail",
    source="Giessing & Repsilber 2002; Almeida, Schuetz & Carvalho 2008",
    parameters=HypercubeParameters,
    contracts=False,
    run=run_hypercube,
    may_fail=True,
)


# Kernel: shortest paths with stratified costs, as Castro's heuristic uses them.


@kernel
def stratified_path(
    graph: Graph,
    up: np.ndarray,
    down: np.ndarray,
    cost: Real,
    hidden: Flags,
    used: Flags,
    source: int,
    target: int,
    amount: int,
    step: float,
) -> np.ndarray:
    """Find the shortest path that shares no cell with `used`; slots, target first.

    A cell with room for the whole amount is free if hidden and costs its cost
    otherwise; a cell with less room costs a step more, two steps if it is not hidden
    either. A step outweighs any path without one: few paths are preferred to few cells
    (Cox 1995; Castro 2005). Empty where there is no path.
    """
    nodes = len(graph.start) - 1
    distance = np.full(nodes, np.inf)
    via = np.full(nodes, -1, dtype=np.int32)
    final = np.zeros(nodes, dtype=np.bool_)
    order = np.empty(nodes, dtype=np.int32)
    spot = np.full(nodes, -1, dtype=np.int32)
    key = np.empty(nodes)
    distance[source] = 0.0
    size = heap_push(order, spot, key, 0, source, 0.0)
    while size:
        node = heap_pop(order, spot, key, size)
        size -= 1
        final[node] = True
        if node == target:
            break
        for at in range(graph.start[node], graph.start[node + 1]):
            slot = graph.slot[at]
            cell = slot >> 1
            room = down[cell] if slot & 1 else up[cell]
            other = slot_end(graph, slot)
            if room <= 0 or used[cell] or final[other]:
                continue
            price = 0.0 if hidden[cell] else cost[cell]
            if room < amount:
                price += step if hidden[cell] else 2 * step
            through = distance[node] + price
            if through < distance[other]:
                distance[other] = through
                via[other] = slot
                size = heap_push(order, spot, key, size, other, through)
    if not final[target]:
        return np.empty(0, dtype=np.int32)
    return trace(graph, via, source, target)


@dataclass(frozen=True)
class CastroParameters(OnceThroughOptions):
    """Options of Castro's heuristic.

    Attributes
    ----------
    recovery
        Use a minimum cost flow where paths that share no cell do not suffice;
        otherwise the method fails there, as in the comparison of Almeida et al. (2008).
    strata
        Cells with room for the level that are not hidden yet: by their cost, or as few
        of them as can be and their cost second (cells).
    both_ways
        A path counts only what its cells can take both ways round.
    paths
        Paths that a level may take; 0 stands for any number.
    """

    recovery: bool = True
    strata: str = option("cost", known=("cost", "cells"))
    both_ways: bool = False
    paths: int = option(0, least=0)


def run_castro(
    problem: Problem, parameters: CastroParameters, search: Search
) -> Pattern:
    """Cover each level that no earlier path has covered."""
    network = TableNetwork(problem)
    state = PatternState(network)
    work = _Castro(state, parameters)
    failed: list[int] = []
    cells = cell_order(problem, parameters.order, search.rng(0))
    for level in network.level_order(cells, by_side=False):
        if work.done[level] or work.cover(level):
            continue
        if parameters.recovery:
            state.cover_by_flows([level])
            work.done[level] = True
        else:
            failed.append(int(network.demands.cell[level]))
    if failed:
        named = sorted(set(failed))
        raise protection_failed(
            problem, "castro", named, "paths that share no cell do not cover"
        )
    state.check()
    return finish(state, search, parameters.clean_up, "disjoint shortest paths")


class _Castro:
    """The levels done, and the steps of the heuristic."""

    def __init__(self, state: PatternState, parameters: CastroParameters) -> None:
        self.state = state
        self.network = state.network
        self.most = parameters.paths
        arcs = self.network.arcs
        self.up, self.down = arcs.up, arcs.down
        if parameters.both_ways:
            self.up = self.down = np.minimum(arcs.up, arcs.down)
        demands = self.network.demands
        self.done = np.zeros(len(demands.cell), dtype=np.bool_)
        pairs = zip(demands.cell.tolist(), demands.sign.tolist(), strict=True)
        self.level_of = {pair: level for level, pair in enumerate(pairs)}
        # One step outweighs any simple path of cells without one.
        problem = self.network.problem
        self.price = problem.cost
        if parameters.strata == "cells":
            self.price = np.where(
                problem.primary, 0.0, problem.cost + self._step(problem.cost)
            )
        self.step = self._step(self.price)

    def _step(self, price: Real) -> float:
        return (float(price.max(initial=0.0)) + 1.0) * self.network.nodes

    def cover(self, level: int) -> bool:
        """Cover a level by paths that share no cell, if there are enough."""
        network, arcs = self.network, self.network.arcs
        cell = int(network.demands.cell[level])
        falls = bool(network.demands.sign[level] < 0)
        ends = int(arcs.head[cell]), int(arcs.tail[cell])
        source, target = ends[::-1] if falls else ends
        used = np.zeros(len(arcs.up), dtype=np.bool_)
        used[cell] = True
        left = int(network.demands.amount[level])
        for _ in range(self.most) if self.most else count():
            path = stratified_path(
                network.graph,
                self.up,
                self.down,
                self.price,
                self.state.hidden,
                used,
                source,
                target,
                left,
                self.step,
            )
            if not len(path):
                return False
            used[path >> 1] = True
            self.state.hide(path >> 1)
            left -= int(_room(self.up, self.down, path).min())
            self._check_circuit(np.append(path, 2 * cell + falls))
            if left <= 0:
                self.done[level] = True
                return True
        return False

    def _check_circuit(self, circuit: Int) -> None:
        """Mark the levels that a flow round a circuit covers, either way round."""
        arcs, demands = self.network.arcs, self.network.demands
        for way in (circuit, circuit ^ 1):
            most = _room(arcs.up, arcs.down, way).min()
            for slot in way.tolist():
                level = self.level_of.get((slot >> 1, -1 if slot & 1 else 1))
                if level is not None and demands.amount[level] <= most:
                    self.done[level] = True


def _room(up: Long, down: Long, slots: Int) -> Long:
    cells = slots >> 1
    return np.where(slots & 1, down[cells], up[cells])


CASTRO = network_method(
    name="castro",
    summary="shortest paths that share no cell; minimum cost flows where they fail",
    source="Castro 2005",
    parameters=CastroParameters,
    run=run_castro,
    may_fail=True,
)


def run_kelly(
    problem: Problem, parameters: OnceThroughOptions, search: Search
) -> Pattern:
    """Send each level at least cost per unit; what the flow moves is hidden."""
    network = TableNetwork(problem)
    state = PatternState(network)
    cells = cell_order(problem, parameters.order, search.rng(0))
    state.cover_by_flows(network.level_order(cells, by_side=False))
    state.cover()
    return finish(state, search, parameters.clean_up, "minimum cost flows")


KELLY = network_method(
    name="kelly",
    summary="a pair of minimum cost flows for each sensitive cell",
    source="Kelly, Golden & Assad 1992",
    parameters=OnceThroughOptions,
    run=run_kelly,
)
