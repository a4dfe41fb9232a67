"""Files about the cells of a table: patterns, publications, requests, respondents."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.columns import code_column, lowercase_column, number_column, read_columns
from evosdc.io.encoding import line_error, read_text
from evosdc.io.frames import HIDDEN_MARK
from evosdc.io.paths import PathLike
from evosdc.table import TOTAL, Coalition, Table
from evosdc.table.hierarchy import tidy_code
from evosdc.table.index import NUMBER, first_of, nodes_of
from evosdc.table.status import HIDDEN, STATUSES
from evosdc.table.table import ADDITIVITY

FACTOR = "factor"
_MEMBERS = ("coalition", "member")
# Publications may have few digits: values agree up to this share.
_RELATIVE_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class KnownCells:
    """Cells of a table known from an earlier publication.

    `others` counts its published rows that are no cells of the table: what an attacker
    learns from them together with the table is not judged.
    """

    known: NDArray[np.bool_]
    others: int


def read_pattern(source: Any, table: Table) -> NDArray[np.bool_]:
    """Read which cells a pattern hides.

    Rows name their cells by labels if they have them, in any order of linked tables,
    else by number. `source` is the path of a ``pattern.csv`` or a frame with the same
    columns.

    Raises
    ------
    InputError
        For unknown, missing or repeated cells and for unknown statuses.
    """
    rows = _Rows.open(source, table, "the pattern", "status", "pattern.csv")
    cells = rows.cells()
    letters = lowercase_column(rows.frame, "status")
    wrong = ~np.isin(letters, STATUSES)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise line_error(
            rows.path,
            row + 2,
            f"unknown status {str(letters[row])[:30]!r}",
            expected="s (safe), u (primary), m (secondary) or z (fixed)",
            hint="correct the column 'status'",
        )
    rows.refuse_counts(cells)
    if "value" in rows.frame.column_names:
        rows.refuse_other_values(cells, number_column(rows.frame, "value"))
    hidden = ~table.shown
    hidden[cells] = np.isin(letters, HIDDEN)
    return hidden


def read_published(source: Any, table: Table) -> NDArray[np.bool_]:
    """Read which cells of a table a publication hides.

    Parameters
    ----------
    source
        The path of a ``published.csv`` or a frame with the same columns: labels (or
        ``cell_id``), ``value``, blank where hidden, and ``status``, ``x`` there.
    table
        The table that it should be of.

    Raises
    ------
    InputError
        For cells that are missing, unknown or repeated, for a cell with a value that is
        marked hidden or without one that is not, and for values other than those of the
        table.
    """
    rows = _Rows.open(source, table, "the publication", "value", "published.csv")
    frame, cells = rows.frame, rows.cells()
    value = number_column(frame, "value")
    blank = np.isnan(value)
    rows.refuse_counts(cells)
    unshown = np.zeros(len(table), dtype=bool)
    unshown[cells] = ~table.shown[cells]
    rows.refuse(
        unshown,
        "is in the publication and in none of the tables that are published",
        "the cells of the linked tables only",
        "do not publish this file",
    )
    known = {NUMBER, "value", "status", *(d.name for d in table.dimensions)}
    more = [name for name in frame.column_names if name not in known]
    if more:
        # They may hold hidden values.
        raise InputError(
            f"{rows.path} has columns besides the table: "
            f"{', '.join(map(repr, more[:5]))}",
            expected="the codes, value and status, and nothing else",
            hint="leave them out: weights, levels and notes can reveal hidden values",
        )
    if "status" in frame.column_names:
        marked = lowercase_column(frame, "status") == HIDDEN_MARK
        rows.refuse(
            rows.by_cell(cells, marked & ~blank),
            "is marked hidden and has a value",
            f"no value where the status is {HIDDEN_MARK}",
            "do not publish this file",
        )
        rows.refuse(
            rows.by_cell(cells, blank & ~marked),
            "has no value and is not marked hidden",
            f"status {HIDDEN_MARK} where there is no value",
            "check that the file is complete",
        )
    rows.refuse_other_values(cells, np.where(blank, table.value[cells], value))
    return rows.by_cell(cells, blank) | ~table.shown


def read_already_published(source: Any, table: Table) -> KnownCells:
    """Read a ``published.csv`` of an earlier run, or a frame with the same columns.

    A row is the cell with its codes. A dimension that only one of the two has is at its
    total, so that a table by other variables shows the totals that both have.

    Raises
    ------
    InputError
        Where a published value differs from that of the table: it is of other records.
    """
    what = "the earlier publication"
    rows = _Rows.open(source, table, what, "value", "published.csv")
    value = number_column(rows.frame, "value")
    shown = np.isfinite(value)
    cell = rows.cells_in_common()
    found = shown & (cell >= 0)
    mine = table.value[np.maximum(cell, 0)]
    off = np.abs(value - mine) > _RELATIVE_TOLERANCE * np.maximum(1.0, np.abs(mine))
    wrong = np.flatnonzero(found & off)
    if len(wrong):
        raise InputError(
            f"{rows.path} publishes another value for {len(wrong)} cells, the first: "
            f"{table.label(int(cell[wrong[0]]))}",
            expected="an earlier publication of the same records",
            hint="leave it out if it is of another period",
        )
    known = np.zeros(len(table), dtype=bool)
    known[cell[found]] = True
    if not known.any():
        raise InputError(
            f"{rows.path} publishes no cell of this table",
            expected="an earlier publication that shares cells with it",
            hint="if it is finer or by other variables, link the two tables from the "
            "records instead; leave it out only if it is of other records",
        )
    return KnownCells(known, int((shown & (cell < 0)).sum()))


def read_labels(path: PathLike) -> list[tuple[dict[str, str], float | None]]:
    """Read the codes of each row, and its factor if there is such a column.

    There is one column per dimension; a blank means any code.
    """
    frame = read_columns(path, numbers=(FACTOR,))
    factors: list[float | None] = [None] * frame.num_rows
    if FACTOR in frame.column_names:
        factors = list(number_column(frame, FACTOR).tolist())
        frame = frame.drop_columns([FACTOR])
    return [
        ({name: tidy_code(code) for name, code in row.items() if code}, factor)
        for row, factor in zip(frame.to_pylist(), factors, strict=True)
    ]


def read_consents(path: PathLike) -> list[str]:
    """Read who consented to be identified: one contributor per line.

    They are named as in the column of holdings.
    """
    lines = (line.strip() for line in read_text(path).split("\n"))
    found = list(dict.fromkeys(line for line in lines if line))
    if not found:
        raise InputError(
            f"{path} names no contributor",
            expected="one contributor on each line",
            hint="leave the file out if nobody consented",
        )
    return found


def read_coalitions(path: PathLike) -> tuple[Coalition, ...]:
    """Read respondents who share what they know: ``coalition`` and ``member`` per row.

    See `Coalition` for what members are. Names of respondents are not taken: the table
    has none, and their hashes cannot be made without the records.
    """
    frame = read_columns(path)
    if sorted(frame.column_names) != sorted(_MEMBERS):
        raise InputError(
            f"{path} has the columns {', '.join(map(repr, frame.column_names))}",
            expected=f"the columns {' and '.join(map(repr, _MEMBERS))}",
            hint='write one row per member, such as: A,"region=North,size=small"',
        )
    members: dict[str, list[str]] = {}
    for row in frame.to_pylist():
        name, member = (tidy_code(str(row[column] or "")) for column in _MEMBERS)
        if not name or not member:
            raise InputError(
                f"{path} has a row without a coalition or without a member",
                expected="both in every row",
            )
        members.setdefault(name, []).append(member)
    if not members:
        raise InputError(f"{path} names no coalition", expected="one row per member")
    return tuple(Coalition(name, tuple(found)) for name, found in members.items())


@dataclass(frozen=True, eq=False)
class _Rows:
    """A file or frame with one row per cell of a table.

    `what` says what it should be, `name` which file of a result it may be.
    """

    frame: Any
    path: str
    table: Table
    what: str
    name: str

    @classmethod
    def open(
        cls, source: Any, table: Table, what: str, column: str, name: str
    ) -> _Rows:
        """Read a path or a frame; refuse one without a column that it must have."""
        if isinstance(source, (str, os.PathLike)):
            frame = read_columns(source, numbers=(NUMBER, "value"), from_evosdc=True)
            path = str(source)
        else:
            frame, path = to_arrow(source), what
        if column not in frame.column_names:
            raise InputError(
                f"{path} has no column {column!r}",
                expected=f"labels or {NUMBER}, and {column}",
                hint=f"give the {name} of a run",
            )
        return cls(frame, path, table, what, name)

    @property
    def advice(self) -> str:
        """What to do about cells that the table does not have."""
        return f"check that {self.what} belongs to this table"

    def cells(self) -> NDArray[np.int64]:
        """Return the cell of each row; all of them must be in the table."""
        dims, columns = self.table.dimensions, self.frame.column_names
        if dims and all(d.name in columns for d in dims):
            cell = self.table.index.find(self._nodes(self.frame, strict=True))
            what, expected = "the table has no such cell", "cells of the table only"
        else:
            cell = self._numbered()
            what = f"there is no such {NUMBER}"
            expected = f"a whole number from 0 to {len(self.table) - 1}"
        if (cell < 0).any():
            line = int(np.argmax(cell < 0)) + 2
            raise line_error(self.path, line, what, expected=expected, hint=self.advice)
        return cell

    def cells_in_common(self) -> NDArray[np.int64]:
        """Return the cell of each row, -1 for rows that are no cells of the table.

        Variables that only one of the two has are at their totals.
        """
        if not self.table.dimensions:
            return self._numbered()
        # One of several linked tables calls a variable by the name of its level.
        parts = self.table.origin.tables
        level = {a.column: a.variable for part in parts for a in part}
        called = [level.get(name, name) for name in self.frame.column_names]
        frame = self.frame
        if len(set(called)) == len(called):
            frame = frame.rename_columns(called)
        names = {d.name for d in self.table.dimensions}
        totals = {d.hierarchy.total for d in self.table.dimensions} | {TOTAL}
        fits = np.ones(frame.num_rows, dtype=bool)
        for name in frame.column_names:
            if name not in {*names, "value", "status", NUMBER}:
                texts, numbers = code_column(frame, name)
                fits &= np.array([text in totals for text in texts])[numbers]
        return np.where(fits, self.table.index.find(self._nodes(frame)), -1)

    def refuse(
        self, bad: NDArray[np.bool_], what: str, expected: str, hint: str
    ) -> None:
        """Raise for the first cell where `bad` holds."""
        if bad.any():
            cells = first_of(bad, self.table.label)
            raise InputError(
                f"{self.path}: {cells} {what}", expected=expected, hint=hint
            )

    def refuse_counts(self, cells: NDArray[np.int64]) -> None:
        """Refuse cells that are repeated or missing."""
        count = np.bincount(cells, minlength=len(self.table))
        each = f"each of the {len(self.table)} cells of the table once"
        self.refuse(count > 1, "stands twice", each, self.advice)
        self.refuse((count == 0) & self.table.shown, "is missing", each, self.advice)

    def refuse_other_values(
        self, cells: NDArray[np.int64], value: NDArray[np.float64]
    ) -> None:
        """Refuse values that differ from those of the table."""
        mine = self.table.value[cells]
        off = np.abs(value - mine) > ADDITIVITY * np.maximum(1.0, np.abs(mine))
        self.refuse(
            self.by_cell(cells, off),
            "has another value than in the table",
            "the values of the table",
            self.advice,
        )

    def by_cell(
        self, cells: NDArray[np.int64], rows: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the cells of some rows as a mask."""
        return np.bincount(cells, weights=rows, minlength=len(self.table)) > 0

    def _numbered(self) -> NDArray[np.int64]:
        """Return the cell of each row by its number, -1 where there is none."""
        names = ", ".join(d.name for d in self.table.dimensions)
        if NUMBER not in self.frame.column_names:
            raise InputError(
                f"{self.path} does not say which cell a row is",
                expected=f"a column {NUMBER}" + (f", or {names}" if names else ""),
                hint=f"give the {self.name} of a run",
            )
        ids = number_column(self.frame, NUMBER)
        fits = (ids >= 0) & (ids < len(self.table)) & (ids == np.floor(ids))
        return np.where(fits, ids, -1).astype(np.int64)

    def _nodes(self, frame: Any, *, strict: bool = False) -> NDArray[np.int64]:
        """Return the nodes of each row; the total of variables that have no column."""
        dims = self.table.dimensions
        nodes = np.zeros((frame.num_rows, len(dims)), dtype=np.int64)
        for k, d in enumerate(dims):
            if d.name not in frame.column_names:
                continue
            texts, rows = code_column(frame, d.name)
            known = nodes_of(d.hierarchy, texts)
            if strict and (known < 0).any():
                raise InputError(
                    f"{self.path}: unknown code {texts[int(np.argmax(known < 0))]!r} "
                    f"of {d.name!r}",
                    expected="codes of the table",
                    hint=self.advice,
                )
            nodes[:, k] = known[rows]
        return nodes


def coalitions_of(given: Any) -> tuple[Coalition, ...]:
    """Return coalitions that are given as a list or as a file."""
    if isinstance(given, (str, os.PathLike)):
        return read_coalitions(given)
    listed = isinstance(given, (list, tuple))
    if not listed or not all(isinstance(one, Coalition) for one in given):
        raise InputError(
            f"coalitions is {given!r}",
            expected="a list of evosdc.Coalition(name, members), or a file",
            hint="see help(evosdc.Coalition)",
        )
    return tuple(given)
