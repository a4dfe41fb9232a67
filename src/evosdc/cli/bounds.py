"""`evosdc bounds`: how cheap any safe pattern of a table can be at best."""

from __future__ import annotations

import json
import time
from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.errors import InputError


def bounds(
    table: Path = typer.Argument(..., help="The table, as for: evosdc protect."),
    method: str = typer.Option("cut", help="node (rows, columns) or cut (stronger)."),
    cost: str = typer.Option("weight", help="As for: evosdc protect."),
    time_limit: float = typer.Option(60.0, help="Seconds; the bound is valid anyway."),
    prior: str | None = shared.BOUNDS,
    counts: bool | None = shared.COUNTS,
    threshold: int | None = shared.THRESHOLD,
    strict: bool = shared.STRICT,
    as_json: bool = shared.JSON,
    hierarchy: list[str] = shared.HIERARCHY,
    total: str | None = shared.TOTAL,
    flat: list[str] = shared.FLAT,
    missing: str | None = shared.MISSING,
) -> None:
    """Print a lower bound on the cost of every safe pattern.

    Example: evosdc bounds table.jj --json
    """
    from evosdc.api.sources import assumed
    from evosdc.io import read_table
    from evosdc.suppress.cost import costs
    from evosdc.suppress.exact.bounds import cut_bound, node_bound
    from evosdc.suppress.problem import Problem
    from evosdc.table.knowledge import knowledge_words

    if method not in ("node", "cut"):
        raise InputError(f"--method is {method!r}", expected="node or cut")
    reading = shared.reading_options(hierarchy, total, missing, flat=flat)
    cells = assumed(
        read_table(table, **reading),
        bounds=prior,
        counts=counts,
        threshold=threshold,
        rules=None,
    )
    problem = Problem.of(cells, costs(cells, cost), strict=strict)
    start = time.monotonic()
    if method == "node":
        bound = node_bound(problem)
    else:
        bound = cut_bound(problem, lambda: time.monotonic() - start > time_limit)
    seconds = round(time.monotonic() - start, 3)
    if as_json:
        found = {
            "lower_bound": bound.value,
            "method": bound.method,
            "seconds": seconds,
            "complete": bound.complete,
            "knowledge": knowledge_words(cells),
        }
        typer.echo(json.dumps(found))
    else:
        state = "" if bound.complete else ", stopped early"
        typer.echo(
            f"lower bound {bound.value:,.6g} by {bound.method} cuts "
            f"in {seconds} s ({bound.cuts:,} cuts{state})"
        )
        typer.echo(f"an attacker knows beforehand: {knowledge_words(cells)}")
