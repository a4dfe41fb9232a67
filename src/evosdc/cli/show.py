"""What a person sees on the terminal: tables, verdicts and results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import typer
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from evosdc.cli.console import plain_console
from evosdc.results import Claim, TableVerdict
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

if TYPE_CHECKING:
    from evosdc.results.tables import Audit, Protection

_MOST_ROWS = 40
_MOST_COLUMNS = 14
_WIDEST = 100_000
_MOST_LISTED = 20
_COLOURS = {"safe": "bold green", "bad": "bold red", "open": "bold yellow"}
_UNITS = ((1.0, ""), (1e3, " in thousands"), (1e6, " in millions"))


def show_protection(result: Protection, output: Path) -> None:
    """Print cost, bound, verdict, claim, and which files may leave the office."""
    from evosdc.report import cut_before_use, savings, wide_gap

    console = plain_console()
    result = result.visible()
    table = result.table
    cut = cut_before_use(result)
    if cut is not None:
        console.print(Text(cut, "bold red"))
    console.print(
        Text.assemble(
            (f"{len(table):,}", "bold"),
            " cells, ",
            (f"{len(table.primaries):,}", "bold"),
            " primaries, ",
            (f"{result.secondaries:,}", "bold"),
            " secondaries hidden by ",
            (result.method, "bold"),
            f" in {result.seconds:.1f} s ({result.evaluations:,} evaluations, "
            f"seed {result.seed}, {result.reason})",
        )
    )
    bound = (
        "lower bound unknown"
        if result.lower_bound is None
        else f"lower bound {result.lower_bound:,.6g}"
    )
    cost = (f"{result.cost:,.6g}", "bold")
    console.print(Text.assemble("cost ", cost, f", {bound}: {savings(result)}"))
    meaning = wide_gap(result)
    if meaning is not None:
        console.print(f"note: {meaning}")
    for note in result.notes:
        console.print(f"note: {note}")
    show_verdict(console, result.verdict, table, result.claim)
    show_folders(console, result, output)


def show_folders(console: Console, result: Protection, output: Path) -> None:
    """Print where the files are and which of them may leave the office."""
    from evosdc.io import is_private

    inside = output / "confidential"
    console.print(
        f"written to {output}/ (open {inside}/report.html)",
        highlight=False,
        soft_wrap=True,
    )
    leaves = result.may_leave
    kept = ("confidential/",) if leaves else ("draft/", "confidential/")
    closed = (
        "readable by you only"
        if all(is_private(output / name) for name in kept)
        else "see to it that only you can read it"
    )
    if leaves:
        line = f"publish/ may leave the office; confidential/ must not ({closed})"
    else:
        why = {
            "EXPOSED": "cells are exposed",
            "NOT JUDGED": "the table was not judged",
        }.get(result.verdict.word, "nothing was judged")
        line = (
            f"nothing may leave the office, since {why}: draft/ and confidential/ "
            f"must not ({closed})"
        )
    console.print(line, highlight=False, soft_wrap=True)


def show_warnings(warnings: Iterable[str]) -> None:
    """Print on stderr with which results this one must not be published."""
    for line in warnings:
        # Not wrapped: the line holds a path to copy.
        typer.echo(f"warning: {line}", err=True)


def show_audit(audit: Audit) -> None:
    """Print the verdict on a pattern."""
    console = plain_console()
    console.print(f"{audit.table!r}", highlight=False)
    for note in audit.table.notes:
        console.print(f"note: {note}", highlight=False)
    show_verdict(console, audit.verdict, audit.table, audit.claim)


def show_verdict(
    console: Console, verdict: TableVerdict, table: Table, claim: Claim
) -> None:
    """Print the verdict, what was proved against whom, and what is exposed."""
    from evosdc.report import headline

    found = headline(verdict, table)
    words = Text.assemble((found.word, _COLOURS[found.kind]), f": {found.why}")
    if found.kind == "safe" and verdict.judged:
        words.append(f"; {_proof(verdict)}")
    if verdict.exposed:
        words.append("; the intervals below are confidential")
    console.print(words)
    asked = "proved" if found.kind == "safe" else "asked"
    for name, parts in (
        (asked, (claim.rules, claim.levels, claim.publication)),
        ("against", (claim.knowledge, claim.insiders)),
    ):
        said = "; ".join(part.strip().rstrip(".") for part in parts)
        console.print(Text(f"{name}: {said}"))
    _show_exposed(console, verdict)
    for label in verdict.open[:_MOST_LISTED]:
        console.print(Text(f"undecided: {label}"))
    if len(verdict.open) > _MOST_LISTED:
        console.print(f"and {len(verdict.open) - _MOST_LISTED:,} more undecided")
    for step in verdict.next_steps:
        console.print(Text(f"next step: {step}"))


def _proof(verdict: TableVerdict) -> str:
    proof = (
        "every witness checked in exact arithmetic"
        if verdict.exact
        else f"witnesses hold to {verdict.tolerance:.1e} of a cell"
    )
    how = ", ".join(f"{n:,} by {way}" for way, n in verdict.proofs.items() if n)
    return proof + (f" ({how})" if how else "")


def _show_exposed(console: Console, verdict: TableVerdict) -> None:
    if not verdict.exposed:
        return
    grid = RichTable(
        "cell", "found by", "an attacker knows it is between", "needed", "has of it"
    )
    for e in verdict.exposed[:_MOST_LISTED]:
        unknown = np.isnan(e.low) or np.isnan(e.high)
        grid.add_row(
            Text(e.label),
            Text(e.insider or "everyone"),
            Text(e.reason or "not decided")
            if unknown
            else f"{e.low:,.6g} and {e.high:,.6g}",
            f"{e.needed_low:,.6g} and {e.needed_high:,.6g}",
            f"{100 * e.share:.0f} %",
        )
    console.print(grid)
    if len(verdict.exposed) > _MOST_LISTED:
        console.print(f"and {len(verdict.exposed) - _MOST_LISTED:,} more")


def show_grid(table: Table, console: Console | None = None) -> None:
    """Print a two-dimensional view with hidden cells marked.

    Other dimensions stand at their totals; long hierarchies are cut to upper levels.
    """
    console = console or plain_console()
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
    grid = RichTable(title=Text(title), box=None)
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
