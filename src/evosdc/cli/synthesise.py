"""`evosdc synthesise`: artificial microdata, utility and risk weighed in the open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from evosdc.cli import options as shared


def synthesise(
    data: str = typer.Argument(
        ..., help=f"Records: {shared.RECORDS}; {shared.ADDRESS}."
    ),
    key: str | None = typer.Option(
        None, help="What an attacker knows: age,sex,region (default: all others)."
    ),
    target: str | None = typer.Option(
        None, help="What an attacker wants to learn (default: the last column)."
    ),
    risk_limit: float | None = typer.Option(
        None, help="Best utility with the first risk at most this."
    ),
    objective: str = typer.Option(
        "auto",
        help="jsd:full, jsd:2, jsd:2,3*, cramer or tables (auto: by mode; a star: the "
        "tables with most to gain).",
    ),
    risk: str = typer.Option(
        "dcap-u,uniques,disco", help="Risks that count: dcap-u, dcap, uniques, disco."
    ),
    mode: str = typer.Option("constraint", help="weighted, constraint or pareto."),
    population: int | None = typer.Option(None, help="Candidates (default: by mode)."),
    crossover: str = typer.Option("whole-cpc", help="How candidates are mixed."),
    niche: str = typer.Option(
        "points",
        help="Which candidates of a front are neighbours: those with like utility and "
        "risk (points) or like data (copies); with --mode pareto --no-memetic.",
    ),
    initial: str = typer.Option(
        "auto", help="univariate, trees, network, cart, ... (auto: by size)."
    ),
    columns: str | None = typer.Option(
        None, help="Synthesise only these: a,b,c; the others stay as they are."
    ),
    most_levels: int | None = typer.Option(
        None,
        help="Numbers with more different values are binned (default: 40).",
    ),
    bins: int = typer.Option(20, help="Bins of such a column."),
    moments: bool = typer.Option(
        True, help="Hold means and standard deviations of binned numbers."
    ),
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
    exclude: str | None = typer.Option(None, help="Leave these columns out: a,b."),
    columns_file: Path | None = typer.Option(
        None, help="What each column is, as `evosdc inspect --toml` writes it."
    ),
    rule: list[str] = typer.Option(
        [], "--rule", help="What holds in every record: \"NPF > NOC or NPF = 'N'\"."
    ),
    derive: list[str] = typer.Option(
        [],
        "--derive",
        help="A column computed from others: 'bmi = weight / (height / 100) ** 2'.",
    ),
    refuse: list[str] = typer.Option(
        [],
        "--refuse",
        help="What was found and is not so: a column that is not derived, or two "
        "columns a,b without impossible combinations.",
    ),
    find_logic: bool = typer.Option(
        True, help="Find derived columns and learn impossible combinations."
    ),
    memetic: bool = typer.Option(
        True, help="Improve candidates by record moves (off: the plain GA)."
    ),
    moves: int | None = typer.Option(
        None, help="Record moves of each candidate in the whole run (default: by size)."
    ),
    generations: int | None = typer.Option(None, help="Stop after so many."),
    time_limit: float | None = typer.Option(
        None,
        help="Seconds for all after reading (default: 60, none with --generations).",
    ),
    copies: int = typer.Option(1, help="How many synthetic copies to write."),
    noise_floor: bool = typer.Option(
        True, help="Come no closer than a sample drawn anew would (off: go beyond)."
    ),
    holdout: str | None = typer.Option(
        None, help="Other real records, for the membership test."
    ),
    seed: int = shared.SEED,
    workers: int | None = typer.Option(
        None, help="Threads (default: up to 4), or workers of a cluster at most."
    ),
    cluster: str | None = typer.Option(
        None,
        metavar="ADDRESS",
        help="Dask workers that improve candidates, by their scheduler: "
        "tcp://host:8786. One for each candidate at most (--copies, --mode pareto, "
        "--population); not with --no-memetic. The records are sent to them.",
    ),
    checkpoint: Path | None = shared.CHECKPOINT,
    no_checkpoint: bool = shared.NO_CHECKPOINT,
    resume: bool = shared.RESUME,
    output: Path = typer.Option(..., "-o", "--output", help="Directory to write."),
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Evolve synthetic data that keep the statistics and not the people.

    DIR/publish/ gets what may leave the office: the synthetic data and a report to
    share. DIR/confidential/ gets the rest, and the data while they are not fit.
    Exit code 3: not fit for release; the reasons are said.

    Example: evosdc synthesise census.csv --key age,sex,region --target income -o out
    """
    from evosdc import api
    from evosdc.cli.checkpoint import checkpoint_for, forget
    from evosdc.cli.synth_progress import compiling, progress
    from evosdc.io import read_records
    from evosdc.io.column_plan import read_column_wishes
    from evosdc.results.folder import check_output_directory
    from evosdc.results.result import write_result
    from evosdc.results.synthetic import write_copies
    from evosdc.synth.data.rules import must_hold

    limit = time_limit
    if limit is None and generations is None:
        limit = api.DEFAULT_TIME_LIMIT
    kept, force = checkpoint_for(
        output, checkpoint, limit, off=no_checkpoint, resume=resume, force=force
    )
    check_output_directory(
        output,
        force=force,
        sources=[data, *([] if holdout is None else [holdout])],
    )
    records = read_records(data)
    wanted = read_column_wishes(columns_file)
    other = None
    if holdout is not None:
        other = read_records(holdout, like=records.frame).frame
    written: list[Path] = []

    def on_copies(made: tuple[Any, ...]) -> None:
        write_copies(output, made, records, formats=_format(data))
        written.append(output)

    with unless_interrupted(written), progress(not as_json, limit) as ear:
        result = api.synthesise(
            records.frame,
            key=None if key is None else shared.names(key),
            target=target,
            holdout=other,
            objective=objective,
            risk=shared.names(risk),
            risk_limit=risk_limit,
            mode=mode,
            population=population,
            crossover=crossover,
            niche=niche,
            initial=initial,
            columns=None if columns is None else shared.names(columns),
            most_levels=most_levels,
            bins={None: bins, **wanted.bins_by_name} if wanted.bins_by_name else bins,
            moments=moments,
            least=least,
            identifiers={
                **wanted.identifiers,
                **shared.pairs(identifier, "--identifier"),
            },
            categories=wanted.categories,
            exclude=[*shared.names(exclude or ""), *wanted.exclude],
            rules=[must_hold(text) for text in rule],
            derive=derive,
            refuse=[*refuse, *wanted.refuse],
            find_derived=find_logic,
            learn_rules=find_logic,
            memetic=memetic,
            moves=moves,
            generations=generations,
            time_limit=limit,
            noise_floor=noise_floor,
            copies=copies,
            on_copies=on_copies,
            on_compile=compiling,
            seed=seed,
            workers=workers,
            cluster=cluster,
            listener=ear,
            on_phase=ear,
            checkpoint=kept,
        )
        write_result(output, result, force=True, formats=_format(data), source=records)
    forget(output, kept, force=force)
    if as_json:
        typer.echo(json.dumps(result.summary()))
    else:
        _show(result, output)
    raise typer.Exit(0 if result.fit else 3)


@contextmanager
def unless_interrupted(written: list[Path]) -> Iterator[None]:
    """Say where the copies are if the second Ctrl-C comes after they were written."""
    try:
        yield
    except KeyboardInterrupt:
        if not written:
            raise
        typer.echo(
            f"evosdc: interrupted; the copies are in {written[0]}/confidential/, not "
            "judged.",
            err=True,
        )
        raise typer.Exit(130) from None


def _format(path: str) -> str:
    from evosdc.databases import is_address
    from evosdc.io.suffixes import PARQUET, format_to_read

    if is_address(path):
        return "csv"
    return "parquet" if format_to_read(path, "records") is PARQUET else "csv"


def _show(result: Any, output: Path) -> None:
    from rich.text import Text

    from evosdc.cli.console import plain_console

    console = plain_console()
    model = result.model
    console.print(
        f"{result.evaluation.rows:,} records, {model.generations_:,} generations in "
        f"{model.seconds_:.1f} s ({model.reason_}, seed {model.seed})"
    )
    for name, value in model.utility_.items():
        console.print(Text.assemble(f"distance {name}: ", (f"{value:.4g}", "bold")))
    for name, value in result.evaluation.risk.items():
        limit = model.risk_limits_.get(name)
        beside = "" if limit is None else f" (limit {limit:.4g})"
        console.print(Text.assemble(f"risk {name}: ", (f"{value:.4g}", "bold"), beside))
    met = {True: ("met", "green"), False: ("NOT met", "red"), None: ("none set", "")}
    set_by = (
        "suggested risk limits" if model.scenario.risk_limit is None else "risk limits"
    )
    console.print(Text.assemble(f"{set_by}: ", met[result.risk_met]))
    for sentence in (*model.notes_, *result.evaluation.plain_words):
        console.print(f"- {sentence}", highlight=False)
    show_verdict(console, result)
    console.print(
        f"{output}/publish/ may leave the office; {output}/confidential/ may not (open "
        f"{output}/confidential/report.html)"
        if result.fit
        else f"nothing may leave the office: all is in {output}/confidential/ (open "
        f"{output}/confidential/report.html)",
        highlight=False,
        soft_wrap=True,
    )


def show_verdict(console: Any, result: Any) -> None:
    """Print the verdict, the reasons against a release, and what was tested."""
    from rich.text import Text

    verdict, claim = result.verdict, result.claim
    colour = "green" if verdict.ok else "red"
    console.print(Text.assemble("verdict: ", (verdict.word, f"bold {colour}")))
    for reason in verdict.reasons:
        console.print(f"- {reason}", highlight=False)
    for step in verdict.next_steps:
        console.print(f"next step: {step}", highlight=False)
    for line in (
        f"tested: {claim.scenario}; coding: {claim.coding}",
        f"small groups: {claim.small_groups}; closeness: {claim.closeness}; "
        f"hold-out: {claim.holdout}; guarantee: {claim.guarantee}",
    ):
        console.print(line, highlight=False, soft_wrap=True)
