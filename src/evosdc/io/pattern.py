"""A pattern or a publication read back: which cells of a table does it hide?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.columns import code_column, letter_column, number_column
from evosdc.io.tabular import read_columns
from evosdc.table import Table
from evosdc.table.build import find_cells
from evosdc.table.status import HIDDEN, STATUSES
from evosdc.table.table import ADDITIVITY

NUMBERS = ("cell_id", "value")
_MARKED = "x"


def read_pattern(source: Any, table: Table) -> NDArray[np.bool_]:
    """Read which cells a pattern hides: by labels where there are, else by number.

    Labels name a cell whatever the order in which linked tables are given.

    `source` is the path of a ``pattern.csv`` or a frame with the same columns.

    Raises
    ------
    InputError
        For unknown, missing or repeated cells and for unknown statuses.
    """
    found = _Rows.of(source, table, "pattern")
    found.require("status", "cell_id or labels, and status")
    found = found.placed()
    letters = letter_column(found.frame, "status")
    wrong = ~np.isin(letters, STATUSES)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{found.path}, line {row + 2}: unknown status {str(letters[row])[:30]!r}",
            expected="s (safe), u (primary), m (secondary) or z (fixed)",
            hint="correct the column 'status'",
        )
    found.refuse_repeated()
    if "value" in found.frame.column_names:
        # Of other values it was made for another table.
        found.refuse_other_values(number_column(found.frame, "value"))
    hidden = ~table.shown
    hidden[found.cells] = np.isin(letters, HIDDEN)
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
        For cells that are missing, unknown or there twice, for a cell that is marked
        hidden and shown or the other way round, and for values that are not the
        table's.
    """
    found = _Rows.of(source, table, "publication")
    found.require("value", "labels or cell_id, value and status")
    found = found.placed()
    value = number_column(found.frame, "value")
    blank = np.isnan(value)
    found.refuse_repeated()
    found.refuse(
        ~table.shown[found.cells],
        "is in the publication and in none of the tables that are published",
        "the cells of the linked tables only",
        "do not publish this file",
    )
    _refuse_more(found.frame, found.path, table)
    if "status" in found.frame.column_names:
        marked = letter_column(found.frame, "status") == _MARKED
        found.refuse(
            marked & ~blank,
            "is marked hidden and has a value",
            f"no value where the status is {_MARKED}",
            "do not publish this file",
        )
        found.refuse(
            blank & ~marked,
            "has no value and is not marked hidden",
            f"status {_MARKED} where there is no value",
            "check that the file is complete",
        )
    found.refuse_other_values(value)
    return found.by_cell(blank) | ~table.shown


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a file or a frame, and which cell each is.

    `kind` says what the rows are of, a pattern or a publication.
    """

    frame: Any
    path: str
    table: Table
    kind: str
    cells: NDArray[np.int64]

    @classmethod
    def of(cls, source: Any, table: Table, kind: str) -> _Rows:
        if isinstance(source, (str, os.PathLike)):
            frame, path = read_columns(source, numbers=NUMBERS, ours=True), str(source)
        else:
            frame, path = to_arrow(source), f"the {kind}"
        return cls(frame, path, table, kind, np.zeros(0, dtype=np.int64))

    def placed(self) -> _Rows:
        """Return the rows with the cells that they are."""
        cells = _cells(self.frame, self.path, self.table, self.hint)
        return _Rows(self.frame, self.path, self.table, self.kind, cells)

    @property
    def hint(self) -> str:
        """What to do where the rows are not those of the table."""
        of = "belongs to" if self.kind == "pattern" else "is of"
        return f"check that the {self.kind} {of} this table"

    def require(self, column: str, expected: str) -> None:
        """Refuse rows without a column."""
        if column not in self.frame.column_names:
            name = "pattern" if self.kind == "pattern" else "published"
            raise InputError(
                f"{self.path} has no column {column!r}",
                expected=expected,
                hint=f"give the {name}.csv of a run",
            )

    def by_cell(self, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which cells have such a row."""
        return np.bincount(self.cells, weights=rows, minlength=len(self.table)) > 0

    def refuse(
        self, rows: NDArray[np.bool_], what: str, expected: str, hint: str
    ) -> None:
        """Refuse the file where there are such rows."""
        self._refuse_cells(self.by_cell(rows), what, expected, hint)

    def refuse_repeated(self) -> None:
        """Refuse cells that stand twice, and cells that are missing."""
        count = np.bincount(self.cells, minlength=len(self.table))
        each = f"each of the {len(self.table)} cells of the table once"
        self._refuse_cells(count > 1, "stands twice", each, self.hint)
        absent = (count == 0) & self.table.shown
        self._refuse_cells(absent, "is missing", each, self.hint)

    def refuse_other_values(self, value: NDArray[np.float64]) -> None:
        """Refuse values that are not the table's; blank ones are none."""
        mine = self.table.value[self.cells]
        off = np.abs(value - mine) > ADDITIVITY * np.maximum(1.0, np.abs(mine))
        self.refuse(
            off & ~np.isnan(value),
            "has another value than in the table",
            "the values of the table",
            self.hint,
        )

    def _refuse_cells(
        self, bad: NDArray[np.bool_], what: str, expected: str, hint: str
    ) -> None:
        if bad.any():
            more = f" and {int(bad.sum()) - 1} more" if bad.sum() > 1 else ""
            label = self.table.label(int(np.argmax(bad)))
            raise InputError(
                f"{self.path}: {label}{more} {what}", expected=expected, hint=hint
            )


def _cells(frame: Any, path: str, table: Table, hint: str) -> NDArray[np.int64]:
    """Return the cell number of each row, by labels where there are."""
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
                hint=hint,
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
                hint=hint,
            )
        codes[:, k] = np.array([node_of[word] for word in words])[rows]
    cells = find_cells(table.dimensions, table.codes, codes)
    if (cells < 0).any():
        raise InputError(
            f"{path}, line {int(np.argmax(cells < 0)) + 2}: the table has no such cell",
            expected="cells of the table only",
            hint=hint,
        )
    return cells


def _refuse_more(frame: Any, path: str, table: Table) -> None:
    """Refuse columns that are no part of a publication: they may hold hidden values."""
    known = {"cell_id", "value", "status", *(d.name for d in table.dimensions)}
    more = [name for name in frame.column_names if name not in known]
    if more:
        raise InputError(
            f"{path} has columns besides the table: {', '.join(map(repr, more[:5]))}",
            expected="the codes, value and status, and nothing else",
            hint="leave them out: weights, levels and notes give hidden values away",
        )
