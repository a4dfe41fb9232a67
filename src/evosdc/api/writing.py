"""Write the folder of a result: the same from Python and from the command line."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from evosdc.attack import certificate_arrays
from evosdc.io import (
    kin_warnings,
    may_leave,
    refuse_replaced,
    write_pattern_first,
    write_protection,
)
from evosdc.io.folders import DRAFT, PUBLISH
from evosdc.report import report_html, share_html
from evosdc.results import Protection
from evosdc.table import Coalition, Table
from evosdc.table.attackers import LONE


def write_unjudged(
    output: Path, table: Table, *, force: bool, source: Path | None = None
) -> tuple[str, ...]:
    """Write the pattern before it is judged; return what it must not lie beside.

    Pass the warnings on to `write_result`: what they are about may be gone by then.
    """
    warnings = kin_warnings(output, table, table.hidden)
    write_pattern_first(output, table, source=source, force=force)
    return warnings


def write_result(
    output: Path,
    result: Protection,
    *,
    force: bool,
    source: Path | None = None,
    warnings: tuple[str, ...] | None = None,
    also: str | Sequence[str] = (),
) -> tuple[str, ...]:
    """Write what may leave the office and what must not; return the warnings.

    `warnings` are those of `write_unjudged`; they are looked for where None. `also`
    are further formats, as in `evosdc.io.formats`.
    """
    refuse_replaced(output, result.earlier)
    if warnings is None:
        warnings = kin_warnings(output, result.table, result.table.hidden)
    write_protection(
        output,
        result,
        certificate_arrays=certificate_arrays(
            result.certificate,
            table=result.table,
            claim=result.claim,
            strict=result.verdict.strict,
            secondaries=bool(result.settings.get("protect_secondaries")),
            insiders=result.verdict.insiders is not None,
            known=result.known,
            wished=result.wished,
            accepted=result.accepted,
            attackers=str(result.settings.get("attackers", LONE)),
            coalitions=[
                Coalition(name, members)
                for name, *members in result.settings.get("coalitions", ())
            ],
            fractions=result.verdict.whole is False,
            tolerance=result.verdict.tolerance,
        ),
        report_html=report_html(result, warnings=warnings),
        share_html=share_html(result),
        source=source,
        warnings=warnings,
        also=also,
        force=force,
    )
    return warnings


def write_folder(
    result: Protection,
    directory: str | PathLike[str],
    *,
    force: bool,
    also: str | Sequence[str] = (),
) -> tuple[Path, tuple[str, ...]]:
    """Write a result; return the folder to publish, or the draft, and the warnings."""
    output = Path(directory)
    warnings = write_result(output, result, force=force, also=also)
    return output / (PUBLISH if may_leave(result) else DRAFT), warnings
