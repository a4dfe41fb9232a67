"""How a method is run for `protect`: budget, interrupts, bounds."""

from __future__ import annotations

from copy import copy
from math import inf, isfinite, isinf
from typing import Any

from evosdc.compile import clock
from evosdc.compile.clock import moment
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    EvaluationLimit,
    TargetGap,
    TimeLimit,
)
from evosdc.suppress.bounds.cut_loop import cut_bound, equation_bound, row_bound
from evosdc.suppress.methods.contracted import contracted, run_contracted
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method, find_method
from evosdc.suppress.run.search import Search

INTERRUPTED = "interrupted"
# Methods that prove no bound themselves get one after the search, up to so many cells
# and for so many seconds. At half of either fewer results have a gap, at twice of them
# people wait longer for one that is no better than the quick bound.
_BOUND_CELLS, _BOUND_SECONDS = 50_000, 5.0
# Someone who pressed Ctrl-C waits no longer than this many seconds for a last resort.
# At half of it large tables have no pattern by then; twice is felt.
_LAST_RESORT_SECONDS = 2.0
# After Ctrl-C a pattern is judged for so many seconds. At half of it large tables end
# without a verdict, at twice of it people give up waiting.
_JUDGE_SECONDS = 20.0
# Cells up to which the cut bound takes some seconds even on a slow machine, so that no
# clock need end it: half leaves more runs without a bound, twice may take a minute.
_REPEATED_CELLS = 1000
# Up to so many cells bridgeless rows bound the cost before the search, for so many
# seconds. At half of either the first bound is lower, at twice of them short runs lose
# a larger part of their time to it.
_ROW_CELLS, _ROW_SECONDS = 5_000, 2.0


class RunClock(clock.Clock):
    """The limit of time of a whole run, and what judging may take beyond it."""

    def __init__(self, limit: float | None) -> None:
        super().__init__(limit)
        self._grace = _grace(self.limit)

    @property
    def end(self) -> float | None:
        """The moment by which everything is over; None without a limit."""
        return None if isinf(self.limit) else self._start + self.limit + self._grace

    def end_soon(self) -> None:
        """Leave the judge a few seconds from now: the run was interrupted."""
        self.limit = min(self.limit, self.spent() + _JUDGE_SECONDS)
        self._grace = _grace(self.limit)

    def within(self, seconds: float) -> RunClock:
        """Return a clock that is over in so many seconds."""
        other = copy(self)
        other.limit, other._grace = self.spent() + seconds, 0.0
        return other

    def before(self, seconds: float) -> float:
        """How long it is until only so many seconds of the limit are left."""
        return self.limit - seconds - self.spent()

    def left(self) -> float:
        """Seconds until the end; infinite without a limit."""
        return inf if self.end is None else self.end - moment()

    def over(self) -> bool:
        """Whether the limit has passed."""
        return self.spent() >= self.limit


def _grace(limit: float) -> float:
    """What judging may take beyond a limit: less than a tenth of it, or a second."""
    return max(0.05 * limit, 1.0)


def stopping(
    time_limit: float | None, evaluations: int | None, gap: float
) -> Criterion:
    """Return what ends a search: any one of three."""
    return AnyOf(
        (
            TargetGap(gap),
            TimeLimit(inf if time_limit is None else time_limit),
            EvaluationLimit(inf if evaluations is None else evaluations),
        )
    )


def run(
    problem: Problem, method: Method, parameters: Any, search: Search
) -> tuple[Pattern, tuple[str, ...]]:
    """Run a method; an interrupt ends it with the best complete pattern so far."""
    notes: tuple[str, ...] = ()
    try:
        if search.reason == INTERRUPTED:
            raise KeyboardInterrupt
        pattern = run_contracted(problem, method, parameters, search)
    except KeyboardInterrupt:
        search.reason = INTERRUPTED
        best = search.stored if search.best is None else search.best
        if best is not None:
            pattern = best
            notes = ("interrupted: this is the best complete pattern found so far",)
        else:
            last_resort = find_method("marginal")
            limited = Search(stop=TimeLimit(_LAST_RESORT_SECONDS))
            pattern = last_resort.run(problem, last_resort.configure({}), limited)
            notes = (
                f"interrupted before {method.name!r} had a complete pattern: "
                "this one is by 'marginal', safe but expensive",
            )
    if search.best is not None and search.best.cost < pattern.cost:
        pattern = search.best
    return pattern, notes


def ending(search: Search, method: str, evaluations: int | None) -> str:
    """Say why a run ended and how to repeat it."""
    again = f"--method {method} --seed {search.seed}"
    reason = search.reason or "finished"
    if reason == "evaluations" and not search.resumed:
        return f"ended: {reason}; --evaluations {evaluations} {again} repeats exactly"
    if reason == INTERRUPTED or (reason == "time limit" and search.cut_short):
        return (
            f"ended: {reason}, in the middle of a pattern; {again} with a budget of "
            "--evaluations instead of time lets it finish, and that repeats exactly"
        )
    if search.resumed:
        return f"ended: {reason}; resumed from a checkpoint, which no seed repeats"
    budget = max(1, search.evaluations)
    if isfinite(search.seconds_left()):
        # What a clock ends, or shares out, no seed repeats.
        words = f"for a run that repeats exactly: --evaluations {budget} {again}"
        return f"ended: {reason}; {words}"
    return f"ended: {reason}; --evaluations {budget} {again} repeats exactly"


def first_bound(problem: Problem, search: Search) -> None:
    """Bound the cost before the search where nothing better comes quickly."""
    small, base = contracted(problem)
    if small.network is not None and len(small.table) <= _BOUND_CELLS:
        return
    bound = equation_bound(small)
    if len(small.table) <= _ROW_CELLS:
        start = moment()
        timed = isfinite(search.seconds_left())  # else the answer must repeat

        def stopped() -> bool:
            late = timed and moment() - start > _ROW_SECONDS
            return late or search.stopped()

        rows = row_bound(small, stopped)
        bound = max(bound, rows.value)
    if bound + base > 0:
        search.raise_bound(bound + base)


def lower_bound(
    problem: Problem, cost: float, search: Search, seconds: float
) -> float | None:
    """Return the search's own bound, or a quick one where its method gives none."""
    if cost == 0:
        return 0.0
    small, base = contracted(problem)
    few = len(small.table) <= _BOUND_CELLS
    if search.bound is None and small.network is not None and few:
        start = moment()
        most = min(_BOUND_SECONDS, seconds)
        if isinf(seconds) and len(small.table) <= _REPEATED_CELLS:
            most = seconds  # no clock ends what is to repeat
        bound = cut_bound(small, lambda: moment() - start > most)
        return min(bound.value + base, cost)
    return search.bound
