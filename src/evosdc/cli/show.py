"""What a person sees on the terminal: tables, verdicts and results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from evosdc.results import Protection, Verdict
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

if TYPE_CHECKING:
    from evosdc.api import Audit

_MOST_ROWS = 40
_MOST_COLUMNS = 14
_WIDEST = 100_000
_UNITS = ((1.0, ""), (1e3, " in thousands"), (1e6, " in millions"))


def show_protection(result: Protection, output: Path) -> None:
    """Print cost, bound, verdict and where the files are."""
    console = Console()
    table = result.table
    console.print(
        f"[bold]{len(table):,}[/] cells, [bold]{len(table.primaries):,}[/] primaries, "
        f"[bold]{result.secondaries:,}[/] secondaries hidden by "
        f"[bold]{result.method}[/] in {result.seconds:.1f} s "
        f"({result.evaluations:,} evaluations, seed {result.seed}, {result.reason})"
    )
    if result.lower_bound is None or result.gap is None:
        bound = "lower bound unknown for this table"
    else:
        bound = (
            f"lower bound {result.lower_bound:,.6g}: "
            f"at most {100 * result.gap:.2f} % of it could be saved"
        )
    console.print(f"cost [bold]{result.cost:,.6g}[/], {bound}")
    for note in result.notes:
        console.print(f"note: {note}", markup=False)
    show_verdict(console, result.verdict)
    console.print(
        f"written to {output}/ (open {output}/report.html)",
        highlight=False,
        markup=False,
    )


def show_audit(audit: Audit) -> None:
    """Print the verdict on a pattern."""
    console = Console()
    console.print(f"{audit.table!r}", highlight=False, markup=False)
    for note in audit.table.notes:
        console.print(f"note: {note}", highlight=False, markup=False)
    show_verdict(console, audit.verdict)


def show_verdict(console: Console, verdict: Verdict) -> None:
    """Print the judge's word, and the exposed cells if any."""
    proof = (
        "every witness checked in exact arithmetic"
        if verdict.exact
        else f"witnesses hold to {verdict.tolerance:.1e} of a cell"
    )
    if verdict.insiders is not None:
        proof += f"; {verdict.insiders:,} lone respondents taken for attackers too"
    how = ", ".join(f"{n:,} by {way}" for way, n in verdict.ways.items() if n)
    if verdict.safe:
        console.print(
            f"[bold green]SAFE[/]: {verdict.judged:,} sensitive cells judged; {proof}"
            + (f" ({how})" if how else ""),
            highlight=False,
        )
        return
    console.print(
        f"[bold red]EXPOSED[/]: {len(verdict.exposed):,} of {verdict.judged:,} cells; "
        "the intervals below are confidential",
        highlight=False,
    )
    grid = Grid("cell", "an attacker knows it is between", "needed")
    for e in verdict.exposed[:20]:
        grid.add_row(
            Text(e.label),
            f"{e.low:,.6g} and {e.high:,.6g}",
            f"{e.needed_low:,.6g} and {e.needed_high:,.6g}",
        )
    console.print(grid)
    if len(verdict.exposed) > 20:
        console.print(f"and {len(verdict.exposed) - 20:,} more")


def show_grid(table: Table, console: Console | None = None) -> None:
    """Print a two-dimensional view with hidden cells marked.

    Other dimensions stand at their totals; long hierarchies are cut to upper levels.
    """
    console = console or Console()
    if len(table.dimensions) < 2:
        return
    down, across = table.dimensions[0], table.dimensions[1]
    rest = list(range(2, len(table.dimensions)))
    flat = np.all(table.codes[:, rest] == 0, axis=1)
    cells = {
        (int(r), int(c)): int(i)
        for i, (r, c) in zip(
            np.flatnonzero(flat), table.codes[flat][:, :2], strict=True
        )
    }
    rows = _upper_nodes(down.hierarchy.depth, _MOST_ROWS)
    columns = _upper_nodes(across.hierarchy.depth, _MOST_COLUMNS)
    shown = np.abs(table.value[flat]).max(initial=0.0)
    unit, words = next(
        (u, w) for u, w in _UNITS if shown / u < _WIDEST or u == _UNITS[-1][0]
    )
    title = f"{table.name}{words}: {down.name} by {across.name}"
    grid = Grid(title=Text(title), box=None)
    grid.add_column(Text(down.name))
    for c in columns:
        grid.add_column(Text(across.hierarchy.codes[c]), justify="right")
    for r in rows:
        indent = "  " * int(down.hierarchy.depth[r])
        line = [Text(indent + down.hierarchy.codes[r])]
        line += [_cell(table, cells.get((int(r), int(c))), unit) for c in columns]
        grid.add_row(*line)
    console.print(grid)
    console.print(
        Text.assemble(
            ("■", "bold red"),
            " sensitive, hidden   ",
            ("□", "bold yellow"),
            " hidden to protect it   - empty",
        )
    )


def _cell(table: Table, cell: int | None, unit: float) -> Text:
    if cell is None or (table.status[cell] == FIXED and table.value[cell] == 0):
        return Text("-", "dim")
    if table.status[cell] == PRIMARY:
        return Text("■", "bold red")
    if table.status[cell] == SECONDARY:
        return Text("□", "bold yellow")
    return Text(f"{table.value[cell] / unit:,.0f}")


def _upper_nodes(depth: np.ndarray, most: int) -> list[int]:
    """Nodes of the upper levels of a tree, as many levels as fit."""
    for level in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth <= level)
        if len(nodes) <= most:
            return [int(n) for n in nodes]
    return [int(n) for n in np.flatnonzero(depth <= 1)[:most]]
