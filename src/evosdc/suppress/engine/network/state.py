"""The network engine: one table's network, and patterns on it with their witnesses.

`TableNetwork` is what never changes; it drops the levels that primaries cover alone.
`PatternState` is a set of hidden cells with a witness flow for each level it covers.
What a state does depends on its hidden cells only, not on how it came to them, so the
same steps give the same patterns in any process.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.errors import MethodError
from evosdc.suppress.engine.base import Cells, Costs, Mask, Stopped, never
from evosdc.suppress.engine.network import cover
from evosdc.suppress.engine.network.arrays import (
    Graph,
    Net,
    NetworkDemands,
    PatternArrays,
    copy_live,
    graph_of,
    make_arcs,
    make_live,
    make_work,
)
from evosdc.suppress.engine.network.cheapest_flow import Flows, make_flows
from evosdc.suppress.engine.network.levels import network_levels, whole_capacities
from evosdc.suppress.engine.network.mend_kernels import make_log, prune
from evosdc.suppress.engine.network.order_kernels import LevelGroups, run_order
from evosdc.suppress.engine.network.paths import degree, hide_primaries
from evosdc.suppress.problem.problem import Pattern, Problem, unreachable

# Between two calls of a kernel a run can be interrupted.
_LEVELS_PER_CALL = 512
_CELLS_PER_CALL = 256


class TableNetwork:
    """The network of a table with whole capacities and the levels still open.

    Parameters
    ----------
    problem
        A problem whose table is a network.
    cost
        What hiding each cell costs the shortest paths; the problem's own costs unless
        given.

    Attributes
    ----------
    arcs, demands
        Plain arrays for the kernels.
    row
        For each open level the row of `problem.levels` it came from, -1 where it came
        from a sliding level.
    dropped
        How many levels primaries alone cover.
    unit
        What one unit of capacity is worth.
    """

    def __init__(self, problem: Problem, cost: Real | None = None) -> None:
        network = problem.network
        if network is None:
            raise MethodError(
                "the table is not a network",
                expected="a two-dimensional table",
                hint="choose a method for general tables: see evosdc methods",
            )
        self.problem = problem
        self.nodes = network.nodes
        capacities = whole_capacities(problem)
        self.unit = capacities.unit
        up = np.where(problem.hideable, capacities.up, 0)
        down = np.where(problem.hideable, capacities.down, 0)
        self.cost = problem.cost if cost is None else cost
        free = problem.hideable & ~problem.primary
        self.arcs = make_arcs(network, up, down, free, self.cost)
        self.work = make_work(network.nodes, len(problem.table))
        self.primaries = np.flatnonzero(problem.primary)
        cell, sign, amount, row = network_levels(problem, self.arcs, capacities)
        self.demands = NetworkDemands(cell, sign, amount)
        still = ~cover.covered_without_hiding(self.net(self.bare()))
        self.demands = NetworkDemands(cell[still], sign[still], amount[still])
        self.row = row[still]
        self.dropped = int(len(cell) - still.sum())

    def with_cost(self, cost: Real) -> TableNetwork:
        """Return the same network with other costs for the shortest paths."""
        other = TableNetwork.__new__(TableNetwork)
        other.__dict__.update(self.__dict__)
        other.__dict__.pop("graph", None)
        network = self.problem.network
        assert network is not None
        free = self.problem.hideable & ~self.problem.primary
        other.cost = cost
        other.arcs = make_arcs(network, self.arcs.up, self.arcs.down, free, cost)
        return other

    def __len__(self) -> int:
        return len(self.demands.cell)

    @cached_property
    def graph(self) -> Graph:
        """Every cell that may be hidden, sensitive ones too, cheapest first."""
        return graph_of(
            self.arcs.tail, self.arcs.head, self.problem.hideable, self.nodes, self.cost
        )

    def net(self, live: PatternArrays) -> Net:
        """A pattern on this network, as kernels take it."""
        return Net(self.arcs, self.demands, live, self.work)

    def run_order(
        self,
        live: PatternArrays,
        flows: Flows,
        groups: LevelGroups,
        order: Long,
        places: tuple[int, int],
        upto: Int,
    ) -> None:
        """Protect groups of levels in an order: see `order_kernels.run_order`.

        Raises
        ------
        LevelError
            For a level that no pattern can give.
        """
        net = self.net(live)
        level, left = run_order(net, flows, self.cost, groups, order, places, upto)
        if level >= 0:
            self.refuse(np.array([level]), np.array([left]))

    def refuse(self, short: Cells, left: Long) -> None:
        """Raise an error for levels of which something cannot be sent."""
        best = (self.demands.amount[short] - left) * self.unit
        raise unreachable(self.problem, self.row[short].tolist(), best.tolist())

    def level_order(self, cells: ArrayLike, by_side: bool = True) -> Cells:
        """Order the open levels after an order of sensitive cells.

        Parameters
        ----------
        cells
            Sensitive cells; levels of cells not named come last.
        by_side
            All upper levels first, then all lower ones, as in Almeida et al. (2008);
            otherwise the two levels of each cell one after the other.
        """
        named = np.asarray(cells, dtype=np.int64)
        rank = np.full(len(self.problem.table), len(named), dtype=np.int64)
        rank[named] = np.arange(len(named))
        of_cell, side = rank[self.demands.cell], -self.demands.sign
        keys = (of_cell, side) if by_side else (side, of_cell)
        return np.lexsort((self.demands.cell, *keys))

    def bare(self) -> PatternArrays:
        """Return a state that hides the primaries and covers no open level."""
        pool = max(1024, 8 * len(self))
        live = make_live(self.nodes, len(self.problem.table), len(self), pool)
        hide_primaries(self.arcs, live, self.primaries)
        return live


class PatternState:
    """Hidden cells of a table and a witness flow for each level that they cover.

    Starts with the primaries hidden and every open level uncovered.
    """

    def __init__(self, network: TableNetwork) -> None:
        self.network = network
        self.live = network.bare()

    @property
    def net(self) -> Net:
        """The pattern on its network, as kernels take it."""
        return self.network.net(self.live)

    @property
    def hidden(self) -> Flags:
        """Which cells are hidden; a view that must not be written to."""
        return self.live.hidden

    @property
    def secondaries(self) -> Cells:
        """Hidden cells that are not sensitive, in order of number."""
        return np.sort(self.live.extra[: self.live.tally[0]]).astype(np.int64)

    @property
    def cost(self) -> float:
        """What the secondaries cost."""
        return float(self.network.problem.cost[self.secondaries].sum())

    @property
    def uncovered(self) -> Cells:
        """Open levels without a witness."""
        return np.flatnonzero(self.live.length < 0)

    def degree(self, node: int) -> int:
        """How many hidden cells meet at a node."""
        return int(degree(self.live, node))

    def pattern(self) -> Pattern:
        """Return the hidden cells as a priced pattern."""
        return self.network.problem.pattern(self.live.hidden)

    def witness(self, level: int) -> tuple[Cells, Long]:
        """Return the cells and flows (in units, up positive) that cover a level."""
        begin = int(self.live.begin[level])
        part = slice(begin, begin + max(0, int(self.live.length[level])))
        return self.live.pool_cell[part].astype(np.int64), self.live.pool_flow[part]

    def copy(self) -> PatternState:
        """Return an independent copy."""
        other = PatternState.__new__(PatternState)
        other.network = self.network
        other.live = copy_live(self.live)
        return other

    def hide(self, cells: ArrayLike) -> None:
        """Hide cells; no witness is lost."""
        chosen = np.asarray(cells, dtype=np.int64)
        chosen = chosen[self.network.problem.hideable[chosen]]
        cover.change(self.network.arcs, self.live, chosen, True)

    def publish(self, cells: ArrayLike) -> Cells:
        """Publish cells again; return the levels that lost their cover by it.

        Only levels whose witness used one of the cells are checked. Sensitive cells
        stay hidden.
        """
        before = self.live.length < 0
        chosen = np.asarray(cells, dtype=np.int64)
        cover.change(self.network.arcs, self.live, chosen, False)
        self.complete(lambda at: cover.recheck(self.net, at), len(self.network))
        return np.flatnonzero((self.live.length < 0) & ~before)

    def become(self, hidden: Mask) -> None:
        """Hide exactly these cells and the primaries; keep the witnesses that hold."""
        self.hide(np.flatnonzero(hidden & ~self.live.hidden))
        self.publish(np.flatnonzero(self.live.hidden & ~hidden))

    def cover(
        self,
        order: ArrayLike | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,  # noqa: ARG002  paths are quick enough to finish
    ) -> None:
        """Cover every open level by the shortest path heuristic, in the order given.

        Levels that hidden cells cover cost nothing. Levels not in the order are left
        alone. `price` replaces the costs of the paths.

        Raises
        ------
        LevelError
            For levels that no pattern can give.
        """
        own = self.network
        if price is not None:
            self.network = own.with_cost(price)
        try:
            left = self._send(order, may_hide=True)
        finally:
            self.network = own
        short = np.flatnonzero(left)
        if len(short):
            own.refuse(short, left[short])

    def cover_by_flows(self, order: ArrayLike) -> None:
        """Hide what the minimum cost flow of one level after another moves.

        Hidden cells are free, others cost their cost for each unit; no witness is kept.

        Raises
        ------
        LevelError
            For a level that no pattern can give.
        """
        network, levels = self.network, np.asarray(order, dtype=np.int64)
        places = np.arange(len(levels) + 1)
        network.run_order(
            self.live,
            make_flows(network.nodes, len(self.hidden), len(network)),
            LevelGroups(places, levels, together=False),
            places[:-1],
            (0, len(levels)),
            np.zeros(len(levels), dtype=np.int32),
        )

    def repair(self, price: Costs | None = None, stopped: Stopped = never) -> int:
        """Cover every open level; return how many hidden cells did not cover."""
        exposed = len(self.check())
        self.cover(price=price if exposed else None, stopped=stopped)
        return exposed

    def check(self, order: ArrayLike | None = None) -> Cells:
        """Look for witnesses among the hidden cells; return the levels without one."""
        self._send(order, may_hide=False)
        return self.uncovered

    def clean_up(
        self,
        order: ArrayLike | None = None,
        stopped: Stopped = never,
        critic: Int | None = None,
    ) -> bool:
        """Publish every cell that is not needed, in order of falling cost unless given.

        Needs every level covered. `critic` is the level that last needed each cell.
        Returns False where it was stopped half-way; the pattern is safe all the same.
        """
        chosen = (
            self.expensive_first() if order is None else np.asarray(order, np.int64)
        )
        if critic is None:
            critic = np.zeros(len(self.hidden), dtype=np.int32)
        levels = np.empty(len(self.network), dtype=np.int64)
        for first in range(0, len(chosen), _CELLS_PER_CALL):
            if first and stopped():
                return False
            part = chosen[first : first + _CELLS_PER_CALL]
            self.complete(partial(self._prune, part, levels, critic), len(part))
        return True

    def _prune(self, part: Cells, levels: Cells, critic: Int, at: int) -> int:
        log = make_log(self.live)
        return int(prune(self.net, log, part, at, levels, critic))

    def expensive_first(self) -> Cells:
        """The secondaries in order of falling cost."""
        cells = self.secondaries
        cost = self.network.problem.cost[cells]
        return cells[np.argsort(-cost, kind="stable")]

    def _send(self, order: ArrayLike | None, may_hide: bool) -> Long:
        """Cover levels in order; return what could not be sent of each."""
        chosen = (
            np.arange(len(self.network), dtype=np.int64)
            if order is None
            else np.asarray(order, dtype=np.int64)
        )
        left = np.zeros(len(self.network), dtype=np.int64)
        for first in range(0, len(chosen), _LEVELS_PER_CALL):
            part = chosen[first : first + _LEVELS_PER_CALL]
            self.complete(partial(self._cover_levels, part, may_hide, left), len(part))
        return left

    def _cover_levels(self, part: Cells, may_hide: bool, left: Long, at: int) -> int:
        return int(cover.cover_levels(self.net, part, at, may_hide, left))

    def complete(self, run: Callable[[int], int], end: int) -> None:
        """Run a kernel to its end, with more room where it says the pool was full."""
        at = 0
        while at < end:
            at = run(at)
            if at < end:
                self.make_room()

    def make_room(self) -> None:
        """Close the gaps between witnesses and leave as much room again behind them."""
        live = self.live
        length = np.maximum(live.length, 0).astype(np.int64)
        begin = np.cumsum(length) - length
        total = int(length.sum())
        source = np.repeat(live.begin - begin, length) + np.arange(total)
        size = max(2 * total, len(live.pool_cell)) + 4 * self.network.nodes
        pool_cell = np.zeros(size, dtype=np.int32)
        pool_flow = np.zeros(size, dtype=np.int64)
        pool_cell[:total] = live.pool_cell[source]
        pool_flow[:total] = live.pool_flow[source]
        live.begin[:] = begin
        live.space[:] = length
        live.tally[1] = total
        self.live = live._replace(pool_cell=pool_cell, pool_flow=pool_flow)
