"""`evosdc tabulate`: from microdata to a table with its sensitive cells marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from evosdc.cli import options as shared
from evosdc.errors import InputError


def tabulate(
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
    weight: str | None = typer.Option(
        None,
        help="Column of sampling weights (default: what the .rda of tau-Argus files "
        "names); none leaves those out.",
    ),
    holding: str | None = typer.Option(None, help="Column that groups contributors."),
    request: str | None = typer.Option(
        None, help="Column of contributors that asked for protection."
    ),
    hierarchy: list[str] = typer.Option(
        [],
        "--hierarchy",
        help=f"NAME=FILE ({shared.HIERARCHIES}), or NAME=COLUMNS of the records; "
        "columns go from coarse to fine: A88=A10,A21,A88.",
    ),
    rule: list[str] = typer.Option(
        [],
        "--rule",
        help="p:15, nk:1,75, pq:10,100, freq:3, zero:10, req:..., group, a preset "
        "(business, dominance, trade, counts), or none.",
    ),
    bounds: str = typer.Option(
        "auto",
        "--bounds",
        help="What everyone knows of a cell: auto (counts at least 1, magnitudes not "
        "negative unless a contribution is), 0:inf, percent:50.",
    ),
    floor: float | None = typer.Option(
        None,
        help="Least level of rules with a share of the value (default: 1 for counts, "
        "else a hundredth of the mean contribution).",
    ),
    waiver: Path | None = typer.Option(
        None,
        help="File with one holding on each line that consented to be recognised: "
        "rules pass it over.",
    ),
    count_zeros: bool = typer.Option(
        False,
        "--count-zeros",
        help="Contributors of zero count for the minimum frequency of a magnitude.",
    ),
    contributions: bool = typer.Option(
        False,
        "--contributions",
        help="Keep the two largest contributors of each cell, as keyed hashes, and "
        "what they contribute: for protect --attackers pairs.",
    ),
    whole_numbers: bool | None = shared.WHOLE_NUMBERS,
    digits: list[str] = typer.Option(
        [],
        "--digits",
        help="NAME=N: codes have N digits, leading zeros were lost (7 is 07).",
    ),
    total: str = typer.Option("Total", "--total", help="Code of the totals."),
    flat: list[str] = typer.Option(
        [],
        "--flat",
        help="Variables whose codes are all ordinary, though some look like totals.",
    ),
    link: list[str] = shared.LINK,
    apriori: Path | None = shared.APRIORI,
    output: Path = typer.Option(
        ..., "-o", "--output", help=f"Table to write: {shared.TABLES}."
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
    from evosdc.io import (
        check_output_file,
        read_apriori_into,
        write_table,
    )
    from evosdc.table.knowledge import knowledge_words

    check_output_file(output, force=force)
    if output.exists() and output.resolve() == Path(micro).resolve():
        raise InputError(
            f"the table would be written over the records in {micro}",
            expected="another file for the table",
            hint="give another name: -o table.csv",
        )
    spans = [shared.names(text) for text in by]
    names = list(dict.fromkeys(name for span in spans for name in span))
    if not all(spans):
        raise InputError("--by names no variable", expected="--by region,industry")
    widths = shared.numbers(digits, "--digits")
    trees: dict[str, Any] = {}
    for name, given in shared.pairs(hierarchy, "--hierarchy").items():
        trees[name] = shared.names(given) if "," in given else given
        if name not in names:
            raise InputError(
                f"there is a hierarchy for {name!r}, which is not tabulated by",
                expected=f"hierarchies for some of {', '.join(names)}",
                hint="add it to --by, or leave its --hierarchy out",
            )
    result = api.tabulate(
        micro,
        spans,
        value,
        weight=weight,
        holding=holding,
        request=request,
        hierarchies=trees,
        rules=rule,
        bounds=bounds,
        floor=floor,
        waiver=() if waiver is None else waiver,
        count_zeros=count_zeros,
        contributions=contributions,
        whole_numbers=whole_numbers,
        total=total,
        flat=[name for text in flat for name in shared.names(text)],
        digits=widths,
        link=shared.pairs(link, "--link"),
    )
    table = result.table
    if apriori is not None:
        table = read_apriori_into(table, apriori)
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
