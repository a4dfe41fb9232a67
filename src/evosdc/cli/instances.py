"""`evosdc instances`: seeded benchmark tables of every family."""

from __future__ import annotations

from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.errors import InputError


def instances(
    family: str | None = typer.Argument(None, help="A family; none lists them all."),
    option: list[str] = typer.Option(
        [], "--option", help="NAME=VALUE: a parameter of the family, such as rows=50."
    ),
    seed: int = shared.SEED,
    output: Path | None = typer.Option(
        None, "-o", "--output", help="File to write: .jj, .jj.gz, .csv or .parquet."
    ),
    force: bool = shared.FORCE,
) -> None:
    """Make a table of a benchmark family; without a family, list them.

    Example: evosdc instances class-ii --option rows=50 --seed 1 -o table.jj
    """
    from evosdc.instances import configure, families, make

    if family is None:
        _list_families()
        return
    if family not in families():
        raise InputError(
            f"there is no family {family!r}",
            expected=f"one of {', '.join(families())}",
            hint="see: evosdc instances",
        )
    if output is None:
        raise InputError(
            "no file to write was named",
            expected="-o FILE with suffix .jj, .jj.gz, .csv or .parquet",
        )
    from evosdc.io import write_table

    chosen = configure(family, shared.pairs(option, "--option"))
    table = make(family, seed, **chosen)
    write_table(output, table, force=force)
    typer.echo(f"{output}: {table!r}")


def _list_families() -> None:
    from dataclasses import fields

    from rich.console import Console
    from rich.table import Table as Grid

    from evosdc.instances import families

    grid = Grid(title="Families (use with: evosdc instances FAMILY -o FILE)")
    for heading in ("family", "what it is", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for name, entry in families().items():
        options = ", ".join(f"{f.name}={f.default}" for f in fields(entry.parameters))
        grid.add_row(f"[bold]{name}[/]", entry.summary, options, entry.source)
    Console().print(grid)
