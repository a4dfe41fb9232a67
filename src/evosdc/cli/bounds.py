"""`evosdc bounds`: how cheap any safe pattern of a table can be at best."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from evosdc.cli import options as shared


def bounds(
    table: Path = typer.Argument(..., help="The table, as for: evosdc protect."),
    method: str = typer.Option("cut", help="node (rows, columns) or cut (stronger)."),
    cost: str = typer.Option("weight", help="As for: evosdc protect."),
    time_limit: float = typer.Option(60.0, help="Seconds; the bound is valid anyway."),
    prior: str | None = shared.BOUNDS,
    counts: bool | None = shared.COUNTS,
    threshold: int | None = shared.THRESHOLD,
    whole_numbers: bool | None = shared.WHOLE_NUMBERS,
    workers: int | None = shared.CUT_WORKERS,
    cluster: str | None = shared.CLUSTER,
    strict: bool = shared.STRICT,
    attackers: str | None = shared.ATTACKERS,
    coalition: Path | None = shared.COALITION,
    as_json: bool = shared.JSON,
    hierarchy: list[str] = shared.HIERARCHY,
    total: str | None = shared.TOTAL,
    flat: list[str] = shared.FLAT,
    missing: str | None = shared.MISSING,
) -> None:
    """Print a lower bound on the cost of every safe pattern.

    Example: evosdc bounds table.jj --json
    """
    from evosdc import api
    from evosdc.io import read_table

    reading = shared.reading_options(hierarchy, total, missing, flat=flat)
    found = api.bounds(
        read_table(table, **reading),
        method=method,
        cost=cost,
        time_limit=time_limit,
        attacker=shared.attacker(strict, attackers, None, coalition, False),
        workers=workers,
        cluster=cluster,
        bounds=prior,
        counts=counts,
        threshold=threshold,
        whole_numbers=whole_numbers,
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
