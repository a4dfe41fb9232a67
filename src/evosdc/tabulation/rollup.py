"""Every total of every level of every dimension, from the finest cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.table import Dimension
from evosdc.table.build import add_totals
from evosdc.table.index import CellIndex
from evosdc.tabulation.inner import ACTIVE, COUNT, Cells


def roll_up(dimensions: Sequence[Dimension], cells: Cells) -> Cells:
    """Add all totals and sort the cells by their codes.

    Sums add, and the largest contributions of a total are the largest among the largest
    of its parts.
    """
    codes = cells.codes
    for more, parts, group in add_totals(dimensions, cells.codes):
        codes = more
        cells = _joined(cells, _merged(_taken(cells, parts), group))
    order = CellIndex.of(dimensions, codes).order
    return _taken(replace(cells, codes=codes), order)


def _merged(parts: Cells, group: NDArray[np.int64]) -> Cells:
    """Merge parts of the same total; the caller sets the codes."""
    order = np.argsort(group, kind="stable")
    parts, group = _taken(parts, order), group[order]
    starts = np.flatnonzero(np.append(True, group[1:] != group[:-1]))
    top, weight = _largest(group, parts.top, parts.top_weight)
    amount, largest = None, None
    if parts.amount is not None:
        amount, largest = _largest(group, parts.amount, parts.largest)
    sums = np.add.reduceat(parts.sums, starts, axis=0)
    anyone = np.maximum.reduceat(parts.lone, starts)
    # Records that contribute nothing do not count where one contributes.
    active = np.where(parts.sums[:, ACTIVE] > 0, parts.lone, 0)
    active = np.maximum.reduceat(active, starts)
    lone = np.where(sums[:, ACTIVE] == 1, active, 0)
    return Cells(
        codes=parts.codes[starts],
        sums=sums,
        top=top,
        top_weight=weight,
        asking=(
            None
            if parts.asking is None
            else np.maximum.reduceat(parts.asking, starts, axis=0)
        ),
        lone=np.where(sums[:, COUNT] == 1, anyone, lone),
        amount=amount,
        largest=largest,
    )


def _largest(
    group: NDArray[np.int64], top: NDArray[np.float64], weight: NDArray[Any] | None
) -> tuple[NDArray[np.float64], NDArray[Any] | None]:
    """Return the largest entries of each group of rows; `group` is sorted.

    Of equal ones that with the larger `weight` comes first.
    """
    n = top.shape[1]
    groups = int(group[-1]) + 1
    if n == 0:
        return np.zeros((groups, 0)), None if weight is None else np.zeros((groups, 0))
    owner, size = np.repeat(group, n), top.ravel()
    if weight is None:
        order = np.lexsort((-size, owner))
    else:
        order = np.lexsort((-weight.ravel(), -size, owner))
    first = np.searchsorted(owner, np.arange(groups))
    # Each row brings n entries, so each group has at least n.
    chosen = order[first[:, None] + np.arange(n)]
    return size[chosen], None if weight is None else weight.ravel()[chosen]


def _taken(cells: Cells, rows: NDArray[np.int64]) -> Cells:
    taken: dict[str, Any] = {
        name: None if column is None else column[rows]
        for name, column in vars(cells).items()
    }
    return Cells(**taken)


def _joined(first: Cells, second: Cells) -> Cells:
    both: dict[str, Any] = {
        name: None if column is None else np.concatenate([column, vars(second)[name]])
        for name, column in vars(first).items()
    }
    return Cells(**both)
