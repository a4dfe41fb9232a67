"""The same file several times: how much do copies differ?

Copies of a file are made from several seeds. Shown are the mean distance between them
(a metric, see `evosdc.synth.copy_distances`), from them to the original, and between
samples drawn anew from the original, for scale; and how far means of numbers and shares
of levels vary between copies, in standard errors of the original.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from benchmarks.experiments.files import csv_files
from benchmarks.experiments.provenance import Provenance, provenance_now
from benchmarks.experiments.write import write_rows, write_under_remarks
from evosdc.errors import InputError
from evosdc.io import read_records
from evosdc.metrics.data import bin_codes
from evosdc.synth import Synthesiser, copy_distances

_HEAD = (
    "| file | records | columns | copies | tables of | between copies | "
    "to the original | between fresh samples | shares vary by, in standard errors |"
)


@dataclass(frozen=True)
class Row:
    """What is found of a file, for tables of so many variables."""

    file: str
    records: int
    columns: int
    copies: int
    order: int
    between: float
    to_original: float
    between_fresh: float
    share_errors: float


def conduct(
    output: Path,
    *,
    data: Path | None,
    seeds: int,
    time_limit: float,
    files: Sequence[str],
    command: str,
    on_row: Callable[[Row], object],
) -> list[Path]:
    """Make copies of every file of a directory, and write what they are apart."""
    if seeds < 2:
        raise InputError(f"seeds is {seeds}", expected="two or more copies to compare")
    paths = csv_files(data, files)
    rows: list[Row] = []
    for path in paths:
        for row in measure(path.stem, read_records(path).frame, seeds, time_limit):
            rows.append(row)
            on_row(row)
    return _write(output, rows, provenance_now(command, seeds * len(paths)))


def measure(
    name: str, frame: Any, seeds: int, time_limit: float | None, **options: Any
) -> list[Row]:
    """Make copies of a file and compare them by tables of one and two variables."""
    made = [
        Synthesiser(seed=seed, time_limit=time_limit, **options).fit(frame).sample()
        for seed in range(1, seeds + 1)
    ]
    original = pa.table(frame).select(pa.table(made[0]).column_names)
    rng = np.random.default_rng(0)
    fresh = [
        original.take(pa.array(rng.integers(0, original.num_rows, original.num_rows)))
        for _ in made
    ]
    out = []
    for order in (1, 2):
        apart = copy_distances([original, *made], order)
        chance = copy_distances(fresh, order)
        out.append(
            Row(
                name,
                original.num_rows,
                original.num_columns,
                seeds,
                order,
                _mean(apart[1:, 1:]),
                float(apart[0, 1:].mean()),
                _mean(chance),
                _share_errors(original, made),
            )
        )
    return out


def _mean(apart: NDArray[np.float64]) -> float:
    """Return the mean distance of two different ones."""
    return float(apart[np.triu_indices(len(apart), 1)].mean())


def _share_errors(original: pa.Table, copies: Sequence[Any]) -> float:
    """Return how far shares of levels vary between copies, in standard errors."""
    tables = [pa.table(copy) for copy in copies]
    rows, varied = original.num_rows, []
    for name in original.column_names:
        parts = [original.column(name), *(t.column(name) for t in tables)]
        codes = bin_codes(name, parts)
        many = int(codes.max()) + 1
        share = np.array(
            [np.bincount(c, minlength=many) / rows for c in np.split(codes, len(parts))]
        )
        error = np.sqrt(share[0] * (1.0 - share[0]) / rows)
        known = error > 0.0
        varied.append(share[1:, known].std(axis=0, ddof=1) / error[known])
    return float(np.concatenate(varied).mean())


def _write(output: Path, rows: Sequence[Row], made: Provenance) -> list[Path]:
    output.mkdir(parents=True, exist_ok=True)
    table, page = output / "repeats.csv", output / "repeats.md"
    write_rows(table, rows)
    parts = [
        "# Repeats: how much copies differ",
        "",
        "Copies of the same file from different seeds, default settings. The distance "
        "is the square root of the Jensen-Shannon divergence, a metric, averaged over "
        "tables of one or two variables with numbers in bins. Fresh samples are drawn "
        "from the original with replacement, as many as there are copies. The last "
        "figure is how far the share of a level varies between copies; of fresh "
        "samples it would be 1.",
        "",
        _HEAD,
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    parts += [
        f"| {r.file} | {r.records:,} | {r.columns} | {r.copies} | {r.order} | "
        f"{r.between:.4f} | {r.to_original:.4f} | {r.between_fresh:.4f} | "
        f"{r.share_errors:.2f} |"
        for r in rows
    ]
    parts += ["", f"Made by `{made.command}` on {made.date}; {made.machine}.", "", ""]
    write_under_remarks(page, "\n".join(parts))
    return [table, page]
