"""Numbers of real files: means, spreads, correlations and distributions of copies.

A copy with default settings, one by sequential trees and a bootstrap of the original
are compared with the file by the values of their columns of numbers: how many means are
off by more than two standard errors, standard deviations by more than 5 %, correlations
by more than 0.05, and how far distributions are apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.experiments.files import csv_files
from benchmarks.experiments.mixed_cart import mixed_cart
from benchmarks.experiments.pieces import Pieces
from benchmarks.experiments.provenance import Provenance, provenance_now
from benchmarks.experiments.thesis_rivals import bootstrap
from benchmarks.experiments.write import write_under_remarks
from evosdc.io import read_records
from evosdc.metrics.numeric_comparison import compare_numbers
from evosdc.synth import Synthesiser

_ERRORS, _SPREAD, _LINK = 2.0, 0.05, 0.05
_HEAD = (
    "| file | synthesiser | seed | numbers | means off | sd off | correlations off | "
    "of | largest gap | KS | Wasserstein | s | CPU s | outside |"
)


@dataclass(frozen=True)
class Row:
    """What is found of a copy; `outside` names columns and pairs that are off.

    `ks` and `wasserstein` are means over columns.
    """

    file: str
    synthesiser: str
    seed: int
    numbers: int
    means_off: int
    spreads_off: int
    links_off: int
    links: int
    largest: float
    ks: float
    wasserstein: float
    seconds: float
    cpu_seconds: float
    outside: str


def conduct(
    output: Path,
    *,
    data: Path | None,
    seeds: int,
    time_limit: float,
    files: Sequence[str],
    command: str,
    on_row: Callable[[Row], object],
    force: bool = False,
) -> list[Path]:
    """Make copies of every file of a directory, and write how numbers come out.

    Rows that the directory has already are not made again, but with `force`.
    """

    def ours(frame: Any, seed: int) -> Any:
        return Synthesiser(seed=seed, time_limit=time_limit).fit_sample(frame)

    paths = csv_files(data, files)
    pieces = Pieces(
        output / "numbers.csv",
        Row,
        lambda r: (r.file, f"{r.seed:09d}", r.synthesiser),
        again=force,
    )
    for path in paths:
        frame = pa.table(read_records(path).frame)
        for seed in range(1, seeds + 1):
            for name, make in (
                ("evosdc", ours),
                ("sequential trees", mixed_cart),
                ("bootstrap", bootstrap),
            ):
                if (path.stem, f"{seed:09d}", name) in pieces:
                    continue
                row = measure(path.stem, name, frame, make, seed)
                pieces.add([row])
                on_row(row)
    rows = pieces.rows
    made = sum(r.synthesiser == "evosdc" for r in rows)
    return _write(output, rows, provenance_now(command, made))


def measure(
    file: str, name: str, frame: Any, make: Callable[[Any, int], Any], seed: int
) -> Row:
    """Make a copy of a file and compare its numbers."""
    wall, cpu = time.perf_counter(), time.process_time()
    copy = make(frame, seed)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found = compare_numbers(frame, copy)
    means = [c.name for c in found.columns if abs(c.errors) > _ERRORS]
    spreads = [c.name for c in found.columns if abs(c.spread - 1.0) > _SPREAD]
    links = [c for c in found.correlations if c.gap > _LINK]
    outside = [f"mean of {n}" for n in means] + [f"sd of {n}" for n in spreads]
    outside += [f"{c.first} x {c.second}" for c in links]
    return Row(
        file,
        name,
        seed,
        len(found.columns),
        len(means),
        len(spreads),
        len(links),
        len(found.correlations),
        max((c.gap for c in found.correlations), default=0.0),
        float(np.mean([c.ks for c in found.columns])),
        float(np.mean([c.wasserstein for c in found.columns])),
        wall,
        cpu,
        ", ".join(outside),
    )


def _write(output: Path, rows: Sequence[Row], made: Provenance) -> list[Path]:
    table, page = output / "numbers.csv", output / "numbers.md"
    parts = [
        "# Numbers: means, spreads and correlations of copies",
        "",
        "Copies of files with columns of numbers, with default settings, beside "
        "sequential trees that draw values of the file itself, and a bootstrap of it. "
        f"Off are means by more than {_ERRORS:.0f} standard errors, standard "
        f"deviations by more than {100 * _SPREAD:.0f} %, correlations of two columns "
        f"by more than {_LINK}. Kolmogorov-Smirnov and Wasserstein distances are means "
        "over columns, the latter in standard deviations.",
        "",
        _HEAD,
        "| --- | --- |" + " ---: |" * 11 + " --- |",
    ]
    parts += [
        f"| {r.file} | {r.synthesiser} | {r.seed} | {r.numbers} | {r.means_off} | "
        f"{r.spreads_off} | {r.links_off} | {r.links} | {r.largest:.3f} | {r.ks:.4f} | "
        f"{r.wasserstein:.4f} | {r.seconds:.0f} | {r.cpu_seconds:.0f} | {r.outside} |"
        for r in rows
    ]
    parts += ["", f"Made by `{made.command}` on {made.date}; {made.machine}.", "", ""]
    write_under_remarks(page, "\n".join(parts))
    return [table, page]
