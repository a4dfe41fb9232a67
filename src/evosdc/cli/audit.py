"""`evosdc audit`: the judge's word on any pattern, from the table alone."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evosdc.cli import options as shared

if TYPE_CHECKING:
    from evosdc.api import Audit
    from evosdc.table import Table


def audit(
    tables: list[Path] = typer.Argument(
        ..., metavar="TABLE...", help="The table or tables, as for: evosdc protect."
    ),
    pattern: Path | None = typer.Option(
        None, help="CSV with cell_id (or labels) and status (default: the table's own)."
    ),
    published: Path | None = typer.Option(
        None,
        help="The publication itself (published.csv): what leaves the office.",
    ),
    certificate: Path | None = typer.Option(
        None,
        help="With --published: certificate.npz that should prove it (default: the "
        "one in confidential/ beside its folder, if any).",
    ),
    strict: bool = shared.STRICT,
    secondaries: bool = typer.Option(
        False, help="Judge the secondary cells as well as the primaries."
    ),
    attackers: str | None = shared.ATTACKERS,
    coalition: Path | None = shared.COALITION,
    singletons: bool | None = shared.SINGLETONS,
    bounds: str | None = shared.BOUNDS,
    counts: bool | None = shared.COUNTS,
    threshold: int | None = shared.THRESHOLD,
    whole_numbers: bool | None = shared.WHOLE_NUMBERS,
    earlier: list[Path] = shared.EARLIER,
    rule: list[str] = shared.NO_RULE,
    time_limit: float | None = typer.Option(
        None, help="Seconds; cells not decided by then are open (default: none)."
    ),
    workers: int | None = shared.JUDGE_WORKERS,
    cluster: str | None = shared.CLUSTER,
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
    """Judge a pattern: can anyone work out a sensitive cell?

    Shares no code with the searchers; its witnesses are checked in exact arithmetic.
    Exposed cells are named with the interval an attacker gets: keep that list safe.

    Example: evosdc audit table.jj --pattern protected/confidential/pattern.csv
    """
    from evosdc import api
    from evosdc.cli.show import show_audit
    from evosdc.io import read_apriori_into, read_tables

    reading = shared.reading_options(
        hierarchy, total, missing, value, level_percent, flat
    )
    cells = read_tables(tables, link=shared.pairs(link, "--link"), **reading)
    if apriori is not None:
        cells = read_apriori_into(cells, apriori, level_percent=level_percent)
    result = api.audit(
        cells,
        pattern,
        attacker=shared.attacker(strict, attackers, singletons, coalition, secondaries),
        published=published,
        earlier=earlier,
        bounds=bounds,
        counts=counts,
        threshold=threshold,
        whole_numbers=whole_numbers,
        rules=rule,
        time_limit=time_limit,
        workers=workers,
        cluster=cluster,
    )
    proved = _proved(published, certificate, cells, result)
    verdict = result.verdict
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "safe": verdict.ok,
                    "verdict": verdict.word,
                    "claim": dict(result.claim),
                    "judged": verdict.judged,
                    "exposed_cells": len(verdict.exposed_cells),
                    "open": list(verdict.open),
                    "next_steps": list(verdict.next_steps),
                    "exposed": [
                        {
                            "cell_id": e.cell,
                            "label": e.label,
                            "low": _finite(e.low),
                            "high": _finite(e.high),
                            "share": round(e.share, 4),
                            "insider": e.insider,
                            "reason": e.reason,
                        }
                        for e in verdict.exposed
                    ],
                    "exact": verdict.exact,
                    "tolerance": verdict.tolerance,
                    "strict": verdict.strict,
                    "insiders": verdict.insiders,
                    "proofs": dict(verdict.proofs),
                    "certificate": proved,
                    "notes": list(result.table.notes),
                }
            )
        )
    else:
        show_audit(result)
        if proved is not None:
            typer.echo(proved["words"])
    good = verdict.ok is True and (proved is None or proved["proves"])
    raise typer.Exit(0 if good else 3)


def _proved(
    published: Path | None, certificate: Path | None, table: Table, result: Audit
) -> dict[str, Any] | None:
    """Whether a certificate proves the publication, where there is one to ask."""
    from evosdc.attack.proof import check_proof, read_proof
    from evosdc.io.archive import read_arrays

    if published is None:
        return None
    if certificate is None:
        certificate = published.parent.parent / "confidential" / "certificate.npz"
        if not certificate.exists():
            return None
    hidden = result.table.hidden & ~result.known
    report = check_proof(table, read_proof(read_arrays(certificate)), published=hidden)
    words = (
        f"{certificate}: proves this publication"
        + ("" if result.safe else " for what it assumes, which is not what you asked")
        if report.holds
        else f"{certificate}: does not prove this publication: "
        + "; ".join(report.faults)
        + "; give the one of this publication (--certificate), or protect again"
    )
    return {"proves": report.holds, "faults": list(report.faults), "words": words}


def _finite(number: float) -> float | None:
    """JSON has no infinity: an open or unknown end is null."""
    return number if isfinite(number) else None
