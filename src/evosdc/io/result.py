"""The folder a protected table is written to, and the pattern read back from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.also import (
    also_files,
    check_also,
    file_words,
    write_also,
    write_also_hst,
    write_also_jj,
)
from evosdc.io.columns import code_column, letter_column, number_column
from evosdc.io.delimited import write_csv
from evosdc.io.fingerprints import fingerprints
from evosdc.io.folders import (
    CLAIM,
    CONFIDENTIAL,
    DRAFT,
    PATTERN,
    PUBLISH,
    REPORT,
    UNJUDGED,
    close_file,
    is_begun,
    make_private,
    remove_empty,
    remove_stale,
)
from evosdc.io.frames import pattern_frame, published_frame
from evosdc.io.jj import write_jj
from evosdc.io.paths import (
    PathLike,
    open_output,
    refuse_unwritable,
    unwritable,
    write_text,
)
from evosdc.io.release import Releasable, may_leave
from evosdc.io.sidecar import sidecar_path, write_with_sidecar
from evosdc.io.suffixes import JJ
from evosdc.io.tabular import read_columns
from evosdc.table import Table, linked_parts
from evosdc.table.build import cell_keys
from evosdc.table.status import HIDDEN, STATUSES
from evosdc.table.table import ADDITIVITY

_RECORD = ("seconds", "evaluations", "cost", "bound", "diversity", "event")
_NOT_JUDGED = (
    "Not judged yet: pattern.csv is what the search found, and the run that wrote it "
    "has not said\nwhether it is safe. If that run is over, it was cut short. Nothing "
    "may be published of it;\njudge it with: evosdc audit TABLE --pattern pattern.csv\n"
)


def write_protection(
    directory: PathLike,
    protection: Releasable,
    *,
    certificate_arrays: Mapping[str, NDArray[Any]],
    report_html: str | None = None,
    share_html: str | None = None,
    source: PathLike | None = None,
    original_ids: ArrayLike | None = None,
    warnings: Sequence[str] = (),
    also: str | Sequence[str] = (),
    force: bool = False,
) -> list[Path]:
    """Write all that `protect` found and return the files.

    What may leave the house goes to ``publish/``, or to ``draft/`` where the verdict is
    not SAFE; the rest goes to ``confidential/``. Only the owner can read the last two.

    Parameters
    ----------
    directory
        Made where it is not there; refused where there is something in it, unless that
        is the pattern that `write_pattern_first` left, or with `force`. What an earlier
        run left there is then removed; other files are not.
    certificate_arrays
        The witnesses, as arrays, for ``certificate.npz``.
    report_html, share_html
        The text of ``report.html`` for inside and of the one to share.
    source
        Where the table came from; a JJ file is written back with the new statuses.
    warnings
        What `kin_warnings` found, for ``claim.json``.
    also
        Further formats, as in `evosdc.io.also`.
    """
    table = protection.table
    formats = check_also(also, table)
    folder = check_output_directory(directory, force=force, unjudged=True)
    out = folder / (PUBLISH if may_leave(protection) else DRAFT)
    inside = folder / CONFIDENTIAL
    frames = {"published.csv": published_frame(table), **_published_parts(table)}
    again = None if source is None else _jj_name(Path(source))
    files = [out / name for name in frames] + also_files(out, table, formats)
    files += [out / REPORT] * (share_html is not None)
    names = [PATTERN, "certificate.npz", "run.csv", CLAIM]
    names += [REPORT] * (report_html is not None)
    files += [inside / name for name in names]
    first = (inside / PATTERN, inside / UNJUDGED)
    keep = _read_from(source)
    # A pattern that waits for its verdict is not lost if the disk fails now.
    _begin(folder, [*keep, *first] if first[1].exists() else keep)
    with _or_nothing(folder, [*(f for f in files if f.parent == out), inside / CLAIM]):
        if again is not None:
            files += write_with_sidecar(inside / again, table, write_jj, force=True)
        elif "jj" in formats:
            files += write_also_jj(inside, table)
        if "hst" in formats:
            files += write_also_hst(inside, table)
        pattern = pattern_frame(table, original_ids=original_ids)
        write_csv(inside / PATTERN, pattern, force=True)
        with open_output(inside / "certificate.npz", True) as stream:
            save: Any = np.savez_compressed
            save(stream, **certificate_arrays)
        write_csv(inside / "run.csv", _record_frame(protection), force=True)
        if report_html is not None:
            write_text(inside / REPORT, report_html, True)
        claim = {
            "version": protection.version,
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "verdict": protection.verdict.word,
            "next_steps": list(protection.verdict.next_steps),
            "claim": protection.claim.as_json(),
            "notes": list(protection.notes),
            "warnings": list(warnings),
            "settings": dict(protection.settings),
            **fingerprints(table, table.hidden),
            "files": [f.relative_to(folder).as_posix() for f in files],
        }
        words = json.dumps(claim, indent=2, ensure_ascii=False, default=str)
        write_text(inside / CLAIM, words + "\n", True)
        if out.name == PUBLISH:
            _make(out)
        else:
            make_private(out)
        for name, frame in frames.items():
            write_csv(out / name, frame, force=True)
        write_also(out, table, formats)
        if share_html is not None:
            write_text(out / REPORT, share_html, True)
        for path in files:
            if path.parent.name != PUBLISH:
                close_file(path)
    first[1].unlink(missing_ok=True)
    return files


@contextmanager
def _or_nothing(folder: Path, files: Sequence[Path]) -> Iterator[None]:
    """Leave no half of a publication behind, nor a claim about it."""
    try:
        yield
    except BaseException:
        for path in files:
            with suppress(OSError):
                path.unlink(missing_ok=True)
        remove_empty(folder)
        raise


def write_pattern_first(
    directory: PathLike,
    table: Table,
    *,
    source: PathLike | None = None,
    original_ids: ArrayLike | None = None,
    force: bool = False,
) -> list[Path]:
    """Write a pattern before it is judged, so that it is not lost if judging is cut.

    `write_protection` follows and removes the mark that it is not judged. Call
    `kin_warnings` before: with `force` this removes what an earlier run left.

    Parameters
    ----------
    table
        With the statuses of the pattern.
    source
        The file that the table was read from, which is never removed.
    """
    folder = check_output_directory(directory, force=force)
    _begin(folder, _read_from(source))
    inside = folder / CONFIDENTIAL
    files = [inside / PATTERN, inside / UNJUDGED]
    with _or_nothing(folder, files):
        write_text(inside / UNJUDGED, _NOT_JUDGED, True)
        pattern = pattern_frame(table, original_ids=original_ids)
        write_csv(inside / PATTERN, pattern, force=True)
        for path in files:
            close_file(path)
    return files


def _read_from(source: PathLike | None) -> list[Path]:
    """The files that a table was read from, which are never removed."""
    return [] if source is None else [Path(source), sidecar_path(Path(source))]


def _begin(folder: Path, keep: Sequence[Path]) -> None:
    """Make the folder, without what an earlier run left in it."""
    _make(folder)
    remove_stale(folder, keep)
    make_private(folder / CONFIDENTIAL)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error.strerror or error) from error


def check_output_directory(
    path: PathLike, *, force: bool = False, unjudged: bool = False
) -> Path:
    """Return a folder that results may be written to; it need not be there yet.

    It may hold a checkpoint, and with `unjudged` what `write_pattern_first` left.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"{folder} is a file",
            expected="a folder for the results",
            hint="give another name",
        )
    taken = folder.is_dir() and any(folder.iterdir())
    if taken and not force and not is_begun(folder, unjudged=unjudged):
        raise InputError(
            f"{folder} exists already and is not empty",
            expected="a new or an empty folder",
            hint="give another name, or --force (force=True) to overwrite its files",
        )
    refuse_unwritable(folder)
    return folder


def read_pattern(source: Any, table: Table) -> NDArray[np.bool_]:
    """Read which cells a pattern hides: by labels where there are, else by number.

    Labels name a cell whatever the order in which linked tables are given.

    `source` is the path of a ``pattern.csv`` or a frame with the same columns.

    Raises
    ------
    InputError
        For unknown, missing or repeated cells and for unknown statuses.
    """
    if isinstance(source, (str, os.PathLike)):
        frame, path = read_columns(source), str(source)
    else:
        frame, path = to_arrow(source), "the pattern"
    if "status" not in frame.column_names:
        raise InputError(
            f"{path} has no column 'status'",
            expected="cell_id or labels, and status",
            hint="give the pattern.csv of a run",
        )
    cells = _cells(frame, path, table)
    letters = letter_column(frame, "status")
    wrong = ~np.isin(letters, STATUSES)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{path}, line {row + 2}: unknown status {str(letters[row])[:30]!r}",
            expected="s (safe), u (primary), m (secondary) or z (fixed)",
            hint="correct the column 'status'",
        )
    count = np.bincount(cells, minlength=len(table))
    absent = (count == 0) & table.shown
    for bad, what in ((count > 1, "stands twice"), (absent, "is missing")):
        if bad.any():
            cell = int(np.argmax(bad))
            raise InputError(
                f"{path}: {table.label(cell)} {what}",
                expected=f"each of the {len(table)} cells of the table once",
                hint="check that the pattern belongs to this table",
            )
    _refuse_other_values(frame, path, table, cells)
    hidden = ~table.shown
    hidden[cells] = np.isin(letters, HIDDEN)
    return hidden


def _refuse_other_values(
    frame: Any, path: str, table: Table, cells: NDArray[np.int64]
) -> None:
    """Refuse a pattern of other values: it was made for another table."""
    if "value" not in frame.column_names:
        return
    value, mine = number_column(frame, "value", ours=True), table.value[cells]
    off = np.abs(value - mine) > ADDITIVITY * np.maximum(1.0, np.abs(mine))
    if off.any():
        raise InputError(
            f"{path}: {table.label(int(cells[int(np.argmax(off))]))} has another value "
            f"than in the table, and {int(off.sum()) - 1} more",
            expected="the values of the table, or none",
            hint="check that the pattern belongs to this table",
        )


def _cells(frame: Any, path: str, table: Table) -> NDArray[np.int64]:
    """Cell number of each row."""
    names = [d.name for d in table.dimensions]
    absent = [name for name in names if name not in frame.column_names]
    if "cell_id" in frame.column_names and (absent or not names):
        ids = number_column(frame, "cell_id")
        wrong = ~((ids >= 0) & (ids < len(table)) & (ids == np.floor(ids)))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise InputError(
                f"{path}, line {row + 2}: there is no such cell_id",
                expected=f"a whole number from 0 to {len(table) - 1}",
                hint="check that the pattern belongs to this table",
            )
        return ids.astype(np.int64)
    if absent or not names:
        raise InputError(
            f"{path} does not say which cell a row is",
            expected="a column cell_id" + (f", or {', '.join(names)}" if names else ""),
            hint="give the pattern.csv of a run",
        )
    codes = np.empty((frame.num_rows, len(names)), dtype=np.int64)
    for k, d in enumerate(table.dimensions):
        words, rows = code_column(frame, d.name)
        node_of = d.hierarchy.node_of
        unknown = [word for word in words if word not in node_of]
        if unknown:
            raise InputError(
                f"{path}: unknown code {unknown[0]!r} of {d.name!r}",
                expected="codes of the table",
                hint="check that the pattern belongs to this table",
            )
        codes[:, k] = np.array([node_of[word] for word in words])[rows]
    sizes = [len(d.hierarchy) for d in table.dimensions]
    keys = cell_keys(sizes, table.codes)
    order = np.argsort(keys)
    want = cell_keys(sizes, codes)
    at = np.minimum(np.searchsorted(keys[order], want), len(keys) - 1)
    wrong = keys[order][at] != want
    if wrong.any():
        raise InputError(
            f"{path}, line {int(np.argmax(wrong)) + 2}: the table has no such cell",
            expected="cells of the table only",
            hint="check that the pattern belongs to this table",
        )
    return np.asarray(order[at], dtype=np.int64)


def _published_parts(table: Table) -> dict[str, Any]:
    """Each of several linked tables as it may be published, by the name of its file."""
    table = table.visible()
    parts = linked_parts(table)
    if len(parts) == 1:
        return {}
    frame = published_frame(table)
    found: dict[str, Any] = {}
    for part in parts:
        names = [table.dimensions[k].name for k in part.dimensions]
        kept = frame.take(part.cells).select([*names, "value", "status"])
        found[f"published-{len(found) + 1}-{file_words(names)}.csv"] = kept
    return found


def _record_frame(protection: Releasable) -> Any:
    import pyarrow as pa

    kinds = dict.fromkeys(_RECORD, pa.float64())
    kinds |= {"evaluations": pa.int64(), "event": pa.string()}
    return pa.table(
        {
            name: pa.array([getattr(e, name) for e in protection.record], kinds[name])
            for name in _RECORD
        }
    )


def _jj_name(source: Path) -> str | None:
    """Name of the JJ file to write back; None where the source was no JJ file."""
    for suffix in JJ.endings():
        if source.name.lower().endswith(suffix):
            return source.name[: -len(suffix)] + ".jj"
    return None
