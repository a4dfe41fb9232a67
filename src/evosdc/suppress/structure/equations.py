"""The equations of a table as plain arrays, and the total of each of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real


class Equations(NamedTuple):
    """Equations by row and by column, as kernels take them.

    Equation `r` holds ``cell[row_start[r]:row_start[r + 1]]`` with their factors; cell
    `c` stands in the equations ``row[column_start[c]:column_start[c + 1]]``.
    """

    row_start: Int
    cell: Int
    factor: Real
    column_start: Int
    row: Int

    @staticmethod
    def of(rows: Any, columns: Any) -> Equations:
        """Take the arrays of one matrix in CSR and in CSC form."""
        return Equations(
            rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices
        )


def single_totals(matrix: Any) -> tuple[Long, Flags]:
    """Total of each equation, -1 where there is not one, and which entries they are.

    The total is the one cell whose factor has another sign than all the others.
    """
    rows = matrix.shape[0]
    row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    negative = np.bincount(row, weights=matrix.data < 0, minlength=rows)
    is_head = np.sign(matrix.data) == np.where(negative == 1, -1.0, 1.0)[row]
    is_head &= (np.bincount(row, weights=is_head, minlength=rows) == 1)[row]
    heads = np.full(rows, -1, dtype=np.int64)
    heads[row[is_head]] = matrix.indices[is_head]
    return heads, is_head


def totals_of(matrix: Any) -> Long | None:
    """Total of each equation; None where one is not "parts - total = 0"."""
    if not matrix.shape[0] or np.any(np.abs(matrix.data) != 1.0):
        return None
    heads, _ = single_totals(matrix)
    return None if (heads < 0).any() else heads
