"""What was published before: values that everyone has, whatever is hidden now."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.io.columns import code_column, number_column
from evosdc.io.pattern import NUMBERS
from evosdc.io.tabular import read_columns
from evosdc.table import TOTAL, Table
from evosdc.table.build import find_cells

# Publications are written with few digits: values agree up to this share.
_AGREE = 1e-6


@dataclass(frozen=True, eq=False)
class Earlier:
    """Cells of a table known from an earlier publication.

    `others` counts its published rows that are no cells of the table: what they add
    together with this one is not judged.
    """

    known: NDArray[np.bool_]
    others: int


def read_earlier(source: Any, table: Table) -> Earlier:
    """Read a ``published.csv`` of an earlier run, or a frame with the same columns.

    A row is the cell with its codes. Dimensions that only one of the two has stand at
    their totals, so that a table by other variables gives away the totals they share.

    Raises
    ------
    InputError
        Where a published value is not the table's: it is of other records.
    """
    if isinstance(source, (str, os.PathLike)):
        frame, path = read_columns(source, numbers=NUMBERS, ours=True), str(source)
    else:
        frame, path = to_arrow(source), "the earlier publication"
    if "value" not in frame.column_names:
        raise InputError(
            f"{path} has no column 'value'",
            expected="the codes (or cell_id) and value of each cell",
            hint="give the published.csv of a run",
        )
    value = number_column(frame, "value")
    shown = np.isfinite(value)
    cell = (
        _numbers(frame, table, path) if not table.dimensions else _cells(frame, table)
    )
    found = shown & (cell >= 0)
    mine = table.value[np.maximum(cell, 0)]
    off = np.abs(value - mine) > _AGREE * np.maximum(1.0, np.abs(mine))
    wrong = np.flatnonzero(found & off)
    if len(wrong):
        raise InputError(
            f"{path} publishes another value for {len(wrong)} cells, the first: "
            f"{table.label(int(cell[wrong[0]]))}",
            expected="an earlier publication of the same records",
            hint="leave it out if it is of another period",
        )
    known = np.zeros(len(table), dtype=bool)
    known[cell[found]] = True
    if not known.any():
        raise InputError(
            f"{path} publishes no cell of this table",
            expected="an earlier publication that shares cells with it",
            hint="if it is finer or by other variables, link the two tables from the "
            "records instead; leave it out only if it is of other records",
        )
    return Earlier(known, int((shown & (cell < 0)).sum()))


def _numbers(frame: Any, table: Table, path: str) -> NDArray[np.int64]:
    if "cell_id" not in frame.column_names:
        raise InputError(
            f"{path} does not say which cell a row is",
            expected="a column cell_id: the table has no labels",
            hint="give the published.csv of a run on the same file",
        )
    ids = number_column(frame, "cell_id")
    fits = (ids >= 0) & (ids < len(table)) & (ids == np.floor(ids))
    return np.where(fits, ids, -1).astype(np.int64)


def _cells(frame: Any, table: Table) -> NDArray[np.int64]:
    """Cell number of each row, -1 for cells that the table has not."""
    rows = frame.num_rows
    # One of several linked tables calls a variable by the name of its level.
    level = {a.column: a.variable for part in table.origin.tables for a in part}
    called = [level.get(name, name) for name in frame.column_names]
    if len(set(called)) == len(called):
        frame = frame.rename_columns(called)
    codes = np.zeros((rows, len(table.dimensions)), dtype=np.int64)
    fits = np.ones(rows, dtype=bool)
    names = [d.name for d in table.dimensions]
    for k, d in enumerate(table.dimensions):
        if d.name in frame.column_names:
            words, numbers = code_column(frame, d.name)
            node_of = {code.strip(): node for code, node in d.hierarchy.node_of.items()}
            nodes = np.array([node_of.get(word, -1) for word in words])[numbers]
            fits &= nodes >= 0
            codes[:, k] = np.maximum(nodes, 0)
    others = [
        name
        for name in frame.column_names
        if name not in (*names, "value", "status", "cell_id")
    ]
    totals = {d.hierarchy.total for d in table.dimensions} | {TOTAL}
    for name in others:
        words, numbers = code_column(frame, name)
        fits &= np.array([word in totals for word in words])[numbers]
    return np.where(fits, find_cells(table.dimensions, table.codes, codes), -1)
