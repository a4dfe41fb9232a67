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

    found = load_methods().values()
    defaults = {
        m.name: {f.name: f.default for f in fields(m.parameters)} for m in found
    }
    if as_json:
        entries = [
            {
                "method": m.name,
                "summary": m.summary,
                "tables": m.tables,
                "options": defaults[m.name],
                "source": m.source,
            }
            for m in found
        ]
        typer.echo(json.dumps(entries, default=str))
        return
    grid = Grid(title="Methods (use with: evosdc protect --method NAME)")
    for heading in ("method", "what it does", "tables", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for m in found:
        options = ", ".join(f"{k}={v}" for k, v in defaults[m.name].items())
        grid.add_row(f"[bold]{m.name}[/]", m.summary, m.tables, options, m.source)
    Console().print(grid)
