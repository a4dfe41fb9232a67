"""Tables of offices, from files of the user: what `auto` reaches on each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import evosdc
from benchmarks.experiments.family_runs import facts_section, made_by
from benchmarks.experiments.searches import (
    KEY,
    OnRow,
    Plan,
    Records,
    late,
    run_missing,
)
from benchmarks.experiments.write import (
    markdown_table,
    number,
    percent,
    write_under_remarks,
)
from evosdc.errors import InputError
from evosdc.io.argus.jj import read_jj
from evosdc.table import Table

# Records of sdcTools (tau_testW) and of rtauargus (business), and tables of CUTEst.
_TAU, _BUSINESS, _CSPLIB = "tau_testW", "business", "csplib"
_TABLES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "tau-2d-var2": (_TAU, ("IndustryCode", "Region"), "Var2"),
    "tau-2d-var3": (_TAU, ("IndustryCode", "Region"), "Var3"),
    "tau-3d-var2": (_TAU, ("IndustryCode", "Size", "Region"), "Var2"),
    "business-3d": (_BUSINESS, ("A88", "NUTS3", "SIZE"), "TURNOVER"),
}
_RECORDS = {_TAU: "tau_testW.asc", _BUSINESS: "indiv_dt.csv"}
# The description of tau_testW names its own trees.
_TREES: dict[str, dict[str, list[str]]] = {
    _TAU: {},
    _BUSINESS: {"A88": ["A10", "A21", "A88"], "NUTS3": ["NUTS1", "NUTS2", "NUTS3"]},
}
_FILES = ("hie1372d", "hier133a", "ninenew", "table8")
_RULES = ("p:10", "freq:3")


def tables(data: Path) -> tuple[dict[str, Callable[[], Table]], list[str]]:
    """Return the tables whose files are in a folder, and the files that are not."""
    wanted: dict[str, tuple[Path, Callable[[], Table]]] = {}
    for name, (folder, by, value) in _TABLES.items():
        path = data / folder / _RECORDS[folder]
        wanted[name] = path, partial(_tabulated, path, by, value, _TREES[folder])
    for name in _FILES:
        path = data / _CSPLIB / f"{name}.jj.gz"
        wanted[name] = path, partial(read_jj, path)
    there = {name: load for name, (path, load) in wanted.items() if path.exists()}
    return there, [name for name in wanted if name not in there]


def _tabulated(path: Path, by: tuple[str, ...], value: str, trees: Any) -> Table:
    """Tabulate records, each counted once whatever weights are described."""
    return evosdc.tabulate(
        path,
        list(by),
        value,
        rules=list(_RULES),
        contributors=evosdc.Contributors(weight="none"),
        read=evosdc.Read(hierarchies=trees),
    ).table


def conduct(
    output: Path,
    *,
    data: Path | None,
    plan: Plan,
    names: tuple[str, ...],
    command: str,
    force: bool,
    on_row: OnRow,
    tell: Callable[[str], object],
) -> list[Path]:
    """Make the runs that have no rows yet; write rows and page.

    Tables whose files are not there are left out, which is said.
    """
    if data is None or not data.is_dir():
        tell(f"There is no folder {data or '--data'}: nothing is run.")
        return []
    there, absent = tables(data)
    unknown = [name for name in names if name not in (*there, *absent)]
    if unknown:
        raise InputError(
            f"there is no table {unknown[0]!r}",
            expected=f"one of {', '.join((*there, *absent))}",
        )
    if absent:
        tell(f"Left out, their files are not in {data}: {', '.join(absent)}.")
    records = Records(output, "hierarchical", command, force=force)
    try:
        for name, load in there.items():
            if not names or name in names:
                run_missing(records, name, load, plan, on_row)
    finally:
        _write_page(records)
    return records.written()


def _write_page(records: Records) -> None:
    head = (*KEY, "cost", "bound", "gap", "verdict", "seconds")
    lines = [
        [
            *(str(row[name]) for name in head[:3]),
            f"{row['limit']:g}",
            *(str(row[name]) for name in head[4:6]),
            *(number(row[name]) for name in head[6:8]),
            percent(row["gap"]),
            row["failed"] or row["verdict"],
            f"{row['seconds']:.1f}{' (late)' if late(row) else ''}",
        ]
        for row in records.store.rows
    ]
    parts = [
        "# Tables of offices",
        "Records of sdcTools (tau_testW) and of rtauargus (business), tabulated "
        f"without weights and with the rules {' and '.join(_RULES)}, and tables of "
        "CUTEst; the data are not part of the project. Cost is that of the secondary "
        "cells, a gap is (cost - bound) / cost.",
        made_by(records.provenance()),
        markdown_table(head, lines),
        facts_section(records.facts.rows),
    ]
    write_under_remarks(records.page, "\n\n".join(parts) + "\n\n")
