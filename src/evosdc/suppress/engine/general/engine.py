"""The engine of any table: attacker programs, and boxes where it has dimensions."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from evosdc.errors import MethodError
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
from evosdc.suppress.engine.general.cuts import AttackCuts
from evosdc.suppress.engine.general.mend import GeneralMender
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.orders import ProgramEvaluator
from evosdc.suppress.engine.general.programs import are_quick, call_quick
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.engine.general.table import GeneralTable
from evosdc.suppress.engine.general.walker import (
    BY_BOXES,
    BY_PROGRAMS,
    BY_STEPS,
    RECORD_TO_RECORD,
    BoxWalker,
    ProgramWalker,
    RecordWalker,
    StepWalker,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.codes import dimensions_of
from evosdc.suppress.structure.order_groups import Grouping


class GeneralEngine:
    """Implements `engine.base.Engine` for every table."""

    is_network = False

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def table(self) -> GeneralTable:
        """The table with its programs, demands and boxes."""
        return GeneralTable(self.problem)

    @property
    def has_boxes(self) -> bool:
        return self.table.boxes is not None

    @property
    def has_walks(self) -> bool:
        """Whether walks do what boxes do in other tables."""
        problem = self.problem
        if problem.has_attackers or self.programs_pay:
            return False
        # Asked before there is a table: to set up a large one takes seconds.
        return dimensions_of(problem.table) is None and self.table.walks is not None

    @property
    def program_walk(self) -> WalkOptions | None:
        return RECORD_TO_RECORD if self.programs_pay else None

    @property
    def programs_pay(self) -> bool:
        return are_quick(self.problem)

    @property
    def demands(self) -> Demands:
        return self.table.demands

    def build_by_programs(
        self,
        stopped: Stopped = never,
        price: Costs | None = None,
        late: Stopped | None = None,
    ) -> GeneralState | None:
        if self.has_walks:
            return None  # programs over the whole table take too long
        state = self.start()
        # The largest first: what they move far covers many others.
        order = np.argsort(-self.demands.amount, kind="stable")
        cheapest = self.table.programs.cheapest
        failed = state.cover_by(cheapest, order, price=price, stopped=stopped)
        if not (failed or stopped()):
            call_quick(self.problem)
            stopped = late or stopped
        elif self.problem.has_attackers:
            return None  # what is suppressed when time is up serves few attackers
        state.cover(price=price, stopped=stopped)
        state.publish_idle()
        return state

    def start(
        self, hidden: Mask | None = None, after: GeneralState | None = None
    ) -> GeneralState:
        return GeneralState(self.table, hidden, after)

    def restore(self, pattern: Pattern) -> GeneralState:
        state = GeneralState(self.table, pattern.hidden)
        state.remember([Move(cells, by) for cells, by in pattern.hints])
        return state

    def learned(self) -> list[Cut]:
        """Return the cuts that patterns have failed so far; every safe one meets them.

        They are of the problem's own cells, attackers included, and can begin a master.
        """
        return list(self.table.programs.learned.cuts)

    def cuts(self, pool: LazyPool[Problem] | None = None, /) -> AttackCuts:
        return AttackCuts(self.problem, pool)

    def walker(
        self,
        state: GeneralState,
        rng: np.random.Generator,
        options: WalkOptions | None = None,
    ) -> BoxWalker | ProgramWalker | None:
        if options is not None and options.memory > 1:
            raise MethodError(
                f"late acceptance over {options.memory} steps on a general table",
                expected="a memory of 1: here a pattern never gets more expensive",
            )
        if not len(state.secondaries):
            return None
        if options is not None and options.slack > 0:
            return RecordWalker(state, rng, options)
        if self.has_walks:
            return StepWalker(state, rng, options or BY_STEPS)
        if self.table.boxes is None:
            return ProgramWalker(state, rng, options or BY_PROGRAMS)
        return BoxWalker(state, rng, options or BY_BOXES)

    def mender(
        self, rng: np.random.Generator, stopped: Stopped = never
    ) -> GeneralMender:
        return GeneralMender(self.table, rng, stopped)

    def evaluator(
        self, grouping: Grouping, search: Search, clean: bool
    ) -> ProgramEvaluator:
        return ProgramEvaluator(self.table, grouping, search, clean)
