"""Search a posed problem and have what is found judged, under one clock.

Under a limit of time a quick pattern is judged first: it is the answer where nothing
better can be judged in time, and it measures how long judging takes. The search has the
rest. Cells that the judge still finds exposed become demands, and the search goes on
from its pattern.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evosdc.api.completing import cells_for, undecided
from evosdc.api.judging import judge_all
from evosdc.api.pattern_checkpoint import Stored, following, take_up
from evosdc.api.pose import Posed, explained
from evosdc.api.requests import read_requests
from evosdc.attack.certificate import joined
from evosdc.errors import LevelError, MethodError
from evosdc.evolution.record import RunRecord
from evosdc.evolution.stopping import TimeLimit
from evosdc.options.tables import settings
from evosdc.parallel import Workers
from evosdc.results import Certificate, Exposure, TableVerdict
from evosdc.suppress.methods.contracted import completed
from evosdc.suppress.methods.hints import read_quickly
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import FLAGSHIP, Method, find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.running import (
    INTERRUPTED,
    Clock,
    ending,
    first_bound,
    run,
    stopping,
)
from evosdc.table import Table
from evosdc.table.status import SECONDARY

# The method whose pattern is judged first where building it fits into its share of the
# limit, so many cells a second: boxes and cycles, which the judge reads in a moment. At
# half of the cells more tables begin with what costs a fifth more, at twice of them
# some are cut short.
_FIRST, _CELLS_A_SECOND = "attacker", 20_000
# The quickest one, for other tables: a second on 50,000 cells. It needs dimensions.
_QUICKEST = "hypercube"
# Share of the limit that building the quick pattern may take, and judging it. With
# half of it large tables have no answer that is sure; twice is missing to the search.
_QUICK_SHARE, _JUDGE_SHARE = 0.1, 0.4
# What is kept for judging the last pattern: times of what the one before took, and a
# share of the limit. With half of it busy machines judge too late. The first one is by
# boxes and cycles: at half of its margin patterns by programs are judged too late.
_MARGIN, _FIRST_MARGIN, _LEAST_SHARE = 1.5, 4.0, 0.08
# Better patterns are judged while the search goes on, from this share of the limit on:
# where the cost has fallen by one share, and after another one of the limit at least.
# At half of these the search has less time, at twice of them the answer of a search
# that ends late is older.
_JUDGED_FROM, _FALLEN, _APART = 0.4, 0.03, 0.2
# Rounds of demands that the judge asks for. Each one asks for more: few are needed.
_ROUNDS = 6
# Share of the cells that must be decided for a forecast, and what to try without one.
_TELLING_SHARE, _TIMES_WITHOUT_FORECAST = 0.1, 4.0
OnPattern = Callable[[Table], None]
# Options that say how a run is carried out, and change no answer.
_HOW = ("workers", "cluster", "checkpoint", "resume", "on_progress", "on_pattern")
# Of what the quickest judgement took, how much is kept for one more, which asks for no
# new witness. With half of it busy machines have no time for it.
_KEPT_FOR_COMPLETING = 1.5
COMPLETED = (
    "{} cells could not be judged in the time left: they are protected as in a pattern "
    "that was judged before; a longer limit of time may save some of that"
)
FIRST_INSTEAD = (
    "a cheaper pattern that was found later could not be judged in the time left: this "
    "one was judged before; a longer limit of time gives both"
)


@dataclass(frozen=True, eq=False)
class Judged:
    """A pattern, the table as it would be published, and the judge's word on it."""

    pattern: Pattern
    table: Table
    verdict: TableVerdict
    certificate: Certificate
    seconds: float


@dataclass(frozen=True, eq=False)
class Solution:
    """What came of a question, which may ask for less or more than at first.

    `problem` is the one that the search bounded the cost of.
    """

    posed: Posed
    problem: Problem
    method: Method
    search: Search
    judged: Judged | None
    notes: tuple[str, ...]


def solve(
    posed: Posed,
    workers: Workers,
) -> Solution:
    """Search until a criterion ends it, and judge what is found."""
    task, problem, clock = posed.task, posed.problem, posed.clock
    method = _method(task.keywords.method, problem)
    parameters = method.configure(task.asked.run.method_options or {})
    stored = _stored(posed, method)
    spent = 0.0 if stored is None else stored.seconds
    clock.count(spent)
    heard, on_pattern = task.asked.run.on_progress, task.asked.run.on_pattern
    search = Search(
        seed=task.keywords.seed,
        workers=workers,
        record=RunRecord(listeners=[heard] if heard else []),
    )
    search.note(f"started: {method.name}")
    if stored is not None:
        hidden = stored.hidden
        had = None if hidden is None else problem.pattern(hidden & problem.hideable)
        search.resume(had, spent, stored.evaluations)
        search.note(stored.words())
    _stop(search, posed, 0.0)
    kept = task.checkpoint
    with nullcontext() if kept is None else following(kept, search, clock):
        posed, first = _first_judged(posed, search, method, workers)
        meanwhile = _Meanwhile(posed, search, first)
        search.callbacks.append(meanwhile)
        try:
            first_bound(problem, search)
        except KeyboardInterrupt:
            search.reason = INTERRUPTED
        solved, pattern, notes = _searched(posed, method, parameters, search)
        search.callbacks.remove(meanwhile)
        first = meanwhile.judged
    if search.reason == INTERRUPTED:
        clock.end_soon()
    search.note(ending(search, method.name, task.asked.stop.evaluations))
    solution = Solution(solved, solved.problem, method, search, first, notes)
    try:
        return _judged_to_the_end(solution, pattern, workers, on_pattern, meanwhile)
    except KeyboardInterrupt:
        if first is None:
            raise
        search.reason = INTERRUPTED
        return replace(solution, judged=first, notes=(*notes, FIRST_INSTEAD))


def _judged_to_the_end(
    solution: Solution,
    pattern: Pattern,
    workers: Workers,
    on_pattern: OnPattern | None,
    meanwhile: _Meanwhile,
) -> Solution:
    """Judge a pattern, and ask for more where it leaves cells exposed.

    What was proved of the one judged `meanwhile` may hold of this one.
    """
    posed, search, first = solution.posed, solution.search, solution.judged
    clock, late = posed.clock, tuple[str, ...]()
    began = clock.spent()
    judged: Judged | None = None

    def judging() -> Clock:
        if first is None or not first.verdict.ok or clock.end is None:
            return clock
        return clock.within(clock.left() - _KEPT_FOR_COMPLETING * meanwhile.checking)

    for _ in range(_ROUNDS):
        if on_pattern is not None:
            on_pattern(posed.published(pattern.hidden))
        judged = _judge(posed, pattern, judging(), workers, judged or meanwhile.last)
        if judged.verdict.ok or clock.over():
            break
        better = _without_useless(posed, judged)
        if better is None:
            more = posed.asking_more(judged.verdict.exposed)
            if more is None:
                break
            posed = more
            better = _completed(posed, pattern)
            if better is None or np.array_equal(better.hidden, pattern.hidden):
                break
            search.note(
                f"{len(judged.verdict.exposed_cells)} cells were exposed: more is "
                "suppressed"
            )
        pattern = better
    assert judged is not None
    if not judged.verdict.ok and first is not None and first.verdict.ok:
        judged, note = _completed_by(posed, judged, first, workers)
        late = (note,)
        search.note(note)
        if on_pattern is not None:
            on_pattern(judged.table)
    elif judged.verdict.ok is None and clock.over():
        name, verdict = solution.method.name, judged.verdict
        late = (_too_short(clock, verdict, clock.spent() - began, name),)
    cost = posed.cost_of(judged.table)
    if search.best is None or cost != search.best.cost:
        search.best = replace(judged.pattern, cost=cost)
        search.note("judged")
    return replace(solution, posed=posed, judged=judged, notes=(*solution.notes, *late))


def _completed_by(
    posed: Posed, judged: Judged, safe: Judged, workers: Workers
) -> tuple[Judged, str]:
    """Protect what was not shown to be safe as in a pattern that was judged before.

    That pattern itself where this costs as much, or is not shown to be safe either.
    """
    problem, hidden = posed.problem, judged.pattern.hidden
    cells = undecided(judged.table, judged.verdict)
    against_all = posed.task.against.beside_public
    more = cells_for(
        judged.table, cells, hidden, problem.cost, safe.certificate, against_all
    )
    pattern = replace(problem.pattern(hidden | more), hints=())
    if pattern.cost < safe.pattern.cost and _exact(safe) and _exact(judged):
        proved = replace(
            judged, certificate=joined([judged.certificate, safe.certificate])
        )
        both = _judge(posed, pattern, posed.clock, workers, proved)
        if both.verdict.ok:
            return both, COMPLETED.format(f"{len(cells):,}")
    return safe, FIRST_INSTEAD


def _completed(posed: Posed, pattern: Pattern) -> Pattern | None:
    """Suppress what a question asks for beyond a pattern, in half of the time left."""
    left = posed.clock.before(0.0)
    own = Search(stop=TimeLimit(0.5 * left))
    try:
        return completed(posed.problem, pattern, own)
    except LevelError:
        return None


def _first_judged(
    posed: Posed, search: Search, method: Method, workers: Workers
) -> tuple[Posed, Judged | None]:
    """Judge a quick pattern, and leave the search what judging does not need.

    None without a limit of time, or where the judge is done in a moment anyway. Levels
    that the quick method finds to be beyond any pattern are lowered.
    """
    clock, problem = posed.clock, posed.problem
    limit = clock.limit
    quick = problem.network is not None and not problem.has_attackers
    if quick or math.isinf(limit):
        return posed, None
    own = Search(seed=search.seed, stop=TimeLimit(_QUICK_SHARE * limit))
    began = clock.spent()
    try:
        pattern = _quick_pattern(problem, search.stored, own)
        built = clock.spent()
        if pattern.hidden[problem.hideable].all():
            # Of a pattern without witnesses the judge asks one program after another.
            search.note("no first pattern was found in its share of the limit")
            return posed, None
        judged = _judge(
            posed, pattern, clock.within(_JUDGE_SHARE * limit), workers, None
        )
    except LevelError as error:
        lower = None if posed.requested.publish else posed.lowered(error.cells)
        if lower is None:
            return posed, None  # the method itself says which cells
        return _first_judged(lower, search, method, workers)
    except KeyboardInterrupt:
        search.reason = INTERRUPTED
        return posed, None
    took = clock.spent() - built
    search.note(
        f"a first pattern, built in {built - began:.1f} s, was judged in {took:.1f} s: "
        f"{judged.verdict.word}"
    )
    if method.name == FLAGSHIP:
        search.stored = judged.pattern
    _stop(search, posed, _FIRST_MARGIN * took)
    return posed, judged


class _Meanwhile:
    """Judges what a search has found so far, in between, under a limit of time.

    That is the answer where there is no time to judge a later pattern, and tells how
    much of it judging takes: patterns by programs take longer than the first one.
    """

    def __init__(self, posed: Posed, search: Search, first: Judged | None) -> None:
        self._posed, self._search, self.judged = posed, search, first
        # Judged last, also where time was too short: what was proved is kept.
        self.last = first
        self.checking = 0.0 if first is None else first.seconds
        self._due = math.inf if first is None else _JUDGED_FROM * posed.clock.limit

    def __call__(self) -> None:
        posed, search, clock = self._posed, self._search, self._posed.clock
        now, best = clock.spent(), search.best
        limit, had = clock.limit, self.judged
        if had is None or best is None or now < self._due:
            return
        # Secondaries that are kept cost a search nothing: patterns are compared.
        if best.cost >= (1 - _FALLEN) * had.pattern.cost:
            return
        self._due = math.inf  # judging asks whether to stop as well
        most = min(_JUDGE_SHARE * limit, clock.left())
        judged = _judge(posed, best, clock.within(most), Workers(), self.last)
        took = clock.spent() - now
        self.last, self.checking = judged, min(self.checking, took)
        if judged.verdict.ok:
            self.judged = judged
        search.note(f"judged in {took:.1f} s: {judged.verdict.word}")
        self._due = clock.spent() + max(_APART * limit, took)
        _stop(search, posed, _MARGIN * took)


def _quick_pattern(problem: Problem, stored: Pattern | None, search: Search) -> Pattern:
    """Complete the pattern of a run that was cut short, or build one quickly."""
    if stored is not None:
        return completed(problem, stored, search)
    large = len(problem.table) > _CELLS_A_SECOND * search.seconds_left()
    quick = find_method(_QUICKEST if large or problem.has_attackers else _FIRST)
    if quick.takes(problem) is not None:
        quick = find_method(_FIRST)
    return quick.run(problem, quick.configure({}), search)


def _stop(search: Search, posed: Posed, judging: float) -> None:
    """Let a search go on until so many seconds are left, or it has what was asked."""
    stop, clock = posed.task.asked.stop, posed.clock
    end = None
    if math.isfinite(clock.limit):
        most = _JUDGE_SHARE * clock.limit
        reserve = max(min(judging, most), _LEAST_SHARE * clock.limit)
        end = search.seconds + clock.before(reserve)
    search.stop = stopping(end, stop.evaluations, stop.gap)


def _judge(
    posed: Posed,
    pattern: Pattern,
    clock: Clock,
    workers: Workers,
    before: Judged | None,
) -> Judged:
    """Judge a pattern as it would be published."""
    table = posed.published(pattern.hidden)
    began = posed.clock.spent()
    hints = pattern.hints
    if not math.isinf(posed.clock.limit):
        hints = read_quickly(posed.problem, pattern)
    verdict, certificate = judge_all(
        table,
        posed.task.against,
        attackers=posed.problem.attackers,
        known=posed.before.cells,
        deadline=clock.end,
        hints=hints,
        workers=workers,
        seen=before.certificate if before is not None and _exact(before) else None,
    )
    return Judged(pattern, table, verdict, certificate, posed.clock.spent() - began)


def _exact(judged: Judged) -> bool:
    return judged.verdict.exact


def _without_useless(posed: Posed, judged: Judged) -> Pattern | None:
    """Publish secondaries that follow exactly from what is published.

    They move in no deviation, so they protect nothing. None where there are none.
    """

    def useless(e: Exposure) -> bool:
        secondary = judged.table.status[e.cell] == SECONDARY
        follows = e.low == e.high and not e.reason
        return bool(secondary and follows and not posed.kept[e.cell])

    cells = [e.cell for e in judged.verdict.exposed if useless(e)]
    hidden = judged.pattern.hidden.copy()
    hidden[cells] = False
    if np.array_equal(hidden, judged.pattern.hidden):
        return None
    return replace(posed.problem.pattern(hidden), hints=judged.pattern.hints)


def _searched(
    posed: Posed, method: Method, parameters: Any, search: Search
) -> tuple[Posed, Pattern, tuple[str, ...]]:
    """Run the method, again with lower levels where some are beyond any pattern."""
    asked = posed
    while True:
        try:
            with explained(posed.requested):
                return (asked, *run(asked.problem, method, parameters, search))
        except LevelError as error:
            if posed.requested.publish:
                raise
            lower = asked.lowered(error.cells)
        if lower is None:
            # Next to the end of what can be had a method may miss it by rounding.
            pattern = asked.problem.pattern(asked.problem.hideable)
            note = f"{method.name!r} found no pattern: all that may be suppressed is"
            return asked, pattern, (note,)
        asked = lower
        search.note("some levels are beyond any pattern: the others go on")
        # Bounds of levels that nobody can have say nothing of those that can be had.
        search.bound, search.best = None, None
        if search.reason != INTERRUPTED:
            search.reason = None
            first_bound(asked.problem, search)


def _method(name: str, problem: Problem) -> Method:
    chosen = find_method(FLAGSHIP if name == "auto" else name)
    refused = chosen.takes(problem)
    if refused is not None:
        raise MethodError(
            f"method {chosen.name!r} does not take this table: {refused}",
            expected=chosen.tables,
            hint="use --method auto, or see: evosdc methods",
        )
    return chosen


def _stored(posed: Posed, method: Method) -> Stored | None:
    """Return what a run that was cut short had, where this one goes on from it."""
    kept = posed.task.checkpoint
    if kept is None:
        return None
    about = settings_of(posed, method.name, posed.judged)
    about["known"] = posed.before.cells
    return take_up(kept, posed.given, about)


def _too_short(clock: Clock, verdict: TableVerdict, judging: float, method: str) -> str:
    """Say that a limit was too short to judge what was found, and what to try.

    By the share of the cells that is decided, twice the time for judging at least;
    where hardly any is, no forecast is to be had. It is no promise: the cells that are
    left may be those that take longest.
    """
    decided = verdict.judged - len(verdict.open)
    if decided < _TELLING_SHARE * verdict.judged:
        enough = _TIMES_WITHOUT_FORECAST * clock.spent()
    else:
        enough = clock.spent() + judging * max(1.0, len(verdict.open) / decided)
    digits = 10 ** max(0, math.floor(math.log10(max(1.0, enough))) - 1)
    about = math.ceil(enough / digits) * digits
    quicker = (
        "" if method == _QUICKEST else f", or a quicker method (--method {_QUICKEST})"
    )
    return (
        f"the limit of time was too short to judge what was found: "
        f"{len(verdict.open):,} of {verdict.judged:,} cells are undecided; "
        f"try {about:,} s or more (--time-limit {about}){quicker}"
    )


def settings_of(posed: Posed, method: str, table: Table) -> dict[str, Any]:
    """Return what changes an answer, by the names of options."""
    task, origin = posed.task, table.origin
    asked, requested = task.asked, posed.requested.settings()
    accepted = read_requests(asked.cells.accept, None, None)
    given = settings(task.keywords, asked.stop, asked.cells, asked.run)
    found = {
        "method": method,
        "time_limit": task.seconds,
        **task.against.settings(),
        "hide": requested["hide"],
        "publish": requested["publish"],
        "cost_factor": requested["prefer"],
        "accept": accepted.settings()["hide"],
        "keep_secondaries": asked.keeps_secondaries,
        "bounds": origin.bounds,
        "counts": origin.counts,
        "published_threshold": origin.threshold,
        "whole_numbers": origin.in_whole,
        "already_published": list(posed.before.words),
        "method_options": dict(asked.run.method_options or {}),
    }
    return {
        name: value for name, value in {**given, **found}.items() if name not in _HOW
    }
