"""HiTaS: a hierarchical or linked table, sub-table by sub-table from the top (2002).

What a sub-table hides beyond the sensitive cells must not be worked out from another
sub-table either, so it is protected there as well. A sub-table leaves its published
margins alone where it can, since these were settled higher up; where it cannot, the
sub-tables that have these cells are solved again. Protecting each sub-table does not
protect the whole: an attacker may add equations of different sub-tables up. So the
whole table is checked last, and what is still open is covered.

The answer of a sub-table depends on the table, on which of its own cells are hidden so
far and on the seed, so that any worker may work it out before it is its turn.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.errors import LevelError, MethodError, ProtectionFailed
from evosdc.evolution.stopping import (
    AnyOf,
    EvaluationLimit,
    TargetGap,
    TimeLimit,
)
from evosdc.options import MethodOptions, option
from evosdc.parallel import Closing, Task, open_pool
from evosdc.suppress.engine.base import cover_and_finish
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method, find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.subtables import PartProblems, Subtable, subtables

# Share of the time that is kept for the check of the whole table. At half of it the
# last levels of large tables are covered the quick way, at twice of it the sub-tables,
# where most of the cost is decided, have a third of their time.
_WHOLE_TABLE_SHARE = 0.4
# Most cells that may be hidden in a general sub-table that cut and branch solves. At
# half of it more sub-tables are left to the attacker, whose patterns cost more; at
# twice of it single sub-tables use up all the time they may have.
_MOST_CELLS_TO_PROVE = 500
# Few sub-tables need all their time: each may have so many times its even share. At
# half of it large ones end early, at twice of it little is left for the last ones.
_EVEN_SHARES_EACH = 3.0
# Sub-tables submitted at a time for each worker. With one they wait for the next task,
# with twice as many more answers are out of date when their turn comes.
_TASKS_PER_WORKER = 2
# Sub-tables looked at for independent ones, per worker. At half of it workers run out
# of tasks in deep hierarchies, at twice of it finding tasks takes twice as long.
_SUBTABLES_SEARCHED_PER_WORKER = 24
# Seconds between two looks at whether an answer is there: half or twice is not noticed.
_SECONDS_BETWEEN_LOOKS = 0.001
# Seconds of a run before workers are used. At half of it small tables wait for them
# to start, at twice of it larger ones are solved by one process for as long.
_SECONDS_BEFORE_WORKERS = 1.0
# Sub-tables to solve for each worker, at least: with half of them starting a worker
# takes longer than its work, with twice as many some workers stay idle.
_LEAST_SUBTABLES_PER_WORKER = 4
_OWN_NAMES = ("hitas", "modular")


@dataclass(frozen=True)
class HitasParameters(MethodOptions):
    """Options of HiTaS.

    Attributes
    ----------
    inner
        The method that solves a sub-table; auto takes the best for each: the hybrid for
        two dimensions, cut and branch for others while they are small and the run has
        a limit of time, else attacker.
    seconds
        Most seconds for one sub-table, where the method improves what it has and the
        run has a limit of time.
    effort
        Most evaluations of the inner method for one sub-table.
    inherit
        How far secondaries of one sub-table must be movable in the others, as a share
        of their value; 0 requires only that nobody can work them out exactly, as
        published; none leaves them to the check of the whole.
    margins
        How many times its cost a margin costs that was left published higher up; inf
        hides such a margin only where nothing else protects, as published.
    again
        How often a sub-table may be solved again.
    """

    inner: str = "auto"
    seconds: float = option(3.0, above=0)
    effort: int = option(60, least=1)
    inherit: float | None = option(0.0, least=0, most=1)
    margins: float = option(float("inf"), least=1)
    again: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner in _OWN_NAMES:
            raise MethodError(
                f"option inner is {self.inner!r}", expected="auto or another method"
            )
        if self.inner != "auto":
            find_method(self.inner)


@dataclass(frozen=True, eq=False)
class Subtables:
    """A table cut into sub-tables, which come from the top down."""

    problem: Problem
    parameters: HitasParameters
    seed: int
    tables: list[Subtable]

    @classmethod
    def of(cls, problem: Problem, parameters: HitasParameters, seed: int) -> Subtables:
        """Cut the table of a problem."""
        return cls(problem, parameters, seed, subtables(problem.table))

    def __len__(self) -> int:
        return len(self.tables)

    @cached_property
    def problems(self) -> PartProblems:
        """What makes the problems of sub-tables."""
        return PartProblems(self.problem, self.parameters.inherit or 0.0)

    def entries(self) -> tuple[Long, Long]:
        """Each cell of each sub-table, and the number of the sub-table."""
        cells = [table.cells for table in self.tables]
        owner = np.repeat(np.arange(len(self)), [len(each) for each in cells])
        return np.concatenate([np.empty(0, np.int64), *cells]), owner

    @cached_property
    def settled_in(self) -> Long:
        """The first sub-table that has each cell: it settles the cell."""
        first = np.full(len(self.problem.table), len(self), dtype=np.int64)
        np.minimum.at(first, *self.entries())
        return first


@dataclass(frozen=True, eq=False)
class SubtableTask:
    """A sub-table by its number, which of its cells are hidden, and how long it has."""

    number: int
    hidden: Flags
    seconds: float


@dataclass(frozen=True, eq=False)
class SubtableAnswer:
    """Which cells of a sub-table are hidden in the end; None where nothing was found.

    `forced` says that leaving settled margins published did not do.
    """

    hidden: Flags | None
    forced: bool = False


def solve_subtable(
    whole: Subtables, task: SubtableTask, outer: Search | None = None
) -> SubtableAnswer:
    """Solve a sub-table, with its settled margins published where that can be."""
    parameters, price = whole.parameters, whole.problem.cost
    table = whole.tables[task.number]
    hidden = np.zeros(len(whole.problem.table), dtype=bool)
    nothing = hidden.copy()
    hidden[table.cells] = task.hidden
    margins = whole.settled_in < task.number
    strict = not isfinite(parameters.margins)
    tries = [(nothing, True), (nothing, False)]
    if strict:
        tries.insert(0, (margins, True))
    else:
        price = np.where(margins, price * parameters.margins, price)
    if parameters.inherit is None:
        tries = [(shut, False) for shut, inherit in tries if inherit]
    for step, (shut, inherit) in enumerate(tries):
        problem = whole.problems.of(table, hidden, shut, price, inherit=inherit)
        try:
            found = solve_problem(problem, parameters, whole.seed, task.seconds, outer)
        except (LevelError, ProtectionFailed):
            continue
        if found is None:
            break
        return SubtableAnswer(found.hidden | task.hidden, strict and step > 0)
    return SubtableAnswer(None)


def solve_problem(
    problem: Problem,
    parameters: HitasParameters,
    seed: int,
    seconds: float,
    outer: Search | None = None,
) -> Pattern | None:
    """Solve a problem; None where the time was too short for a first pattern.

    Without a limit of time no clock ends it: the same seed gives the same pattern.
    """
    if not len(problem.levels) and not len(problem.levels.slide):
        return problem.pattern(problem.primary)
    timed = isfinite(seconds)
    name = _method(problem, parameters.inner, timed)
    method = find_method(name)
    if timed and name != "attacker":
        # These go on to improve and prove; the other ends by itself.
        seconds = min(parameters.seconds, _EVEN_SHARES_EACH * seconds)
    criteria = (
        TargetGap(1e-6),
        TimeLimit(seconds),
        EvaluationLimit(parameters.effort),
    )
    search = Search(seed=seed, stop=AnyOf(criteria), outer=outer)
    pattern: Pattern = method.run(problem, method.configure({}), search)
    first = next(e.seconds for e in search.record.entries if e.cost is not None)
    # What is put together after the end is safe but far too expensive for a sub-table.
    return None if search.reason == "time limit" and first > seconds else pattern


def _method(problem: Problem, name: str, timed: bool) -> str:
    if name != "auto" and find_method(name).takes(problem) is None:
        return name
    if engine_for(problem).is_network:
        return "hybrid"
    # Cut and branch has no end of its own that is near.
    return (
        "optimal"
        if timed and problem.hideable.sum() <= _MOST_CELLS_TO_PROVE
        else "attacker"
    )


def run(problem: Problem, parameters: HitasParameters, search: Search) -> Pattern:
    """Solve the sub-tables from the top down, then check and repair the whole."""
    cut = _Decomposition(problem, parameters, search)
    tables = cut.whole.tables
    if len(tables) == 1 and tables[0].covers(problem.table):
        search.note("the table is a single sub-table: solved as it is")
        return _solve_uncut(problem, parameters, search)
    cut.solve()
    search.note(cut.summary())
    state = GeneralEngine(problem).start(cut.hidden)
    open_levels: set[int] = set()

    def cover(demand: Demand, price: Real) -> Move | None:
        move = state.table.programs.cheapest(demand, price)
        if move is None or not state.hidden[move.cells].all():
            open_levels.add(demand.cell)
        return move

    state.cover_free(stopped=search.stopped)
    if state.table.by_boxes:
        open_levels.update(state.table.demands.cell[state.open_rows()].tolist())
    else:
        state.cover_by(cover, stopped=search.stopped)
    if open_levels:
        search.note(
            f"{len(open_levels)} of {len(problem.table.primaries)} sensitive cells "
            "were open over the whole table: more cells are hidden for them"
        )
    return cover_and_finish(state, search, "hitas")


def _solve_uncut(
    problem: Problem, parameters: HitasParameters, search: Search
) -> Pattern:
    """Solve a table that cannot be cut."""
    left = search.seconds_left()
    pattern = solve_problem(problem, parameters, search.seed, left, search)
    if pattern is None:
        return cover_and_finish(GeneralEngine(problem).start(), search, "hitas")
    search.count()
    search.offer(pattern, "hitas")
    return pattern


class _Decomposition:
    """Sub-tables, what is hidden so far, and which of them must be looked at."""

    def __init__(
        self, problem: Problem, parameters: HitasParameters, search: Search
    ) -> None:
        self.whole = Subtables.of(problem, parameters, search.seed)
        self.search = search
        self.hidden = problem.primary.copy()
        cells, owner = self.whole.entries()
        order = np.argsort(cells, kind="stable")
        self._subtables_of = owner[order]
        self._starts = np.searchsorted(cells[order], np.arange(len(problem.table) + 1))
        self.dirty = np.zeros(len(self.whole), dtype=bool)
        self.dirty[self._having(np.flatnonzero(self.hidden))] = True
        self.runs = np.zeros(len(self.whole), dtype=np.int64)
        self.forced = self.failed = 0

    def solve(self) -> None:
        """Solve dirty sub-tables, the highest first, until none is dirty."""
        budget = self.search.seconds_left() * (1 - _WHOLE_TABLE_SHARE)
        most = 1 + self.whole.parameters.again
        with Prefetch(self.whole, self.search, int(self.dirty.sum())) as prefetch:
            while self.dirty.any() and budget > 0 and not self.search.stopped():
                spent = self.search.seconds
                number = int(np.argmax(self.dirty))
                share = budget / self.dirty.sum()
                if self.runs[number] < most:
                    again = self.dirty & (self.runs < most)
                    prefetch.look_ahead(again, self.hidden, share)
                    new = self._solve_subtable(number, prefetch, share)
                    self.dirty[self._having(new)] = True
                self.dirty[number] = False
                budget = max(0.0, budget - (self.search.seconds - spent))

    def summary(self) -> str:
        """Say what was done, for the record."""
        again = self.whole.parameters.again
        solved, repeated = int((self.runs > 0).sum()), int((self.runs > 1).sum())
        text = f"{len(self.whole)} sub-tables, {solved} solved, "
        text += f"{repeated} of them again"
        if self.forced:
            text += f", {self.forced} times a settled margin had to be hidden"
        if self.failed:
            text += f", {self.failed} left to the check of the whole"
        stuck = int((self.runs > again).sum())
        if stuck and again:
            text += f", {stuck} solved as often as allowed"
        return text

    def _having(self, cells: Long) -> Long:
        """Sub-tables that have one of some cells."""
        start, end = self._starts[cells], self._starts[cells + 1]
        spans = [self._subtables_of[a:b] for a, b in zip(start, end, strict=True)]
        return np.unique(np.concatenate(spans)) if spans else np.empty(0, np.int64)

    def _solve_subtable(self, number: int, prefetch: Prefetch, seconds: float) -> Long:
        """Solve a sub-table and return the cells that it hides for the first time."""
        self.runs[number] += 1
        cells = self.whole.tables[number].cells
        before = self.hidden[cells]
        answer = prefetch.answer(number, before, seconds)
        if answer.hidden is None:
            self.failed += 1
            return np.empty(0, dtype=np.int64)
        new = cells[answer.hidden & ~before]
        self.hidden[new] = True
        self.forced += answer.forced and len(new) > 0
        return new


class Prefetch(Closing):
    """Answers of sub-tables, some of them worked out before they are needed.

    Each is solved as it is found when its turn comes, in the published order, so that
    the answer is the same for any number of workers. Sub-tables that share no cell with
    one that comes before are solved ahead; where one of their cells is hidden in the
    meantime, what was found is thrown away and they are solved again. This process does
    not only wait for the others: meanwhile it solves ahead as well.
    """

    def __init__(self, whole: Subtables, search: Search, dirty: int) -> None:
        self._whole, self._search = whole, search
        workers = search.workers.others(dirty // _LEAST_SUBTABLES_PER_WORKER)
        self._size = workers.count
        self._pool = open_pool(workers, whole)
        self._given: dict[int, tuple[SubtableTask, Task[SubtableAnswer]]] = {}
        self._own: dict[int, tuple[SubtableTask, SubtableAnswer]] = {}
        self._ready = False  # whether workers have begun to answer
        self._next: Iterator[SubtableTask] = iter(())

    def look_ahead(self, dirty: Flags, hidden: Flags, seconds: float) -> None:
        """Have sub-tables solved that do not depend on those before them.

        The first of the `dirty` ones is that whose turn it is.
        """
        if not self._size or self._search.seconds < _SECONDS_BEFORE_WORKERS:
            return
        self._next = self._independent(dirty, hidden, seconds * (self._size + 1))
        under_way = sum(not given.done() for _, given in self._given.values())
        for _ in range(_TASKS_PER_WORKER * self._size - under_way):
            task = next(self._next, None)
            if task is None:
                return
            self._given[task.number] = task, self._pool.submit(solve_subtable, task)

    def answer(self, number: int, hidden: Flags, seconds: float) -> SubtableAnswer:
        """Return the answer of a sub-table whose turn it is."""
        known = self._known(number, hidden)
        self._ready |= any(given.done() for _, given in self._given.values())
        if number in self._given and known:
            given = self._given.pop(number)[1]
            while not given.done():
                if self._search.stopped():
                    return SubtableAnswer(None)
                task = next(self._next, None)
                if task is not None:
                    self._own[task.number] = task, self._solve(task)
                elif self._ready:
                    time.sleep(_SECONDS_BETWEEN_LOOKS)
                else:
                    # Workers take a while to start.
                    return self._solve(SubtableTask(number, hidden, seconds))
            return given.result()
        if known:
            return self._own.pop(number)[1]
        return self._solve(SubtableTask(number, hidden, seconds))

    def _independent(
        self, dirty: Flags, hidden: Flags, seconds: float
    ) -> Iterator[SubtableTask]:
        """Sub-tables after the first that share no cell with those before them."""
        before = np.zeros(len(hidden), dtype=bool)
        looked_at = np.flatnonzero(dirty)[: _SUBTABLES_SEARCHED_PER_WORKER * self._size]
        for place, number in enumerate(looked_at.tolist()):
            cells = self._whole.tables[number].cells
            alone = place > 0 and not before[cells].any()
            if alone and not self._known(number, hidden[cells]):
                yield SubtableTask(number, hidden[cells], seconds)
            before[cells] = True

    def _known(self, number: int, hidden: Flags) -> bool:
        """Whether a sub-table is being solved as it is; forget it where it changed."""
        for some in (self._given, self._own):
            if number in some:
                if np.array_equal(some[number][0].hidden, hidden):
                    return True
                del some[number]
        return False

    def _solve(self, task: SubtableTask) -> SubtableAnswer:
        return solve_subtable(self._whole, task, self._search)

    def close(self) -> None:
        self._pool.close()


METHOD = Method(
    name="hitas",
    summary="sub-tables from the top down, then the whole; tau-Argus's modular",
    tables="any; made for hierarchical and linked ones",
    source="de Wolf 2002; cited by Almeida, Schuetz and Carvalho 2008",
    parameters=HitasParameters,
    contracts=False,
    run=run,
)
