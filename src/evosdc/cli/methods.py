"""`evosdc methods`: every method, what tables it takes, its source."""

from __future__ import annotations

import json

import typer

from evosdc.cli import options as shared


def methods(as_json: bool = shared.JSON) -> None:
    """List every method, what tables it takes, its options and its source.

    Example: evosdc methods
    """
    from rich.console import Console
    from rich.table import Table as RichTable

    from evosdc import api

    found = api.methods()
    if as_json:
        typer.echo(json.dumps([m.as_json() for m in found], default=str))
        return
    grid = RichTable(title="Methods (use with: evosdc protect --method NAME)")
    for heading in ("method", "what it does", "tables", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for m in found:
        options = ", ".join(f"{k}={v}" for k, v in m.options.items())
        grid.add_row(f"[bold]{m.name}[/]", m.summary, m.tables, options, m.source)
    Console().print(grid)
