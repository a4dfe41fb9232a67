"""Write the directory of a result: the same for `protect` and `demo`."""

from __future__ import annotations

from pathlib import Path

from evosdc.results import Protection


def write_result(
    output: Path, result: Protection, *, force: bool, source: Path | None = None
) -> None:
    """Write pattern, publication, certificate, run record and report."""
    from evosdc.attack import certificate_arrays
    from evosdc.io import write_protection
    from evosdc.report import report_html

    write_protection(
        output,
        result,
        certificate_arrays=certificate_arrays(result.certificate),
        report_html=report_html(result),
        source=source,
        force=force,
    )
