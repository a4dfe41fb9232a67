"""`evosdc synthesise`: artificial microdata, utility and risk weighed in the open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import names, takes
from evosdc.options import copies as options


@takes(options.SYNTHESISE)
def synthesise(
    keywords: options.SynthesiseKeywords,
    scenario: options.Scenario,
    trade_off: options.TradeOff,
    coding: options.Coding,
    logic: options.Logic,
    operators: options.Operators,
    schedule: options.Schedule,
    data: str = typer.Argument(
        ..., help=f"Records: {shared.RECORDS}; {shared.ADDRESS}."
    ),
    columns: str | None = typer.Option(
        None, help="Synthesise only these: a,b,c; the others stay as they are."
    ),
    columns_file: Path | None = typer.Option(
        None, help="What each column is, as `evosdc inspect --toml` writes it."
    ),
    rule: list[str] = typer.Option(
        [], "--rule", help="What holds in every record: \"NPF > NOC or NPF = 'N'\"."
    ),
    holdout: str | None = typer.Option(
        None, help="Other real records, for the membership test."
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
    output: Path = shared.OUTPUT,
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
    from evosdc.cli.progress import print_compiling, synthesis_progress
    from evosdc.io import read_records
    from evosdc.io.columns_file import read_columns_file
    from evosdc.results.folder import check_output_directory
    from evosdc.results.result import write_result
    from evosdc.results.synthetic import write_copies
    from evosdc.synth.data.rules import must_hold
    from evosdc.synth.options import GROUPS

    schedule = replace(schedule, time_limit=keywords.time_limit)
    limit = schedule.seconds
    kept, force = checkpoint_for(
        output, checkpoint, limit, off=no_checkpoint, resume=resume, force=force
    )
    check_output_directory(
        output,
        force=force,
        sources=[data, *([] if holdout is None else [holdout])],
    )
    records = read_records(data)
    wanted = read_columns_file(columns_file)
    other = None
    if holdout is not None:
        other = read_records(holdout, like=records.frame).frame
    by_name: dict[Any, Any] = {None: coding.bins, **wanted.bins_by_name}
    coding = replace(
        coding,
        bins=by_name if wanted.bins_by_name else coding.bins,
        identifiers={**wanted.identifiers, **(coding.identifiers or {})},
        categories=[*wanted.categories, *coding.categories],
        exclude=[*coding.exclude, *wanted.exclude],
    )
    given = {
        "scenario": scenario,
        "trade_off": trade_off,
        "coding": coding,
        "logic": replace(logic, refuse=[*logic.refuse, *wanted.refuse]),
        "operators": operators,
        "schedule": schedule,
    }
    written: list[Path] = []

    def on_copies(made: tuple[Any, ...]) -> None:
        write_copies(output, made, records, formats=_format(data))
        written.append(output)

    with unless_interrupted(written), synthesis_progress(not as_json, limit) as listen:
        result = api.synthesise(
            records.frame,
            holdout=other,
            columns=None if columns is None else names(columns),
            rules=[must_hold(text) for text in rule],
            copies=keywords.copies,
            seed=keywords.seed,
            workers=keywords.workers,
            on_copies=on_copies,
            on_compile=print_compiling,
            cluster=cluster,
            listener=listen,
            on_phase=listen,
            checkpoint=kept,
            **{name: GROUPS[name](**vars(one)) for name, one in given.items()},
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
    from evosdc.formats import CSV
    from evosdc.io.suffixes import format_to_read

    if is_address(path):
        return CSV.name
    form = format_to_read(path, "records")
    return form.name if "records" in form.written else CSV.name


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
        limited = "" if limit is None else f" (limit {limit:.4g})"
        console.print(
            Text.assemble(f"risk {name}: ", (f"{value:.4g}", "bold"), limited)
        )
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
