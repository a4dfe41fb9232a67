"""`auto` beside other methods on families of tables, in two halves."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from statistics import mean, median

from benchmarks.experiments.families import FAMILIES, HALVES, chosen, draw, half_of
from benchmarks.experiments.peers import run_opt
from benchmarks.experiments.provenance import Provenance
from benchmarks.experiments.searches import (
    AUTO,
    KEY,
    SAFE,
    OnRow,
    Plan,
    Records,
    excess,
    late,
    run_missing,
)
from benchmarks.experiments.statistics import column, group
from benchmarks.experiments.store import Row
from benchmarks.experiments.write import (
    markdown_table,
    percent,
    write_under_remarks,
)
from evosdc.errors import InputError
from evosdc.io.argus.jj import read_jj, write_jj
from evosdc.table.attackers import PUBLIC

METHODS = (AUTO, "hypercube", "hitas", "order-ga", "ls-rebuild", "optimal")
OPT = "OPT"
# CPU seconds of OPT, which counts whole minutes; `auto` gets what OPT took, and at
# least so many seconds.
_OPT_LIMIT = 60.0
_LEAST = 10.0
# A cost further above another one than this share of it is worth looking at.
_ABOVE = 0.005
_HEAD = (
    "method",
    "runs",
    "SAFE",
    "late",
    "gap, median",
    "worst",
    "`auto` to it, median",
    "worst",
    "on",
    "`auto` above by 0.5 %",
)
_OPT_HEAD = (
    "table",
    "half",
    "cost",
    "OPT",
    "`auto` to OPT",
    "bound",
    "OPT",
    "seconds",
    "OPT",
)


def conduct(
    output: Path,
    *,
    plan: Plan,
    half: str,
    tables: int | None,
    families: tuple[str, ...],
    python: Path | None,
    command: str,
    force: bool,
    on_row: OnRow,
) -> list[Path]:
    """Make the runs that have no rows yet; write rows and page.

    Parameters
    ----------
    half
        The tables: ``tuning``, ``checking`` or ``both``.
    tables
        How many of them at most.
    python
        The Python of an environment with pytauargus, whose OPT is run as well.
    """
    unknown = [name for name in families if name not in FAMILIES]
    if unknown or half not in (*HALVES, "both"):
        raise InputError(
            f"there is no family or half {(*unknown, half)[0]!r}",
            expected=f"families of {', '.join(FAMILIES)}; half of "
            f"{', '.join(HALVES)} or both",
        )
    records = Records(output, "families", command, force=force)
    try:
        for name in chosen(half, tables, families):
            run_missing(records, name, partial(draw, name), plan, on_row)
            if python is not None and PUBLIC in plan.attackers:
                _beside_opt(records, name, python, on_row)
    finally:
        # Whoever stops it has the page of what is finished.
        write_page(
            records.page, records.store.rows, records.facts.rows, records.provenance()
        )
    return records.written()


def _beside_opt(records: Records, name: str, python: Path, on_row: OnRow) -> None:
    """Run OPT, and `auto` for as long as OPT took."""
    key = (name, PUBLIC, OPT, _OPT_LIMIT, 1, 0)
    if key not in records.store:
        table = draw(name)
        records.describe(name, table)
        with tempfile.TemporaryDirectory(prefix="evosdc-families-") as folder:
            path = Path(folder) / "table.jj"
            write_jj(path, table)
            found = run_opt(path, read_jj(path), _OPT_LIMIT, python)
        row = dict(zip(KEY, key, strict=True)) | found
        if "cost" in found:
            row["verdict"] = SAFE if found["safe"] else "EXPOSED"
            row["gap"] = max(0.0, -excess(found["bound"], found["cost"]))
        records.store.add(row)
        on_row(records.store.rows[-1])
    opt = records.store.get(key)
    if opt is not None and not opt["failed"]:
        plan = Plan(limits=(_limit_beside(opt),))
        run_missing(records, name, partial(draw, name), plan, on_row)


def _limit_beside(opt: Row) -> float:
    return float(max(_LEAST, math.ceil(opt["seconds"])))


def write_page(
    path: Path, rows: Sequence[Row], facts: Sequence[Row], made: Sequence[Provenance]
) -> None:
    """Write what `auto` and the others reached on both halves."""
    pairs = list(_pairs(rows))
    beside = [id(auto) for _, auto in pairs]
    parts = [
        "# Families of tables\n\n"
        "Tables drawn by seed from records with random hierarchies, empty "
        "combinations, skewed contributions and lone respondents, tabulated with the "
        "rules of their family. A hash of its name puts each table into one of two "
        "halves: constants are chosen on the *tuning* half and the *checking* half "
        "says whether they hold elsewhere. Limits are wall time; *late* counts runs "
        "that took more than a tenth of the limit and 2 s beyond it. Costs "
        "are those of secondary cells and means over seeds, of tables whose runs are "
        "all SAFE; a gap is (cost - bound) / cost, with the bound that the method "
        "itself proved.",
        made_by(made),
    ]
    for setting, mine in group(rows, "attackers", "limit", "workers").items():
        mine = [row for row in mine if row["method"] != OPT]
        if mine and not all(id(row) in beside for row in mine):
            attackers, limit, workers = setting
            parts.append(f"## Attackers: {attackers}; {limit:g} s; workers: {workers}")
            for half in HALVES:
                here = [row for row in mine if half_of(row["table"]) == half]
                if here:
                    parts.append(f"### The {half} half\n\n{_compared(here)}")
    if pairs:
        parts.append(_opt_section(pairs))
    parts.append(facts_section(facts))
    write_under_remarks(path, "\n\n".join(parts) + "\n\n")


def made_by(made: Sequence[Provenance]) -> str:
    """Say by which commands, when and where the rows were made."""
    commands = "\n".join(
        f"{one.command}   # {one.date}, {one.runs} runs" for one in made
    )
    machines = dict.fromkeys(one.machine for one in made)
    return f"```\n{commands}\n```\n\nRun on: {'; and on: '.join(machines)}."


def costs_of(rows: Sequence[Row]) -> dict[str, float]:
    """Return the mean cost of each table whose runs are all safe."""
    return {
        table: mean(column(runs, "cost"))
        for (table,), runs in group(rows, "table").items()
        if all(row["verdict"] == SAFE for row in runs)
    }


def _compared(rows: Sequence[Row]) -> str:
    by_method = {name: mine for (name,), mine in group(rows, "method").items()}
    costs = {name: costs_of(mine) for name, mine in by_method.items()}
    auto = costs.pop(AUTO, {})
    best: dict[str, float] = {}
    for other in costs.values():
        for table, cost in other.items():
            best[table] = min(cost, best.get(table, math.inf))
    lines = []
    for name, mine in by_method.items():
        gaps = column(mine, "gap")
        lines.append(
            [
                f"`{name}`",
                str(len(mine)),
                str(sum(row["verdict"] == SAFE for row in mine)),
                str(sum(map(late, mine))),
                percent(median(gaps) if gaps else None),
                percent(max(gaps, default=None)),
                *_beside(auto, costs.get(name, {})),
            ]
        )
    if len(costs) > 1:
        lines.append(["best of the others", *[""] * 5, *_beside(auto, best)])
    return markdown_table(_HEAD, lines)


def _beside(auto: dict[str, float], other: dict[str, float]) -> list[str]:
    """How far `auto` is above another method: median, worst, where, how often."""
    above = {t: excess(auto[t], other[t]) for t in auto if t in other}
    if not above:
        return ["–"] * 4
    worst = max(above, key=lambda table: above[table])
    often = sum(share > _ABOVE for share in above.values())
    return [
        percent(median(above.values())),
        percent(above[worst]),
        worst,
        f"{often} of {len(above)}",
    ]


def _pairs(rows: Sequence[Row]) -> list[tuple[Row, Row]]:
    """Each answer of OPT with that of `auto` in the same time."""
    by_key = {tuple(row[name] for name in KEY): row for row in rows}
    found = []
    for opt in rows:
        if opt["method"] == OPT and not opt["failed"]:
            key = (opt["table"], PUBLIC, AUTO, _limit_beside(opt), 1, 1)
            if key in by_key:
                found.append((opt, by_key[key]))
    return found


def _opt_section(pairs: Sequence[tuple[Row, Row]]) -> str:
    lines = []
    above = []
    for opt, auto in pairs:
        both = auto["verdict"] == opt["verdict"] == SAFE
        share = excess(auto["cost"], opt["cost"]) if both else None
        above += [share] if share is not None else []
        figures = [
            f"{row[name]:,.0f}" if row[name] is not None else "–"
            for name in ("cost", "bound")
            for row in (auto, opt)
        ]
        lines.append(
            [opt["table"], half_of(opt["table"]), *figures[:2], percent(share)]
            + figures[2:]
            + [f"{row['seconds']:.1f}" for row in (auto, opt)]
        )
    often = sum(share > _ABOVE for share in above)
    return "\n\n".join(
        [
            "## Beside OPT of pytauargus",
            f"OPT had {_OPT_LIMIT:g} s of CPU time, `auto` as many seconds as OPT took "
            f"and at least {_LEAST:g}; one core each, the public as attacker. `auto` "
            f"is above OPT by more than 0.5 % on {often} of {len(above)} tables.",
            markdown_table(_OPT_HEAD, lines),
        ]
    )


def facts_section(facts: Sequence[Row]) -> str:
    """Say what the tables are like."""
    names = ("table", "cells", "equations", "primaries", "lone", "several")
    lines = [
        [str(row["table"]), *(f"{row[name]:,}" for name in names[1:])] for row in facts
    ]
    head = (*names[:4], "cells of one respondent", "respondents alone in several")
    return f"## Tables\n\n{markdown_table(head, lines)}"
