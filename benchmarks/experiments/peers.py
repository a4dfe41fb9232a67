"""Side by side with pytauargus OPT: the same tables, the same limit, in one run."""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import evosdc
from benchmarks.experiments import peers_opt
from benchmarks.experiments.peers_page import OURS, THEIRS, write_peers_page
from benchmarks.experiments.provenance import (
    provenance_now,
    read_provenance,
    write_provenance,
)
from benchmarks.experiments.store import Row, Store
from evosdc.errors import InputError
from evosdc.instances import make
from evosdc.io.argus.jj import read_jj, write_jj
from evosdc.table import Table
from evosdc.table.status import PRIMARY

# Whole numbers only: the reader of the other program stops at a decimal point.
FAMILIES: dict[str, Callable[[int], Table]] = {
    "class1-50x50": partial(make, "class1", rows=50, columns=50),
    "class1-100x100": partial(make, "class1", rows=100, columns=100),
    "class2-100x100": partial(make, "class2", rows=100, columns=100),
    "heurgene-3": partial(make, "heurgene", dataset=3, decimals=0),
}
KEY = ("family", "table", "program")
COLUMNS = (
    *KEY,
    "cells",
    "primaries",
    "cost",
    "bound",
    "proven",
    "safe",
    "seconds",
    "cpu_seconds",
    "command_seconds",
    "command_cpu_seconds",
    "failed",
    "version",
)
# The two programs count a cost in their own order of adding up.
_SAME = 1e-6
_MINUTE = 60.0
# Its limit is CPU time: on a busy machine it may take so many times as long.
_PATIENCE = 20.0


def conduct(
    output: Path,
    *,
    python: Path | None,
    data: Path | None,
    tables: int,
    time_limit: float,
    families: Sequence[str],
    command: str,
    force: bool,
    on_row: Callable[[Row], None],
) -> list[Path]:
    """Run both programs on every table that has no rows yet; write rows and page.

    Parameters
    ----------
    python
        The Python of an environment with pytauargus in it.
    data
        A directory of JJ tables, run as well.
    tables
        Tables of each family: seeds 1 to so many.
    time_limit
        CPU seconds for the other program, wall seconds for this one: whole minutes,
        the only unit that the other program knows.
    """
    if python is None:
        raise InputError(
            "there is no --python",
            expected="the Python of an environment with pytauargus",
            hint="python -m venv peer && peer/bin/pip install pytauargus; "
            "then --python peer/bin/python",
        )
    if time_limit % _MINUTE or time_limit <= 0:
        raise InputError(
            f"time_limit is {time_limit:g}",
            expected="a multiple of 60: pytauargus counts whole minutes",
        )
    output.mkdir(parents=True, exist_ok=True)
    rows, made = output / "peers.csv", output / "peers.provenance.json"
    if force:
        rows.unlink(missing_ok=True)
        made.unlink(missing_ok=True)
    store = Store(rows, KEY, COLUMNS)
    before = len(store)
    try:
        _run_missing(store, python, data, tables, time_limit, families, on_row)
    finally:
        # Whoever stops it has the page of what is finished.
        commands = read_provenance(made)
        if len(store) > before:
            commands = [*commands, provenance_now(command, len(store) - before)]
            write_provenance(made, commands)
        page = output / "peers.md"
        write_peers_page(page, store.rows, commands, time_limit)
    return [rows, made, page]


def _run_missing(
    store: Store,
    python: Path,
    data: Path | None,
    tables: int,
    time_limit: float,
    families: Sequence[str],
    on_row: Callable[[Row], None],
) -> None:
    _warm_up()
    for family, name, draw in _tables(data, tables, families):
        missing = [p for p in (OURS, THEIRS) if (family, name, p) not in store]
        if not missing:
            continue
        with tempfile.TemporaryDirectory(prefix="evosdc-peers-") as folder:
            path = Path(folder) / "table.jj"
            write_jj(path, draw())
            # What both programs read, bounds of the file included.
            table = read_jj(path)
            for program in missing:
                found = (
                    _ours(path, time_limit)
                    if program == OURS
                    else run_opt(path, table, time_limit, python)
                )
                store.add(
                    {
                        "family": family,
                        "table": name,
                        "program": program,
                        "cells": len(table),
                        "primaries": len(table.primaries),
                        **found,
                    }
                )
                on_row(store.rows[-1])


def _tables(
    data: Path | None, tables: int, families: Sequence[str]
) -> Iterator[tuple[str, Any, Callable[[], Table]]]:
    files = {
        path.name.split(".")[0]: path
        for path in (sorted(data.glob("*.jj*")) if data is not None else ())
    }
    unknown = [name for name in families if name not in (*FAMILIES, *files)]
    if unknown:
        raise InputError(
            f"there is no family or file {unknown[0]!r}",
            expected=f"one of {', '.join((*FAMILIES, *files))}",
        )
    for family in families or (*FAMILIES, *files):
        if family in files:
            yield "files", family, partial(read_jj, files[family])
        else:
            for seed in range(1, tables + 1):
                yield family, seed, partial(FAMILIES[family], seed)


def _warm_up() -> None:
    """Load kernels, or compile them, before any clock runs."""
    for table in (make("class1", 0, rows=50, columns=50), make("random", 0)):
        evosdc.protect(table, time_limit=10.0, workers=1, stop=evosdc.Stop(gap=0.0))
    evosdc.protect(make("random", 0, shape=(9, 8, 6)), time_limit=10.0, workers=1)


def _ours(path: Path, limit: float) -> dict[str, Any]:
    """Protect in this process, and where that ends by itself, by the command."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = evosdc.protect(
        path,
        time_limit=limit,
        seed=1,
        workers=1,
        stop=evosdc.Stop(gap=0.0),
        attackers=evosdc.Attackers(who="public"),
    )
    found = {
        "cost": result.cost,
        "bound": result.lower_bound,
        "proven": _proven(result.cost, result.lower_bound),
        "safe": result.safe,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }
    return {**found, **_command_seconds(path, limit)} if found["proven"] else found


def _command_seconds(path: Path, limit: float) -> dict[str, float]:
    """What `evosdc protect` takes as a process of its own."""
    words = f"--gap 0 --time-limit {limit:g} --seed 1 --workers 1 -o protected"
    before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "evosdc", "protect", path.name, *words.split()],
        cwd=path.parent,
        check=True,
        capture_output=True,
    )
    after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"command_seconds": seconds - wall, "command_cpu_seconds": cpu}


def run_opt(path: Path, table: Table, limit: float, python: Path) -> dict[str, Any]:
    """Run OPT in the other environment; whatever it prints besides is left."""
    # Absolute, but not resolved: a link to the Python of an environment is its Python.
    words = [str(python.absolute()), peers_opt.__file__, path.name]
    wall = time.perf_counter()
    try:
        done = subprocess.run(
            [*words, str(round(limit / _MINUTE))],
            cwd=path.parent,
            capture_output=True,
            text=True,
            timeout=_PATIENCE * limit,
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"no answer after {_PATIENCE * limit:.0f} s"}
    seconds = time.perf_counter() - wall
    answer = re.search(r"^\{.*\}$", done.stdout, re.MULTILINE)
    if answer is None:
        return {"failed": f"ended with {done.returncode}", "seconds": seconds}
    found = json.loads(answer[0])
    if found["code"] > 1 or found["bound"] is None:
        return {"failed": found["error"] or "no bound", "seconds": seconds}
    hidden = np.zeros(len(table), dtype=bool)
    hidden[found["hidden"]] = True
    primary = table.status == PRIMARY
    hidden &= ~primary
    cost = float(table.weight[hidden].sum())
    bound = found["bound"] - float(table.weight[primary].sum())
    return {
        "cost": cost,
        "bound": bound,
        "proven": found["code"] == 0,
        "safe": evosdc.audit(
            table, hidden | primary, attackers=evosdc.Attackers(who="public")
        ).safe,
        "seconds": found["seconds"],
        "cpu_seconds": found["cpu_seconds"],
        "command_seconds": seconds,
        "version": found["version"],
    }


def _proven(cost: float, bound: float | None) -> bool:
    return bound is not None and bound >= cost * (1 - _SAME)
