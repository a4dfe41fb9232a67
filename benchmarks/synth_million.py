"""A large file from disk to report: seconds by phase, memory, distance and risks.

Made-up columns of 2 to 12 levels share two latent factors. They are written to a
temporary folder, read, synthesised, evaluated and reported on as the command does.

usage: synth_million.py [--records 1000000] [--columns 12] [--time-limit 60]
       [--initial auto] [--risk-limit SHARE] [--no-evaluation]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from evosdc import Synthesis, evaluate
from evosdc.io import read_records
from evosdc.results.result import write_result
from evosdc.results.synthetic import Evaluation, write_copies
from evosdc.synth import Synthesiser


def made_up(records: int, columns: int) -> pa.Table:
    """Draw correlated columns with skewed levels."""
    rng = np.random.default_rng(1)
    latent = rng.normal(size=(records, 2))
    out = {}
    for j in range(columns):
        x = latent @ rng.normal(size=2) + rng.normal(size=records)
        levels = int(rng.integers(2, 13))
        edges = np.quantile(x, np.linspace(0, 1, levels + 1)[1:-1] ** 1.5)
        out[f"v{j}"] = np.searchsorted(edges, x)
    return pa.table(out)


@contextmanager
def phase(name: str) -> Iterator[None]:
    """Print the seconds of a phase and the peak of memory so far."""
    wall, used = time.perf_counter(), time.process_time()
    yield
    seconds, cpu = time.perf_counter() - wall, time.process_time() - used
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name:12} {seconds:7.1f} s  {cpu:7.1f} CPU s  peak {memory:.2f} GB")


def run(args: argparse.Namespace, folder: Path) -> None:
    """Go through all phases."""
    data = folder / "data.parquet"
    pq.write_table(made_up(args.records, args.columns), data)
    options: dict[str, Any] = {}
    if args.initial is not None:
        options["initial"] = args.initial
    if args.risk_limit is not None:
        options["risk_limit"] = args.risk_limit
    with phase("all"):
        with phase("read"):
            records = read_records(data)
        *key, target = records.frame.column_names
        with phase("fit"):
            model = Synthesiser(
                key, target, time_limit=args.time_limit, seed=args.seed, **options
            ).fit(records.frame)
        first, last = model.record_[0], model.record_[-1]
        print(
            f"{'search':12} {last.seconds:7.1f} s, {last.generation} generations, "
            f"{last.evaluations:,} moves, distance {first.utility:.4f} -> "
            f"{last.utility:.4f}, {model.reason_}"
        )
        with phase("sample"):
            copy = model.sample()
        if args.evaluation:
            with phase("evaluate"):
                judged = evaluate(records.frame, copy, key=key, target=target)
            with phase("report"):
                out = folder / "out"
                write_copies(out, (copy,), records, formats="parquet")
                result = Synthesis((copy,), model, Evaluation.of(judged, model))
                write_result(out, result, force=True, formats="parquet")
    print("utility", {k: round(v, 5) for k, v in model.utility_.items()})
    print("risk", {k: round(v, 5) for k, v in model.risk_.items()})
    print("limits", {k: round(v, 5) for k, v in model.risk_limits_.items()})
    print("fresh", {k: round(v, 5) for k, v in model.fresh_risk_.items()})


def main() -> None:
    """Read the arguments."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=12)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--initial")
    parser.add_argument("--risk-limit", type=float, help="of DCAP-U")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-evaluation", dest="evaluation", action="store_false")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(args, Path(folder))


if __name__ == "__main__":
    main()
