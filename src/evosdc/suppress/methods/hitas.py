"""HiTaS: a hierarchical or linked table, sub-table by sub-table from the top (2002).

What a sub-table hides beyond the sensitive cells must not be worked out from another
sub-table either, so it is protected there as well. A sub-table leaves its published
margins alone where it can, since these were settled higher up; where it cannot, the
sub-tables that have these cells are solved again. Protecting each sub-table does not
protect the whole: an attacker may add equations of different sub-tables up. So the
whole table is checked last, and what is still open is covered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError, MethodError, ProtectionFailed
from evosdc.evolution.stopping import (
    AnyOf,
    EvaluationLimit,
    Progress,
    TargetGap,
    TimeLimit,
)
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, find_method
from evosdc.suppress.search import Search
from evosdc.suppress.structure.part_problem import PartProblems
from evosdc.suppress.structure.subtables import subtables

# The share of the time that is left for the check of the whole table.
_WHOLE = 0.4
# Beyond so many cells that may be hidden a general sub-table takes cut and branch long.
_SMALL = 500
# Sub-tables that want all their time are few: each may have so many times its share.
_SHARES = 3.0
_OWN_NAMES = ("hitas", "modular")


@dataclass(frozen=True)
class HitasParameters:
    """Options of HiTaS.

    Attributes
    ----------
    inner
        The method that solves a sub-table; auto takes the best for each: the hybrid for
        two dimensions, cut and branch for others while they are small, else attacker.
    seconds
        Most seconds for one sub-table, where the method improves what it has.
    effort
        Most evaluations of the inner method for one sub-table.
    inherit
        How far secondaries of one sub-table must be movable in the others, as a share
        of their value; 0 asks only that nobody can work them out exactly, as published;
        none leaves them to the check of the whole.
    margins
        How many times its cost a margin costs that was left published higher up; inf
        hides such a margin only where nothing else protects, as published.
    again
        How often a sub-table may be solved again.
    """

    inner: str = "auto"
    seconds: float = 3.0
    effort: int = 60
    inherit: float | None = 0.0
    margins: float = float("inf")
    again: int = 20

    def __post_init__(self) -> None:
        for name, good in (
            ("inner", self.inner not in _OWN_NAMES),
            ("seconds", self.seconds > 0),
            ("effort", self.effort > 0),
            ("inherit", 0 <= (self.inherit or 0.0) <= 1),
            ("margins", self.margins >= 1),
            ("again", self.again >= 0),
        ):
            if not good:
                raise MethodError(
                    f"option {name} of method 'hitas' is {getattr(self, name)!r}",
                    expected="inner another method; seconds and effort above 0; "
                    "inherit none or from 0 to 1; margins 1 or more; again 0 or more",
                    hint="see: evosdc methods",
                )
        if self.inner != "auto":
            find_method(self.inner)


def run(problem: Problem, parameters: HitasParameters, search: Search) -> Pattern:
    """Solve the sub-tables from the top down, then check and mend the whole."""
    parts = _Decomposition(problem, parameters, search)
    if len(parts.parts) == 1 and parts.parts[0].covers(problem.table):
        search.note("the table is a single sub-table: solved as it is")
        return parts.solve_whole()
    parts.solve()
    search.note(parts.summary())
    state = GeneralEngine(problem).start(parts.hidden)
    open_levels: set[int] = set()

    def cover(
        cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> Move | None:
        move = state.table.programs.cheapest(cell, sign, amount, price)
        if move is None or not state.hidden[move.cells].all():
            open_levels.add(cell)
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


class _Decomposition:
    """Sub-tables, what is hidden so far, and which of them must be looked at."""

    def __init__(
        self, problem: Problem, parameters: HitasParameters, search: Search
    ) -> None:
        self.problem = problem
        self.parameters = parameters
        self.search = search
        self.hidden = problem.primary.copy()
        self.parts = subtables(problem.table)
        self._cut = PartProblems(problem, parameters.inherit or 0.0)
        n, count = len(problem.table), len(self.parts)
        cells = np.concatenate([p.cells for p in self.parts] or [np.empty(0, int)])
        owner = np.repeat(np.arange(count), [len(p.cells) for p in self.parts])
        order = np.argsort(cells, kind="stable")
        self._parts_of = owner[order]
        self._starts = np.searchsorted(cells[order], np.arange(n + 1))
        # Parts come from the top down: the first that has a cell settles it.
        self._settled_in = np.full(n, count, dtype=np.int64)
        np.minimum.at(self._settled_in, cells, owner)
        self.dirty = np.zeros(count, dtype=bool)
        self.dirty[self._having(np.flatnonzero(self.hidden))] = True
        self.runs = np.zeros(count, dtype=np.int64)
        self.forced = self.failed = 0

    def solve(self) -> None:
        """Solve dirty sub-tables, the highest first, until none is dirty."""
        budget = self.search.seconds_left() * (1 - _WHOLE)
        most = 1 + self.parameters.again
        while self.dirty.any() and budget > 0 and not self.search.stopped():
            spent = self.search.seconds
            number = int(np.argmax(self.dirty))
            self.dirty[number] = False
            if self.runs[number] == most:
                continue
            new = self._solve_part(number, budget / (1 + self.dirty.sum()))
            if len(new):
                self.dirty[self._having(new)] = True
                self.dirty[number] = False
            budget = max(0.0, budget - (self.search.seconds - spent))

    def solve_whole(self) -> Pattern:
        """Solve a table that cannot be cut."""
        pattern = self._inner(self.problem, self.search.seconds_left())
        if pattern is None:
            state = GeneralEngine(self.problem).start()
            return cover_and_finish(state, self.search, "hitas")
        self.search.count()
        self.search.offer(pattern, "hitas")
        return pattern

    def summary(self) -> str:
        """Say what was done, for the record."""
        solved, again = int((self.runs > 0).sum()), int((self.runs > 1).sum())
        text = f"{len(self.parts)} sub-tables, {solved} solved, {again} of them again"
        if self.forced:
            text += f", {self.forced} times a settled margin had to be hidden"
        if self.failed:
            text += f", {self.failed} left to the check of the whole"
        stuck = int((self.runs > self.parameters.again).sum())
        if stuck and self.parameters.again:
            text += f", {stuck} solved as often as allowed"
        return text

    def _having(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sub-tables that have one of some cells."""
        start, end = self._starts[cells], self._starts[cells + 1]
        spans = [self._parts_of[a:b] for a, b in zip(start, end, strict=True)]
        return np.unique(np.concatenate(spans)) if spans else np.empty(0, np.int64)

    def _solve_part(self, number: int, seconds: float) -> NDArray[np.int64]:
        """Solve a sub-table and return the cells it hides anew."""
        self.runs[number] += 1
        part = self.parts[number]
        nothing = np.zeros(len(self.problem.table), dtype=bool)
        margins = self._settled_in < number
        price = self.problem.cost
        if np.isfinite(self.parameters.margins):
            price = np.where(margins, price * self.parameters.margins, price)
            tries = [(nothing, True), (nothing, False)]
        else:
            tries = [(margins, True), (nothing, True), (nothing, False)]
        if self.parameters.inherit is None:
            tries = [(shut, False) for shut, inherit in tries if inherit]
        for step, (shut, inherit) in enumerate(tries):
            piece = self._cut.of(part, self.hidden, shut, price, inherit=inherit)
            try:
                found = self._inner(piece, seconds)
            except (LevelError, ProtectionFailed):
                continue
            if found is None:
                break
            new = part.cells[found.hidden & ~self.hidden[part.cells]]
            self.hidden[new] = True
            self.forced += bool(step) and tries[0][0] is margins and len(new) > 0
            return new
        self.failed += 1
        return np.empty(0, dtype=np.int64)

    def _inner(self, piece: Problem, seconds: float) -> Pattern | None:
        """Solve a problem; None where the time was too short for a first pattern."""
        if not len(piece.levels) and not len(piece.levels.slide):
            return piece.pattern(piece.primary)
        name = self._method(piece)
        method = find_method(name)
        if name != "attacker":
            # These go on to improve and prove; the other ends by itself.
            seconds = min(self.parameters.seconds, _SHARES * seconds)
        search = Search(
            seed=self.search.seed,
            stop=AnyOf(
                (
                    TargetGap(1e-6),
                    _With(self.search),
                    TimeLimit(seconds),
                    EvaluationLimit(self.parameters.effort),
                )
            ),
        )
        pattern = method.run(piece, method.configure({}), search)
        first = next(e.seconds for e in search.record.entries if e.cost is not None)
        # What is put together after the end is safe but far too dear for one part.
        return None if search.reason == "time limit" and first > seconds else pattern

    def _method(self, piece: Problem) -> str:
        name = self.parameters.inner
        if name != "auto" and find_method(name).takes(piece) is None:
            return name
        if engine_for(piece).quick:
            return "hybrid"
        return "optimal" if piece.hideable.sum() <= _SMALL else "attacker"


@dataclass(frozen=True)
class _With:
    """Stop together with another run."""

    search: Search

    def reason(self, _: Progress) -> str | None:
        return self.search.reason if self.search.stopped() else None


METHOD = Method(
    name="hitas",
    summary="sub-tables from the top down, then the whole; tau-Argus's modular",
    tables="any; made for hierarchical and linked ones",
    source="de Wolf 2002; cited by Almeida, Schuetz and Carvalho 2008",
    parameters=HitasParameters,
    contracts=False,
    run=run,
    parts=("attacker", "optimal", "hybrid"),
)
