"""`evosdc verify`: is this proof a proof, and of this table?"""

from __future__ import annotations

import json
from pathlib import Path

import typer

from evosdc.cli import options as shared
from evosdc.cli.flags import takes
from evosdc.options import tables as options

_NEXT = (
    "give the table, the options and the certificate of one run; or have the "
    "publication judged without a certificate (evosdc audit TABLE --published FILE)"
)
# Questions that the check answers in full: what the certificate says adds nothing.
_RECOMPUTED = ("knowledge", "strictness", "proof")


@takes(options.VERIFY, saves=False)
def verify(
    attackers: options.Attackers,
    read: options.Read,
    files: list[Path] = typer.Argument(
        ...,
        metavar="TABLE... CERTIFICATE",
        help="The table or tables, in the order of the run, and then certificate.npz.",
    ),
    published: Path | None = typer.Option(
        None, help="The publication (published.csv): it must hide what was proved."
    ),
    as_json: bool = shared.JSON,
) -> None:
    """Check a certificate against its table, by adding numbers up.

    Nothing is searched and no solver is used: whether every witness holds, covers what
    is claimed, and is of this very table. Exit code 0 only if everything holds. What
    was recomputed is said first; words of the certificate are marked as not checked.
    Who attacks and how levels are read is as the certificate says; --attackers,
    --coalition, --strict and --protect-secondaries refuse one that was judged for less.

    Example: evosdc verify table.csv protected/confidential/certificate.npz
    """
    # Nothing of the search, and no solver, is loaded: so not `evosdc.api`.
    from evosdc.attack import Requirements
    from evosdc.errors import InputError
    from evosdc.io.cells import coalitions_of
    from evosdc.io.tables import read_declared
    from evosdc.results import TABLE_QUESTIONS
    from evosdc.results.verified import verified

    if len(files) < 2:
        raise InputError(
            f"one file, {files[0].name}",
            expected="the table, and then the certificate",
            hint="evosdc verify table.csv protected/confidential/certificate.npz",
        )
    *tables, certificate = files
    cells = read_declared(tables, read)
    required = Requirements.of(attackers, coalitions_of(attackers.coalitions))
    report = verified(cells, certificate, published=published, requirements=required)
    proof, check = report.proof, report.check
    judged = 0 if check is None else check.judged
    insiders = None if check is None else check.insiders
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "proved": report.holds,
                    "verdict": report.word,
                    "judged": judged,
                    "witnesses": len(proof.certificate.cells),
                    "insiders": insiders,
                    "hidden": int(proof.hidden.sum()),
                    "published": published is not None,
                    "settings": dict(proof.settings),
                    "checked": dict(report.checked),
                    "stated": dict(proof.claim),
                    "faults": list(report.faults),
                    "next_steps": [] if report.holds else [_NEXT],
                    "remarks": list(report.remarks),
                }
            )
        )
        raise typer.Exit(0 if report.holds else 3)
    typer.echo(
        f"{report.word}: {judged:,} cells judged, {len(proof.certificate.cells):,} "
        f"witnesses added up, {int(proof.hidden.sum()):,} of {len(cells):,} cells "
        "hidden"
    )
    for fault in report.faults:
        typer.echo(f"  fault: {fault}")
    for remark in report.remarks:
        typer.echo(f"  note: {remark}")
    if report.holds:
        if published is not None:
            typer.echo(f"  {published.name} hides exactly these cells")
        typer.echo("What was recomputed, and holds:")
    elif report.checked:
        typer.echo("What was recomputed, with the faults above:")
    for name, words in report.checked.items():
        typer.echo(f"  {TABLE_QUESTIONS[name]} {words}")
    typer.echo("Stated in the certificate, not checked:")
    for name, question in TABLE_QUESTIONS.items():
        if name in proof.claim and name not in _RECOMPUTED:
            typer.echo(f"  {question} {proof.claim[name]}")
    if not report.holds:
        typer.echo(f"Next step: {_NEXT}")
    raise typer.Exit(0 if report.holds else 3)
