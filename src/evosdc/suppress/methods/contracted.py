"""Methods and bounds on the contracted problem, with answers for the whole one.

Patterns live on the table as it is, with its codes, where boxes, which need dimensions,
find more than contraction saves. Bounds and integer programmes are always quicker on
classes of cells that move together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.errors import LevelError
from evosdc.evolution.stopping import TimeLimit
from evosdc.suppress.engine.base import Cut, capacity_cut
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.programs import are_quick, call_quick
from evosdc.suppress.problem.contraction import Contraction, contract
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import DUALITY, Search, Shrink
from evosdc.suppress.structure.equations import dimensions_of

# Contraction is worth it where no more than this share of the cells that may be hidden
# is left. At half of it tables that shrink by half are bounded whole; 1 contracts
# whatever shrinks at all.
_MOST_SHARE_LEFT = 0.9
# The same where boxes, which need dimensions, would be lost, and the cells up to which
# programs do without boxes: with twice as many, on 12,395 cells, the pattern cost three
# times as much after a minute; at half of either fewer tables gain by programs.
_MOST_SHARE_WITHOUT_BOXES, _MOST_CELLS_WITHOUT_BOXES = 0.5, 6000
_CONTRACTION = "contraction"
# A cut of which less than this is missing says nothing: a numerical tolerance.
_CUT_SLACK = 1e-6
# Share of the time left for a method that knows the public only. At half of it its
# pattern is worse than it need be, at 1 nothing is left to cover the other attackers.
_TIME_SHARE_FOR_PUBLIC = 0.7
# Share of the time or evaluations left for choosing which way widths are required. At
# half of it fewer cells are tried, at twice of it patterns have less to improve in.
_SHARE_FOR_WIDTHS = 0.1


class ContractedSearch(Search):
    """A run on the contracted problem that reports to one on the whole problem.

    Budget, record and randomness are those of the whole run; the best pattern and the
    bound are kept twice, with and without the cells that are hidden anyway.
    """

    def __init__(self, whole: Search, contraction: Contraction) -> None:
        # Record, workers, randomness and clock are the same ones.
        vars(self).update(vars(whole))
        self._whole, self._contraction = whole, contraction
        self.best, self.callbacks = None, []
        if whole.stored is not None:
            self.stored = contraction.shrink(whole.stored)
        if whole.bound is not None:
            self.bound = max(0.0, whole.bound - contraction.base)

    def count(self, evaluations: int = 1, *, elsewhere: bool = False) -> None:
        super().count(evaluations, elsewhere=elsewhere)
        self._whole.count(evaluations, elsewhere=elsewhere)

    def offer(
        self, pattern: Pattern, event: str = "", diversity: float | None = None
    ) -> bool:
        if not self._improves(pattern):
            return False
        self._whole.generations = self.generations
        self._whole.offer(self._contraction.expand(pattern), event, diversity)
        return True

    def raise_bound(self, bound: float, source: str = DUALITY) -> None:
        if self.bound is None or bound > self.bound:
            self.bound, self.bound_source = bound, source
        self._whole.raise_bound(bound + self._contraction.base, source)

    def note(self, event: str, diversity: float | None = None) -> None:
        self._whole.note(event, diversity)

    def seconds_left(self) -> float:
        return self._whole.seconds_left()  # its criterion may change meanwhile

    def origin(self, _: Problem) -> tuple[Problem, Shrink]:
        return self._contraction.whole, self._contraction.shrink

    def stopped(self) -> bool:
        self._whole.generations = self.generations
        if self.reason is None:
            self.call_back()
        over = self._whole.stopped()
        self.reason = self._whole.reason
        return over


def contraction_for(problem: Problem) -> Contraction | None:
    """Return the contraction of a problem where it is much smaller: bounds are of it.

    Networks stay networks.
    """
    if problem.has_attackers:
        return None  # attackers know cells, not classes of cells
    known = problem.derived
    if _CONTRACTION not in known:
        found = contract(problem)
        most = _MOST_SHARE_LEFT * int(problem.hideable.sum())
        if found is not None and (
            len(found.small.table) > most
            or (problem.network is not None and found.small.network is None)
        ):
            found = None
        known[_CONTRACTION] = found
    worth: Contraction | None = known[_CONTRACTION]
    return worth


def contracted(problem: Problem) -> tuple[Problem, float]:
    """Return the problem to bound, contracted or not, and what else is hidden costs."""
    found = contraction_for(problem)
    return (problem, 0.0) if found is None else (found.small, found.base)


class Relaxation:
    """A problem, and the one of its classes of cells where that is worth it.

    Attributes
    ----------
    problem
        The one to be relaxed: `whole`, or its contraction.
    base
        What the cells cost that every safe pattern hides: no part of that problem.
    """

    def __init__(self, whole: Problem) -> None:
        self._found = contraction_for(whole)
        self.problem = whole if self._found is None else self._found.small
        self.base = 0.0 if self._found is None else self._found.base
        # Cuts by identity, with what they say of classes.
        self._written: dict[int, tuple[Cut, Cut | None]] = {}

    def classes(self, hidden: Flags) -> Flags:
        """Return the classes that a pattern hides, all of whose cells it hides."""
        if self._found is None:
            return hidden
        return self._found.shrink(Pattern(hidden, 0.0)).hidden

    def cells(self, hidden: Flags) -> Flags:
        """Return the cells of hidden classes, and those that are hidden anyway."""
        if self._found is None:
            return hidden
        return self._found.expand(Pattern(hidden, 0.0)).hidden

    def spread(self, x: Real) -> Real:
        """Return how far cells are hidden where classes are to the extent `x`."""
        found = self._found
        if found is None:
            return x
        inside = found.group >= 0
        spread = found.forced.astype(np.float64)
        spread[inside] = np.maximum(spread[inside], x[found.group[inside]])
        return spread

    def cuts(self, cuts: Iterable[Cut]) -> list[Cut]:
        """Return what cuts of cells say of classes: those that say anything."""
        if self._found is None:
            return list(cuts)
        had = self._written
        self._written = {
            id(cut): had.get(id(cut)) or (cut, self._of_classes(cut)) for cut in cuts
        }
        return [cut for _, cut in self._written.values() if cut is not None]

    def _of_classes(self, cut: Cut) -> Cut | None:
        """Write a cut of cells in classes; cells that are in none are never of use."""
        assert self._found is not None
        group = self._found.group[cut.cells]
        inside = group >= 0
        classes, place = np.unique(group[inside], return_inverse=True)
        terms = np.bincount(place, weights=cut.coefficients[inside]) / cut.least
        return capacity_cut(classes, terms, self.problem.primary[classes], _CUT_SLACK)


def _contraction_for_patterns(problem: Problem, method: Method) -> Contraction | None:
    """Return the contraction of a problem where a method is quicker on it.

    Where boxes, which need dimensions, would be lost, only on small tables; where walks
    build patterns, cells that move together are theirs to find.
    """
    found = contraction_for(problem) if method.contracts else None
    if found is None or problem.network is not None:
        return found
    small = found.small.table
    if engine_for(problem).has_walks:
        return None
    if dimensions_of(problem.table) is None or dimensions_of(small) is not None:
        return found
    share = len(small) / max(1, int(problem.hideable.sum()))
    few = len(small) <= _MOST_CELLS_WITHOUT_BOXES and share <= _MOST_SHARE_WITHOUT_BOXES
    return found if few and not method.contracts_bounds else None


def completed(
    problem: Problem, pattern: Pattern, search: Search, event: str = "completed"
) -> Pattern:
    """Return a pattern with what a problem requires beyond it, cleaned up.

    It may have been made for another problem of the same table: without attackers, or
    with lower levels.
    """
    hidden = pattern.hidden & problem.hideable
    start = Pattern(hidden, 0.0, pattern.hints)
    state = engine_for(problem).restore(start)
    if state.repair(stopped=search.stopped):
        state.clean_up(stopped=search.stopped)
    found: Pattern = state.pattern()
    search.count()
    search.offer(found, event)
    return found


def restore_checkpoint(problem: Problem, search: Search) -> None:
    """Offer the stored pattern, made safe where it is not.

    It is no evidence: somebody may have changed the file. So it is priced again, its
    demands are covered again, and what must be published is. Where there is no time for
    that, it is offered as it is, and the judge says what it is worth.
    """
    if search.stored is None:
        return
    stored = replace(
        problem.pattern(search.stored.hidden & problem.hideable),
        hints=search.stored.hints,
    )
    state = engine_for(problem).restore(stored)
    more = state.repair(stopped=search.stopped)
    event = "restored from the checkpoint"
    if search.stopped():
        search.offer(stored, f"{event}, not looked at again")
    else:
        search.offer(state.pattern(), f"{event}, and repaired" if more else event)


def with_widths_chosen(problem: Problem, search: Search) -> Problem:
    """Choose which way each width is required first, by the cost of quick patterns.

    One cell after the other, in a share of the time or of the evaluations left.
    """
    end = search.seconds + _SHARE_FOR_WIDTHS * search.seconds_left()
    evaluations = _SHARE_FOR_WIDTHS * search.evaluations_left()
    chosen, least = problem, inf
    if not len(problem.levels.slide):
        return problem
    for falling in (set[int](), *({k} for k in problem.levels.slide.tolist())):
        if search.seconds >= end or evaluations < 1 or search.stopped():
            break
        tried = replace(problem, falling=chosen.falling | falling)
        tried.derived["shortfalls"] = problem.shortfalls
        try:
            state = engine_for(tried).start()
            state.cover(stopped=search.stopped)
        except LevelError:
            break  # the method says which
        state.clean_up(stopped=search.stopped)
        search.count()
        evaluations -= 1
        if state.cost < least:
            chosen, least = tried, state.cost
    return chosen


def run_contracted(
    problem: Problem, method: Method, parameters: Any, search: Search
) -> Pattern:
    """Run a method: contracted where that is worth it, for all attackers in the end."""
    if problem.has_attackers and method.public_only:
        return run_for_public(problem, method, parameters, search)
    found = _contraction_for_patterns(problem, method)
    if found is None or method.takes(found.small) is not None:
        restore_checkpoint(problem, search)
        chosen = with_widths_chosen(problem, search)
        pattern: Pattern = method.run(chosen, parameters, search)
        return pattern
    search.note(
        f"contracted: {int(problem.hideable.sum()):,} cells that may be hidden come to "
        f"{len(found.small.table):,} that move by themselves"
    )
    inner = ContractedSearch(search, found)
    try:
        restore_checkpoint(found.small, inner)
        chosen = with_widths_chosen(found.small, inner)
        small: Pattern = method.run(chosen, parameters, inner)
    except LevelError:
        # The whole problem says which of its cells cannot be protected.
        restore_checkpoint(problem, search)
        pattern = method.run(problem, parameters, search)
        return pattern
    # What was measured there holds here: programs are over the same classes of cells.
    if are_quick(found.small):
        call_quick(problem)
    return found.expand(small)


def run_for_public(
    problem: Problem, method: Method, parameters: Any, search: Search
) -> Pattern:
    """Run a method that knows the public only, and protect against the others too."""
    restore_checkpoint(problem, search)
    sub_run = search.sub_run(_TIME_SHARE_FOR_PUBLIC * search.seconds_left())
    try:
        found = run_contracted(problem.for_public, method, parameters, sub_run)
    except KeyboardInterrupt:
        if sub_run.best is not None:
            search.offer(completed(problem, sub_run.best, Search()), method.name)
        raise
    search.count(sub_run.evaluations)
    if sub_run.bound is not None:
        # Attackers only add demands.
        search.raise_bound(sub_run.bound, sub_run.bound_source)
    # Evaluations were for the method: what is required beyond them is completed in
    # full.
    own = Search(stop=TimeLimit(search.seconds_left()))
    search.offer(completed(problem, found, own), f"{method.name}, against attackers")
    return search.found
