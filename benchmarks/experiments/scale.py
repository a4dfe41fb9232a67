"""How cost grows with records and with cells, each size in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.experiments import cluster_tasks, scale_work
from benchmarks.experiments.plots import growth, speed_ups
from benchmarks.experiments.provenance import (
    Provenance,
    provenance_now,
    read_provenance,
    write_provenance,
)
from benchmarks.experiments.schedule import BANDWIDTH, LATENCY, Work, makespan
from benchmarks.experiments.write import write_under_remarks
from evosdc.errors import InputError
from evosdc.io.encoding import read_text
from evosdc.io.paths import write_text

RECORDS, CELLS, GUARDED, TASKS = "records", "cells", "guarded", "tasks"
SIZES: Mapping[str, tuple[str, int]] = {
    **{f"{RECORDS}-{n}": (RECORDS, n) for n in (10**5, 10**6, 10**7, 10**8, 2 * 10**8)},
    **{f"{CELLS}-{n}": (CELLS, n) for n in (10**4, 10**5, 10**6, 10**7)},
    **{f"{GUARDED}-{n}": (GUARDED, n) for n in (10**4, 10**5, 10**6, 10**7)},
    **{f"{TASKS}-{name}": (TASKS, 0) for name in cluster_tasks.ROWS},
}
# Cores of the clusters that are simulated.
_CORES = (1, 2, 8, 64, 512)
_PARTS = ("tabulate", "search", "judge")
_CUBES = (
    "| cube | cells built | equations | sensitive | secondaries | verdict | open | "
    "tabulate | search | judge | CPU s | wall s | GB |"
)
_RULED = "| ---: | ---: | ---: | ---: | ---: | --- |" + " ---: |" * 7
Row = dict[str, Any]


def conduct(
    output: Path,
    *,
    families: Sequence[str],
    command: str,
    on_row: Callable[[Row], None],
) -> list[Path]:
    """Measure every size that has no row yet; write rows, page and pictures."""
    unknown = [name for name in families if _size(name) is None]
    if unknown:
        raise InputError(
            f"there is no size {unknown[0]!r}",
            expected="records-N, cells-N, guarded-N or tasks-NAME, such as "
            + ", ".join(SIZES),
        )
    output.mkdir(parents=True, exist_ok=True)
    kept = output / "scale.json"
    rows: dict[str, Row] = json.loads(read_text(kept)) if kept.exists() else {}
    commands = read_provenance(output / "scale.provenance.json")
    before = len(rows)
    for name in families or SIZES:
        part, size = _size(name) or SIZES[name]
        if name not in rows:
            row = _timed(name) if part == TASKS else _measured(part, size)
            rows[name] = {"part": part, "size": size, **row}
            # Hours of work: each row is kept as soon as it is there.
            write_text(kept, json.dumps(rows, indent=2) + "\n", force=True)
        on_row(rows[name])
    if len(rows) > before:
        commands = [*commands, provenance_now(command, len(rows) - before)]
        write_provenance(output / "scale.provenance.json", commands)
    written = [kept, output / "scale.provenance.json"]
    found = sorted(rows.values(), key=lambda row: (row["part"], row["size"]))
    for part, label in ((RECORDS, "records"), (CELLS, "cells of the cube")):
        mine = [row for row in found if row["part"] == part]
        if mine:
            written.append(output / f"scale.{part}.svg")
            growth(mine, "size", label, ("cpu_seconds", "gigabytes"), written[-1])
    works = {row["name"]: Work.of(row) for row in found if row["part"] == TASKS}
    if works:
        written.append(output / "scale.cluster.svg")
        gains = {
            name: [work.serial / makespan(work, n) for n in _CORES]
            for name, work in works.items()
        }
        speed_ups(_CORES, gains, written[-1])
    page = output / "scale.md"
    write_under_remarks(page, _page(found, commands))
    return [*written, page]


def _size(name: str) -> tuple[str, int] | None:
    if name in SIZES:
        return SIZES[name]
    part, _, number = name.partition("-")
    if part not in (RECORDS, CELLS, GUARDED) or not number.isdigit():
        return None
    return part, int(number)


def _measured(part: str, size: int) -> Row:
    """Make the data, measure in a process of its own, and remove the data."""
    with tempfile.TemporaryDirectory(prefix="evosdc-scale-") as folder:
        make = scale_work.make_records if part == RECORDS else scale_work.make_cube
        path = make(size, Path(folder))
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchmarks.experiments.scale_work",
                part,
                str(size),
                str(path),
            ],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found: Row = json.loads(done.stdout.splitlines()[-1])
        return {**found, "file_megabytes": round(path.stat().st_size / 1e6, 1)}


def _timed(name: str) -> Row:
    """Measure the tasks of one kind of work, in this process."""
    with tempfile.TemporaryDirectory(prefix="evosdc-scale-") as folder:
        return cluster_tasks.ROWS[name.removeprefix(f"{TASKS}-")](Path(folder))


def _page(rows: Sequence[Row], commands: Sequence[Provenance]) -> str:
    lines = [
        "# How cost grows",
        "",
        "Made-up records of growing number, and sparse cubes of growing size. Each "
        "size is measured in a process of its own; memory is the peak of that process, "
        "kernels that had to be compiled count. Steps are in CPU seconds: wall seconds "
        "also tell who else used the machine.",
        "",
        "```",
        *(f"{made.command}   # {made.date}" for made in commands),
        "```",
        "",
    ]
    for machine in dict.fromkeys(made.machine for made in commands):
        runs = sum(made.runs for made in commands if made.machine == machine)
        lines += [f"{runs} runs on: {machine}.", ""]
    lines += _records_lines([row for row in rows if row["part"] == RECORDS])
    lines += _cells_lines([row for row in rows if row["part"] == CELLS])
    lines += _guarded_lines([row for row in rows if row["part"] == GUARDED])
    lines += _tasks_lines([row for row in rows if row["part"] == TASKS])
    return "\n".join([*lines, ""])


def _records_lines(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    rules = ", ".join(scale_work.RULES)
    return [
        "## Records",
        "",
        "Firms by industry (a tree), region (a tree), size and legal form, written to "
        f"Parquet a batch at a time (seed {scale_work.SEED}), then tabulated with "
        f"{rules} from that file, within DuckDB's default limit of 3 GB.",
        "",
        "| records | file, MB | cells | primaries | wall s | CPU s | GB |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['records']:,} | {row['file_megabytes']:,.0f} | {row['cells']:,} | "
            f"{row['primaries']:,} | {row['seconds']:,.1f} | "
            f"{row['cpu_seconds']:,.1f} | {row['gigabytes']:.2f} |"
            for row in rows
        ),
        "",
        "![Seconds and memory by records](scale.records.svg)",
        "",
    ]


def _cells_lines(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    share = f"{100 * scale_work.FILLED:g} %"
    lines = [
        "## Cells",
        "",
        f"Three trees of three levels; {share} of the cells of their cube have "
        f"records, {scale_work.MEAN} on average (seed {scale_work.SEED}). Only cells "
        "with records and their totals are built: that the others are empty is taken "
        "to be known to everyone, and the claim says so. Tabulated with "
        f"{', '.join(scale_work.RULES)}, protected by `{scale_work.METHOD}`, every "
        "sensitive cell judged against attackers from outside. Lone respondents as "
        "attackers are left out (`attackers=public`), which the claim says too.",
        "",
        _CUBES,
        _RULED,
    ]
    lines += [_cube_line(row) for row in rows]
    return [*lines, "", "![Seconds and memory by cells](scale.cells.svg)", ""]


def _cube_line(row: Row) -> str:
    times = " | ".join(f"{row[part]:,.1f}" for part in _PARTS)
    return (
        f"| {row['cube']:,} | {row['cells']:,} | {row['equations']:,} | "
        f"{row['primaries']:,} | {row['secondaries']:,} | {row['verdict']} | "
        f"{row['open']:,} | {times} | {row['cpu_seconds']:,.1f} | "
        f"{row['seconds']:,.1f} | {row['gigabytes']:.2f} |"
    )


def _guarded_lines(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    lone = ", ".join(f"{row['lone']:,}" for row in rows)
    return [
        "## Cells, with lone respondents as attackers",
        "",
        f"The same cubes by the same method; lone respondents ({lone}) are guarded and "
        "judged against as well, which is the default. Guarding is part of the search.",
        "",
        _CUBES,
        _RULED,
        *(_cube_line(row) for row in rows),
        "",
    ]


def _tasks_lines(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    lines = [
        "## What a cluster would bring",
        "",
        "A simulation, no measurement: tasks with the CPU seconds that they took here, "
        "one after another, are given to as many workers as the column says, each "
        "when those it waits for are over (list scheduling). What is shared goes to "
        f"every worker once, at {BANDWIDTH:.0f} MB/s in a tree; each task and its "
        f"answer travel too, with {1000 * LATENCY:.0f} ms for a message. Columns of "
        "cores say how many times as fast as one core all of it is.",
        "",
        "| work | tasks | longest task, s | longest chain, s | not spread, s | one "
        "core, s | " + " | ".join(f"{n} cores" for n in _CORES[1:]) + " |",
        "| --- |" + " ---: |" * (4 + len(_CORES)),
    ]
    for row in rows:
        work = Work.of(row)
        gains = [f"{work.serial / makespan(work, n):.1f}" for n in _CORES[1:]]
        lines.append(
            f"| {row['name']} | {len(work.seconds):,} | {max(work.seconds):.2f} | "
            f"{work.longest_chain:.1f} | {work.alone:.1f} | {work.serial:,.1f} | "
            + " | ".join(gains)
            + " |"
        )
    return [*lines, "", "![How many times as fast](scale.cluster.svg)", ""]
