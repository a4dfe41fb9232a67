"""The engine of any table: attacker programs, and boxes where it has dimensions.

An order is a run of the attacker's linear programs; a mender changes whole patterns and
makes them safe again, for breeding.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from evosdc.arrays import Int, Long
from evosdc.errors import MethodError
from evosdc.parallel import LazyPool
from evosdc.suppress.engine.base import (
    Cells,
    Costs,
    Cut,
    Demands,
    Mask,
    Stopped,
    WalkOptions,
    cover_and_finish,
    never,
)
from evosdc.suppress.engine.evaluator import (
    GroupEvaluator,
    Order,
    Prefix,
    PricedOrder,
    known_beginning,
)
from evosdc.suppress.engine.general.cuts import AttackCuts
from evosdc.suppress.engine.general.model import Move
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
from evosdc.suppress.structure.equations import dimensions_of
from evosdc.suppress.structure.unpick import Grouping


class ProgramEvaluator(GroupEvaluator):
    """Evaluates orders by the incremental attacker's programs.

    All orders share the programs of one table, whose solver stays warm, so they are
    evaluated one after another.
    """

    def __init__(
        self, table: GeneralTable, grouping: Grouping, search: Search, clean: bool
    ) -> None:
        self._table, demands = table, table.demands
        self._rows: dict[int, list[int]] = {}
        # The upper level of a cell first.
        for row in np.lexsort((-demands.sign, demands.cell)).tolist():
            self._rows.setdefault(int(demands.cell[row]), []).append(row)
        with_levels = np.array(sorted(self._rows), dtype=np.int64)
        super().__init__(table.problem, with_levels, grouping, search, clean)
        self._group_rows = [self._rows_of(group) for group in self.groups]
        self._closing = self._rows_of(self.closing)
        self._unfinished: GeneralState | None = None
        self._latest: tuple[PricedOrder, GeneralState] | None = None

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[PricedOrder | None]:
        return [self._evaluate(*task) for task in tasks]

    def complete(self, priced: PricedOrder, clean: bool) -> Pattern | None:
        stopped = self._search.stopped
        if not clean:
            state = self._built(priced)
            state.cover_open(self._closing, stopped=stopped)
            if state.open_rows(self._closing):
                return None
            # The judge is quick where a pattern says what it rests on.
            state.cover_free(stopped=stopped)
            return state.pattern()
        state = self._state(priced.secondaries)
        # Clean-up needs a witness for every level, those of the order included.
        state.cover_open(stopped=stopped)
        if stopped():
            safe = not self._closing or not state.open_rows()
            return state.pattern() if safe else None
        return cover_and_finish(state, self._search, "order")

    def rescue(self) -> Pattern:
        state = self._unfinished or GeneralState(self._table)
        return cover_and_finish(state, self._search, "covered quickly")

    def _evaluate(self, order: Order, prefix: Prefix | None) -> PricedOrder | None:
        begin, known, upto = known_beginning(order, prefix)
        state = self._state(known)
        found = [known]
        missed = False
        for place in range(begin, len(order)):
            before = state.hidden.copy()
            rows = self._group_rows[int(order[place])]
            self._protect(state, rows)
            if state.open_rows(rows):
                if self._search.stopped():
                    self._unfinished = None if begin else state
                    return None
                missed = True
            added = np.flatnonzero(state.hidden & ~before)
            found.append(added)
            upto[place] = (upto[place - 1] if place else 0) + len(added)
        secondaries = np.concatenate(found)
        if missed:
            return self._covered_at_the_end(secondaries, upto)
        cost = self._price(secondaries)
        if self._clean:
            pattern = self.complete(PricedOrder(cost, secondaries, upto), True)
            if pattern is None or self._search.stopped():
                return None
            cost = pattern.cost
        priced = PricedOrder(cost, secondaries, upto)
        self._latest = priced, state
        return priced

    def _protect(self, state: GeneralState, rows: list[int]) -> None:
        """Cover the rows of one group."""
        if self.together:
            self._cover_together(state, rows)
        if state.open_rows(rows):
            state.cover_open(rows, stopped=self._search.stopped)

    def _cover_together(self, state: GeneralState, rows: list[int]) -> None:
        """Cover the rows of a group by one deviation for each direction.

        Where there is none, the group is halved. What stays open when a group of one
        has none, or when the time is up, is left to the caller.
        """
        table, problem = self._table, self._problem
        for sign in (1, -1):
            # What one deviation gives the public it may not give every attacker.
            among = np.array(rows, dtype=np.int64)
            here = (table.rows.sign[among] == sign) & (table.rows.attacker[among] == 0)
            waiting = [among[here].tolist()]
            while waiting:
                part = state.open_rows(waiting.pop())
                if len(part) < 2 or self._search.stopped():
                    continue
                demands = [table.demand(row) for row in part]
                price = np.where(state.hidden, 0.0, problem.cost)
                move = table.programs.cheapest_together(demands, price)
                if move is None:
                    middle = len(part) // 2
                    waiting += [part[middle:], part[:middle]]
                    continue
                for row in part:
                    if not state.witnesses.covered[row]:
                        state.take(row, move)

    def _covered_at_the_end(self, secondaries: Long, upto: Int) -> PricedOrder | None:
        """A level that no program covered: out of reach, or lost to rounding.

        Covering everything tells which; the pattern it makes is safe but says nothing
        about where in the order its cells came in, so all belong to the last place.
        """
        state = self._state(secondaries)
        cover_and_finish(state, self._search, "order")
        if self._search.stopped():
            return None
        late = np.setdiff1d(state.secondaries, secondaries)
        total = np.concatenate([secondaries, late])
        upto = upto.copy()
        upto[-1] = len(total)
        return PricedOrder(self._price(total), total, upto)

    def _built(self, priced: PricedOrder) -> GeneralState:
        """The state of an order, with its witnesses where it was the latest."""
        if self._latest is not None and self._latest[0] is priced:
            return self._latest[1]
        return self._state(priced.secondaries)

    def _state(self, secondaries: Long) -> GeneralState:
        state = GeneralState(self._table)
        state.hide(secondaries)
        return state

    def _rows_of(self, cells: Long) -> list[int]:
        return [row for cell in cells.tolist() for row in self._rows.get(cell, ())]

    def _exposed(self, with_levels: Long) -> Long:
        """The cells that the primaries alone leave short, as far as time allows.

        A cell called exposed by mistake costs time only. One that is left out by
        mistake has no witness, and whether attackers exclude it is not tested.
        """
        primary = self._problem.primary
        free = self._table.programs.movable(primary)
        state = GeneralState(self._table)
        state.cover_free(stopped=self._search.stopped)
        ask = self._table.programs.among(primary)
        price = np.where(free, 0.0, np.inf)
        exposed = ~free[with_levels]
        for i, cell in enumerate(with_levels.tolist()):
            if self._search.stopped():
                exposed[i:] = True
                break
            for row in self._rows[cell]:
                if exposed[i] or state.witnesses.covered[row]:
                    continue
                move = ask(self._table.demand(row), price)
                if move is None:
                    exposed[i] = True
                else:
                    state.witnesses.add(move, row)
        doubted = [row for row, _ in state.witnesses.unguarded()]
        exposed |= np.isin(with_levels, self._table.rows.cell[doubted])
        return with_levels[exposed]


class GeneralMender:
    """Repair and mutation on the patterns of one table.

    Parameters
    ----------
    rng
        Gives the order in which broken demands are covered.
    stopped
        Whether the time is up: what is left is then covered in little time.
    """

    def __init__(
        self, table: GeneralTable, rng: np.random.Generator, stopped: Stopped
    ) -> None:
        self._table, self._rng, self._stopped = table, rng, stopped

    def child(self, parent: GeneralState, hidden: Mask) -> GeneralState:
        state = parent.copy()
        state.become(hidden, self._stopped)
        if self._stopped():
            return parent.copy()  # covering the rest quickly would hide much
        state.cover(self._rng.permutation(state.uncovered), stopped=self._stopped)
        self.prune(state)
        return state

    def prune(self, state: GeneralState) -> None:
        state.clean_up(stopped=self._stopped)

    def drop_in_turn(self, state: GeneralState, order: Cells) -> None:
        for cell in order.tolist():
            if self._stopped():
                return
            if not state.hidden[cell]:
                continue
            if self._table.boxes is not None:
                self._rebuild(state, cell)
            else:
                self._replace(state, cell)

    def _rebuild(self, state: GeneralState, cell: int) -> None:
        """Publish a cell and cover what broke by boxes, if that costs no more."""
        assert self._table.boxes is not None
        self._table.boxes.rebuild(
            state.witnesses,
            state.hidden,
            np.array([cell], dtype=np.int64),
            self._rng.random(len(self._table.demands)),
            self._table.problem.cost,
        )

    def _replace(self, state: GeneralState, cell: int) -> None:
        """The same by programs, in tables that have no boxes."""
        price = self._table.problem.cost.copy()
        price[cell] = np.inf
        trial = state.copy()
        broken = trial.publish([cell], self._stopped)
        if trial.cover_open(broken, price=price, stopped=self._stopped):
            return
        if not len(trial.uncovered) and trial.cost <= state.cost:
            state.become_like(trial)


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
