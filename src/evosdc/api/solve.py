"""Search a posed problem and have what is found judged, under one clock.

Under a limit of time a quick pattern is judged first: it is the answer where nothing
better can be judged in time, and it measures how long judging takes. The search has the
rest. Cells that the judge still finds exposed become demands, and the search goes on
from its pattern.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evosdc.api.audit import attacker_settings, cells_for, judge_all, undecided
from evosdc.api.checkpoints import resumed_pattern, writing_patterns
from evosdc.api.pose import Posed, explained
from evosdc.api.requests import read_requests
from evosdc.attack.certificate import joined
from evosdc.errors import LevelError, MethodError
from evosdc.evolution.stopping import RunRecord, TimeLimit
from evosdc.io.checkpoint import Checkpoint
from evosdc.options.tables import ProtectKeywords, settings
from evosdc.parallel import Workers
from evosdc.results import Certificate, TableVerdict
from evosdc.suppress import running
from evosdc.suppress.engine.choose import engine_for, read_quickly
from evosdc.suppress.methods.contracted import completed
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import FLAGSHIP, Method, find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.running import INTERRUPTED, RunClock, ending, first_bound, run
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
# The share where walks build the pattern, and slow programs what these leave: it ends
# when the pattern is built. With half of it large tables without dimensions have no
# answer but all that may be suppressed, at 1 nothing is left to better it in.
_BUILDING_SHARE = 0.75
# What is kept for judging the last pattern: times of what the one before took, and a
# share of the limit. With half of it busy machines judge too late. The first one is by
# boxes and cycles: at half of its margin patterns by programs are judged too late.
_MARGIN, _FIRST_MARGIN, _LEAST_SHARE = 1.5, 4.0, 0.08
# Better patterns are judged while the search goes on, from this share of the limit on,
# where the cost has fallen by one share, and another share of the limit apart. At half
# of these the search has less time, at twice the answer of one that ends late is older.
_JUDGED_FROM, _FALLEN, _APART = 0.4, 0.03, 0.2
# Rounds of demands that the judge asks for. Each one asks for more: few are needed.
_ROUNDS = 6
# Share of the cells that must be decided for a forecast, and what to try without one.
_TELLING_SHARE, _TIMES_WITHOUT_FORECAST = 0.1, 4.0
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
    """A pattern, the table as it would be published, and the judge's verdict."""

    pattern: Pattern
    table: Table
    verdict: TableVerdict
    certificate: Certificate
    seconds: float


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer to a question, which may ask for less or more than at first.

    `problem` is the one that the search bounded the cost of.
    """

    posed: Posed
    problem: Problem
    method: Method
    search: Search
    judged: Judged | None
    notes: tuple[str, ...]


def solve(
    posed: Posed, keywords: ProtectKeywords, kept: Checkpoint | None, workers: Workers
) -> Solution:
    """Search until a criterion ends it, and judge what is found."""
    problem, clock, given = posed.problem, posed.clock, posed.question.options
    method = find_method(FLAGSHIP if keywords.method == "auto" else keywords.method)
    refused = method.takes(problem)
    if refused is not None:
        raise MethodError(
            f"method {method.name!r} does not take this table: {refused}",
            expected=method.tables,
            hint="use --method auto, or see: evosdc methods",
        )
    parameters = method.configure(given.run.method_options or {})
    stored = None
    if kept is not None:
        about = settings_of(posed, keywords, method.name, posed.judged)
        about["known"] = posed.question.before.cells
        stored = resumed_pattern(kept, posed.question.table, about)
    spent = 0.0 if stored is None else stored.seconds
    clock.count(spent)
    listener = given.run.on_progress
    record = RunRecord(listeners=[listener] if listener else [])
    search = Search(seed=keywords.seed, workers=workers, record=record)
    search.note(f"started: {method.name}")
    if stored is not None:
        hidden = stored.hidden
        had = None if hidden is None else problem.pattern(hidden & problem.hideable)
        search.resume(had, spent, stored.evaluations)
        search.note(stored.words())
    _stop(search, posed, 0.0)
    with writing_patterns(kept, search, clock):
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
    search.note(ending(search, method.name, given.stop.evaluations))
    solution = Solution(solved, solved.problem, method, search, first, notes)
    try:
        return _judged_to_the_end(solution, pattern, workers, meanwhile)
    except KeyboardInterrupt:
        if first is None:
            raise
        search.reason = INTERRUPTED
        return replace(solution, judged=first, notes=(*notes, FIRST_INSTEAD))


def _judged_to_the_end(
    solution: Solution, pattern: Pattern, workers: Workers, meanwhile: _Meanwhile
) -> Solution:
    """Judge a pattern, and ask for more where it leaves cells exposed.

    What was proved of the one judged `meanwhile` may hold of this one.
    """
    posed, search, first = solution.posed, solution.search, solution.judged
    clock, late = posed.clock, tuple[str, ...]()
    began, judged = clock.spent(), None
    on_pattern = posed.question.options.run.on_pattern

    def judging() -> RunClock:
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
            half = Search(stop=TimeLimit(0.5 * posed.clock.before(0.0)))
            try:
                better = completed(posed.problem, pattern, half)
            except LevelError:
                break
            if np.array_equal(better.hidden, pattern.hidden):
                break
            exposed = len(judged.verdict.exposed_cells)
            search.note(f"{exposed} cells were exposed: more is suppressed")
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
    against_all = posed.question.against.beyond_public
    proof = safe.certificate
    more = cells_for(judged.table, cells, hidden, problem.cost, proof, against_all)
    pattern = replace(problem.pattern(hidden | more), hints=())
    if pattern.cost < safe.pattern.cost and safe.verdict.exact and judged.verdict.exact:
        proved = replace(judged, certificate=joined([judged.certificate, proof]))
        both = _judge(posed, pattern, posed.clock, workers, proved)
        if both.verdict.ok:
            return both, COMPLETED.format(f"{len(cells):,}")
    return safe, FIRST_INSTEAD


def _first_judged(
    posed: Posed, search: Search, method: Method, workers: Workers
) -> tuple[Posed, Judged | None]:
    """Judge a quick pattern, and give the search the time that judging does not need.

    None without a limit of time, or where judging takes a moment anyway. Levels that
    the quick method finds to be beyond any pattern are lowered.
    """
    clock, problem, limit = posed.clock, posed.problem, posed.clock.limit
    quick = problem.network is not None and not problem.has_attackers
    if quick or math.isinf(limit):
        return posed, None
    began = clock.spent()
    try:
        by_walks = problem.network is None and engine_for(problem).has_walks
        most = (_BUILDING_SHARE if by_walks else _QUICK_SHARE) * limit
        own = Search(seed=search.seed, stop=TimeLimit(most))
        pattern = _quick_pattern(problem, search.stored, own)
        built = clock.spent()
        if pattern.hidden[problem.hideable].all():
            # Of a pattern without witnesses the judge asks one program after another.
            search.note("no first pattern was found in its share of the limit")
            return posed, None
        share = clock.within(_JUDGE_SHARE * limit)
        judged = _judge(posed, pattern, share, workers, None)
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
    """Judges what a search has found so far, while it goes on, under a limit of time.

    That is the answer where a later pattern cannot be judged, and it measures judging.
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
    """Complete the pattern of an interrupted run, or build one quickly."""
    if stored is not None:
        return completed(problem, stored, search)
    large = len(problem.table) > _CELLS_A_SECOND * search.seconds_left()
    method = find_method(_QUICKEST if large or problem.has_attackers else _FIRST)
    if method.takes(problem) is not None:
        method = find_method(_FIRST)
    return method.run(problem, method.configure({}), search)


def _stop(search: Search, posed: Posed, judging: float) -> None:
    """Have a search end when so many seconds are left, or by what the user set."""
    stop, clock = posed.question.options.stop, posed.clock
    end = None
    if math.isfinite(clock.limit):
        most = _JUDGE_SHARE * clock.limit
        reserve = max(min(judging, most), _LEAST_SHARE * clock.limit)
        end = search.seconds + clock.before(reserve)
    search.stop = running.stopping(end, stop.evaluations, stop.gap)


def _judge(
    posed: Posed, found: Pattern, clock: RunClock, workers: Workers, last: Judged | None
) -> Judged:
    """Judge a pattern as it would be published."""
    table = posed.published(found.hidden)
    began = posed.clock.spent()
    hints = found.hints
    if not math.isinf(posed.clock.limit):
        hints = read_quickly(posed.problem, found)
    verdict, certificate = judge_all(
        table,
        posed.question.against,
        attackers=posed.problem.attackers,
        known=posed.question.before.cells,
        deadline=clock.end,
        hints=hints,
        workers=workers,
        seen=last.certificate if last and last.verdict.exact else None,
    )
    return Judged(found, table, verdict, certificate, posed.clock.spent() - began)


def _without_useless(posed: Posed, judged: Judged) -> Pattern | None:
    """Publish secondaries that follow exactly from what is published.

    They move in no deviation, so they protect nothing. None where there are none.
    """
    hidden = judged.pattern.hidden.copy()
    for e in judged.verdict.exposed:
        secondary = judged.table.status[e.cell] == SECONDARY
        if secondary and e.low == e.high and not e.reason and not posed.kept[e.cell]:
            hidden[e.cell] = False
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
            return (asked, *run(asked.problem, method, parameters, search))
        except LevelError as error:
            if posed.requested.publish:
                raise explained(error, posed.requested) from error
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


def _too_short(
    clock: RunClock, verdict: TableVerdict, judging: float, method: str
) -> str:
    """Say that a limit was too short to judge what was found, and which one to try.

    The forecast is by the share of the cells that is decided. It is no promise: those
    that are left may take longest.
    """
    decided = verdict.judged - len(verdict.open)
    enough = _TIMES_WITHOUT_FORECAST * clock.spent()
    if decided >= _TELLING_SHARE * verdict.judged:
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


def settings_of(
    posed: Posed, keywords: ProtectKeywords, method: str, table: Table
) -> dict[str, Any]:
    """Return what changes an answer, by the names of options."""
    given, origin = posed.question.options, table.origin
    requested = posed.requested.settings()
    accepted = read_requests(given.cells.accept, None, None)
    found = {
        "method": method,
        "time_limit": keywords.seconds(given.stop),
        **attacker_settings(posed.question.against),
        "hide": requested["hide"],
        "publish": requested["publish"],
        "cost_factor": requested["prefer"],
        "accept": accepted.settings()["hide"],
        "keep_secondaries": given.keeps_secondaries,
        "bounds": origin.bounds,
        "counts": origin.counts,
        "published_threshold": origin.threshold,
        "whole_numbers": origin.in_whole,
        "already_published": list(posed.question.before.words),
        "method_options": dict(given.run.method_options or {}),
    }
    named = settings(keywords, given.stop, given.cells, given.run) | found
    return {name: value for name, value in named.items() if name not in _HOW}
