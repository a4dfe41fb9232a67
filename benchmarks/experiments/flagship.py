"""What the flagship reaches on tables of every kind, its parts and its rivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.experiments.provenance import Provenance, provenance_now
from benchmarks.experiments.write import write_rows, write_under_remarks
from evosdc.errors import InputError
from evosdc.evolution.stopping import AnyOf, TargetGap, TimeLimit
from evosdc.instances import make
from evosdc.io.argus.jj import read_jj
from evosdc.parallel import Workers
from evosdc.suppress.methods.contracted import run_contracted
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import FLAGSHIP, find_method
from evosdc.suppress.run.search import Search
from evosdc.table import Table

# The flagship, and each part switched off in turn.
PARTS: Mapping[str, Mapping[str, Any]] = {
    "all": {},
    "no contraction": {},
    "no bridgeless rows": {"bridgeless": False},
    "no combined equations": {"combined": False},
    "no planes": {"planes": False},
    "no programmes": {"columns": 0, "tree": 0},
}
# Other methods that improve what they have, in the same time.
RIVALS = ("hitas", "order-ga", "optimal", "ls-rebuild")
_PROVEN = 2e-6


@dataclass(frozen=True)
class Row:
    """One run."""

    table: str
    cells: int
    equations: int
    primaries: int
    part: str
    cost: float
    bound: float
    seconds: float

    @property
    def gap(self) -> float:
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0


def made_up() -> dict[str, Callable[[], Table]]:
    """Tables that the package makes: 2-D, three dimensions, trees, chains."""
    return {
        "class1-100x100": partial(make, "class1", 6, rows=100, columns=100),
        "heurgene-1": partial(make, "heurgene", 1, dataset=1),
        "heurgene-2": partial(make, "heurgene", 1, dataset=2),
        "ons-H3": partial(make, "ons", 1, table="H3"),
        "cube-9x8x6": partial(make, "random", 1, shape=(9, 8, 6)),
        "tree-10x8x5": partial(make, "random", 1, shape=(10, 8, 5), trees=1),
        "tree-12x10x5": partial(make, "random", 9, shape=(12, 10, 5), trees=2),
        "tree-6x6x4x3": partial(make, "random", 3, shape=(6, 6, 4, 3), trees=1),
        "tree-15x12x8": partial(make, "random", 4, shape=(15, 12, 8), trees=3),
        "linked-12x8x6": partial(make, "random", 1, shape=(12, 8, 6), linked=True),
        "register-60x40": partial(make, "register", 1),
        "register-150x100": partial(
            make, "register", 1, rows=150, columns=100, levels=4
        ),
    }


def conduct(
    output: Path,
    *,
    data: Path | None,
    time_limit: float,
    families: Sequence[str],
    workers: int,
    command: str,
    on_row: Callable[[Row], None],
) -> list[Path]:
    """Run every table with every part in turn; write rows and page."""
    tables = made_up()
    for path in sorted(data.glob("*.jj*")) if data is not None else ():
        tables[path.name.split(".")[0]] = partial(read_jj, path)
    unknown = [name for name in families if name not in tables]
    if unknown:
        raise InputError(
            f"there is no table {unknown[0]!r}", expected=f"one of {', '.join(tables)}"
        )
    rows = []
    for name in families or tables:
        table = tables[name]()
        runs = [(part, FLAGSHIP, options) for part, options in PARTS.items()]
        runs += [(f"`{rival}` instead", rival, {}) for rival in RIVALS]
        for part, method, options in runs:
            rows.append(_run(name, table, part, method, options, time_limit, workers))
            on_row(rows[-1])
    made = provenance_now(command, len(rows))
    return _write(output, rows, time_limit, workers, made)


def _run(
    name: str,
    table: Table,
    part: str,
    named: str,
    options: Mapping[str, Any],
    seconds: float,
    workers: int,
) -> Row:
    problem = Problem.of(table)
    method = find_method(named)
    parameters = method.configure(options)
    stop = AnyOf((TimeLimit(seconds), TargetGap(_PROVEN)))
    search = Search(seed=1, stop=stop, workers=Workers(workers))
    if part == "no contraction":
        pattern = method.run(problem, parameters, search)
    else:
        pattern = run_contracted(problem, method, parameters, search)
    return Row(
        name,
        len(table),
        table.matrix.shape[0],
        len(table.primaries),
        part,
        pattern.cost,
        search.bound or 0.0,
        search.seconds,
    )


def _write(
    output: Path, rows: Sequence[Row], seconds: float, workers: int, made: Provenance
) -> list[Path]:
    output.mkdir(parents=True, exist_ok=True)
    table, page = output / "flagship.csv", output / "flagship.md"
    write_rows(table, rows)
    write_under_remarks(page, _page(rows, seconds, workers, made))
    return [table, page]


def _page(rows: Sequence[Row], seconds: float, workers: int, made: Provenance) -> str:
    lines = [
        "# The flagship and its parts",
        "",
        f"`{FLAGSHIP}`, which `auto` runs on every table, for {seconds:g} seconds of "
        f"wall time (workers: {workers}) or until proven, with each part switched off "
        "in turn, and other methods in the same time. Cost is that of the secondary "
        "cells, gap is (cost - bound) / cost.",
        "",
        "```",
        f"{made.command}   # {made.date}",
        "```",
        "",
        f"{made.runs} runs on: {made.machine}.",
        "",
    ]
    for name in dict.fromkeys(row.table for row in rows):
        mine = [row for row in rows if row.table == name]
        first = mine[0]
        lines += [
            f"## {name}",
            "",
            f"{first.cells:,} cells, {first.equations:,} equations, "
            f"{first.primaries:,} primaries.",
            "",
            "| | cost | bound | gap | seconds |",
            "| --- | ---: | ---: | ---: | ---: |",
        ]
        lines += [
            f"| {row.part} | {row.cost:,.0f} | {_proven(row)} | {row.seconds:.1f} |"
            for row in mine
        ]
        lines.append("")
    return "\n".join([*lines, ""])


def _proven(row: Row) -> str:
    """Bound and gap; most rivals prove nothing."""
    return f"{row.bound:,.0f} | {100 * row.gap:.1f} %" if row.bound > 0 else "– | –"
