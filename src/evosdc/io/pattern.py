"""A pattern read back: which cells of a table does it hide?"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.columns import code_column, letter_column, number_column
from evosdc.io.tabular import read_columns
from evosdc.table import Table
from evosdc.table.build import cell_keys
from evosdc.table.status import HIDDEN, STATUSES
from evosdc.table.table import ADDITIVITY


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
        frame, path = (
            read_columns(source, numbers=("cell_id", "value"), ours=True),
            str(source),
        )
    else:
        frame, path = to_arrow(source), "the pattern"
    if "status" not in frame.column_names:
        raise InputError(
            f"{path} has no column 'status'",
            expected="cell_id or labels, and status",
            hint="give the pattern.csv of a run",
        )
    cells = cells_of_rows(frame, path, table)
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
    value, mine = number_column(frame, "value"), table.value[cells]
    off = np.abs(value - mine) > ADDITIVITY * np.maximum(1.0, np.abs(mine))
    if off.any():
        raise InputError(
            f"{path}: {table.label(int(cells[int(np.argmax(off))]))} has another value "
            f"than in the table, and {int(off.sum()) - 1} more",
            expected="the values of the table, or none",
            hint="check that the pattern belongs to this table",
        )


def cells_of_rows(frame: Any, path: str, table: Table) -> NDArray[np.int64]:
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
