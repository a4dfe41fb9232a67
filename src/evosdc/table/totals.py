"""The total of an equation, and cells that can be negative.

An equation ``sum of parts - total = 0`` has one cell of opposite sign. Where signs
leave a choice (two cells) the negative one is the total, as in files.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def total_entries(matrix: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the equation of each entry of a CSR matrix, and whether it is the total.

    Equations without exactly one cell of either sign have no total.
    """
    m = matrix.shape[0]
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    negative = matrix.data < 0
    below = np.bincount(row, weights=negative, minlength=m)
    above = np.bincount(row, weights=~negative, minlength=m)
    lone_below = (below == 1)[row] & negative
    lone_above = ((below != 1) & (above == 1))[row] & ~negative
    return row, lone_below | lone_above


def can_be_negative(matrix: Any, negative: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return cells that may be below zero: given ones, and totals with such parts."""
    row, total = total_entries(matrix)
    found = negative.copy()
    while True:
        part = np.zeros(matrix.shape[0], dtype=bool)
        part[row[~total & found[matrix.indices]]] = True
        more = matrix.indices[total & part[row]]
        if found[more].all():
            return found
        found[more] = True


def natural_floor(value: NDArray[np.float64], matrix: Any) -> NDArray[np.float64]:
    """Return 0 for each cell, minus infinity where it may be negative."""
    return np.where(can_be_negative(matrix, value < 0), -np.inf, 0.0)
