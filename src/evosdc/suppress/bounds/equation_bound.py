"""A lower bound for tables of any size, from one equation at a time.

A sensitive cell moves by its level only if the hidden cells beside it in each of its
equations have room for as much the other way (the relaxed check of Staggemeier et al.).
Where sensitive cells alone have too little, others must be hidden, which makes a
covering inequality for each level and equation. Any prices of these inequalities that
overcharge no cell add up to a lower bound (weak duality); they are raised one
inequality after the other (dual ascent), in time that grows with their length.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.suppress.problem.problem import Problem

# Rounding may neither invent a need nor make it larger than it is.
_ROUNDING = 1e-9


def equation_bound(problem: Problem) -> float:
    """Return a cost that no safe pattern can be below."""
    table, levels = problem.table, problem.levels
    if not len(levels):
        return 0.0
    # A level in two equations of its cell is two inequalities.
    columns = table.columns
    many = np.diff(columns.indptr)[levels.cell]
    level = np.repeat(np.arange(len(levels)), many)
    first = np.concatenate([[0], np.cumsum(many)])[:-1]
    place = np.arange(many.sum()) - np.repeat(first, many)
    place += np.repeat(columns.indptr[levels.cell], many)
    matrix = table.matrix
    needs = (
        columns.indices[place].astype(np.int64),
        levels.cell[level],
        np.sign(columns.data[place]) * levels.sign[level],
        np.abs(columns.data[place]) * levels.amount[level],
    )
    rows = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )
    cells = (problem.up, problem.down, problem.cost, problem.primary, problem.hideable)
    alone, _ = _ascend(rows, needs, cells, np.arange(len(level)), False)
    best = 0.0
    # Dear inequalities first, or those that few cells can meet.
    length = np.diff(matrix.indptr)[needs[0]]
    for order in (np.argsort(-alone, kind="stable"), np.lexsort((-alone, length))):
        price, charge = _ascend(rows, needs, cells, order, True)
        over = np.max(charge / np.maximum(problem.cost, 1e-300), initial=1.0)
        best = max(best, float(price.sum()) / max(1.0, float(over)))
    return best * (1 - _ROUNDING)


@kernel
def _ascend(rows, needs, cells, order, charging):  # type: ignore[no-untyped-def]
    """Raise the price of one inequality after the other as far as cells can bear it.

    Return the prices and what each cell is charged. Without `charging` each inequality
    is priced as if it were alone.
    """
    start, cell_of, factor = rows
    row, owner, way, need = needs
    up, down, cost, primary, hideable = cells
    left = cost.copy()
    charge = np.zeros(len(cost))
    price = np.zeros(len(row))
    for k in order:
        first, last, own = start[row[k]], start[row[k] + 1], owner[k]
        rest, size = need[k], need[k]
        for p in range(first, last):
            j = cell_of[p]
            if primary[j] and j != own:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                rest -= abs(factor[p]) * room
                size += abs(factor[p]) * room
        if not rest > _ROUNDING * size:
            continue
        rest -= _ROUNDING * size
        most = np.inf
        for p in range(first, last):
            j = cell_of[p]
            if j != own and hideable[j] and not primary[j]:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                if room > 0:
                    most = min(most, left[j] / min(1.0, abs(factor[p]) * room / rest))
        if most == np.inf or most <= 0:
            continue
        price[k] = most
        if not charging:
            continue
        for p in range(first, last):
            j = cell_of[p]
            if j != own and hideable[j] and not primary[j]:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                if room > 0:
                    share = min(1.0, abs(factor[p]) * room / rest) * most
                    left[j] = max(0.0, left[j] - share)
                    charge[j] += share
    return price, charge
