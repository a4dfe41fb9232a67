"""Runs of methods on tables: each is measured, judged and becomes a row."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.experiments.limits import OutOfTime, hard_limit
from benchmarks.experiments.store import Key, Row, Store
from evosdc.attack import judge
from evosdc.errors import InputError, LevelError, MethodError, ProtectionFailed
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    EvaluationLimit,
    TargetGap,
    TimeLimit,
)
from evosdc.instances import make
from evosdc.parallel import Pool, Workers, open_pool, open_workers
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Table

KEY = ("family", "table", "method", "seed")
COLUMNS = (
    *KEY,
    "time_limit",
    "cost",
    "bound",
    "gap",
    "node_bound",
    "node_gap",
    "proven",
    "seconds",
    "cpu_seconds",
    "evaluations",
    "failed",
    "safe",
    "why",
)

OnRow = Callable[[Row, int, int], None]
_CONTENDER = re.compile(r"([^@#]+)(?:@([^@#]+))?(?:#([^@#]+))?")
# A method that passes over its limit is given this much more CPU time, then ended.
_GRACE_TIMES = 3.0
_GRACE_SECONDS = 30.0


@dataclass(frozen=True)
class Instance:
    """A table of a family: its name and how to make it."""

    family: str
    number: int
    load: Callable[[], Table]


@dataclass(frozen=True)
class Contender:
    """A method with its parameters and the CPU seconds it gets.

    Attributes
    ----------
    label
        What results call it: ``castro+recovery=false`` or ``ls-ruin@10``.
    evaluations
        Patterns it may build besides, where that is limited.
    """

    label: str
    method: str
    time_limit: float
    options: Mapping[str, str] = field(default_factory=dict)
    evaluations: int | None = None

    @classmethod
    def parse(cls, text: str, time_limit: float) -> Contender:
        """Read ``name@seconds#evaluations+option=value``; only the name is needed."""
        label = text.strip()
        head, *parts = label.split("+")
        options = dict(part.split("=", 1) for part in parts if "=" in part)
        read = _CONTENDER.fullmatch(head)
        name, seconds, count = read.groups() if read else ("", None, None)
        try:
            limit = time_limit if seconds is None else float(seconds)
            evaluations = None if count is None else int(count)
        except ValueError:
            limit, evaluations = -1.0, None
        few = evaluations is not None and evaluations < 1
        if not name or not limit > 0 or few or len(options) != len(parts):
            raise InputError(
                f"a method reads {text!r}",
                expected="NAME, NAME@SECONDS, NAME#EVALUATIONS or NAME@SECONDS"
                "#EVALUATIONS, each perhaps with +option=value",
                hint="for example: sp,ls-ruin@10,attacker#1,castro+recovery=false",
            )
        find_method(name).configure(options)
        return cls(label, name, limit, options, evaluations)


class RefusedError(MethodError):
    """A method does not take a table."""


@dataclass(frozen=True)
class Bounds:
    """Lower bounds of a table: of all capacity cuts, and of rows and columns only."""

    cut: float
    node: float


@dataclass(frozen=True)
class Run:
    """One run to be made."""

    instance: Instance
    contender: Contender
    seed: int
    bounds: Bounds | None = None
    strict: bool = False

    @property
    def key(self) -> Key:
        """The values of the columns `KEY`."""
        where = self.instance
        return (where.family, where.number, self.contender.label, self.seed)

    def __call__(self) -> Row:
        """Make the run; a method that cannot protect the table gives a failed row.

        One that goes on long after its limit is ended, and judged by its best so far.
        """
        table = self.instance.load()
        problem = Problem.of(table, strict=self.strict)
        row = self._row()
        row |= {"cells": len(table), "primaries": len(table.primaries)}
        # Limits count CPU seconds: the same work is done on a busy machine.
        stop = _stop(self.contender)
        search = Search(self.seed, stop, clock=time.process_time)
        wall = time.monotonic()
        pattern: Pattern | None = None
        try:
            with hard_limit(_GRACE_TIMES * self.contender.time_limit + _GRACE_SECONDS):
                pattern = _protect(problem, self.contender, search)
        except (ProtectionFailed, LevelError, RefusedError) as failure:
            row["failed"], row["why"] = True, type(failure).__name__
        except OutOfTime:
            pattern = search.best
            row["failed"], row["why"] = pattern is None, OutOfTime.__name__
        row["cpu_seconds"] = round(search.seconds, 4)
        row["seconds"] = round(time.monotonic() - wall, 4)
        row["evaluations"] = search.evaluations
        if pattern is None:
            return row
        before = time.process_time()
        verdict, _ = judge(
            table.with_pattern(pattern.hidden),
            strict=self.strict,
            hints=pattern.hints,
        )
        return row | {
            "judge_seconds": round(time.process_time() - before, 4),
            "secondaries": int(pattern.hidden.sum()) - len(table.primaries),
            "cost": pattern.cost,
            "gap": excess(pattern.cost, row["bound"]),
            "node_gap": excess(pattern.cost, row["node_bound"]),
            "proven": search.bound,
            "safe": verdict.safe,
        }

    def _row(self) -> dict[str, Any]:
        row: dict[str, Any] = dict(zip(KEY, self.key, strict=True))
        row["time_limit"] = self.contender.time_limit
        row["failed"] = False
        row["bound"] = None if self.bounds is None else self.bounds.cut
        row["node_bound"] = None if self.bounds is None else self.bounds.node
        return row


def excess(cost: float, bound: float | None) -> float | None:
    """How far a cost is above a bound, as a share of the bound.

    This is the gap of Almeida, Schuetz and Carvalho (2008, section 6.4); it is not
    defined where the bound is 0.
    """
    return (cost - bound) / bound if bound else None


def run_all(
    runs: Sequence[Run],
    store: Store,
    *,
    workers: int | None = 1,
    cluster: str | None = None,
    bound_limit: float = 60.0,
    on_row: OnRow = lambda *_: None,
    samples: Sequence[Callable[[], Table]] = (),
) -> None:
    """Make the runs that the store does not hold, and bound each table once.

    Parameters
    ----------
    workers, cluster
        Processes, below two this one alone; or the address of a Dask scheduler, of
        whose workers so many are used at most (None: all).
    bound_limit
        Seconds for the bounds of a table; 0 leaves them out.
    on_row
        Told of each row, with how many runs are done of how many.
    samples
        Small tables like those to come, on which code is compiled before the clock
        starts.
    """
    _refuse_other_limits(runs, store)
    pending = [run for run in runs if run.key not in store]
    if not pending:
        return
    contenders = tuple({run.contender.label: run.contender for run in pending}.values())
    done = len(runs) - len(pending)
    shared = Prepared(contenders, tuple(samples))
    with (
        open_workers(cluster, workers if cluster else workers or 1) as found,
        open_pool(found if cluster or found.count > 1 else Workers(0), shared) as pool,
    ):
        for family in dict.fromkeys(run.instance.family for run in pending):
            mine = [run for run in pending if run.instance.family == family]
            if bound_limit > 0:
                mine = _bounded(mine, store, pool, bound_limit)
            for row in pool.stream(_call, mine):
                store.add(row)
                done += 1
                on_row(row, done, len(runs))


@dataclass(frozen=True)
class Prepared:
    """What every worker runs once before it is measured."""

    contenders: tuple[Contender, ...]
    samples: tuple[Callable[[], Table], ...]


# Which of these this process has run.
_WARM: set[tuple[str, ...]] = set()


def _prepare(shared: Prepared) -> None:
    key = tuple(contender.label for contender in shared.contenders)
    if key not in _WARM:
        _WARM.add(key)
        warm_up(shared.contenders, shared.samples)


def warm_up(
    contenders: Sequence[Contender], samples: Sequence[Callable[[], Table]] = ()
) -> None:
    """Run everything on small tables, so that no measured run loads compiled code."""
    first = make("class2", 0, rows=6, columns=6)
    _bounds_of(first, 1.0)
    # Enough to reach every kernel, with time to compile where nothing is cached.
    stop = AnyOf((EvaluationLimit(300), TimeLimit(120.0)))
    for table in (first, *(sample() for sample in samples)):
        judge(table)
        problem = Problem.of(table)
        for contender in contenders:
            with suppress(ProtectionFailed, LevelError, RefusedError):
                _protect(problem, contender, Search(0, stop))


def _protect(problem: Problem, contender: Contender, search: Search) -> Pattern:
    method = find_method(contender.method)
    refused = method.takes(problem)
    if refused is not None:
        raise RefusedError(
            f"method {method.name!r} does not take this table: {refused}",
            expected=method.tables,
            hint="leave this method out of --methods",
        )
    pattern = method.run(problem, method.configure(contender.options), search)
    if search.best is not None and search.best.cost < pattern.cost:
        return search.best
    return pattern


def _stop(contender: Contender) -> Criterion:
    limits: list[Criterion] = [TargetGap(0.0), TimeLimit(contender.time_limit)]
    if contender.evaluations is not None:
        limits.append(EvaluationLimit(contender.evaluations))
    return AnyOf(tuple(limits))


def _call(shared: Prepared, run: Run) -> Row:
    _prepare(shared)
    return run()


def _bounded(
    runs: Sequence[Run], store: Store, pool: Pool[Prepared], seconds: float
) -> list[Run]:
    """Give each run the bounds of its table: from the store, or computed now."""
    known = {
        (row["family"], row["table"]): Bounds(row["bound"], row["node_bound"])
        for row in store.rows
        if row["bound"] is not None
    }
    open_tables = {
        (run.instance.family, run.instance.number): run.instance for run in runs
    }
    tasks = [(i, seconds) for name, i in open_tables.items() if name not in known]
    known.update(pool.stream(_bound_task, tasks))
    return [
        replace(run, bounds=known[run.instance.family, run.instance.number])
        for run in runs
    ]


def _bound_task(
    shared: Prepared, task: tuple[Instance, float]
) -> tuple[tuple[str, int], Bounds]:
    _prepare(shared)
    instance, seconds = task
    return (instance.family, instance.number), _bounds_of(instance.load(), seconds)


def _bounds_of(table: Table, seconds: float) -> Bounds:
    from evosdc.suppress.bounds.cut_loop import cut_bound, node_bound

    problem = Problem.of(table)
    end = time.process_time() + seconds
    node = node_bound(problem).value
    cut = cut_bound(problem, lambda: time.process_time() > end).value
    return Bounds(max(cut, node), node)


def _refuse_other_limits(runs: Sequence[Run], store: Store) -> None:
    for run in runs:
        row, limit = store.get(run.key), run.contender.time_limit
        if row is None or row["time_limit"] == limit:
            continue
        # A run that ended by itself before either limit is the same under both.
        if row["cpu_seconds"] >= min(limit, row["time_limit"]):
            raise InputError(
                f"{store.path} holds runs of {run.contender.label!r} with a time limit "
                f"of {row['time_limit']:g} s, not {limit:g} s",
                expected="one time limit a method",
                hint="name another folder, or give --force to begin anew",
            )
