"""`evosdc methods`: every method, what tables it takes, its source."""

from __future__ import annotations

import json

import typer

from evosdc.cli import options as shared


def methods(as_json: bool = shared.JSON) -> None:
    """List every method, what tables it takes, its options and its source.

    Example: evosdc methods
    """
    from rich.table import Table as RichTable
    from rich.text import Text

    from evosdc import api
    from evosdc.cli.console import plain_console

    found = api.methods()
    if as_json:
        typer.echo(json.dumps([m.as_json() for m in found], default=str))
        return
    grid = RichTable(title="Methods (use with: evosdc protect --method NAME)")
    for heading in ("method", "what it does", "tables", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for m in found:
        options = ", ".join(f"{k}={v}" for k, v in m.options.items())
        grid.add_row(Text(m.name, "bold"), m.summary, m.tables, options, m.source)
    plain_console().print(grid)
