"""`evosdc evaluate`: utility and risk of any synthetic file."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import names, takes
from evosdc.options import copies as options


@takes(options.EVALUATE)
def evaluate(
    keywords: options.EvaluateKeywords,
    original: str = typer.Argument(
        ..., help=f"The real records: {shared.RECORDS}; {shared.ADDRESS}."
    ),
    synthetic: str = typer.Argument(..., help="The synthetic records."),
    key: str = typer.Option(..., help="What an attacker knows: age,sex,region."),
    target: str = typer.Option(..., help="What an attacker wants to learn."),
    holdout: str | None = typer.Option(
        None, help="Other real records, for the membership test."
    ),
    output: Path = shared.OUTPUT,
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Measure utility and risk of a synthetic file, and say what is not protected.

    DIR/confidential/ gets the figures and the report; nothing of it may leave the
    office. Exit code 3: the file is not fit for release; the reasons are said.

    Example: evosdc evaluate real.csv synthetic.csv --key age,sex --target income -o out
    """
    from evosdc import api
    from evosdc.cli.progress import print_compiling
    from evosdc.cli.synthesise import show_verdict
    from evosdc.io import read_records
    from evosdc.results.folder import check_output_directory
    from evosdc.results.result import write_result

    check_output_directory(
        output,
        force=force,
        sources=[original, synthetic, *([] if holdout is None else [holdout])],
    )
    real = read_records(original).frame
    result = api.evaluate(
        real,
        read_records(synthetic, like=real).frame,
        key=names(key),
        target=target,
        holdout=None if holdout is None else read_records(holdout, like=real).frame,
        **vars(keywords),
        on_compile=print_compiling,
    )
    write_result(output, result, force=True)
    if as_json:
        typer.echo(json.dumps(result.summary()))
        raise typer.Exit(0 if result.fit else 3)
    from rich.table import Table as RichTable

    from evosdc.cli.console import plain_console

    console = plain_console()
    grid = RichTable("metric", "kind", "goal", "value")
    for value in result.values:
        grid.add_row(value.title, value.kind, value.goal, f"{value.value:.5g}")
    console.print(grid)
    for sentence in result.plain_words:
        console.print(f"- {sentence}", highlight=False)
    show_verdict(console, result)
    console.print(
        f"written to {output}/confidential/, which may not leave the office (open "
        f"{output}/confidential/report.html)",
        highlight=False,
        soft_wrap=True,
    )
    raise typer.Exit(0 if result.fit else 3)
