"""`evosdc demo`: the main job on an embedded example, from microdata to a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evosdc.cli import options as shared

if TYPE_CHECKING:
    from evosdc.instances import Business


def demo(
    output: Path = typer.Option(
        Path("demo-output"), "-o", "--output", help="Directory to write."
    ),
    firms: int = typer.Option(3000, help="How many made-up firms to tabulate."),
    seed: int = shared.SEED,
    time_limit: float = typer.Option(20.0, help="Seconds of search."),
    force: bool = shared.FORCE,
) -> None:
    """Tabulate made-up firms, find sensitive cells, protect the table and audit it.

    Example: evosdc demo
    """
    from evosdc import api
    from evosdc.cli.console import plain_console
    from evosdc.cli.progress import progress
    from evosdc.cli.show import show_grid, show_protection, show_warnings
    from evosdc.instances import business
    from evosdc.options.tables import Read, Run
    from evosdc.results.folder import DEMO, check_output_directory, refuse_foreign
    from evosdc.results.result import write_result

    check_output_directory(output, force=force, names=DEMO)
    console = plain_console()
    data = business(firms=firms, seed=seed)
    console.rule("1. tabulate: turnover by region and activity")
    tabulated = api.tabulate(
        data.records,
        ["region", "activity"],
        "turnover",
        rules=["p:10", "freq:3"],
        read=Read(hierarchies=data.hierarchies),
    )
    table = tabulated.table
    console.print(f"{firms:,} firms -> {table!r}", highlight=False)
    console.print(
        f"primary rules p:10 and freq:3 mark {len(table.primaries):,} cells sensitive"
    )
    console.rule("2. protect and audit")
    with progress(True, time_limit) as listen:
        result = api.protect(
            tabulated, time_limit=time_limit, seed=seed, run=Run(on_progress=listen)
        )
    show_grid(result.table, console)
    refuse_foreign(output, DEMO)
    warnings = write_result(output, result, force=force)
    _write_input(output, data)
    show_protection(result, output)
    show_warnings(warnings)
    console.print(
        f"the firms are in {output}/input/: the tutorial goes on from there",
        highlight=False,
    )
    raise typer.Exit(0 if result.safe else 3)


def _write_input(output: Path, data: Business) -> None:
    """Write the records and their hierarchies, so that the steps can be repeated."""
    from evosdc.io import write_hrc, write_records
    from evosdc.io.paths import make_folder
    from evosdc.results.folder import INPUT, add_to_claim

    folder = make_folder(output / INPUT)
    trees = {folder / f"{name}.hrc": tree for name, tree in data.hierarchies.items()}
    add_to_claim(output, [folder / "firms.csv", *trees])
    write_records(folder / "firms.csv", data.records, force=True)
    for path, tree in trees.items():
        write_hrc(path, tree, force=True)
