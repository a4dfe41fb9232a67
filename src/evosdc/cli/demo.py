"""`evosdc demo`: the main job on an embedded example, from microdata to a report."""

from __future__ import annotations

from pathlib import Path

import typer

from evosdc.cli import options as shared


def demo(
    output: Path = typer.Option(
        Path("demo-output"), "-o", "--output", help="Directory to write."
    ),
    firms: int = typer.Option(4000, help="How many made-up firms to tabulate."),
    seed: int = shared.SEED,
    time_limit: float = typer.Option(20.0, help="Seconds of search."),
    force: bool = shared.FORCE,
) -> None:
    """Tabulate made-up firms, find sensitive cells, protect the table and audit it.

    Example: evosdc demo
    """
    from rich.console import Console

    from evosdc import api
    from evosdc.cli.progress import progress
    from evosdc.cli.show import show_grid, show_protection
    from evosdc.cli.write import write_result
    from evosdc.instances import business
    from evosdc.io import check_output_directory

    check_output_directory(output, force=force)
    console = Console()
    data = business(firms=firms, seed=seed)
    console.rule("1. tabulate: turnover by region, industry and size")
    tabulated = api.tabulate(
        data.records,
        ["region", "industry", "size"],
        "turnover",
        hierarchies=data.hierarchies,
        rules=["p:15", "freq:3"],
    )
    table = tabulated.table
    console.print(f"{firms:,} firms -> {table!r}", highlight=False)
    console.print(
        f"primary rules p:15 and freq:3 mark {len(table.primaries):,} cells sensitive"
    )
    console.rule("2. protect and audit")
    with progress(True, time_limit) as ear:
        result = api.protect(
            tabulated, time_limit=time_limit, seed=seed, on_progress=ear
        )
    show_grid(result.table, console)
    write_result(output, result, force=force)
    show_protection(result, output)
    raise typer.Exit(0 if result.safe else 3)
