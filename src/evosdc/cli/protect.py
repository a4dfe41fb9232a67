"""`evosdc protect`: from a table to an audited, protected publication."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evosdc.cli import options as shared

if TYPE_CHECKING:
    from evosdc.table import Table


def protect(
    tables: list[Path] = typer.Argument(
        ...,
        metavar="TABLE...",
        help=f"{shared.TABLES}, packed or not. Several are linked by their labels and "
        "protected together.",
    ),
    method: str = typer.Option("auto", help="A name from: evosdc methods."),
    cost: str = typer.Option(
        "weight", help="weight, value, frequency, unit or boxcox:L."
    ),
    time_limit: float | None = typer.Option(
        None, help="Seconds for all of it (default: 60, none with --evaluations)."
    ),
    evaluations: int | None = typer.Option(
        None, help="Patterns the search may build: repeats exactly."
    ),
    gap: float = typer.Option(
        0.0, help="Stop when proven this close to the optimum, such as 0.01."
    ),
    seed: int = shared.SEED,
    workers: int | None = typer.Option(
        None,
        help="At most so many (default: all cores). Under a time limit each has a "
        "search of auto, hybrid, order-ga, other methods of orders, ls-ruin and "
        "ls-rebuild. On tables that are no networks they share sub-tables of hitas, "
        "attacks of optimal and of a hybrid without a limit, and the judge of all "
        "methods. Others search on one core.",
    ),
    cluster: str | None = shared.CLUSTER,
    strict: bool = shared.STRICT,
    attackers: str | None = shared.ATTACKERS,
    coalition: Path | None = shared.COALITION,
    singletons: bool | None = shared.SINGLETONS,
    secondaries: bool = typer.Option(
        False, "--secondaries", help="Nobody can work out a secondary either."
    ),
    hide: list[str] = typer.Option(
        [],
        "--hide",
        help="Cells that must be hidden: region=North,size=s* or @FILE.csv.",
    ),
    publish: list[str] = typer.Option(
        [], "--publish", help="Cells that must be published, likewise."
    ),
    prefer: list[str] = typer.Option(
        [],
        "--prefer",
        help="LABEL=FACTOR: times the cost of these cells, such as region=North=5; "
        "above 1 keeps them, below 1 hides them first.",
    ),
    accept: list[str] = typer.Option(
        [],
        "--accept",
        help="Sensitive cells, as for --hide, for which lower levels are accepted "
        "where no pattern gives theirs.",
    ),
    keep_secondaries: bool = typer.Option(
        False,
        "--keep-secondaries",
        help="Secondaries of the table stay hidden; implied by --apriori.",
    ),
    bounds: str | None = shared.BOUNDS,
    counts: bool | None = shared.COUNTS,
    threshold: int | None = shared.THRESHOLD,
    whole_numbers: bool | None = shared.WHOLE_NUMBERS,
    earlier: list[Path] = shared.EARLIER,
    rule: list[str] = shared.NO_RULE,
    option: list[str] = typer.Option(
        [], "--option", help="NAME=VALUE: a parameter of the method."
    ),
    also: list[str] = typer.Option(
        [],
        "--also",
        help="Further formats: pivot, grid, sbs, tab, parquet (as may be published), "
        "jj, hst (confidential). Several with commas.",
    ),
    checkpoint: Path | None = shared.CHECKPOINT,
    no_checkpoint: bool = shared.NO_CHECKPOINT,
    resume: bool = shared.RESUME,
    output: Path = typer.Option(..., "-o", "--output", help="Directory to write."),
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
    hierarchy: list[str] = shared.HIERARCHY,
    total: str | None = shared.TOTAL,
    flat: list[str] = shared.FLAT,
    link: list[str] = shared.LINK,
    missing: str | None = shared.MISSING,
    value: str | None = shared.VALUE,
    level_percent: float | None = shared.LEVEL_PERCENT,
    apriori: Path | None = shared.APRIORI,
) -> None:
    """Hide the cheapest cells that make a table safe, and prove it.

    Writes publish/, which may leave the office (published.csv, of linked tables each
    one, and a report to share), and confidential/, which must not (pattern,
    certificate, run, report). What is not SAFE goes to draft/ instead of publish/.

    Example: evosdc protect table.jj --time-limit 30 -o protected
    """
    from evosdc import api
    from evosdc.api.requests import preference
    from evosdc.cli.checkpoint import checkpoint_for, forget
    from evosdc.cli.progress import progress
    from evosdc.cli.show import show_protection, show_warnings
    from evosdc.io import (
        check_also,
        read_apriori_into,
        read_tables,
    )
    from evosdc.results.related import refuse_replaced
    from evosdc.results.result import write_result
    from evosdc.results.table_files import check_protection_directory, write_unjudged

    against = shared.attacker(strict, attackers, singletons, coalition, secondaries)
    stop = api.Stop(time_limit=time_limit, evaluations=evaluations, gap=gap)
    kept, force = checkpoint_for(
        output, checkpoint, stop.seconds, off=no_checkpoint, resume=resume, force=force
    )
    check_protection_directory(output, force=force, sources=tables)
    # The first table may lie there, where the run does not replace it.
    others = [*tables[1:], *earlier, *(p for p in (apriori, coalition) if p)]
    refuse_replaced(output, others)
    reading = shared.reading_options(
        hierarchy, total, missing, value, level_percent, flat
    )
    cells = read_tables(tables, link=shared.pairs(link, "--link"), **reading)
    if apriori is not None:
        cells = read_apriori_into(cells, apriori, level_percent=level_percent)
    formats = check_also(also, cells)
    warnings: list[str] = []

    def keep(table: Table) -> None:
        warnings.extend(write_unjudged(output, table, force=force, source=tables[0]))

    with progress(not as_json, stop.seconds) as ear:
        result = api.protect(
            cells,
            method=method,
            cost=cost,
            stop=stop,
            attacker=against,
            cells=api.Requests(
                hide=hide,
                publish=publish,
                prefer=[preference(text) for text in prefer],
                keep=keep_secondaries or apriori is not None,
                accept=accept,
            ),
            seed=seed,
            workers=workers,
            cluster=cluster,
            bounds=bounds,
            counts=counts,
            threshold=threshold,
            whole_numbers=whole_numbers,
            earlier=earlier,
            rules=rule,
            options=shared.pairs(option, "--option"),
            on_progress=ear,
            on_pattern=keep,
            checkpoint=kept,
        )
    write_result(
        output,
        result,
        force=force,
        source=tables[0],
        warnings=tuple(warnings),
        formats=formats,
    )
    forget(output, kept, force=force)
    show_warnings(warnings)
    if as_json:
        typer.echo(json.dumps(result.summary()))
    else:
        show_protection(result, output)
    raise typer.Exit(0 if result.safe is True else 3)
