"""`evosdc lower-bound`: how cheap any safe pattern of a table can be at best."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import takes
from evosdc.options import tables as options


@takes(options.LOWER_BOUND)
def lower_bound(
    keywords: options.BoundKeywords,
    attackers: options.Attackers,
    cells: options.CellRequests,
    prior: options.Prior,
    read: options.Read,
    run: options.Run,
    tables: list[Path] = typer.Argument(
        ..., metavar="TABLE...", help="The table or tables, as for: evosdc protect."
    ),
    as_json: bool = shared.JSON,
) -> None:
    """Print a lower bound on the cost of every safe pattern.

    Give the options that protect was given: the bound is then of the same question.

    Example: evosdc lower-bound table.jj --json
    """
    from evosdc import api

    found = api.lower_bound(
        tables,
        **vars(keywords),
        attackers=attackers,
        cells=cells,
        prior=prior,
        read=read,
        run=run,
    )
    if as_json:
        typer.echo(json.dumps(found.summary()))
        return
    state = "" if found.complete else ", stopped early"
    typer.echo(
        f"lower bound {found.value:,.6g} by {found.method} cuts "
        f"in {found.seconds} s ({found.cuts:,} cuts{state})"
    )
    typer.echo(f"an attacker knows beforehand: {found.knowledge}")
