"""Layouts of publications: grid, pivot and SBS files."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.errors import InputError
from evosdc.io.delimited import write_csv
from evosdc.io.frames import HIDDEN_MARK, frame_of
from evosdc.io.paths import PathLike, write_text
from evosdc.io.words import number_words
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SECONDARY

EMPTY_MARK = "-"
SBS_REASONS = ("A", "B", "C", "F")


def write_grid(path: PathLike, table: Table, *, force: bool = False) -> None:
    """Write a two-dimensional table as rows and columns: ``x`` hidden, ``-`` empty."""
    if len(table.dimensions) != 2:
        raise InputError(
            f"a table of {len(table.dimensions)} dimensions has no grid",
            expected="two dimensions",
            hint="write a pivot file instead",
        )
    rows, columns = (d.hierarchy for d in table.dimensions)
    grid = np.full((len(rows), len(columns)), EMPTY_MARK, dtype=object)
    grid[table.codes[:, 0], table.codes[:, 1]] = _published_words(table)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    corner = f"{table.dimensions[0].name}/{table.dimensions[1].name}"
    writer.writerow([corner, *columns.codes])
    for code, words in zip(rows.codes, grid, strict=True):
        writer.writerow([code, *words])
    write_text(path, out.getvalue(), force, public=True)


def write_pivot(
    path: PathLike, table: Table, *, status: bool = False, force: bool = False
) -> None:
    """Write one row per cell: codes, value (``x`` hidden, ``-`` empty), perhaps status.

    The status tells primaries from secondaries: leave it out of what is published.
    """
    frame = _labels(table)
    frame = frame.append_column(table.name, [_published_words(table).tolist()])
    if status:
        frame = frame.append_column("Status", [table.status.tolist()])
    write_csv(path, frame, force=force, public=not status)


def write_sbs(
    path: PathLike,
    table: Table,
    *,
    confidential: bool = False,
    reasons: ArrayLike | None = None,
    force: bool = False,
) -> None:
    """Write the format of Structural Business Statistics.

    One row per cell without header: codes, value, frequency, flag.

    As it may be published, values of hidden cells are blank, all hidden cells have the
    flag ``D``, which in the format means hidden to protect others, all others ``V``,
    and the frequency is blank throughout: with the numbers of contributors of
    published cells and totals those of hidden cells could be worked out.

    Parameters
    ----------
    confidential
        Write what tau-Argus writes: values and frequencies of all cells, to be sent to
        those who may see them, and never published. Flags are ``V`` safe or protected
        from suppression; ``A`` primary by too few contributors; ``B`` primary by
        dominance of one contributor, and every primary by request, zero or hand; ``C``
        primary by dominance of two or more; ``F`` primary by the p % or (p,q) rule;
        ``D`` secondary; ``-`` empty (no contributors).
    reasons
        With `confidential`: a letter of A, B, C or F for each cell; only those of
        primaries are looked at. B for all where None: a table does not know which rule
        made a cell sensitive.
    """
    if confidential:
        _write_whole_sbs(path, table, reasons, force)
        return
    if reasons is not None:
        raise InputError(
            "reasons say which hidden cells are sensitive",
            expected="no reasons in a file that may be published",
            hint="leave them out, or write the confidential file: confidential=True",
        )
    hidden = table.hidden
    words = np.array(number_words(table.value).to_pylist(), dtype=object)
    words[hidden] = None
    _write_sbs_columns(
        path,
        table,
        words.tolist(),
        [None] * len(table),
        np.where(hidden, "D", "V").tolist(),
        force,
        public=True,
    )


def _write_whole_sbs(
    path: PathLike, table: Table, reasons: ArrayLike | None, force: bool
) -> None:
    if table.frequency is None:
        raise InputError(
            "the table has no frequencies",
            expected="the number of contributors of each cell for SBS files",
            hint="tabulate with counts, or add a column 'frequency'",
        )
    primary = table.status == PRIMARY
    given = np.full(len(table), "B") if reasons is None else np.asarray(reasons, str)
    if given.shape != primary.shape or not np.isin(given[primary], SBS_REASONS).all():
        raise InputError(
            "the reasons are not a letter of A, B, C or F for each cell",
            expected=f"{len(table)} letters",
            hint="give A for frequency, C for dominance, F for p % and (p,q), else B",
        )
    empty = (table.frequency == 0) & (table.status == FIXED)
    flags = np.where(primary, given, "V")
    flags[table.status == SECONDARY] = "D"
    flags[empty] = EMPTY_MARK
    words = np.array(number_words(table.value).to_pylist(), dtype=object)
    words[empty] = EMPTY_MARK
    frequency = table.frequency.tolist()
    _write_sbs_columns(
        path, table, words.tolist(), frequency, flags.tolist(), force, public=False
    )


def _write_sbs_columns(
    path: PathLike,
    table: Table,
    values: list[Any],
    frequencies: list[Any],
    flags: list[str],
    force: bool,
    *,
    public: bool,
) -> None:
    import pyarrow as pa

    frame = _labels(table)
    for name, column, kind in (
        ("value", values, pa.string()),
        ("frequency", frequencies, pa.int64()),
        ("flag", flags, pa.string()),
    ):
        frame = frame.append_column(name, pa.array(column, kind))
    write_csv(path, frame, header=False, force=force, public=public)


def _labels(table: Table) -> Any:
    if not table.dimensions:
        raise InputError(
            "the table has no labels",
            expected="a table with dimensions",
            hint="write it as .jj",
        )
    return frame_of(table).select([d.name for d in table.dimensions])


def _published_words(table: Table) -> NDArray[Any]:
    words = np.array(number_words(table.value).to_pylist(), dtype=object)
    if table.frequency is not None:
        words[(table.frequency == 0) & (table.status == FIXED)] = EMPTY_MARK
    words[table.hidden] = HIDDEN_MARK
    return words
