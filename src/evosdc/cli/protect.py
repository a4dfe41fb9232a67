"""`evosdc protect`: from a table to an audited, protected publication."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import takes
from evosdc.formats import CONFIDENTIAL, LAYOUTS
from evosdc.options import tables as options

if TYPE_CHECKING:
    from evosdc.table import Table


@takes(options.PROTECT)
def protect(
    keywords: options.ProtectKeywords,
    stop: options.Stop,
    attackers: options.Attackers,
    cells: options.CellRequests,
    prior: options.Prior,
    read: options.Read,
    run: options.Run,
    tables: list[Path] = typer.Argument(
        ...,
        metavar="TABLE...",
        help=f"{shared.TABLES}, packed or not. Several are linked by their labels and "
        "protected together.",
    ),
    formats: list[str] = typer.Option(
        [],
        "--formats",
        help=f"Further formats: {', '.join(x.name for x in LAYOUTS)} (as may be "
        f"published), {', '.join(CONFIDENTIAL)} (confidential). Several with commas.",
    ),
    no_checkpoint: bool = shared.NO_CHECKPOINT,
    output: Path = shared.OUTPUT,
    force: bool = shared.FORCE,
    as_json: bool = shared.JSON,
) -> None:
    """Hide the cheapest cells that make a table safe, and prove it.

    Writes publish/, which may leave the office (published.csv, of linked tables each
    one, and a report to share), and confidential/, which must not (pattern,
    certificate, run, report). What is not SAFE goes to draft/ instead of publish/.

    Example: evosdc protect table.jj --time-limit 30 -o protected
    """
    from evosdc import api
    from evosdc.api.sources import as_table
    from evosdc.cli.checkpoint import checkpoint_for, forget
    from evosdc.cli.progress import progress
    from evosdc.cli.show import show_protection, show_warnings
    from evosdc.io import check_formats
    from evosdc.results.result import write_result
    from evosdc.results.table_files import (
        check_protection_directory,
        refuse_replaced,
        write_unjudged,
    )

    seconds = keywords.seconds(stop)
    kept, force = checkpoint_for(
        output,
        run.checkpoint,
        seconds,
        off=no_checkpoint,
        resume=run.resume,
        force=force,
    )
    check_protection_directory(output, force=force, sources=tables)
    earlier = prior.already_published or []
    # The first table may lie there, where the run does not replace it.
    named = [file for file in (read.apriori, attackers.coalitions) if file]
    refuse_replaced(output, [*tables[1:], *earlier, *named])
    table = as_table(tables, read)
    further = check_formats(formats, table)
    warnings: list[str] = []

    def keep(made: Table) -> None:
        warnings.extend(write_unjudged(output, made, force=force, source=tables[0]))

    if read.apriori is not None:
        cells = replace(cells, keep_secondaries=True)
    with progress(not as_json, seconds) as listen:
        result = api.protect(
            table,
            **vars(keywords),
            stop=stop,
            attackers=attackers,
            cells=cells,
            prior=prior,
            read=options.Read(rules=read.rules),
            run=replace(
                run, checkpoint=kept, resume=False, on_progress=listen, on_pattern=keep
            ),
        )
    write_result(
        output,
        result,
        force=force,
        source=tables[0],
        warnings=tuple(warnings),
        formats=further,
    )
    forget(output, kept, force=force)
    show_warnings(warnings)
    if as_json:
        typer.echo(json.dumps(result.summary()))
    else:
        show_protection(result, output)
    raise typer.Exit(0 if result.safe is True else 3)
