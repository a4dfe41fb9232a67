"""The engine of two-dimensional tables: paths and flows on their network."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from evosdc.parallel import LazyPool
from evosdc.suppress.engine.base import (
    Costs,
    Demands,
    Mask,
    Stopped,
    WalkOptions,
    never,
)
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.network.cuts import NetworkCuts
from evosdc.suppress.engine.network.mend import NetworkMender
from evosdc.suppress.engine.network.orders import FlowEvaluator
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.engine.network.walker import DEFAULT, NetworkWalker
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.order_groups import Grouping


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
