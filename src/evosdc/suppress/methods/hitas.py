"""HiTaS: a hierarchical or linked table, sub-table by sub-table from the top (2002).

What a sub-table hides beyond the sensitive cells must not be worked out from another
sub-table either, so it is protected there as well. A sub-table leaves its published
margins alone where it can, since these were settled higher up; where it cannot, the
sub-tables that have these cells are solved again. Protecting each sub-table does not
protect the whole: an attacker may add equations of different sub-tables up. So the
whole table is checked last, and what is still open is covered.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.methods.hitas_ahead import Ahead
from evosdc.suppress.methods.hitas_part import HitasParameters, Parts, solve_piece
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search, Together
from evosdc.suppress.structure.subtables import subtables

# The share of the time that is left for the check of the whole table.
_WHOLE = 0.4


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
        whole = Parts(
            self.problem,
            self.parts,
            self._settled_in,
            self.parameters,
            self.search.seed,
        )
        with Ahead(whole, self.search, int(self.dirty.sum())) as ahead:
            while self.dirty.any() and budget > 0 and not self.search.stopped():
                spent = self.search.seconds
                number = int(np.argmax(self.dirty))
                share = budget / self.dirty.sum()
                if self.runs[number] < most:
                    ahead.look(self.dirty & (self.runs < most), self.hidden, share)
                    new = self._solve_part(number, ahead, share)
                    self.dirty[self._having(new)] = True
                self.dirty[number] = False
                budget = max(0.0, budget - (self.search.seconds - spent))

    def solve_whole(self) -> Pattern:
        """Solve a table that cannot be cut."""
        pattern = solve_piece(
            self.problem,
            self.parameters,
            self.search.seed,
            self.search.seconds_left(),
            Together(self.search),
        )
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

    def _solve_part(
        self, number: int, ahead: Ahead, seconds: float
    ) -> NDArray[np.int64]:
        """Solve a sub-table and return the cells it hides anew."""
        self.runs[number] += 1
        cells = self.parts[number].cells
        before = self.hidden[cells]
        answer = ahead.answer(number, before, seconds)
        if answer.hidden is None:
            self.failed += 1
            return np.empty(0, dtype=np.int64)
        new = cells[answer.hidden & ~before]
        self.hidden[new] = True
        self.forced += answer.forced and len(new) > 0
        return new


METHOD = Method(
    name="hitas",
    summary="sub-tables from the top down, then the whole; tau-Argus's modular",
    tables="any; made for hierarchical and linked ones",
    source="de Wolf 2002; cited by Almeida, Schuetz and Carvalho 2008",
    parameters=HitasParameters,
    contracts=False,
    run=run,
)
