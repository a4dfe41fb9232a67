"""The files of a protected table: its pattern, its publication, the JJ file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evosdc.formats import JJ
from evosdc.io.argus.jj import write_jj
from evosdc.io.delimited import write_csv
from evosdc.io.frames import pattern_frame, published_frame
from evosdc.io.layouts import file_stem
from evosdc.io.sidecar import sidecar_path, write_with_sidecar
from evosdc.results.folder import (
    CONFIDENTIAL,
    NOT_JUDGED,
    PATTERN,
    PUBLISH,
    UNJUDGED,
    Output,
    check_output_directory,
    text_output,
    write_outputs,
)
from evosdc.results.related import related_warnings
from evosdc.table import Table, linked_parts


def write_unjudged(
    output: Path, table: Table, *, force: bool, source: Path | None = None
) -> tuple[str, ...]:
    """Write a pattern before it is judged, so that it is not lost if judging is cut.

    Pass the warnings that are returned on to `write_result`, which follows: what they
    are about may be gone by then.
    """
    warnings = related_warnings(output, table, table.hidden)
    check_protection_directory(output, force=force, sources=[source] if source else ())
    mark = text_output(CONFIDENTIAL, UNJUDGED, NOT_JUDGED)
    write_outputs(output, [mark, pattern_output(table)], claimed=False)
    return warnings


def check_protection_directory(
    output: Path, *, force: bool, sources: Sequence[Path] = ()
) -> None:
    """Refuse a folder that a protected table cannot be written to.

    The first of `sources` is written back where it is a JJ file.
    """
    jj = jj_name(Path(sources[0])) if sources else None
    files = () if jj is None else jj_files(jj)
    check_output_directory(output, force=force, sources=sources, files=files)


def frame_output(place: str, name: str, frame: Any) -> Output:
    """Return a CSV file; others may read it if it is to be published."""
    return Output(
        place, (name,), lambda to: write_csv(to / name, frame, public=place == PUBLISH)
    )


def pattern_output(table: Table) -> Output:
    """Return the pattern with the values and labels of all cells."""
    return frame_output(CONFIDENTIAL, PATTERN, pattern_frame(table))


def write_jj_file(folder: Path, table: Table, name: str) -> None:
    """Write a table as JJ, with its side file."""
    write_with_sidecar(folder / name, table, write_jj, force=False)


def jj_files(name: str) -> tuple[str, str]:
    """Return the names of a JJ file and its side file."""
    return name, sidecar_path(Path(name)).name


def jj_name(source: Path) -> str | None:
    """Return the name of the JJ file to write back; None for other sources."""
    for suffix in JJ.endings():
        if source.name.lower().endswith(suffix):
            return source.name[: -len(suffix)] + ".jj"
    return None


def published_frames(table: Table) -> dict[str, Any]:
    """Return the table as it may be published, and each of linked ones, by file."""
    found: dict[str, Any] = {"published.csv": published_frame(table)}
    table = table.visible()
    parts = linked_parts(table)
    if len(parts) == 1:
        return found
    frame = published_frame(table)
    for number, part in enumerate(parts, 1):
        names = [table.dimensions[k].name for k in part.dimensions]
        kept = frame.take(part.cells).select([*names, "value", "status"])
        kept = kept.rename_columns([*part.names, "value", "status"])
        found[f"published-{number}-{file_stem(part.names)}.csv"] = kept
    return found
