"""`evosdc tabulate`: from microdata to a table with its sensitive cells marked."""

from __future__ import annotations

from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import names, takes
from evosdc.errors import InputError
from evosdc.options import tables as options


@takes(options.TABULATE)
def tabulate(
    keywords: options.TabulateKeywords,
    contributors: options.Contributors,
    prior: options.Prior,
    read: options.Read,
    micro: str = typer.Argument(
        ..., help=f"Records: {shared.RECORDS}; packed or not; {shared.ADDRESS}."
    ),
    by: list[str] = typer.Option(
        ...,
        help="Spanning variables: region,industry. Given again: one more table, "
        "linked with the others.",
    ),
    value: str | None = typer.Option(
        None, help="The response; without one the table counts records."
    ),
    output: Path = typer.Option(
        ..., "-o", "--output", help=f"Table to write: {shared.TABLES_WRITTEN}."
    ),
    force: bool = shared.FORCE,
) -> None:
    """Tabulate microdata of any size and mark the sensitive cells.

    Tables by several --by share their totals: they become one table of linked tables,
    which `protect` protects together.

    Example: evosdc tabulate firms.csv --by region,industry --value turnover
    --rule p:15 --rule freq:3 -o table.csv
    """
    from evosdc import api
    from evosdc.io import check_output_file, write_table
    from evosdc.table.knowledge import knowledge_words

    check_output_file(output, force=force)
    if output.exists() and output.resolve() == Path(micro).resolve():
        raise InputError(
            f"the table would be written over the records in {micro}",
            expected="another file for the table",
            hint="give another name: -o table.csv",
        )
    spans = [names(text) for text in by]
    listed = list(dict.fromkeys(name for span in spans for name in span))
    if not all(spans):
        raise InputError("--by names no variable", expected="--by region,industry")
    for name in read.hierarchies or {}:
        if name not in listed:
            raise InputError(
                f"there is a hierarchy for {name!r}, which is not tabulated by",
                expected=f"hierarchies for some of {', '.join(listed)}",
                hint="add it to --by, or leave its --hierarchy out",
            )
    result = api.tabulate(
        micro,
        spans,
        value,
        **vars(keywords),
        contributors=contributors,
        prior=prior,
        read=read,
    )
    table = result.table
    write_table(output, table, force=force)
    typer.echo(f"{output}: {table!r}")
    marked = ", ".join(f"{name}: {n:,} cells" for name, n in table.origin.rules or ())
    typer.echo(f"sensitive by rule: {marked or 'no rule, nobody looked'}")
    if table.origin.weighting:
        typer.echo(table.origin.weighting)
    if table.origin.waived:
        typer.echo(f"{table.origin.waived:,} contributors consented: passed over")
    typer.echo(f"an attacker knows beforehand: {knowledge_words(table)}")
    for note in (*(table.origin.unlinked or ()), *table.notes):
        typer.echo(f"note: {note}")
