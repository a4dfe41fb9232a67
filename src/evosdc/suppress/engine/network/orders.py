"""Orders on networks: every order is a run of compiled minimum cost flows."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Int, Long
from evosdc.suppress.engine.evaluator import Order, Prefix, PricedOrder
from evosdc.suppress.engine.network import cover
from evosdc.suppress.engine.network.arrays import (
    Net,
    PatternArrays,
    copy_live,
    make_work,
)
from evosdc.suppress.engine.network.cheapest_flow import Flows, make_flows
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.order_kernels import run_order
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search
from evosdc.suppress.structure.elements import Grouping, by_weight, group_cells
from evosdc.suppress.structure.unpick import movable

# Levels protected between two looks at the clock.
_LEVELS_A_CALL = 256


@dataclass(frozen=True, eq=False)
class _Worker:
    """What one worker writes on."""

    network: TableNetwork
    live: PatternArrays
    flows: Flows
    left: Long


class FlowEvaluator:
    """Evaluates orders on a table that is a network.

    Parameters
    ----------
    network
        The table; every worker gets scratch space of its own.
    grouping
        Which cells are protected and in what groups.
    search
        The run; its workers evaluate several orders at once, in threads.
    clean
        Whether an order is worth what is left after clean-up.
    """

    def __init__(
        self, network: TableNetwork, grouping: Grouping, search: Search, clean: bool
    ) -> None:
        problem = network.problem
        self._problem, self._search, self._clean = problem, search, clean
        self._together = grouping.together and grouping.groups > 0
        self.network = network
        open_cells = np.unique(self.network.demands.cell)
        chosen = _chosen(problem, open_cells, grouping.cells)
        self.elements = group_cells(problem, chosen, grouping.groups, grouping.by)
        rest = by_weight(problem, np.setdiff1d(open_cells, chosen))
        # The closing group comes last and has no place in an order.
        self._start, self._levels = _levels_of(self.network, [*self.elements, rest])
        self._bare = self.network.bare()
        self._workers = [self._worker() for _ in range(search.workers.threads)]

    @property
    def length(self) -> int:
        return len(self.elements)

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
        self._protect(worker, closing, 0, np.zeros(1, dtype=np.int32))
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
        begin = 0 if prefix is None else prefix.shared(order)
        upto = np.zeros(len(order), dtype=np.int32)
        known = np.zeros(0, dtype=np.int64)
        if prefix is not None and begin:
            upto[:begin] = prefix.priced.upto[:begin]
            known = prefix.priced.secondaries[: upto[begin - 1]]
        self._reset(worker, known)
        levels = max(1, len(self._levels) // max(1, self.length))
        piece = max(1, _LEVELS_A_CALL // levels)
        for first in range(begin, len(order), piece):
            if self._search.stopped():
                return None
            self._protect(worker, order, first, upto, min(first + piece, len(order)))
        secondaries = worker.live.extra[: worker.live.tally[0]].astype(np.int64)
        if self._clean:
            state = self._state(worker)
            if not state.clean_up(stopped=self._search.stopped):
                return None
            return PricedOrder(state.cost, secondaries, upto)
        cost = float(self._problem.cost[np.sort(secondaries)].sum())
        return PricedOrder(cost, secondaries, upto)

    def _protect(
        self,
        worker: _Worker,
        order: Order,
        first: int,
        upto: Int,
        end: int | None = None,
    ) -> None:
        network = self.network
        level = run_order(
            Net(network.arcs, network.demands, worker.live, worker.network.work),
            worker.flows,
            network.cost,
            self._start,
            self._levels,
            self._together,
            order,
            (first, len(order) if end is None else end),
            upto,
            worker.left,
        )
        network.refuse(level, worker.left)

    def _reset(self, worker: _Worker, hidden: Long) -> None:
        live, bare = worker.live, self._bare
        np.copyto(live.hidden, bare.hidden)
        np.copyto(live.first, bare.first)
        np.copyto(live.following, bare.following)
        np.copyto(live.place, bare.place)
        np.copyto(live.tally, bare.tally)
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
        return _Worker(
            network,
            copy_live(self._bare),
            make_flows(network.nodes, cells, len(network)),
            np.zeros(1, dtype=np.int64),
        )


def _chosen(problem: Problem, open_cells: Long, cells: str) -> Long:
    """The sensitive cells whose order is sought.

    Primaries alone cover all levels of those that are not among `open_cells`.
    """
    if cells == "all":
        return np.flatnonzero(problem.primary)
    if cells == "exposed":
        return open_cells
    table = problem.table
    free = movable(
        problem.primary,
        table.matrix.indptr,
        table.matrix.indices,
        table.columns.indptr,
        table.columns.indices,
    )
    return open_cells[~free[open_cells]]


def _levels_of(network: TableNetwork, elements: list[Long]) -> tuple[Long, Long]:
    """Levels of each element: cell by cell, the upper one first."""
    size = np.array([len(e) for e in elements])
    cells = np.concatenate([np.zeros(0, dtype=np.int64), *elements])
    element = np.full(len(network.problem.table), -1, dtype=np.int64)
    element[cells] = np.repeat(np.arange(len(elements)), size)
    levels = network.level_order(cells, by_side=False)
    of_level = element[network.demands.cell[levels]]
    count = np.bincount(of_level, minlength=len(elements))
    start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
    return start, levels.astype(np.int64)
