"""The publication itself read back: which cells does it hide?"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.columns import letter_column, number_column
from evosdc.io.pattern import cells_of_rows
from evosdc.io.tabular import read_columns
from evosdc.table import Table
from evosdc.table.table import ADDITIVITY

_HIDDEN = "x"
_NUMBERS = ("cell_id", "value")


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
    if isinstance(source, (str, os.PathLike)):
        frame, path = read_columns(source, numbers=_NUMBERS, ours=True), str(source)
    else:
        frame, path = to_arrow(source), "the publication"
    if "value" not in frame.column_names:
        raise InputError(
            f"{path} has no column 'value'",
            expected="labels or cell_id, value and status",
            hint="give the published.csv of a run",
        )
    cells = cells_of_rows(frame, path, table)
    value = number_column(frame, "value")
    blank = np.isnan(value)

    def refuse(bad: NDArray[np.bool_], what: str, expected: str, hint: str) -> None:
        if bad.any():
            more = f" and {int(bad.sum()) - 1} more" if bad.sum() > 1 else ""
            label = table.label(int(np.argmax(bad)))
            raise InputError(
                f"{path}: {label}{more} {what}", expected=expected, hint=hint
            )

    def by_cell(rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return np.bincount(cells, weights=rows, minlength=len(table)) > 0

    count = np.bincount(cells, minlength=len(table))
    each = f"each of the {len(table)} cells of the table once"
    hint = "check that the publication is of this table"
    refuse(count > 1, "stands twice", each, hint)
    refuse((count == 0) & table.shown, "is missing", each, hint)
    refuse(
        (count > 0) & ~table.shown,
        "is in the publication and in none of the tables that are published",
        "the cells of the linked tables only",
        "do not publish this file",
    )
    _refuse_more(frame, path, table)
    if "status" in frame.column_names:
        marked = letter_column(frame, "status") == _HIDDEN
        refuse(
            by_cell(marked & ~blank),
            "is marked hidden and has a value",
            f"no value where the status is {_HIDDEN}",
            "do not publish this file",
        )
        refuse(
            by_cell(blank & ~marked),
            "has no value and is not marked hidden",
            f"status {_HIDDEN} where there is no value",
            "check that the file is complete",
        )
    mine = table.value[cells]
    off = np.abs(value - mine) > ADDITIVITY * np.maximum(1.0, np.abs(mine))
    refuse(
        by_cell(off & ~blank),
        "has another value than in the table",
        "the values of the table",
        hint,
    )
    return by_cell(blank) | ~table.shown


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
