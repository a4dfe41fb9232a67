"""The verb protect: prepare, search, settle, judge.

Frames in, frames out: whatever kind of frame is given (pandas, polars, Arrow), the
frames in the answer are of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.api.claims import claim_of
from evosdc.api.office import (
    as_demands,
    blaming,
    guarded,
    judge_all,
    settle_insiders,
    settle_secondaries,
)
from evosdc.api.reach import within_reach
from evosdc.api.running import (
    Clock,
    ending,
    first_bound,
    lower_bound,
    run,
    stopping,
    warm_up,
)
from evosdc.api.sources import as_table, assumed, known_before, template_of
from evosdc.api.wishes import Labels, Preferences, read_wishes
from evosdc.errors import InputError, LevelError, MethodError
from evosdc.evolution.record import Entry, RunRecord
from evosdc.evolution.stopping import (
    gap as gap_of,
)
from evosdc.io import like, pattern_frame, published_frame
from evosdc.results import Protection
from evosdc.suppress.auto import choose
from evosdc.suppress.cost import costs
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, find_method
from evosdc.suppress.requests import Requests
from evosdc.suppress.search import Search
from evosdc.table import Table
from evosdc.table.singletons import lone_respondents
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

DEFAULT_TIME_LIMIT = 60.0


def protect(
    table: Any,
    *,
    method: str = "auto",
    cost: str = "weight",
    time_limit: float | None = None,
    evaluations: int | None = None,
    gap: float = 0.01,
    seed: int = 0,
    workers: int | None = None,
    strict: bool = False,
    singletons: bool | None = None,
    secondaries: bool = False,
    keep_secondaries: bool = False,
    hide: Labels = None,
    publish: Labels = None,
    prefer: Preferences = None,
    bounds: str | None = None,
    counts: bool | None = None,
    threshold: int | None = None,
    earlier: Any = None,
    rules: str | Sequence[str] | None = None,
    options: Mapping[str, Any] | None = None,
    on_progress: Callable[[Entry], None] | None = None,
    on_pattern: Callable[[Table], None] | None = None,
    **reading: Any,
) -> Protection:
    """Hide the cheapest cells that make a table safe, and prove it.

    Parameters
    ----------
    table
        A `Table`, a `Tabulation`, linked tables, a frame of labelled cells, or the
        path of a table; a list of these is linked first.
    method
        A name listed by ``evosdc methods``; ``auto`` takes the best for the table.
    cost
        What hiding a cell costs: see `evosdc.suppress.cost.costs`.
    time_limit
        Seconds for all of it, compiling on first use aside; 60 unless `evaluations` is
        given. What the judge has no time for is said to be open.
    evaluations
        Patterns the search may build: the budget that repeats exactly.
    gap
        Stop when the answer is proven this close to the optimum.
    seed, workers
        The same seed gives the same answer for any number of workers.
    strict
        Levels must be exceeded, not only reached.
    singletons
        Protect against lone respondents too, who know their own cells; by default
        where the table says who contributes. See `evosdc.table.singletons`.
    secondaries
        Secondaries must be safe too: nobody can work one out exactly, and those with
        levels of their own keep them.
    keep_secondaries
        Cells that the table says are secondary stay hidden, as last year's pattern in
        an a-priori file; otherwise the search starts afresh.
    hide, publish, prefer
        Cells by label that must be hidden, that must be published, and factors on the
        cost of cells: ``hide="region=North,size=s*"``, ``publish={"region": "Total"}``,
        ``prefer={"region=North": 5}``. See `evosdc.api.wishes.read_wishes`.
    bounds
        What everyone knows of a cell beforehand, where it is not what the table says:
        ``"0:inf"``, ``"percent:50"``, ``"columns"``, ``"auto"``. See
        `evosdc.table.knowledge`.
    counts
        Whether the cells count people or firms; None leaves it to the table.
    threshold
        The minimum frequency, where it is published: attackers know then that hidden
        sensitive counts are below it.
    earlier
        Earlier publications that everyone has: files or frames, one or several.
    rules
        ``"none"`` for a table without sensitive cells to which no rule applies: it is
        not judged then. Rules themselves belong to `tabulate`.
    options
        Parameters of the method.
    on_progress
        Hears of every improvement.
    on_pattern
        Gets the table with its final statuses before it is judged.
    reading
        How to read a frame or a file, as in `evosdc.io.table_from_frame`.

    Returns
    -------
    Protection
        With the judge's verdict. After Ctrl-C or the time limit it holds the best
        complete pattern so far.
    """
    resolved = assumed(
        as_table(table, **reading),
        bounds=bounds,
        counts=counts,
        threshold=threshold,
        rules=rules,
        by_hand=bool(hide),
    )
    before = known_before(resolved, earlier)
    wishes = read_wishes(hide, publish, prefer)
    kept = (resolved.status == SECONDARY) & keep_secondaries & ~before.cells
    granted = wishes.grant(resolved, kept)
    kept &= (granted.status == SECONDARY) & granted.shown
    unshown = ~granted.shown
    insiders = guarded(granted, singletons)
    if insiders:
        lone_respondents(granted)  # refuses a table that does not know them
    prices = costs(granted, cost) * wishes.factors(granted)
    prices[unshown] = 0.0
    # Hidden anyway: free to the search, and paid for by every pattern alike.
    paid = float(prices[kept].sum())
    asked = as_demands(granted, kept) if secondaries else granted
    # What everyone has from before cannot be hidden any more.
    asked = asked.replace(status=np.where(before.cells, FIXED, asked.status))
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_TIME_LIMIT
    if seed < 0:
        raise InputError(f"seed is {seed}", expected="a whole number of 0 or more")
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", expected="1 or more processes")
    stopping(time_limit, evaluations, gap)  # refuses what makes no sense
    clock = Clock(time_limit)
    problem, notes = _problem(
        asked, np.where(kept, 0.0, prices), wishes, strict, clock.end
    )
    chosen = find_method(choose(problem) if method == "auto" else method)
    refused = chosen.takes(problem)
    if refused is not None:
        raise MethodError(
            f"method {chosen.name!r} does not take this table: {refused}",
            expected=chosen.tables,
            hint="use --method auto, or see: evosdc methods",
        )
    parameters = chosen.configure(options or {})
    spent = clock.seconds
    warm_up(chosen, parameters, problem.network is not None)
    clock.forget(since=spent)
    limit = clock.for_search(quick=problem.network is not None, insiders=insiders)
    stop = stopping(limit, evaluations, gap)
    search = Search(
        seed=seed,
        stop=stop,
        workers=workers or os.cpu_count() or 1,
        record=RunRecord(listeners=[on_progress] if on_progress else []),
    )
    search.note(f"started: {chosen.name}")
    first_bound(problem, search)
    problem, pattern, more = _searched(
        problem, chosen, parameters, search, wishes, strict, clock.end
    )
    notes += more
    if search.reason == "interrupted":
        clock.hurry()
    mask = pattern.hidden | kept | unshown | (granted.status == PRIMARY)
    # What must be published, or was, is fixed for the search only.
    status = np.where(granted.status == FIXED, resolved.status, granted.status)
    # A wished cell without levels is judged as such: nobody may work it out.
    shown = granted.replace(
        status=status, lpl=resolved.lpl, upl=resolved.upl, spl=resolved.spl
    )
    if secondaries:
        mask = settle_secondaries(
            shown, problem, mask, kept, strict=strict, search=search
        )
    if insiders:
        settled = settle_insiders(
            shown,
            problem,
            mask,
            strict=strict,
            known=before.cells,
            hints=pattern.hints,
            search=search,
            clock=clock,
        )
        mask, notes = settled.hidden, notes + settled.notes
    notes = (*resolved.notes, *before.notes, *notes)
    if not len(granted.primaries):
        notes += (
            ("the table has no sensitive cells, so there was nothing to protect",)
            if resolved.origin.rules
            else ("no cell is sensitive and no rule looked for any: not judged",)
        )
    # What was settled after the search is part of the cost, and of the record.
    search.best = problem.pattern(mask)
    search.note(ending(search, chosen.name, evaluations))
    hidden = shown.with_pattern(mask)
    if on_pattern is not None:
        on_pattern(hidden)
    verdict, certificate = judge_all(
        hidden,
        strict=strict,
        secondaries=secondaries,
        singletons=singletons,
        known=before.cells,
        deadline=clock.end,
        hints=pattern.hints,
    )
    seconds = search.seconds
    final = problem.pattern(mask)
    bound = lower_bound(problem, final, search, clock.left())
    total = final.cost + paid
    bound = None if bound is None else bound + paid
    result = Protection(
        table=hidden,
        method=chosen.name,
        cost=total,
        lower_bound=bound,
        gap=gap_of(total, bound),
        verdict=verdict,
        claim=claim_of(
            hidden,
            verdict,
            strict=strict,
            secondaries=secondaries,
            earlier=before.words,
            known=before.cells,
        ),
        certificate=certificate,
        record=tuple(search.record.entries),
        seconds=seconds,
        evaluations=search.evaluations,
        seed=seed,
        version=__version__,
        reason=search.reason or "finished",
        settings={
            "method": chosen.name,
            "cost": cost,
            "time_limit": time_limit,
            "evaluations": evaluations,
            "gap": gap,
            "seed": seed,
            "strict": strict,
            "singletons": insiders,
            "secondaries": secondaries,
            "keep_secondaries": keep_secondaries,
            "bounds": hidden.origin.bounds,
            "counts": hidden.origin.counts,
            "threshold": hidden.origin.threshold,
            "earlier": list(before.words),
            **wishes.settings(),
            "options": dict(options or {}),
        },
        notes=notes,
        known=before.cells if before.words else None,
        wished=(granted.status == PRIMARY) & (resolved.status != PRIMARY),
    )
    template = template_of(table)
    return replace(
        result,
        pattern=like(pattern_frame(hidden), template),
        published=like(published_frame(hidden), template),
    )


def _problem(
    table: Table,
    prices: NDArray[np.float64],
    wishes: Requests,
    strict: bool,
    deadline: float | None,
) -> tuple[Problem, tuple[str, ...]]:
    """Set the problem up; levels that bounds rule out are lowered for the search."""
    with blaming(wishes):
        try:
            return Problem.of(table, prices, strict=strict), ()
        except LevelError:
            if wishes.publish:
                raise
            reach = within_reach(table, strict=strict, deadline=deadline)
            return Problem.of(reach.table, prices, strict=strict), reach.notes


def _searched(
    problem: Problem,
    method: Method,
    parameters: Any,
    search: Search,
    wishes: Requests,
    strict: bool,
    deadline: float | None,
) -> tuple[Problem, Pattern, tuple[str, ...]]:
    """Run the method, again with lower levels where some are beyond any pattern."""
    with blaming(wishes):
        try:
            return (problem, *run(problem, method, parameters, search))
        except LevelError:
            if wishes.publish:
                raise
    reach = within_reach(problem.table, strict=strict, deadline=deadline)
    lower = Problem.of(reach.table, problem.cost, strict=strict)
    search.note("some levels are beyond any pattern: the others go on")
    try:
        pattern, notes = run(lower, method, parameters, search)
    except LevelError:
        # Next to the end of what can be had a method may miss it by rounding.
        pattern = lower.pattern(lower.hideable)
        notes = (f"{method.name!r} found no pattern: all that may be hidden is",)
    return lower, pattern, reach.notes + notes
