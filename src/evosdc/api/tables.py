"""The verbs of the first job: tabulate, protect, audit.

Frames in, frames out: whatever kind of frame is given (pandas, polars, Arrow), the
frames in the answer are of the same kind.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc import __version__
from evosdc.attack import judge
from evosdc.errors import EvosdcError, InputError, MethodError
from evosdc.evolution.record import Entry, RunRecord
from evosdc.evolution.stopping import (
    AnyOf,
    EvaluationLimit,
    Stop,
    TargetGap,
    TimeLimit,
)
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
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, find_method
from evosdc.suppress.search import Search
from evosdc.table import Dimension, Hierarchy, Table, build_table
from evosdc.table.link import LinkedTables, link_tables
from evosdc.table.status import SECONDARY
from evosdc.tabulation import tabulate_linked

DEFAULT_TIME_LIMIT = 60.0
# Methods that prove no bound themselves get one after the search, where it is quick.
_BOUND_CELLS = 50_000
# Someone who pressed Ctrl-C waits no longer than this for a last resort.
_HURRY_SECONDS = 2.0
_BOUND_SECONDS = 5.0


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
    keep_secondaries: bool = False,
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
    keep_secondaries
        Cells that the table says are secondary stay hidden, as last year's pattern in
        an a-priori file; otherwise the search starts afresh.
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
    prices = costs(resolved, cost)
    kept = (resolved.status == SECONDARY) & keep_secondaries
    # Hidden anyway: free to the search, and paid for by every pattern alike.
    paid = float(prices[kept].sum())
    problem = Problem.of(resolved, np.where(kept, 0.0, prices), strict=strict)
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
    stop = _stopping(time_limit, evaluations, gap)
    if seed < 0:
        raise InputError(f"seed is {seed}", expected="a whole number of 0 or more")
    if workers is not None and workers < 1:
        raise InputError(f"workers is {workers}", expected="1 or more processes")
    _warm_up(chosen, parameters, problem.network is not None)
    search = Search(
        seed=seed,
        stop=stop,
        workers=workers or os.cpu_count() or 1,
        record=RunRecord(listeners=[on_progress] if on_progress else []),
    )
    search.note(f"started: {chosen.name}")
    pattern, notes = _run(problem, chosen, parameters, search)
    if not len(resolved.primaries):
        notes += ("the table has no sensitive cells, so there was nothing to protect",)
    search.note(_ending(search, chosen.name, evaluations))
    hidden = resolved.with_pattern(pattern.hidden | kept)
    verdict, certificate = judge(hidden, strict=strict)
    seconds = search.seconds
    bound = _lower_bound(problem, pattern, search)
    total = pattern.cost + paid
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
            "keep_secondaries": keep_secondaries,
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
    """
    resolved = as_table(table, **reading)
    if pattern is not None:
        resolved = resolved.with_pattern(_mask(resolved, pattern))
    verdict, certificate = judge(resolved, strict=strict, secondaries=secondaries)
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


def _stopping(time_limit: float | None, evaluations: int | None, gap: float) -> Stop:
    criteria: list[Stop] = [TargetGap(gap)]
    for limit, name in ((time_limit, "time limit"), (evaluations, "evaluations")):
        if limit is not None and not limit > 0:
            raise InputError(f"{name} is {limit}", expected="a number above 0")
    if not 0 <= gap < 1:
        raise InputError(f"gap is {gap}", expected="a share from 0 to below 1")
    if time_limit is not None:
        criteria.append(TimeLimit(time_limit))
    if evaluations is not None:
        criteria.append(EvaluationLimit(evaluations))
    return AnyOf(tuple(criteria))


def _run(
    problem: Problem, method: Method, parameters: Any, search: Search
) -> tuple[Pattern, tuple[str, ...]]:
    """Run a method; an interrupt ends it with the best complete pattern so far."""
    notes: tuple[str, ...] = ()
    try:
        pattern = method.run(problem, parameters, search)
    except KeyboardInterrupt:
        search.reason = "interrupted"
        if search.best is not None:
            pattern = search.best
            notes = ("interrupted: this is the best complete pattern found so far",)
        else:
            last_resort = find_method("marginal")
            hurry = Search(stop=TimeLimit(_HURRY_SECONDS))
            pattern = last_resort.run(problem, last_resort.configure({}), hurry)
            notes = (
                f"interrupted before {method.name!r} had a complete pattern: "
                "this one is by 'marginal', safe but dear",
            )
    if search.best is not None and search.best.cost < pattern.cost:
        pattern = search.best
    return pattern, notes


def _ending(search: Search, method: str, evaluations: int | None) -> str:
    """Say why a run ended and how to repeat it."""
    again = f"--method {method} --seed {search.seed}"
    reason = search.reason or "finished"
    if reason == "evaluations":
        return f"ended: {reason}; --evaluations {evaluations} {again} repeats exactly"
    if reason == "interrupted" or (reason == "time limit" and search.cut_short):
        return (
            f"ended: {reason}, in the middle of a pattern; {again} with a budget of "
            "--evaluations instead of time lets it finish, and that repeats exactly"
        )
    budget = max(1, search.evaluations)
    return f"ended: {reason}; --evaluations {budget} {again} repeats exactly"


def _lower_bound(problem: Problem, pattern: Pattern, search: Search) -> float | None:
    """Return the search's own bound, or a quick one where its method gives none."""
    if pattern.cost == 0:
        return 0.0
    if search.bound is None and problem.network is not None:
        if len(problem.table) > _BOUND_CELLS:
            return None
        from evosdc.suppress.exact.bounds import cut_bound

        start = time.monotonic()
        found = cut_bound(problem, lambda: time.monotonic() - start > _BOUND_SECONDS)
        return min(found.value, pattern.cost)
    return search.bound


@cache
def _warm_up(method: Method, parameters: Any, network: bool) -> None:
    """Run a method and the judge once on a tiny table, before the clock starts.

    Kernels are compiled on first use and cached on disk. Compiling is no part of a
    search, so it must not eat a time limit.
    """
    sides = [Dimension(name, Hierarchy.flat("abc")) for name in "xyz"]
    sides = sides[: 2 if network else 3]
    codes = list(product(range(1, 4), repeat=len(sides)))
    value = 5.0 + np.arange(len(codes)) % 7
    level = np.where(np.arange(len(codes)) % 4 == 0, 2.0, 0.0)
    status = np.where(level > 0, "u", "s")
    tiny = build_table(sides, codes, value, status=status, lpl=level, upl=level)
    problem = Problem.of(tiny)
    runs = [
        (find_method(name), find_method(name).configure({})) for name in method.parts
    ]
    for part, options in [(method, parameters), *runs]:
        if part.takes(problem) is None:
            with suppress(EvosdcError):
                part.run(problem, options, Search(stop=EvaluationLimit(50)))
    judge(tiny.with_pattern(problem.hideable))


def _mask(table: Table, pattern: Any) -> NDArray[np.bool_]:
    if isinstance(pattern, np.ndarray) and pattern.dtype == bool:
        if pattern.shape != (len(table),):
            raise InputError(
                f"a pattern of {len(pattern)} cells for a table of {len(table)}",
                expected="one entry a cell",
            )
        return pattern
    return read_pattern(pattern, table)
