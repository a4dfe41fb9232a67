"""HiTaS: a hierarchical or linked table, sub-table by sub-table from the top (2002).

What a sub-table hides beyond the sensitive cells must not be worked out from another
sub-table either, so it is protected there as well. A sub-table leaves its published
margins alone where it can, since these were settled higher up; where it cannot, the
sub-tables that have these cells are solved again. Protecting each sub-table does not
protect the whole: an attacker may add equations of different sub-tables up. So the
whole table is checked last, and what is still open is covered.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.parallel import Closing, Task, open_pool
from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.methods.hitas_subtable import (
    HitasParameters,
    SubtableAnswer,
    Subtables,
    SubtableTask,
    solve_problem,
    solve_subtable,
)
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Search, StopWith

# The share of the time that is left for the check of the whole table.
_WHOLE = 0.4
# Sub-tables asked for at a time, and looked at for it, for each worker.
_ASKED, _LOOKED_AT = 2, 24
# Seconds between two looks at whether an answer is there.
_NAP = 0.001
# Runs shorter than so many seconds, and workers with fewer sub-tables to solve, are
# not worth a start.
_SHORT, _FEW = 1.0, 4


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

    def cover(asked: Demand, price: Real) -> Move | None:
        move = state.table.programs.cheapest(asked, price)
        if move is None or not state.hidden[move.cells].all():
            open_levels.add(asked.cell)
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
    left, stop = search.seconds_left(), StopWith(search)
    pattern = solve_problem(problem, parameters, search.seed, left, stop)
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
        budget = self.search.seconds_left() * (1 - _WHOLE)
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
    """Answers of sub-tables, some of them worked out before they are asked for.

    Each is solved as it is found when its turn comes, in the published order, so that
    the answer is the same for any number of workers. Sub-tables that share no cell with
    one that comes before are solved ahead; where one of their cells is hidden in the
    meantime, what was found is thrown away and they are solved again. This process does
    not only wait for the others: meanwhile it solves ahead as well.
    """

    def __init__(self, whole: Subtables, search: Search, dirty: int) -> None:
        self._whole, self._search = whole, search
        workers = search.workers.beside(dirty // _FEW)
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
        if not self._size or self._search.seconds < _SHORT:
            return
        self._next = self._independent(dirty, hidden, seconds * (self._size + 1))
        under_way = sum(not given.done() for _, given in self._given.values())
        for _ in range(_ASKED * self._size - under_way):
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
                    time.sleep(_NAP)
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
        looked_at = np.flatnonzero(dirty)[: _LOOKED_AT * self._size]
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
        return solve_subtable(self._whole, task, StopWith(self._search))

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
