"""The files of a protected table, and results that are related to it.

Two patterns of one table, or two tables of the same records protected one by one, can
undo each other. The claim of a result holds the fingerprints by which the next run
finds out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import EvosdcError, InputError
from evosdc.formats import JJ
from evosdc.io.argus.jj import write_jj
from evosdc.io.cells import read_pattern
from evosdc.io.columns import number_column
from evosdc.io.delimited import read_csv, write_csv
from evosdc.io.frames import pattern_frame, published_frame
from evosdc.io.layouts import file_stem
from evosdc.io.paths import PathLike
from evosdc.io.sidecar import sidecar_path, write_with_sidecar
from evosdc.results.folder import (
    CONFIDENTIAL,
    DRAFT,
    NOT_JUDGED,
    PATTERN,
    PUBLISH,
    UNJUDGED,
    Output,
    check_output_directory,
    owned_files,
    read_claim,
    text_output,
    write_outputs,
)
from evosdc.table import Table, linked_parts

_MOST_FOLDERS = 200
_SAFE = "SAFE"
# Values read back from a file that was rounded to its last digit.
_SAME = 1e-9


def related_warnings(
    output: PathLike, table: Table, hidden: NDArray[np.bool_]
) -> tuple[str, ...]:
    """Look for results with which this one must not be published.

    Looks into the folder itself, so it comes before `--force` removes what is in it,
    and into the folders next to it.

    Parameters
    ----------
    output
        The folder that the result is written to.
    hidden
        Which cells of `table` are hidden.
    """
    folder = Path(output).resolve()
    mine = fingerprints(table, hidden)
    found = []
    for other in _folders(folder):
        claim = read_claim(other)
        if claim is None:
            if other == folder and _flat_pattern_differs(folder, table, hidden):
                found.append(_another_pattern(other, None))
        elif claim.get("verdict") != _SAFE:
            continue  # nothing of it was to leave the office
        elif claim.get("table") == mine["table"]:
            if claim.get("pattern") != mine["pattern"]:
                published = other / PUBLISH / "published.csv"
                kept = None if other == folder else published
                found.append(_another_pattern(other, kept))
        elif _share_records(claim, mine):
            found.append(
                f"{other} holds another table of the same records, protected on its "
                "own: whoever has both may work out a cell; link the two (evosdc "
                "protect A B)"
            )
    return tuple(found)


def refuse_replaced(output: PathLike, inputs: Iterable[PathLike]) -> None:
    """Refuse to read from files of an earlier result that this one would replace.

    What was published before is needed again for the next publication, and whoever
    checks this one needs it too.
    """
    folder = Path(output).resolve()
    places = {folder / name for name in (PUBLISH, DRAFT, CONFIDENTIAL)}
    stale = {p.resolve() for p in owned_files(folder)}
    for path in inputs:
        found = Path(path).resolve()
        if found.parent in places or found in stale:
            raise InputError(
                f"{path} is read, and lies in {output}, whose files this run replaces",
                expected="files outside of the folder that is written",
                hint="write to another folder (-o), or copy the file elsewhere and "
                "give the copy",
            )


def fingerprints(table: Table, hidden: NDArray[np.bool_]) -> dict[str, Any]:
    """Return SHA-256 of a table, of a pattern of it, and of what related tables share.

    By them the next run knows both again. They are confidential: what a fingerprint of
    a small table was made of can be guessed. Cells count by their labels, in whatever
    order they stand. Related are tables of the same variable with the same grand
    total, or of the same records.
    """
    labels = [table.label(cell) for cell in range(len(table))]
    order = sorted(range(len(table)), key=labels.__getitem__)
    values = table.value.tolist()
    return {
        "table": _sha(f"{labels[c]}\t{values[c]!r}" for c in order),
        "pattern": _sha(f"{labels[c]}\t{int(hidden[c])}" for c in order),
        "kin": _shared(table),
    }


def _shared(table: Table) -> list[str]:
    """What tables of the same records have in common."""
    marks = []
    if table.dimensions:
        top = np.flatnonzero((table.codes == 0).all(axis=1))
        if len(top) and table.value[top[0]]:
            marks.append(_sha((table.name, repr(float(table.value[top[0]])))))
    if table.origin.source:
        marks.append(_sha((table.name, "records", table.origin.source)))
    return marks


def _sha(lines: Iterable[str]) -> str:
    digest = sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()


def _another_pattern(folder: Path, published: Path | None) -> str:
    """Say what to do; `published` is None where this run replaces it."""
    if published is None:
        return (
            f"{folder} held another pattern of the same table, which this result "
            "replaces: if that was published, whoever has both may work out a cell; "
            "protect again with --already-published and a copy of what was "
            "published, into "
            "another folder"
        )
    return (
        f"{folder} holds another pattern of the same table: if that was published, "
        f"whoever has both may work out a cell; give --already-published {published}"
    )


def _folders(folder: Path) -> Iterator[Path]:
    """The folder itself and those next to it that hold a result."""
    yield folder
    if not folder.parent.is_dir():
        return
    try:
        near = sorted(p for p in folder.parent.iterdir() if p != folder and p.is_dir())
    except OSError:
        return  # what cannot be listed cannot be compared
    yield from islice((p for p in near if (p / CONFIDENTIAL).is_dir()), _MOST_FOLDERS)


def _share_records(claim: Mapping[str, Any], mine: Mapping[str, Any]) -> bool:
    theirs = claim.get("kin")
    return isinstance(theirs, list) and bool(set(map(str, theirs)) & set(mine["kin"]))


def _flat_pattern_differs(
    folder: Path, table: Table, hidden: NDArray[np.bool_]
) -> bool:
    """Whether version 0.1 wrote another pattern of the table there."""
    path = folder / PATTERN
    if not path.is_file():
        return False
    try:
        theirs = read_pattern(path, table)
        values = number_column(
            read_csv(path, numbers=["value"], from_evosdc=True), "value"
        )
    except (EvosdcError, OSError):
        return False  # no pattern of this table
    same = np.allclose(np.sort(values), np.sort(table.value), rtol=_SAME, atol=0)
    return bool(same and np.any(theirs != hidden))


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
