"""Write the directory of a result: the same for `protect` and `demo`."""

from __future__ import annotations

from pathlib import Path

from evosdc.results import Protection
from evosdc.table import Table


def write_unjudged(
    output: Path, table: Table, *, force: bool, source: Path | None = None
) -> tuple[str, ...]:
    """Write the pattern before it is judged; return what it must not lie beside.

    Pass the warnings on to `write_result`: what they are about may be gone by then.
    """
    from evosdc.io import kin_warnings, write_pattern_first

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
) -> tuple[str, ...]:
    """Write what may leave the house and what must not; return the warnings.

    `warnings` are those of `write_unjudged`; they are looked for where None.
    """
    from evosdc.attack import certificate_arrays
    from evosdc.io import kin_warnings, write_protection
    from evosdc.report import report_html, share_html

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
            secondaries=bool(result.settings.get("secondaries")),
            insiders=result.verdict.insiders is not None,
            known=result.known,
            wished=result.wished,
            tolerance=result.verdict.tolerance,
        ),
        report_html=report_html(result, warnings=warnings),
        share_html=share_html(result),
        source=source,
        warnings=warnings,
        force=force,
    )
    return warnings
