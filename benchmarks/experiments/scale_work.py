"""One measurement of `scale`, in a process of its own, whose peak of memory it tells.

Run by `scale.py`: ``python -m benchmarks.experiments.scale_work PART SIZE FOLDER``.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import evosdc
from benchmarks.tabulate import industry_codes, region_codes, write_records
from evosdc.instances.grid import tree
from evosdc.table import Hierarchy
from evosdc.table.attackers import lone_respondents

RULES = ["p:10", "freq:3"]
SEED = 1
# Of the sparse cube: combinations of codes that have records, and records in each.
FILLED, MEAN = 0.01, 10
# What protects a million cells: a box for each level, then a clean-up.
METHOD = "hypercube"
LIMIT = 1700.0
_NAMES = {"region": "A", "industry": "B", "product": "C"}
_GB = 1024.0**2  # ru_maxrss is in kilobytes


def make_records(records: int, folder: Path) -> Path:
    """Stream made-up firms to Parquet: four dimensions, a batch in memory."""
    path = folder / f"records-{records}.parquet"
    write_records(path, records, SEED)
    return path


def make_cube(cells: int, folder: Path) -> Path:
    """Write records of a cube of three trees, of which a hundredth is filled."""
    trees = cube_trees(cells)
    rng = np.random.default_rng(SEED + 1)
    leaves = [np.flatnonzero(t.is_leaf) for t in trees.values()]
    shape = [len(leaf) for leaf in leaves]
    room = int(np.prod(shape))
    filled = int(FILLED * np.prod([float(len(t)) for t in trees.values()]))
    cell = rng.choice(room, filled, replace=False)
    record = np.repeat(cell, rng.geometric(1 / MEAN, filled))
    columns: dict[str, Any] = {}
    for (name, codes), leaf, at in zip(
        trees.items(), leaves, np.unravel_index(record, shape), strict=True
    ):
        words = pa.array(np.array(codes.codes)[leaf].tolist(), pa.string())
        columns[name] = words.take(pa.array(at))
    columns["turnover"] = pa.array(np.rint(rng.lognormal(4, 1.2, len(record))))
    path = folder / f"cube-{cells}.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def cube_trees(cells: int) -> dict[str, Hierarchy]:
    """Three trees of three levels whose codes span about so many cells."""
    rng = np.random.default_rng(SEED)
    nodes = max(4, round(cells ** (1 / 3)))
    return {
        name: tree(name, nodes, 3, letter, rng).hierarchy
        for name, letter in _NAMES.items()
    }


def tabulate_records(path: Path) -> dict[str, Any]:
    """Tabulate by four dimensions."""
    began = _Watch()
    table = evosdc.tabulate(
        path,
        ["industry", "region", "size", "form"],
        "turnover",
        rules=RULES,
        read=evosdc.Read(
            hierarchies={
                "industry": Hierarchy.from_levels(industry_codes()),
                "region": Hierarchy.from_levels(region_codes()),
            }
        ),
    ).table
    return {
        "records": pq.ParquetFile(path).metadata.num_rows,
        "cells": len(table),
        "primaries": len(table.primaries),
        "tabulate": began.lap(),
        **began.all(),
    }


def protect_cube(path: Path, cells: int, *, guarded: bool) -> dict[str, Any]:
    """Tabulate, protect and judge a sparse cube, against lone respondents if asked."""
    trees = cube_trees(cells)
    watch = _Watch()
    made = evosdc.tabulate(
        path, list(trees), "turnover", rules=RULES, read=evosdc.Read(hierarchies=trees)
    )
    found: dict[str, Any] = {
        "records": pq.ParquetFile(path).metadata.num_rows,
        "cube": int(np.prod([len(t) for t in trees.values()])),
        "cells": len(made.table),
        "equations": made.table.matrix.shape[0],
        "primaries": len(made.table.primaries),
        "lone": int(lone_respondents(made.table).max()) + 1,
        "tabulate": watch.lap(),
    }
    result = evosdc.protect(
        made,
        method=METHOD,
        time_limit=LIMIT,
        workers=1,
        attackers=evosdc.Attackers(who="lone" if guarded else "public"),
        run=evosdc.Run(on_pattern=lambda _: found.update(search=watch.lap())),
    )
    found["judge"] = watch.lap()
    return {
        **found,
        "secondaries": result.secondaries,
        "verdict": result.verdict.word,
        "judged": result.verdict.judged,
        "open": len(result.verdict.open),
        **watch.all(),
    }


class _Watch:
    """CPU seconds since the last look; wall, CPU and memory of everything.

    Steps are told by CPU: wall time is also that of whoever shares the machine.
    """

    def __init__(self) -> None:
        self._wall = time.perf_counter()
        self._cpu = self._last = time.process_time()

    def lap(self) -> float:
        now = time.process_time()
        passed, self._last = now - self._last, now
        return round(passed, 2)

    def all(self) -> dict[str, float]:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return {
            "seconds": round(time.perf_counter() - self._wall, 2),
            "cpu_seconds": round(time.process_time() - self._cpu, 2),
            "gigabytes": round(peak / _GB, 2),
        }


def main(part: str, size: int, path: Path) -> None:
    """Measure one step and print it."""
    if part == "records":
        print(json.dumps(tabulate_records(path)))
    else:
        print(json.dumps(protect_cube(path, size, guarded=part == "guarded")))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
