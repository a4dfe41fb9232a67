"""The way of a table through `protect`: prepare -> search -> settle -> audit.

*Prepare* turns what is asked for into a problem of the cheapest pattern. *Search* runs
a method on it. *Settle* hides more, or less, where the problem of the search was not
all that was asked. *Audit* asks the judge, who sees the table and the pattern only.
"""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.api.claims import claim_of
from evosdc.api.mending import mend, missed
from evosdc.api.next_steps import Searched, with_next_steps
from evosdc.api.pattern_checkpoint import Stored, following, take_up
from evosdc.api.reach import is_lowered, within_reach
from evosdc.api.rehearsal import FIRST_INSTEAD, Rehearsal, too_short
from evosdc.api.requests import read_requests
from evosdc.api.running import (
    Clock,
    ending,
    first_bound,
    lower_bound,
    run,
    stopping,
)
from evosdc.api.settling import (
    as_demands,
    blaming,
    guarded,
    judge_all,
    settle_insiders,
    settle_secondaries,
)
from evosdc.api.sources import Known
from evosdc.api.stages import Found, Judged, Prepared, Settled, Task
from evosdc.errors import LevelError, MethodError
from evosdc.evolution.record import RunRecord
from evosdc.evolution.stopping import gap as gap_of
from evosdc.io.words import formula_notes
from evosdc.parallel import Cluster, Help
from evosdc.results import Certificate, Protection, Verdict
from evosdc.suppress.auto import FLAGSHIP
from evosdc.suppress.cost import costs
from evosdc.suppress.engine.general.programs import rule_out
from evosdc.suppress.engine.general.units import digits_of
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, find_method
from evosdc.suppress.requests import CellRequests
from evosdc.suppress.search import Search
from evosdc.table import Table
from evosdc.table.attackers import lone_respondents
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

# Cells up to which judging takes a second or so, lone respondents aside.
_SMALL = 1000
# Lone respondents may make a pattern dearer by this share before it is said.
_MUCH = 0.05


def prepare(table: Table, before: Known, task: Task) -> Prepared:
    """Grant the requests, price the cells and set the problem up."""
    requests = task.requests
    requested = read_requests(requests.hide, requests.publish, requests.prefer)
    kept = (table.status == SECONDARY) & requests.keep & ~before.cells
    granted = requested.grant(table, kept)
    kept &= (granted.status == SECONDARY) & granted.shown
    insiders = guarded(granted, task.attacker.singletons)
    if insiders:
        lone_respondents(granted)  # refuses a table that does not know them
    prices = costs(granted, task.cost) * requested.factors(granted)
    prices[~granted.shown] = 0.0
    asked = as_demands(granted, kept) if task.attacker.secondaries else granted
    # What everyone has from before cannot be hidden any more.
    asked = asked.replace(status=np.where(before.cells, FIXED, asked.status))
    clock = Clock(task.stop.seconds)
    problem, notes = _problem(
        asked, np.where(kept, 0.0, prices), requested, task.attacker.strict, clock.end
    )
    return Prepared(
        task=task,
        given=table,
        granted=granted,
        before=before,
        requested=requested,
        kept=kept,
        paid=float(prices[kept].sum()),
        insiders=insiders,
        problem=problem,
        clock=clock,
        notes=notes,
    )


def search(
    prepared: Prepared, cluster: Cluster | None = None, help: Help | None = None
) -> Found:
    """Run the method until a criterion ends it, with the help of a cluster if any.

    `help` is who may help to settle and to judge a pattern on the way.
    """
    task, problem, clock = prepared.task, prepared.problem, prepared.clock
    method = _method(task.method, problem)
    parameters = method.configure(task.options)
    if prepared.insiders and digits_of(problem) is None:
        # Steps of programs have too many digits here to be read exactly, so that the
        # judge asks again about every lone respondent; boxes have even steps.
        rule_out(problem)
    # The judge is done with networks and small tables in a moment.
    moment = problem.network is not None or len(problem.table) <= _SMALL
    stored = _stored(prepared, method)
    spent = 0.0 if stored is None else stored.seconds
    clock.count(spent)
    at_once = moment and not (prepared.insiders or task.attacker.secondaries)
    limit = clock.for_search(quick=at_once)
    if limit is not None:
        limit += spent
    running = Search(
        seed=task.seed,
        stop=stopping(limit, task.stop.evaluations, task.stop.gap),
        workers=task.workers or os.cpu_count() or 1,
        record=RunRecord(listeners=[task.on_progress] if task.on_progress else []),
        cluster=cluster,
    )
    running.note(f"started: {method.name}")
    if stored is not None:
        hidden = stored.hidden
        had = None if hidden is None else problem.pattern(hidden & problem.hideable)
        running.resume(had, spent, stored.evaluations)
        running.note(stored.words())
    kept = task.checkpoint
    rehearsal = None
    if limit is not None and not at_once:
        rehearsal = Rehearsal(prepared, running, help or Help(), rehearse)
    with nullcontext() if kept is None else following(kept, running, clock):
        first_bound(problem, running)
        problem, pattern, notes = _searched(
            prepared, method, parameters, running, rehearsal
        )
    if running.reason == "interrupted":
        clock.hurry()
    rehearsed = None if rehearsal is None else rehearsal.judged
    if rehearsal is not None and rehearsed is not None and rehearsal.words:
        pattern, notes = rehearsed.pattern, (*notes, *rehearsal.words)
    return Found(method, running, problem, pattern, notes, rehearsed)


def settle(prepared: Prepared, found: Found, help: Help) -> Settled:
    """Make of a pattern what was asked for beyond the problem of the search."""
    before = found.rehearsed
    if before is not None and before.is_of(found.pattern):
        settled = before.settled
    else:
        settled = _settled(prepared, found.problem, found.pattern, found.search, help)
    # What was settled after the search is part of the cost, and of the record.
    found.search.best = found.problem.pattern(settled.hidden)
    found.search.note(
        ending(found.search, found.method.name, prepared.task.stop.evaluations)
    )
    return settled


def rehearse(
    prepared: Prepared, problem: Problem, pattern: Pattern, search: Search, help: Help
) -> Judged:
    """Settle and judge a pattern while the search goes on."""
    settled = _settled(prepared, problem, pattern, search, help)
    return Judged(pattern, settled, *_judged(prepared, settled, help))


def _settled(
    prepared: Prepared, problem: Problem, pattern: Pattern, search: Search, help: Help
) -> Settled:
    given, granted = prepared.given, prepared.granted
    attacker = prepared.task.attacker
    hidden = pattern.hidden | prepared.kept
    hidden |= ~granted.shown | (granted.status == PRIMARY)
    # What must be published, or was, is fixed for the search only.
    status = np.where(granted.status == FIXED, given.status, granted.status)
    # A requested cell without levels is judged as such: nobody may work it out.
    table = granted.replace(status=status, lpl=given.lpl, upl=given.upl, spl=given.spl)
    notes: tuple[str, ...] = ()
    hints = pattern.hints
    seen: Certificate | None = None
    if attacker.secondaries:
        hidden = settle_secondaries(
            table,
            problem,
            hidden,
            prepared.kept,
            strict=attacker.strict,
            known=prepared.before.cells,
            search=search,
            clock=prepared.clock,
        )
    if prepared.insiders:
        hidden, notes, hints, seen = settle_insiders(
            table,
            problem,
            hidden,
            strict=attacker.strict,
            known=prepared.before.cells,
            hints=hints,
            search=search,
            clock=prepared.clock,
            help=help,
        )
        notes += _dearer(pattern.cost, problem.pattern(hidden).cost)
    return Settled(table.with_pattern(hidden), hidden, notes, tuple(hints), seen)


def _dearer(before: float, after: float) -> tuple[str, ...]:
    """Say what lone respondents cost, where it is much: no bound knows of them."""
    if after <= (1 + _MUCH) * before:
        return ()
    share = f"{100 * (after - before) / after:.0f} % of the cost is"
    return (
        f"{share} for cells hidden against lone respondents, after the search; the "
        "lower bound is one without them, so the gap is more than could be saved",
    )


def _judged(
    prepared: Prepared, settled: Settled, help: Help
) -> tuple[Verdict, Certificate]:
    attacker = prepared.task.attacker
    return judge_all(
        settled.table,
        strict=attacker.strict,
        secondaries=attacker.secondaries,
        singletons=attacker.singletons,
        known=prepared.before.cells,
        deadline=prepared.clock.end,
        hints=settled.hints,
        help=help,
        seen=settled.seen,
    )


def audit(prepared: Prepared, found: Found, settled: Settled, help: Help) -> Protection:
    """Ask the judge, bound the cost, and say what was done."""
    task, before, attacker = prepared.task, prepared.before, prepared.task.attacker
    rehearsed, clock = found.rehearsed, prepared.clock
    began = clock.seconds
    if rehearsed is not None and rehearsed.settled is settled:
        verdict, certificate = rehearsed.verdict, rehearsed.certificate
    else:
        verdict, certificate = _judged(prepared, settled, help)
    late: tuple[str, ...] = ()
    if rehearsed is not None and rehearsed.verdict.safe and not verdict.safe:
        settled = rehearsed.settled
        verdict, certificate = rehearsed.verdict, rehearsed.certificate
        late = (FIRST_INSTEAD,)
        found.search.best = found.problem.pattern(settled.hidden)
        found.search.note(FIRST_INSTEAD)
    elif verdict.safe is None and clock.over():
        spent = clock.seconds - began
        late = (too_short(clock, verdict, spent, found.method.name),)
    table = settled.table
    seconds = found.search.seconds
    final = found.problem.pattern(settled.hidden)
    bound = lower_bound(found.problem, final, found.search, prepared.clock.left())
    cost = final.cost + prepared.paid
    bound = None if bound is None else bound + prepared.paid
    judged = (prepared.granted.status == PRIMARY) & ~before.cells
    lowered = is_lowered(prepared.granted, found.problem.table, judged)
    beyond = () if lowered else _beyond(prepared, verdict)
    verdict = with_next_steps(
        verdict,
        table,
        earlier=before.cells,
        limited=clock.end is not None,
        searched=Searched(
            found.search.reason or "", clock.over(), lowered or bool(beyond)
        ),
    )
    return Protection(
        table=table,
        method=found.method.name,
        cost=cost,
        lower_bound=bound,
        gap=gap_of(cost, bound),
        verdict=verdict,
        claim=claim_of(
            table,
            verdict,
            strict=attacker.strict,
            secondaries=attacker.secondaries,
            earlier=before.words,
            known=before.cells,
        ),
        certificate=certificate,
        record=tuple(found.search.record.entries),
        seconds=seconds,
        evaluations=found.search.evaluations,
        seed=task.seed,
        version=__version__,
        reason=found.search.reason or "finished",
        settings=_settings(prepared, found.method.name, table),
        notes=(*_notes(prepared, found, settled), *late, *beyond),
        known=before.cells if before.words else None,
        earlier=before.files,
        wished=(prepared.granted.status == PRIMARY)
        & (prepared.given.status != PRIMARY),
    )


def _beyond(prepared: Prepared, verdict: Verdict) -> tuple[str, ...]:
    """Say which levels no pattern gives, where that was not found out before.

    Searches do not know that counts are whole numbers; the judge does.
    """
    everyone = any(not e.insider for e in verdict.exposed)
    if not everyone or prepared.clock.over():
        return ()
    strict, end = prepared.task.attacker.strict, prepared.clock.end
    return within_reach(prepared.granted, strict=strict, deadline=end).notes


def mended(
    prepared: Prepared, found: Found, settled: Settled, result: Protection
) -> Settled | None:
    """Hide more where the judge misses a hair of a level; None where it does not."""
    cells = missed(result.verdict.exposed)
    if not cells or prepared.clock.over():
        return None
    attacker = prepared.task.attacker
    hidden = mend(found.problem, settled.hidden, cells, attacker.strict)
    if np.array_equal(hidden, settled.hidden):
        return None
    found.search.best = found.problem.pattern(hidden)
    found.search.note(f"{len(cells)} levels were missed by rounding: more is hidden")
    return replace(settled, table=settled.table.with_pattern(hidden), hidden=hidden)


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


def _stored(prepared: Prepared, method: Method) -> Stored | None:
    """Return what a run that was cut short had, where this one goes on from it."""
    kept = prepared.task.checkpoint
    if kept is None:
        return None
    about = _settings(prepared, method.name, prepared.granted)
    about["known"] = prepared.before.cells
    return take_up(kept, prepared.given, about)


def _problem(
    table: Table,
    prices: NDArray[np.float64],
    requested: CellRequests,
    strict: bool,
    deadline: float | None,
) -> tuple[Problem, tuple[str, ...]]:
    """Set the problem up; levels that bounds rule out are lowered for the search."""
    with blaming(requested):
        try:
            return Problem.of(table, prices, strict=strict), ()
        except LevelError:
            if requested.publish:
                raise
            reach = within_reach(table, strict=strict, deadline=deadline)
            return Problem.of(reach.table, prices, strict=strict), reach.notes


def _searched(
    prepared: Prepared,
    method: Method,
    parameters: Any,
    running: Search,
    rehearsal: Rehearsal | None,
) -> tuple[Problem, Pattern, tuple[str, ...]]:
    """Run the method, again with lower levels where some are beyond any pattern."""
    problem, strict = prepared.problem, prepared.task.attacker.strict
    with blaming(prepared.requested):
        try:
            return (problem, *run(problem, method, parameters, running))
        except LevelError:
            if prepared.requested.publish:
                raise
    reach = within_reach(problem.table, strict=strict, deadline=prepared.clock.end)
    lower = Problem.of(reach.table, problem.cost, strict=strict)
    if rehearsal is not None:
        rehearsal.problem = lower
    running.note("some levels are beyond any pattern: the others go on")
    try:
        pattern, notes = run(lower, method, parameters, running)
    except LevelError:
        # Next to the end of what can be had a method may miss it by rounding.
        pattern = lower.pattern(lower.hideable)
        notes = (f"{method.name!r} found no pattern: all that may be hidden is",)
    return lower, pattern, reach.notes + notes


def _notes(prepared: Prepared, found: Found, settled: Settled) -> tuple[str, ...]:
    notes = (
        *prepared.given.notes,
        *prepared.before.notes,
        *prepared.notes,
        *found.notes,
        *settled.notes,
        *formula_notes({d.name: d.hierarchy.codes for d in prepared.given.dimensions}),
    )
    if len(prepared.granted.primaries):
        return notes
    if prepared.given.origin.rules:
        return (
            *notes,
            "the table has no sensitive cells, so there was nothing to protect",
        )
    return (*notes, "no cell is sensitive and no rule looked for any: not judged")


def _settings(prepared: Prepared, method: str, table: Table) -> dict[str, Any]:
    task = prepared.task
    return {
        "method": method,
        "cost": task.cost,
        "time_limit": task.stop.seconds,
        "evaluations": task.stop.evaluations,
        "gap": task.stop.gap,
        "seed": task.seed,
        "strict": task.attacker.strict,
        "singletons": prepared.insiders,
        "secondaries": task.attacker.secondaries,
        "keep_secondaries": task.requests.keep,
        "bounds": table.origin.bounds,
        "counts": table.origin.counts,
        "threshold": table.origin.threshold,
        "whole_numbers": table.origin.in_whole,
        "earlier": list(prepared.before.words),
        **prepared.requested.settings(),
        "options": dict(task.options),
    }
