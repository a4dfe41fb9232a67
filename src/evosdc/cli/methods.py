"""`evosdc methods`: every method, what tables it takes, its source."""

from __future__ import annotations

import json
from dataclasses import fields

import typer

from evosdc.cli import options as shared


def methods(as_json: bool = shared.JSON) -> None:
    """List every method, what tables it takes, its options and its source.

    Example: evosdc methods
    """
    from rich.console import Console
    from rich.table import Table as Grid

    from evosdc.suppress.registry import load_methods

    entries = [
        {
            "method": m.name,
            "summary": m.summary,
            "tables": m.tables,
            "options": {f.name: f.default for f in fields(m.parameters)},
            "source": m.source,
        }
        for m in load_methods().values()
    ]
    if as_json:
        typer.echo(json.dumps(entries, default=str))
        return
    grid = Grid(title="Methods (use with: evosdc protect --method NAME)")
    for heading in ("method", "what it does", "tables", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for entry in entries:
        options = ", ".join(f"{k}={v}" for k, v in entry["options"].items())
        grid.add_row(
            f"[bold]{entry['method']}[/]",
            entry["summary"],
            entry["tables"],
            options,
            entry["source"],
        )
    Console().print(grid)
