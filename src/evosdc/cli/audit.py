"""`evosdc audit`: the judge's verdict on any pattern, from the table alone."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import takes
from evosdc.options import tables as options

if TYPE_CHECKING:
    from evosdc.results.tables import Audit
    from evosdc.table import Table


@takes(options.AUDIT)
def audit(
    keywords: options.AuditKeywords,
    attackers: options.Attackers,
    prior: options.Prior,
    read: options.Read,
    run: options.Run,
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
    as_json: bool = shared.JSON,
) -> None:
    """Judge a pattern: can anyone work out a sensitive cell?

    Shares no code with the searchers; its witnesses are checked in exact arithmetic.
    Exposed cells are named with the interval an attacker gets: keep that list safe.

    Example: evosdc audit table.jj --pattern protected/confidential/pattern.csv
    """
    from evosdc import api
    from evosdc.api.sources import as_table
    from evosdc.cli.show import show_audit

    cells = as_table(tables, read)
    result = api.audit(
        cells,
        pattern,
        published=published,
        **vars(keywords),
        attackers=attackers,
        prior=prior,
        read=options.Read(rules=read.rules),
        run=run,
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
    from evosdc.attack import check_proof, read_proof
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
