"""The folder a protected table is written to, and the pattern read back from it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError
from evosdc.io.columns import code_column, letter_column, number_column
from evosdc.io.delimited import read_csv, write_csv
from evosdc.io.frames import pattern_frame, published_frame, to_arrow
from evosdc.io.jj import write_jj
from evosdc.io.paths import (
    PathLike,
    open_output,
    refuse_existing,
    refuse_unwritable,
    unwritable,
    write_text,
)
from evosdc.table import Table, linked_parts
from evosdc.table.build import cell_keys
from evosdc.table.status import HIDDEN, STATUSES
from evosdc.table.table import ADDITIVITY

_RECORD = ("seconds", "evaluations", "cost", "bound", "diversity", "event")


class Outcome(Protocol):
    """What is needed of a `evosdc.results.Protection` to write it down."""

    @property
    def table(self) -> Table:
        """The table with its final statuses."""

    @property
    def record(self) -> Sequence[Any]:
        """Entries of the run record."""


def write_protection(
    directory: PathLike,
    protection: Outcome,
    *,
    certificate_arrays: Mapping[str, NDArray[Any]],
    report_html: str | None = None,
    source: PathLike | None = None,
    original_ids: ArrayLike | None = None,
    force: bool = False,
) -> list[Path]:
    """Write all that `protect` found and return the files.

    Parameters
    ----------
    directory
        Made where it is not there; files in it are not overwritten without `force`.
    certificate_arrays
        The witnesses, as arrays, for ``certificate.npz``.
    report_html
        The text of ``report.html``.
    source
        Where the table came from; a JJ file is written back with the new statuses.
    """
    folder = check_output_directory(directory, force=force)
    table = protection.table
    names = ["pattern.csv", "published.csv", "certificate.npz", "run.csv"]
    names += ["report.html"] * (report_html is not None)
    parts = _published_parts(table)
    names += parts
    again = None if source is None else _jj_name(Path(source))
    if again is not None:
        names.append(again)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error.strerror or error) from error
    files = [refuse_existing(folder / name, force) for name in names]
    pattern = pattern_frame(table, original_ids=original_ids)
    write_csv(folder / "pattern.csv", pattern, force=force)
    write_csv(folder / "published.csv", published_frame(table), force=force)
    for name, part in parts.items():
        write_csv(folder / name, part, force=force)
    with open_output(folder / "certificate.npz", force) as stream:
        save: Any = np.savez_compressed
        save(stream, **certificate_arrays)
    write_csv(folder / "run.csv", _record_frame(protection), force=force)
    if report_html is not None:
        write_text(folder / "report.html", report_html, force)
    if again is not None:
        write_jj(folder / again, table, force=force)
    return files


def check_output_directory(path: PathLike, *, force: bool = False) -> Path:
    """Return a folder that results may be written to; it need not be there yet."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(
            f"{folder} is a file",
            expected="a folder for the results",
            hint="give another name",
        )
    if folder.is_dir() and any(folder.iterdir()) and not force:
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
        frame, path = read_csv(source), str(source)
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
    for bad, what in ((count > 1, "stands twice"), (count == 0, "is missing")):
        if bad.any():
            cell = int(np.argmax(bad))
            raise InputError(
                f"{path}: {table.label(cell)} {what}",
                expected=f"each of the {len(table)} cells of the table once",
                hint="check that the pattern belongs to this table",
            )
    _refuse_other_values(frame, path, table, cells)
    hidden = np.zeros(len(table), dtype=bool)
    hidden[cells] = np.isin(letters, HIDDEN)
    return hidden


def _refuse_other_values(
    frame: Any, path: str, table: Table, cells: NDArray[np.int64]
) -> None:
    """Refuse a pattern of other values: it was made for another table."""
    if "value" not in frame.column_names:
        return
    value, mine = number_column(frame, "value"), table.value[cells]
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
        node_of = {code.strip(): node for code, node in d.hierarchy.node_of.items()}
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
    parts = linked_parts(table)
    if len(parts) == 1:
        return {}
    frame = published_frame(table)
    found: dict[str, Any] = {}
    for part in parts:
        names = [table.dimensions[k].name for k in part.dimensions]
        kept = frame.take(part.cells).select([*names, "value", "status"])
        found[f"published-{len(found) + 1}-{_file_words(names)}.csv"] = kept
    return found


def _file_words(names: Sequence[str]) -> str:
    """Names of dimensions in the name of a file, on any system."""
    return "-".join(re.sub(r"[^\w.]+", "_", name) for name in names)


def _record_frame(protection: Outcome) -> Any:
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
    name = source.name
    for suffix in (".jj.gz", ".jj"):
        if name.lower().endswith(suffix):
            return name[: -len(suffix)] + ".jj"
    return None
