"""Runs of `protect`: a table, a method, a limit, workers, an attacker and a seed."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import evosdc
from benchmarks.experiments.limits import OutOfTime, hard_limit
from benchmarks.experiments.provenance import (
    Provenance,
    provenance_now,
    read_provenance,
    write_provenance,
)
from benchmarks.experiments.store import Row, Store
from evosdc.compile import clock
from evosdc.errors import EvosdcError, InputError
from evosdc.suppress.run.registry import find_method
from evosdc.table import Table
from evosdc.table.attackers import LONE, PUBLIC, knows_contributors, lone_respondents

KEY = ("table", "attackers", "method", "limit", "workers", "seed")
FIGURES = ("cost", "bound", "gap", "verdict", "seconds", "cpu_seconds", "failed")
FACTS = ("table", "cells", "equations", "primaries", "lone", "several", "digest")
SAFE, AUTO = "SAFE", "auto"
# A run that is still going after so many times its limit, and seconds, is ended.
_GRACE_TIMES = 3.0
_GRACE_SECONDS = 60.0
# A run may be over its limit by this share of it, or by so many seconds.
_LATE_SHARE = 0.1
_LATE_SECONDS = 2.0
# Enough to load the kernels of a method; compiling is not counted.
_WARM_SECONDS = 3.0

OnRow = Callable[[Row], object]


@dataclass(frozen=True)
class Plan:
    """What is run on each table: every combination of these."""

    methods: tuple[str, ...] = (AUTO,)
    limits: tuple[float, ...] = (60.0,)
    workers: tuple[int, ...] = (1,)
    attackers: tuple[str, ...] = (PUBLIC,)
    seeds: int = 1

    def __post_init__(self) -> None:
        unknown = [name for name in self.attackers if name not in (PUBLIC, LONE)]
        if unknown:
            raise InputError(
                f"attackers are {unknown[0]!r}", expected=f"{PUBLIC} or {LONE}"
            )
        for name in self.methods:
            if name != AUTO:
                find_method(name)
        given = (*self.limits, *self.workers, self.seeds)
        if not all((self.methods, self.limits, self.workers)) or min(given) <= 0:
            raise InputError(
                "methods, limits, workers or seeds are missing or not above 0",
                expected="for example --limits 10,30 --workers 1,2 --seeds 1",
            )

    def keys(self, name: str) -> Iterator[tuple[Any, ...]]:
        """Yield the runs on a table."""
        seeds = range(1, self.seeds + 1)
        choices = (self.attackers, self.methods, self.limits, self.workers, seeds)
        return product([name], *choices)


def attacker(attackers: str) -> evosdc.Attackers:
    """Return what `protect` is told of those that it protects against."""
    kind: Any = attackers
    return evosdc.Attackers(who=kind)


def run(table: Table, key: Sequence[Any]) -> dict[str, Any]:
    """Protect a table and return a row; a failure is a row as well."""
    _, attackers, method, limit, workers, seed = key
    row: dict[str, Any] = dict(zip(KEY, key, strict=True))
    wall, cpu = clock.moment(), _cpu()
    try:
        with hard_limit(_GRACE_TIMES * limit * workers + _GRACE_SECONDS):
            found = evosdc.protect(
                table,
                method=method,
                attackers=attacker(attackers),
                time_limit=limit,
                seed=seed,
                workers=workers,
                stop=evosdc.Stop(gap=0.0),
            )
    except (EvosdcError, OutOfTime) as failure:
        row["failed"] = type(failure).__name__
    else:
        row["cost"] = found.cost
        row["bound"], row["gap"] = found.lower_bound, found.gap
        row["verdict"] = found.verdict.word
    row["seconds"] = round(clock.moment() - wall, 2)
    row["cpu_seconds"] = round(_cpu() - cpu, 2)
    return row


def _cpu() -> float:
    """CPU seconds of this process and of those that it started and that have ended."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def late(row: Row) -> bool:
    """Whether a run took more than a tenth of its limit and 2 s beyond it."""
    over = row["seconds"] - row["limit"]
    return bool(over > max(_LATE_SHARE * row["limit"], _LATE_SECONDS))


def excess(cost: float, other: float) -> float:
    """How far a cost is above another one, as a share of that."""
    if other == 0:
        return 0.0 if cost == 0 else math.inf
    return cost / other - 1


def facts_of(name: str, table: Table) -> dict[str, Any]:
    """Say what a table is like, and by a digest whether it is still the same."""
    cells = np.zeros(0, np.int64)
    if knows_contributors(table):
        who = lone_respondents(table)
        cells = np.bincount(who[who >= 0])
    matrix = table.matrix
    parts: tuple[Any, ...] = (matrix.indptr, matrix.indices, matrix.data)
    parts += (table.value, table.weight, table.upl, table.lpl, table.spl)
    bits = b"".join(np.asarray(part, np.float64).tobytes() for part in parts)
    letters = "".join(table.status).encode()
    return {
        "table": name,
        "cells": len(table),
        "equations": matrix.shape[0],
        "primaries": len(table.primaries),
        "lone": int(cells.sum()),
        "several": int((cells > 1).sum()),
        "digest": f"sha256:{sha256(bits + letters).hexdigest()[:16]}",
    }


class Records:
    """Rows, facts of the tables and provenance of an experiment, in a folder."""

    def __init__(
        self,
        folder: Path,
        name: str,
        command: str,
        *,
        key: Sequence[str] = KEY,
        force: bool = False,
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        rows, tables, self._made, self.page = (
            folder / f"{name}.{ending}"
            for ending in ("csv", "tables.csv", "provenance.json", "md")
        )
        if force:
            for path in (rows, tables, self._made):
                path.unlink(missing_ok=True)
        self.store = Store(rows, key, (*key, *FIGURES))
        self.facts = Store(tables, ("table",), FACTS)
        self._before, self._command = len(self.store), command

    def describe(self, name: str, table: Table) -> None:
        """Keep what a table is like; refuse rows of one that has changed since."""
        found, known = facts_of(name, table), self.facts.get((name,))
        if known is None:
            self.facts.add(found)
        elif known["digest"] != found["digest"]:
            raise InputError(
                f"{name} is not the table that {self.store.path} has rows of",
                hint="name another folder, or give --force to begin again",
            )

    def provenance(self) -> list[Provenance]:
        """Return who made the rows, this command included."""
        made, new = read_provenance(self._made), len(self.store) - self._before
        if new:
            made = [*made, provenance_now(self._command, new)]
            write_provenance(self._made, made)
            self._before = len(self.store)
        return made

    def written(self) -> list[Path]:
        """Return the files of the experiment."""
        paths = (self.store.path, self.facts.path, self._made, self.page)
        return [path for path in paths if path.exists()]


def run_missing(
    records: Records,
    name: str,
    load: Callable[[], Table],
    plan: Plan,
    on_row: OnRow,
) -> None:
    """Make the runs on a table that have no rows yet.

    A table that does not say who contributes is protected against the public only.
    """
    missing = [key for key in plan.keys(name) if key not in records.store]
    if not missing:
        return
    table = load()
    records.describe(name, table)
    for key in missing:
        if key[1] == PUBLIC or knows_contributors(table):
            warm_up(key[2], key[1], key[4])
            records.store.add(run(table, key))
            on_row(records.store.rows[-1])


_WARM: set[tuple[str, str, int]] = set()


def warm_up(method: str, attackers: str, workers: int) -> None:
    """Load the kernels of a method, or compile them, before any clock runs."""
    key = (method, attackers, workers)
    if key not in _WARM:
        _WARM.add(key)
        run(_small(), ("", attackers, method, _WARM_SECONDS, workers, 0))


def _small() -> Table:
    rng = np.random.default_rng(0)
    records = {name: rng.integers(0, 5, 200).astype(str) for name in "abc"}
    records["value"] = np.ceil(rng.lognormal(3, 1, 200))
    rules = ["p:10", "freq:3"]
    return evosdc.tabulate(records, list("abc"), "value", rules=rules).table


def told(row: Row) -> str:
    """Say what came of a run, in a line."""
    where = (
        f"{row['table']}, {row['attackers']}, {row['method']}, {row['limit']:g} s, "
        f"workers {row['workers']}, seed {row['seed']}"
    )
    if row["failed"]:
        return f"{where}: {row['failed']} after {row['seconds']:.1f} s"
    gap = "" if row["gap"] is None else f", gap {100 * row['gap']:.2f} %"
    return (
        f"{where}: cost {row['cost']:,.0f}, bound {row['bound'] or 0:,.0f}{gap}, "
        f"{row['verdict']}, {row['seconds']:.1f} s"
    )
