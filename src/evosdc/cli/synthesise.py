"""`evosdc synthesise`: artificial microdata, utility and risk weighed in the open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import typer

from evosdc.cli import options as shared


def synthesise(
    data: Path = typer.Argument(..., help="Microdata: CSV or Parquet."),
    key: str = typer.Option(..., help="What an attacker knows: age,sex,region."),
    target: str = typer.Option(..., help="What an attacker wants to learn."),
    risk_limit: float | None = typer.Option(
        None, help="Best utility with the first risk at most this."
    ),
    objective: str = typer.Option(
        "auto", help="jsd:full, jsd:2, jsd:2,3,4, cramer or tables (auto: by mode)."
    ),
    risk: str = typer.Option(
        "dcap-u,uniques,disco", help="Risks that count: dcap-u, dcap, uniques, disco."
    ),
    mode: str = typer.Option("constraint", help="weighted, constraint or pareto."),
    population: int | None = typer.Option(None, help="Candidates (default: by mode)."),
    crossover: str = typer.Option("whole-cpc", help="How candidates are mixed."),
    initial: str = typer.Option(
        "auto", help="univariate, uniform, network, cart, ... (auto: by size)."
    ),
    columns: str | None = typer.Option(
        None, help="Synthesise only these: a,b,c; the others stay as they are."
    ),
    most_levels: int | None = typer.Option(
        None,
        help="Numbers with more different values are binned (default: 30 to 100, by "
        "size).",
    ),
    bins: int = typer.Option(20, help="Bins of such a column."),
    least: int = typer.Option(
        5,
        help="The smallest group a copy may show: rare levels are pooled, tails coded "
        "(0 or 1: off).",
    ),
    identifier: list[str] = typer.Option(
        [],
        "--identifier",
        help="NAME=drop, new (fresh values) or keep, for columns that identify people "
        "(recognised ones are dropped).",
    ),
    memetic: bool = typer.Option(
        True, help="Improve candidates by record moves (off: the plain GA)."
    ),
    moves: int | None = typer.Option(
        None, help="Record moves of each candidate in the whole run (default: by size)."
    ),
    generations: int | None = typer.Option(None, help="Stop after so many."),
    time_limit: float | None = typer.Option(
        None, help="Seconds (default: 60, none with --generations)."
    ),
    copies: int = typer.Option(1, help="How many synthetic copies to write."),
    holdout: Path | None = typer.Option(
        None, help="Other real records, for the membership test."
    ),
    seed: int = shared.SEED,
    workers: int | None = typer.Option(None, help="Threads (default: all cores)."),
    output: Path = typer.Option(..., "-o", "--output", help="Directory to write."),
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Evolve synthetic data that keep the statistics and not the people.

    Writes the synthetic data, run.csv, report.html and, in Pareto mode, front.csv.
    Exit code 3: a risk limit is not met.

    Example: evosdc synthesise census.csv --key age,sex,region --target income -o out
    """
    from evosdc import api
    from evosdc.cli.synth_files import write_synthesis
    from evosdc.cli.synth_progress import progress
    from evosdc.io import check_output_directory, read_records

    check_output_directory(output, force=force)
    records = read_records(data)
    other = None
    if holdout is not None:
        other = read_records(holdout, like=records.frame).frame
    limit = time_limit
    if limit is None and generations is None:
        limit = api.DEFAULT_TIME_LIMIT
    with progress(not as_json, limit) as ear:
        result = api.synthesise(
            records.frame,
            key=shared.names(key),
            target=target,
            holdout=other,
            objective=objective,
            risk=shared.names(risk),
            risk_limit=risk_limit,
            mode=mode,
            population=population,
            crossover=crossover,
            initial=initial,
            columns=None if columns is None else shared.names(columns),
            most_levels=most_levels,
            bins=bins,
            least=least,
            identifiers=shared.pairs(identifier, "--identifier"),
            memetic=memetic,
            moves=moves,
            generations=generations,
            time_limit=limit,
            copies=copies,
            seed=seed,
            workers=workers,
            listener=ear,
        )
    write_synthesis(output, result, records, suffix=_suffix(data), force=force)
    if as_json:
        typer.echo(json.dumps(result.summary()))
    else:
        _show(result, output)
    raise typer.Exit(3 if result.risk_met is False else 0)


def _suffix(path: Path) -> str:
    return ".parquet" if path.suffix == ".parquet" else ".csv"


def _show(result: Any, output: Path) -> None:
    from rich.console import Console

    console = Console()
    model = result.model
    console.print(
        f"{result.evaluation.rows:,} records, {model.generations_:,} generations in "
        f"{model.seconds_:.1f} s ({model.reason_}, seed {model.seed})"
    )
    for name, value in model.utility_.items():
        console.print(f"distance {name}: [bold]{value:.4g}[/]")
    for name, value in model.risk_.items():
        limit = model.risk_limits_.get(name)
        beside = "" if limit is None else f" (limit {limit:.4g})"
        console.print(f"risk {name}: [bold]{value:.4g}[/]{beside}")
    met = {True: "[green]met[/]", False: "[red]NOT met[/]", None: "none set"}
    console.print(
        f"risk limits: {met[result.risk_met]}; verdict: {result.evaluation.verdict}"
    )
    for sentence in (*model.notes_, *result.evaluation.plain_words):
        console.print(f"- {sentence}", highlight=False)
    console.print(f"written to {output}/ (open {output}/report.html)", highlight=False)
