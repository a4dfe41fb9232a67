"""What orders are made of: sensitive cells one by one, or in groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Long
from evosdc.suppress.problem.problem import Problem

# Of some only a part has a place in the order; the rest is a closing group.
UNPICKED = ("unpicked", "by-bounds")
CELLS = ("all", "exposed", *UNPICKED)
GROUPINGS = ("weight", "row", "column")


@dataclass(frozen=True)
class Grouping:
    """Which sensitive cells an order holds, and in what groups."""

    cells: str
    groups: int
    by: str
    together: bool


def by_weight(problem: Problem, cells: Long) -> Long:
    """Cells in order of falling weight, as Fischetti & Salazar (2001) take them."""
    return cells[np.lexsort((cells, -problem.table.weight[cells]))]


def group_cells(
    problem: Problem, cells: Long, groups: int, grouping: str
) -> list[Long]:
    """Split cells into groups, heaviest group first, each in order of falling weight.

    ``groups = 0`` makes every cell its own group. Groups by weight are of equal size
    (Smith et al. 2011). Groups by row or column hold the cells that share a code of
    the table's first or second dimension, or for tables without labels an equation;
    where there are more than `groups` of them, those next to each other by weight are
    joined.
    """
    ordered = by_weight(problem, cells)
    if groups <= 0 or groups >= len(ordered):
        return [ordered[i : i + 1] for i in range(len(ordered))]
    if grouping == "weight":
        return [np.asarray(part) for part in np.array_split(ordered, groups)]
    line = _lines(problem, grouping)[ordered]
    total = np.zeros(int(line.max()) + 1)
    np.add.at(total, line, problem.table.weight[ordered])
    named = np.unique(line)
    named = named[np.lexsort((named, -total[named]))]
    return [
        ordered[np.isin(line, part)]
        for part in np.array_split(named, min(groups, len(named)))
    ]


def _lines(problem: Problem, grouping: str) -> Long:
    """The row or column of each cell."""
    at = GROUPINGS.index(grouping) - 1
    table = problem.table
    if table.codes.shape[1] > at:
        return table.codes[:, at].astype(np.int64)
    # The first or last equation of each cell, or none.
    starts = table.columns.indptr
    count = np.diff(starts)
    found = np.full(len(table), table.matrix.shape[0], dtype=np.int64)
    some = count > 0
    place = starts[:-1] if at == 0 else starts[1:] - 1
    found[some] = table.columns.indices[place[some]]
    return found
