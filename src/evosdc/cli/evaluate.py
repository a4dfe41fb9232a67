"""`evosdc evaluate`: utility and risk of any synthetic file."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from evosdc.cli import options as shared


def evaluate(
    original: Path = typer.Argument(..., help="The real records."),
    synthetic: Path = typer.Argument(..., help="The synthetic records."),
    key: str = typer.Option(..., help="What an attacker knows: age,sex,region."),
    target: str = typer.Option(..., help="What an attacker wants to learn."),
    holdout: Path | None = typer.Option(
        None, help="Other real records, for the membership test."
    ),
    seed: int = shared.SEED,
    output: Path = typer.Option(..., "-o", "--output", help="Directory to write."),
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Measure utility and risk of a synthetic file, and say what is not protected.

    Example: evosdc evaluate real.csv synthetic.csv --key age,sex --target income -o out
    """
    from evosdc import api
    from evosdc.cli.synth_files import write_metrics, write_page
    from evosdc.io import check_output_directory, read_records

    check_output_directory(output, force=force)
    real = read_records(original).frame
    result = api.evaluate(
        real,
        read_records(synthetic, like=real).frame,
        key=shared.names(key),
        target=target,
        holdout=None if holdout is None else read_records(holdout, like=real).frame,
        seed=seed,
    )
    write_metrics(output, result, force)
    write_page(output, result, None, None, force)
    if as_json:
        typer.echo(json.dumps(result.summary()))
        return
    from rich.console import Console
    from rich.table import Table as Grid

    console = Console()
    grid = Grid("metric", "kind", "goal", "value", title=f"Verdict: {result.verdict}")
    for value in result.values:
        grid.add_row(value.title, value.kind, value.goal, f"{value.value:.5g}")
    console.print(grid)
    for sentence in result.plain_words:
        console.print(f"- {sentence}", highlight=False)
    console.print(f"written to {output}/ (open {output}/report.html)", highlight=False)
