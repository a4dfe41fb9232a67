"""The verbs of the first job: tabulate, protect, audit.

Frames in, frames out: whatever kind of frame is given (pandas, polars, Arrow), the
frames in the answer are of the same kind.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.api.office import as_demands, blaming, judge_all, settle_secondaries
from evosdc.api.running import (
    ending,
    first_bound,
    lower_bound,
    run,
    stopping,
    warm_up,
)
from evosdc.api.wishes import Labels, Preferences, read_wishes
from evosdc.errors import InputError, MethodError
from evosdc.evolution.record import Entry, RunRecord
from evosdc.evolution.stopping import (
    gap as gap_of,
)
from evosdc.io import (
    like,
    pattern_frame,
    published_frame,
    read_hierarchy,
    read_pattern,
    read_table,
    table_from_frame,
)
from evosdc.results import Certificate, Protection, Verdict
from evosdc.rules import Rule, parse_rule
from evosdc.suppress.auto import choose
from evosdc.suppress.cost import costs
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search
from evosdc.table import Hierarchy, Table
from evosdc.table.link import LinkedTables, link_tables
from evosdc.table.singletons import lone_respondents
from evosdc.table.status import FIXED, SECONDARY
from evosdc.tabulation import tabulate_linked

DEFAULT_TIME_LIMIT = 60.0


@dataclass(frozen=True, eq=False)
class Tabulation:
    """A table and its cells as a frame of the kind that was given."""

    table: Table
    frame: Any


@dataclass(frozen=True, eq=False)
class Audit:
    """The judge's word on a pattern, with the witnesses that prove it."""

    table: Table
    verdict: Verdict
    certificate: Certificate

    @property
    def safe(self) -> bool:
        """Whether every cell judged is protected."""
        return self.verdict.safe


def tabulate(
    source: Any,
    by: Sequence[str] | Sequence[Sequence[str]] | str,
    value: str | None = None,
    *,
    weight: str | None = None,
    holding: str | None = None,
    request: str | None = None,
    hierarchies: Mapping[str, Hierarchy | str | Path] | None = None,
    rules: Sequence[Rule | str] | str = (),
    **options: Any,
) -> Tabulation:
    """Tabulate microdata and mark its sensitive cells.

    Parameters
    ----------
    source
        A frame, a dict of columns, or the path of a CSV or Parquet file; files of any
        size are streamed.
    by
        The spanning variables; several lists of them give linked tables, joined to one.
    value
        The response; without one the table counts records.
    weight, holding, request
        Columns with sampling weights, the group a contributor belongs to, and the
        contributors that asked for protection.
    hierarchies
        The trees of codes of the variables that have one, or the files of the trees.
    rules
        What makes a cell sensitive: rules, or their short form such as ``"p:15"``.
    options
        Passed on to `evosdc.tabulation.tabulate`.
    """
    if isinstance(rules, str):
        rules = [rules]
    linked = tabulate_linked(
        source,
        _spans(by),
        value,
        weight=weight,
        holding=holding,
        request=request,
        hierarchies=_trees(hierarchies),
        rules=[parse_rule(r) if isinstance(r, str) else r for r in rules],
        **options,
    )
    table = linked.table
    return Tabulation(table, like(pattern_frame(table), source))


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
    singletons: bool = False,
    secondaries: bool = False,
    keep_secondaries: bool = False,
    hide: Labels = None,
    publish: Labels = None,
    prefer: Preferences = None,
    options: Mapping[str, Any] | None = None,
    on_progress: Callable[[Entry], None] | None = None,
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
        Seconds of search; 60 unless `evaluations` is given.
    evaluations
        Patterns the search may build: the budget that repeats exactly.
    gap
        Stop when the answer is proven this close to the optimum.
    seed, workers
        The same seed gives the same answer for any number of workers.
    strict
        Levels must be exceeded, not only reached.
    singletons
        Protect against lone respondents too, who know their own cells; needs the number
        of contributors of each cell. See `evosdc.table.singletons`.
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
    options
        Parameters of the method.
    on_progress
        Hears of every improvement.
    reading
        How to read a frame or a file, as in `evosdc.io.table_from_frame`.

    Returns
    -------
    Protection
        With the judge's verdict. After Ctrl-C or the time limit it holds the best
        complete pattern so far.
    """
    resolved = as_table(table, **reading)
    wishes = read_wishes(hide, publish, prefer)
    kept = (resolved.status == SECONDARY) & keep_secondaries
    granted = wishes.grant(resolved, kept)
    kept &= granted.status == SECONDARY
    if singletons:
        lone_respondents(granted)  # refuses a table that does not know them
    prices = costs(granted, cost) * wishes.factors(granted)
    # Hidden anyway: free to the search, and paid for by every pattern alike.
    paid = float(prices[kept].sum())
    problem = Problem.of(
        as_demands(granted, kept) if secondaries else granted,
        np.where(kept, 0.0, prices),
        strict=strict,
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
    if time_limit is None and evaluations is None:
        time_limit = DEFAULT_TIME_LIMIT
    stop = stopping(time_limit, evaluations, gap)
    if seed < 0:
        raise InputError(f"seed is {seed}", expected="a whole number of 0 or more")
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", expected="1 or more processes")
    warm_up(chosen, parameters, problem.network is not None)
    search = Search(
        seed=seed,
        stop=stop,
        workers=workers or os.cpu_count() or 1,
        record=RunRecord(listeners=[on_progress] if on_progress else []),
    )
    search.note(f"started: {chosen.name}")
    first_bound(problem, search)
    with blaming(wishes):
        pattern, notes = run(problem, chosen, parameters, search)
        mask = pattern.hidden | kept
        # What must be published is fixed for the search only.
        status = np.where(granted.status == FIXED, resolved.status, granted.status)
        shown = granted.replace(status=status)
        if secondaries:
            mask = settle_secondaries(
                shown, problem, mask, kept, strict=strict, search=search
            )
        if singletons:
            from evosdc.suppress.insiders import guard

            before = int(mask.sum())
            mask = guard(problem, mask, mask if secondaries else kept)
            search.note(f"lone respondents: {int(mask.sum()) - before:+} cells hidden")
    notes = (*resolved.notes, *notes)
    if not len(resolved.primaries):
        notes += ("the table has no sensitive cells, so there was nothing to protect",)
    search.note(ending(search, chosen.name, evaluations))
    hidden = shown.with_pattern(mask)
    verdict, certificate = judge_all(
        hidden,
        strict=strict,
        secondaries=secondaries,
        singletons=singletons,
        hints=pattern.hints,
    )
    seconds = search.seconds
    final = problem.pattern(mask)
    bound = lower_bound(problem, final, search)
    total = final.cost + paid
    bound = None if bound is None else bound + paid
    result = Protection(
        table=hidden,
        method=chosen.name,
        cost=total,
        lower_bound=bound,
        gap=gap_of(total, bound),
        verdict=verdict,
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
            "singletons": singletons,
            "secondaries": secondaries,
            "keep_secondaries": keep_secondaries,
            **wishes.settings(),
            "options": dict(options or {}),
        },
        notes=notes,
    )
    template = table[0] if isinstance(table, (list, tuple)) else table
    template = template.frame if isinstance(template, Tabulation) else template
    return replace(
        result,
        pattern=like(pattern_frame(hidden), template),
        published=like(published_frame(hidden), template),
    )


def audit(
    table: Any,
    pattern: Any = None,
    *,
    strict: bool = False,
    secondaries: bool = False,
    singletons: bool = False,
    **reading: Any,
) -> Audit:
    """Judge a pattern from the table alone.

    Parameters
    ----------
    table
        As in `protect`.
    pattern
        Which cells are hidden: a mask, a frame or file with a status a cell, or nothing
        to take the statuses in the table.
    strict
        Levels must be exceeded, not only reached.
    secondaries
        Judge the secondary cells as well.
    singletons
        Judge with each lone respondent as attacker as well.
    """
    resolved = as_table(table, **reading)
    if pattern is not None:
        resolved = resolved.with_pattern(_mask(resolved, pattern))
    verdict, certificate = judge_all(
        resolved, strict=strict, secondaries=secondaries, singletons=singletons
    )
    return Audit(resolved, verdict, certificate)


def as_table(source: Any, **reading: Any) -> Table:
    """Take a `Table`, a `Tabulation`, a frame or a path for a table."""
    if isinstance(source, Table):
        return source
    if isinstance(source, (Tabulation, LinkedTables)):
        return source.table
    if isinstance(source, (list, tuple)):
        return link_tables([as_table(part, **reading) for part in source]).table
    if "hierarchies" in reading:
        reading["hierarchies"] = _trees(reading["hierarchies"])
    if isinstance(source, (str, Path)):
        return read_table(source, **reading)
    return table_from_frame(source, **reading)


def _spans(by: Sequence[str] | Sequence[Sequence[str]] | str) -> list[list[str]]:
    """Read one list of spanning variables, or several."""
    if isinstance(by, str):
        return [[by]]
    if all(isinstance(name, str) for name in by):
        return [[str(name) for name in by]]
    return [[span] if isinstance(span, str) else list(span) for span in by]


def _trees(
    given: Mapping[str, Hierarchy | str | Path] | None,
) -> dict[str, Hierarchy] | None:
    """Read the hierarchies that are given as files."""
    if given is None:
        return None
    return {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
        for name, tree in given.items()
    }


def _mask(table: Table, pattern: Any) -> NDArray[np.bool_]:
    if isinstance(pattern, np.ndarray) and pattern.dtype == bool:
        if pattern.shape != (len(table),):
            raise InputError(
                f"a pattern of {len(pattern)} cells for a table of {len(table)}",
                expected="one entry a cell",
            )
        return pattern
    return read_pattern(pattern, table)
