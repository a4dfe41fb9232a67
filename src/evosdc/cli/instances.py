"""`evosdc instances`: seeded benchmark tables of every family."""

from __future__ import annotations

from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.errors import InputError


def instances(
    context: typer.Context,
    family: str | None = typer.Argument(None, help="A family; none lists them all."),
    seed: int = shared.SEED,
    output: Path | None = typer.Option(
        None, "-o", "--output", help=f"File to write: {shared.TABLES_WRITTEN}."
    ),
    force: bool = shared.FORCE,
) -> None:
    """Make a table of a benchmark family; without a family, list them.

    The options of a family are written as --name value.

    Example: evosdc instances class2 --rows 50 --columns 50 --seed 1 -o table.jj
    """
    from evosdc.instances import find_family, make
    from evosdc.io import check_output_file, write_table

    if family is None:
        _list_families()
        return
    find_family(family)
    if output is None:
        raise InputError(
            "no file to write was named",
            expected=f"-o FILE with suffix {shared.TABLES_WRITTEN}",
        )
    check_output_file(output, force=force)
    table = make(family, seed, **_family_options(context.args))
    write_table(output, table, force=force)
    typer.echo(f"{output}: {table!r}")


def _family_options(words: list[str]) -> dict[str, str]:
    """Read ``--name value`` and ``--name=value`` words."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, sign, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or not name or (not sign and not rest):
            raise InputError(
                f"an option of the family reads {word!r}", expected="--name value"
            )
        found[name.replace("-", "_")] = value if sign else rest.pop(0)
    return found


def _list_families() -> None:
    from dataclasses import fields

    from rich.table import Table as RichTable
    from rich.text import Text

    from evosdc.cli.console import plain_console
    from evosdc.instances import families

    grid = RichTable(title="Families (use with: evosdc instances FAMILY -o FILE)")
    for heading in ("family", "what it is", "options", "source"):
        grid.add_column(heading, overflow="fold")
    for name, entry in families().items():
        options = " ".join(
            f"--{f.name.replace('_', '-')} {f.default}" for f in fields(entry.options)
        )
        grid.add_row(Text(name, "bold"), entry.summary, options, entry.source)
    plain_console().print(grid)
