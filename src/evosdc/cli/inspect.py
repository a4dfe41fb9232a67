"""`evosdc inspect`: what each column is, and what a synthesis would do with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from evosdc.cli import options as shared


def inspect(
    data: str = typer.Argument(
        ..., help=f"Records: {shared.RECORDS}; {shared.ADDRESS}."
    ),
    toml: Path | None = typer.Option(
        None, help="Write a file to edit and give back (- for the terminal)."
    ),
    least: int = typer.Option(
        5, "--min-group", help="The smallest group a copy may show."
    ),
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Say what each column of a file is, and what `synthesise` would do with it.

    Example: evosdc inspect census.csv --toml columns.toml
    """
    from evosdc import api
    from evosdc.io import read_records
    from evosdc.io.paths import refuse_existing, write_text
    from evosdc.synth.inspecting import as_toml

    to_file = toml is not None and str(toml) != "-"
    if toml is not None and to_file:
        refuse_existing(toml, force)
    plans = api.inspect(read_records(data).frame, least=least)
    if toml is not None:
        text = as_toml(plans)
        if not to_file:
            typer.echo(text)
            return
        write_text(toml, text, force)
    if as_json:
        typer.echo(json.dumps([vars(plan) for plan in plans]))
        return
    _show(plans)
    if toml is not None:
        typer.echo(f"written: {toml}; give it back with synthesise --columns-file")


def _show(plans: tuple[Any, ...]) -> None:
    from rich.table import Table

    from evosdc.cli.console import plain_console

    table = Table(box=None, pad_edge=False)
    table.add_column("column")
    table.add_column("kind")
    for head in ("values", "missing", "rare", "codes"):
        table.add_column(head, justify="right")
    table.add_column("what is done")
    for plan in plans:
        figures = (plan.distinct, plan.missing, plan.rare, plan.codes)
        table.add_row(plan.name, plan.kind, *(f"{x:,}" for x in figures), plan.what)
    plain_console().print(table)
