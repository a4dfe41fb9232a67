"""Measure tabulation: time and peak memory for many records from Parquet.

Run ``python benchmarks/tabulate.py --records 10000000``. The records are seeded and
written a batch at a time; the measured run is a fresh process, so that making the data
does not count.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

BATCH = 500_000
DIVISIONS, GROUPS = 12, 8  # industry: 12 divisions of 8 groups
COUNTRIES, REGIONS, DISTRICTS = 4, 5, 6  # region: 4 x 5 x 6 districts


def industry_codes() -> list[tuple[str, str]]:
    """Return division and group of every industry."""
    return [
        (f"{d:02d}", f"{d:02d}.{g}")
        for d in range(1, DIVISIONS + 1)
        for g in range(1, GROUPS + 1)
    ]


def region_codes() -> list[tuple[str, str, str]]:
    """Return country, region and district of every place."""
    return [
        (f"C{c}", f"C{c}R{r}", f"C{c}R{r}D{d}")
        for c in range(COUNTRIES)
        for r in range(REGIONS)
        for d in range(DISTRICTS)
    ]


def write_records(path: Path, records: int, seed: int) -> None:
    """Write seeded firms: two hierarchical dimensions, two flat ones, a turnover."""
    rng = np.random.default_rng(seed)
    names = {
        "industry": [row[-1] for row in industry_codes()],
        "region": [row[-1] for row in region_codes()],
        "size": [f"size{i}" for i in range(6)],
        "form": ["limited", "public", "partnership", "sole", "state"],
    }
    shares = {
        key: rng.dirichlet(np.full(len(codes), 0.7)) for key, codes in names.items()
    }
    schema = pa.schema(
        [(key, pa.string()) for key in names] + [("turnover", pa.float64())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, records, BATCH):
            n = min(BATCH, records - start)
            columns = {
                key: pa.array(codes, pa.string()).take(
                    pa.array(rng.choice(len(codes), n, p=shares[key]))
                )
                for key, codes in names.items()
            }
            columns["turnover"] = pa.array(np.round(rng.lognormal(5, 2, n), 2))
            writer.write_table(pa.table(columns, schema=schema))


def measure(path: Path, threads: int) -> dict[str, float | int | str]:
    """Tabulate the records and say what it took."""
    from evosdc.rules import parse_rule
    from evosdc.table import Hierarchy
    from evosdc.tabulation import tabulate

    began, cpu = time.perf_counter(), time.process_time()
    table = tabulate(
        path,
        ["industry", "region", "size", "form"],
        "turnover",
        hierarchies={
            "industry": Hierarchy.from_levels(industry_codes()),
            "region": Hierarchy.from_levels(region_codes()),
        },
        rules=[parse_rule("p:10"), parse_rule("freq:3")],
        threads=threads,
    )
    return {
        "cells": len(table),
        "primaries": len(table.primaries),
        "seconds": round(time.perf_counter() - began, 2),
        "cpu_seconds": round(time.process_time() - cpu, 2),
        "peak_gb": round(
            resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2, 2
        ),
    }


def main() -> None:
    """Make the records unless they are there, then measure in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--path", type=Path, help="keep the records here")
    parser.add_argument("--measure-only", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure_only:
        print(json.dumps(measure(given.path, given.threads)))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = given.path or Path(folder) / "records.parquet"
        if not path.exists():
            write_records(path, given.records, given.seed)
        size = round(path.stat().st_size / 1e6)
        print(f"{given.records} records, {size} MB, {given.threads} threads")
        options = ["--measure-only", f"--path={path}", f"--threads={given.threads}"]
        subprocess.run([sys.executable, __file__, *options], check=True)


if __name__ == "__main__":
    main()
