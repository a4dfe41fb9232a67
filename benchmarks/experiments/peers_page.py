"""The page of two programs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.experiments.provenance import Provenance
from benchmarks.experiments.statistics import group
from benchmarks.experiments.store import Row
from benchmarks.experiments.write import markdown_table, write_under_remarks

OURS, THEIRS = "evosdc", "pytauargus"
# Both programs add up whole numbers; the page prints hundredths of a second.
_SAME, _CLOCK = 1e-6, 0.01
_HEAD = (
    "table",
    "cost",
    "OPT",
    "bound",
    "OPT",
    "CPU s",
    "OPT",
    "wall s",
    "OPT",
    "command, CPU s",
    "",
)
Pair = tuple[Row, Row]


def write_peers_page(
    path: Path, rows: Sequence[Row], made: Sequence[Provenance], time_limit: float
) -> None:
    """Write what both programs reached on each table, and where we fall short."""
    pairs = _pairs(rows)
    lines = [
        "# Side by side with tau-Argus",
        "",
        "`evosdc` (`auto`, gap 0, seed 1, one worker) and OPT of pytauargus, the "
        "branch and cut of tau-Argus with HiGHS as its solver, on the same JJ files in "
        f"one run. Limit: {time_limit:g} s, of CPU for OPT (it counts whole minutes), "
        "of wall time for evosdc. Costs are those of the secondary cells; a bound in "
        "bold says that the program ended with a proof. The seconds of evosdc are "
        "those of `protect` in a process whose kernels are loaded: reading, search and "
        "judge. *Command* is the whole of `evosdc protect` as a process of its own, "
        "with start and report, where the table is proven. OPT: reading and solving, "
        "without the start of its Python. Both patterns were judged by `evosdc audit`.",
        "",
        "```",
        *(f"{entry.command}   # {entry.date}" for entry in made),
        "```",
        "",
    ]
    if made:
        runs = sum(entry.runs for entry in made)
        theirs = (row["version"] for row in rows if row["program"] == THEIRS)
        versions = {str(version) for version in theirs if version is not None}
        lines += [
            f"{runs} runs on: {made[-1].machine}, pytauargus "
            f"{', '.join(sorted(versions))}.",
            "",
        ]
    lines += [_summary(pairs), ""]
    for (family,), mine in group([ours for ours, _ in pairs], "family").items():
        both = [pair for pair in pairs if pair[0] in mine]
        lines += [f"## {family}", "", markdown_table(_HEAD, map(_line, both)), ""]
    write_under_remarks(path, "\n".join([*lines, ""]))


def _pairs(rows: Sequence[Row]) -> list[Pair]:
    """Both rows of each table that both programs were run on."""
    found = group(rows, "family", "table").values()
    by_program = [{row["program"]: row for row in both} for both in found]
    return [(b[OURS], b[THEIRS]) for b in by_program if len(b) == 2]


def costlier(pair: Pair) -> bool:
    """Whether ours costs more than theirs."""
    ours, theirs = pair
    return not theirs["failed"] and ours["cost"] > theirs["cost"] * (1 + _SAME)


def slower(pair: Pair) -> bool:
    """Whether theirs is proven, and ours is not or took more CPU seconds."""
    ours, theirs = pair
    if not theirs["proven"]:
        return False
    late = ours["cpu_seconds"] > theirs["cpu_seconds"] + _CLOCK
    return not ours["proven"] or bool(late)


def _summary(pairs: Sequence[Pair]) -> str:
    head = (
        "family",
        "tables",
        "more expensive",
        "cheaper",
        "slower to the proof",
        "proven",
        "OPT",
        "CPU s, mean",
        "OPT",
    )
    lines = []
    for (family,), mine in group([ours for ours, _ in pairs], "family").items():
        both = [pair for pair in pairs if pair[0] in mine]
        answered = [pair for pair in both if not pair[1]["failed"]]
        lines.append(
            [
                family,
                str(len(both)),
                str(sum(map(costlier, both))),
                str(sum(a["cost"] < b["cost"] * (1 - _SAME) for a, b in answered)),
                str(sum(map(slower, both))),
                str(sum(bool(a["proven"]) for a, _ in both)),
                str(sum(bool(b["proven"]) for _, b in both)),
                _mean([a["cpu_seconds"] for a, _ in both]),
                _mean([b["cpu_seconds"] for _, b in answered]),
            ]
        )
    return markdown_table(head, lines)


def _mean(seconds: Sequence[float]) -> str:
    return f"{sum(seconds) / len(seconds):.2f}" if seconds else "–"


def _line(pair: Pair) -> list[str]:
    ours, theirs = pair
    words = [
        word
        for word, holds in (
            ("more expensive", costlier(pair)),
            ("slower", slower(pair)),
            ("not safe", ours["safe"] is not True),
            ("OPT not safe", not theirs["failed"] and theirs["safe"] is not True),
            (f"OPT: {theirs['failed']}", theirs["failed"]),
        )
        if holds
    ]
    return [
        str(ours["table"]),
        _figure(ours, "cost"),
        _figure(theirs, "cost"),
        _bound(ours),
        _bound(theirs),
        _figure(ours, "cpu_seconds"),
        _figure(theirs, "cpu_seconds"),
        _figure(ours, "seconds"),
        _figure(theirs, "seconds"),
        _figure(ours, "command_cpu_seconds"),
        ", ".join(words),
    ]


def _figure(row: Row, name: str) -> str:
    if row[name] is None:
        return "–"
    return f"{row[name]:.2f}" if name.endswith("seconds") else f"{row[name]:,.0f}"


def _bound(row: Row) -> str:
    shown = _figure(row, "bound")
    return f"**{shown}**" if row["proven"] else shown
