"""The engine of two-dimensional tables: paths and flows on their network.

An order is a run of compiled minimum cost flows. A `NetworkMender` turns a pattern into
another one: cells are hidden and published, only the levels whose witness they touch
are covered again along cheapest paths, and what is then redundant is published.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from evosdc.arrays import Flags, Int, Long
from evosdc.errors import EvosdcError
from evosdc.parallel import LazyPool
from evosdc.suppress.engine.base import (
    Cells,
    Costs,
    Cut,
    Demands,
    Mask,
    Stopped,
    WalkOptions,
    never,
)
from evosdc.suppress.engine.evaluator import (
    GroupEvaluator,
    Order,
    Prefix,
    PricedOrder,
    known_beginning,
)
from evosdc.suppress.engine.network import cover
from evosdc.suppress.engine.network import mend_kernels as kernels
from evosdc.suppress.engine.network.arrays import PatternArrays, copy_live, make_work
from evosdc.suppress.engine.network.cheapest_flow import Flows, make_flows
from evosdc.suppress.engine.network.cover import DONE, FAILED, change
from evosdc.suppress.engine.network.cuts import NetworkCuts
from evosdc.suppress.engine.network.mend_kernels import make_log
from evosdc.suppress.engine.network.order_kernels import LevelGroups
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.engine.network.walker import DEFAULT, NetworkWalker
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping

# Levels protected between two looks at the clock.
_LEVELS_PER_CALL = 256


@dataclass(frozen=True, eq=False)
class _Worker:
    """What one worker writes on."""

    network: TableNetwork
    live: PatternArrays
    flows: Flows


class FlowEvaluator(GroupEvaluator):
    """Evaluates orders on a table that is a network.

    The workers of the run evaluate several orders at once, in threads; each of them
    gets scratch space of its own.
    """

    def __init__(
        self, network: TableNetwork, grouping: Grouping, search: Search, clean: bool
    ) -> None:
        self.network = network
        with_levels = np.unique(network.demands.cell)
        super().__init__(network.problem, with_levels, grouping, search, clean)
        self._levels = _levels_of(network, [*self.groups, self.closing], self.together)
        self._bare = network.bare()
        self._workers = [self._worker() for _ in range(search.workers.threads)]

    def _exposed(self, with_levels: Long) -> Long:
        return with_levels  # the network drops levels that the primaries cover

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[PricedOrder | None]:
        workers = self._workers[: len(tasks)]
        if len(workers) < 2:
            return [self._evaluate(self._workers[0], *task) for task in tasks]
        found: list[PricedOrder | None] = [None] * len(tasks)

        def work(worker: int) -> None:
            for i in range(worker, len(tasks), len(workers)):
                found[i] = self._evaluate(workers[worker], *tasks[i])

        # Threads know of the job that they work for by its context.
        contexts = [copy_context() for _ in workers]
        with ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(lambda w: contexts[w].run(work, w), range(len(workers))))
        return found

    def complete(self, priced: PricedOrder, clean: bool) -> Pattern | None:
        worker = self._workers[0]
        self._reset(worker, priced.secondaries)
        closing = np.array([self.length], dtype=np.int64)
        self._protect(worker, closing, (0, 1), np.zeros(1, dtype=np.int32))
        state = self._state(worker)
        if clean:
            state.clean_up(stopped=self._search.stopped)
        return state.pattern()

    def rescue(self) -> Pattern:
        state = PatternState(self.network)
        state.cover()
        return state.pattern()

    def _evaluate(
        self, worker: _Worker, order: Order, prefix: Prefix | None
    ) -> PricedOrder | None:
        begin, known, upto = known_beginning(order, prefix)
        self._reset(worker, known)
        levels = max(1, len(self._levels.levels) // max(1, self.length))
        piece = max(1, _LEVELS_PER_CALL // levels)
        for first in range(begin, len(order), piece):
            if self._search.stopped():
                return None
            places = first, min(first + piece, len(order))
            self._protect(worker, order, places, upto)
        secondaries = worker.live.extra[: worker.live.tally[0]].astype(np.int64)
        if self._clean:
            state = self._state(worker)
            if not state.clean_up(stopped=self._search.stopped):
                return None
            return PricedOrder(state.cost, secondaries, upto)
        return PricedOrder(self._price(secondaries), secondaries, upto)

    def _protect(
        self, worker: _Worker, order: Order, places: tuple[int, int], upto: Int
    ) -> None:
        worker.network.run_order(
            worker.live, worker.flows, self._levels, order, places, upto
        )

    def _reset(self, worker: _Worker, hidden: Long) -> None:
        live, bare = worker.live, self._bare
        for name in ("hidden", "first", "following", "place", "tally"):
            np.copyto(getattr(live, name), getattr(bare, name))
        cover.change(self.network.arcs, live, hidden, True)

    def _state(self, worker: _Worker) -> PatternState:
        """The hidden cells with a witness for each level, on the worker's own network.

        Nothing more is hidden by covering: it is the check that all is safe.
        """
        state = PatternState(worker.network)
        state.hide(worker.live.extra[: worker.live.tally[0]])
        state.cover()
        return state

    def _worker(self) -> _Worker:
        network = copy.copy(self.network)
        cells = len(self._problem.table)
        network.work = make_work(network.nodes, cells)
        flows = make_flows(network.nodes, cells, len(network))
        return _Worker(network, copy_live(self._bare), flows)


def _levels_of(
    network: TableNetwork, groups: list[Long], together: bool
) -> LevelGroups:
    """Levels of each group: cell by cell, the upper one first."""
    size = np.array([len(group) for group in groups])
    cells = np.concatenate([np.zeros(0, dtype=np.int64), *groups])
    group_of = np.full(len(network.problem.table), -1, dtype=np.int64)
    group_of[cells] = np.repeat(np.arange(len(groups)), size)
    levels = network.level_order(cells, by_side=False)
    of_level = group_of[network.demands.cell[levels]]
    count = np.bincount(of_level, minlength=len(groups))
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    return LevelGroups(start, levels.astype(np.int64), together)


class NetworkMender:
    """Repair and mutation on the patterns of one table.

    Parameters
    ----------
    network
        The table; its costs guide the paths.
    rng
        Gives the order in which broken levels are covered.
    """

    def __init__(self, network: TableNetwork, rng: np.random.Generator) -> None:
        self._network = network
        self._cost = network.problem.cost
        self._state = rng.integers(0, 2**63, 1).astype(np.uint64)
        self._critic = np.zeros(len(network.problem.table), dtype=np.int32)
        self._levels = np.empty(len(network), dtype=np.int64)

    def child(self, parent: PatternState, hidden: Flags) -> PatternState:
        """Return a safe pattern that hides these cells, or as few more as it takes.

        It starts from a copy of `parent`, all of whose levels are covered; redundant
        cells are published.
        """
        state = parent.copy()
        arcs, live = self._network.arcs, state.live
        free = self._network.problem.hideable
        change(arcs, live, np.flatnonzero(hidden & free & ~live.hidden), True)
        change(arcs, live, np.flatnonzero(live.hidden & ~hidden), False)
        self.recover(state)
        self.prune(state)
        return state

    def recover(self, state: PatternState) -> None:
        """Cover the levels whose witness runs through published cells."""

        def run(_: int) -> int:
            log = make_log(state.live)
            result: int = kernels.recreate(
                state.net, log, self._state, self._cost, self._levels, np.inf
            )
            if result == FAILED:
                raise EvosdcError(
                    "a level that a pattern covered can be covered by none",
                    hint="report this with the table's shape: "
                    "it is a fault of the program",
                )
            return int(result == DONE)

        state.complete(run, 1)

    def prune(self, state: PatternState, order: Cells | None = None) -> None:
        """Publish every cell that no level needs, the most expensive first."""
        state.clean_up(order, critic=self._critic)

    def drop_in_turn(self, state: PatternState, order: Cells | None = None) -> None:
        """Drop each secondary in turn and keep what covers the levels at less cost."""
        cells = state.expensive_first() if order is None else order

        def run(at: int) -> int:
            log = make_log(state.live)
            end: int = kernels.drop_in_turn(
                state.net, log, self._cost, cells, at, self._state, self._critic
            )
            return end

        state.complete(run, len(cells))


class NetworkEngine:
    """Implements `engine.base.Engine` for tables that are networks."""

    is_network = True
    has_boxes = True
    has_walks = False
    program_walk = None
    programs_pay = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def network(self) -> TableNetwork:
        """The network with its capacities and the levels still open."""
        return TableNetwork(self.problem)

    @cached_property
    def demands(self) -> Demands:
        cell, sign, amount = self.network.demands
        return Demands(cell, sign, (amount * self.network.unit).astype(np.float64))

    def start(
        self, hidden: Mask | None = None, after: PatternState | None = None
    ) -> PatternState:
        if after is not None:
            after.become(self.problem.primary if hidden is None else hidden)
            return after
        state = PatternState(self.network)
        if hidden is not None:
            state.hide(np.flatnonzero(hidden))
        return state

    def build_by_programs(
        self,
        stopped: Stopped = never,
        price: Costs | None = None,
        late: Stopped | None = None,
    ) -> PatternState:
        # Flows are the programs of a network.
        state = self.start()
        state.cover(price=price, stopped=late or stopped)
        return state

    def restore(self, pattern: Pattern) -> PatternState:
        return self.start(pattern.hidden)

    def cuts(self, _: LazyPool[Problem] | None = None, /) -> NetworkCuts:
        # Minimum cuts take microseconds: no pool is needed.
        return NetworkCuts(self.problem)

    def learned(self) -> tuple[Cut, ...]:
        return ()  # every cut that a pattern fails is found again in microseconds

    def walker(
        self,
        state: PatternState,
        rng: np.random.Generator,
        options: WalkOptions | None = None,
    ) -> NetworkWalker | None:
        if not len(state.secondaries):
            return None
        return NetworkWalker(state, rng, DEFAULT if options is None else options)

    def mender(self, rng: np.random.Generator, _: Stopped = never) -> NetworkMender:
        return NetworkMender(self.network, rng)

    def evaluator(
        self, grouping: Grouping, search: Search, clean: bool
    ) -> FlowEvaluator:
        return FlowEvaluator(self.network, grouping, search, clean)
