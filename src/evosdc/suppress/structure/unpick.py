"""Which sensitive cells follow from the equations, and how orders group these cells.

A hidden cell follows when it is the only unknown of an equation; what follows is known
from then on (Smith et al. 2011: the cells found so are K_u, nearly all of the initially
exposed ones). Going through the equations with bounds instead of values finds more: a
cell whose neighbours have too little room to let it reach its levels. No solver is
needed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import Equations
from evosdc.suppress.structure.primitives import heap_pop, heap_push

# Small compiled searches over the equations of a table.

# A bound that moves by less than this share of itself is left where it is.
_WORTH = 1e-6
# A level counts as reached when all but rounding of it is.
_SHARE_THAT_REACHES = 1 - 1e-9
# Equations are gone through this many times at most, on average.
_ROUNDS = 20
# Of some only a part has a place in the order; the rest is a closing group.
UNPICKED = ("unpicked", "by-bounds")
CELLS = ("all", "exposed", *UNPICKED)
GROUPINGS = ("weight", "row", "column")


@kernel
def movable(hidden: Flags, equations: Equations) -> Flags:
    """Hidden cells that do not follow from an equation with one unknown, repeated."""
    row_start, cells = equations.row_start, equations.cell
    left = hidden.copy()
    rows = len(row_start) - 1
    count = np.zeros(rows, dtype=np.int64)
    waiting = np.empty(rows, dtype=np.int64)
    end = 0
    for row in range(rows):
        for p in range(row_start[row], row_start[row + 1]):
            if left[cells[p]]:
                count[row] += 1
        if count[row] == 1:
            waiting[end] = row
            end += 1
    at = 0
    while at < end:
        row = waiting[at]
        at += 1
        if count[row] != 1:
            continue
        for p in range(row_start[row], row_start[row + 1]):
            cell = cells[p]
            if not left[cell]:
                continue
            left[cell] = False
            for e in range(
                equations.column_start[cell], equations.column_start[cell + 1]
            ):
                other = equations.row[e]
                count[other] -= 1
                if count[other] == 1:
                    waiting[end] = other
                    end += 1
            break
    return left


@kernel
def nearest(start: int, most: int, price: Real, equations: Equations) -> Long:
    """Dijkstra's search over cells that share an equation; the `most` nearest cells.

    An equation is entered from its nearest cell only: later entries are no shorter.
    """
    row_start, column_start = equations.row_start, equations.column_start
    n = len(price)
    distance = np.full(n, np.inf)
    waiting = np.empty(n, dtype=np.int32)
    spot = np.full(n, -1, dtype=np.int32)
    opened = np.zeros(len(row_start) - 1, dtype=np.bool_)
    found = np.empty(min(most, n), dtype=np.int64)
    size = heap_push(waiting, spot, distance, 0, start, 0.0)
    count = 0
    while size > 0 and count < len(found):
        cell = heap_pop(waiting, spot, distance, size)
        size -= 1
        found[count] = cell
        count += 1
        for e in range(column_start[cell], column_start[cell + 1]):
            row = equations.row[e]
            if opened[row]:
                continue
            opened[row] = True
            for p in range(row_start[row], row_start[row + 1]):
                other = equations.cell[p]
                far = distance[cell] + price[other]
                if far < distance[other]:
                    size = heap_push(waiting, spot, distance, size, other, far)
    return found[:count]


@dataclass(frozen=True, eq=False)
class Unpicked:
    """Sensitive cells that are exposed when only some cells are hidden.

    Attributes
    ----------
    follows
        Cells whose value follows from equations with one unknown.
    narrow
        Further cells whose levels the bounds of their neighbours rule out.
    """

    follows: Flags
    narrow: Flags

    @property
    def exposed(self) -> Flags:
        """All cells found."""
        return self.follows | self.narrow


def unpick(problem: Problem, hidden: Flags | None = None) -> Unpicked:
    """Find exposed sensitive cells; by default only these are hidden."""
    table, levels = problem.table, problem.levels
    mask = problem.primary if hidden is None else hidden | problem.primary
    left = movable(mask, Equations.of(table.matrix, table.columns))
    judged = np.zeros(len(table), dtype=bool)
    judged[levels.cell] = judged[levels.slide] = True
    narrow = _too_narrow(problem, *_bounds(problem, left))
    return Unpicked(judged & ~left, narrow & left)


def _bounds(problem: Problem, left: Flags) -> tuple[Real, Real]:
    """How far each of the cells left can fall and rise, by single equations."""
    low = np.where(left, -problem.down, 0.0)
    high = np.where(left, problem.up, 0.0)
    equations = Equations.of(problem.table.matrix, problem.table.columns)
    tighten(equations, low, high, _ROUNDS)
    return low, high


def _too_narrow(problem: Problem, low: Real, high: Real) -> Flags:
    """Cells whose bounds rule out one of their levels, the sliding one included."""
    levels = problem.levels
    reach = np.where(levels.sign > 0, high[levels.cell], -low[levels.cell])
    width = high[levels.slide] - low[levels.slide]
    narrow = np.zeros(len(problem.table), dtype=bool)
    narrow[levels.cell[reach < levels.amount * _SHARE_THAT_REACHES]] = True
    narrow[levels.slide[width < levels.slide_amount * _SHARE_THAT_REACHES]] = True
    return narrow


@kernel
def tighten(equations: Equations, low: Real, high: Real, rounds: int) -> None:
    """Narrow the bounds of deviations equation by equation, in place."""
    row_start, column_start = equations.row_start, equations.column_start
    rows = len(row_start) - 1
    waiting = np.empty(rows, np.int64)
    queued = np.ones(rows, np.bool_)
    for row in range(rows):
        waiting[row] = row
    first, count, visits = 0, rows, 0
    while count > 0 and visits < rounds * rows:
        row = waiting[first]
        first = (first + 1) % rows
        count -= 1
        queued[row] = False
        visits += 1
        # Smallest and largest sum of the equation; infinite parts are counted apart.
        least, most, endless_down, endless_up = 0.0, 0.0, 0, 0
        for p in range(row_start[row], row_start[row + 1]):
            c, factor = equations.cell[p], equations.factor[p]
            a, b = factor * low[c], factor * high[c]
            if factor < 0:
                a, b = b, a
            if np.isinf(a):
                endless_down += 1
            else:
                least += a
            if np.isinf(b):
                endless_up += 1
            else:
                most += b
        for p in range(row_start[row], row_start[row + 1]):
            c, factor = equations.cell[p], equations.factor[p]
            if low[c] == high[c] or factor == 0:
                continue
            a, b = factor * low[c], factor * high[c]
            if factor < 0:
                a, b = b, a
            # The others sum to between these; the cell takes up their opposite.
            rest_least = least - a if not np.isinf(a) else least
            rest_most = most - b if not np.isinf(b) else most
            top = np.inf if endless_down > (1 if np.isinf(a) else 0) else -rest_least
            floor = -np.inf if endless_up > (1 if np.isinf(b) else 0) else -rest_most
            up = top / factor if factor > 0 else floor / factor
            down = floor / factor if factor > 0 else top / factor
            changed = False
            if up < high[c] and _worth(high[c], up):
                high[c] = max(up, 0.0)
                changed = True
            if down > low[c] and _worth(low[c], down):
                low[c] = min(down, 0.0)
                changed = True
            if not changed:
                continue
            for e in range(column_start[c], column_start[c + 1]):
                other = equations.row[e]
                if not queued[other]:
                    queued[other] = True
                    waiting[(first + count) % rows] = other
                    count += 1
            # The sums have changed: this equation is gone through again.
            break


@kernel(inner=True)
def _worth(old: float, new: float) -> bool:
    return np.isinf(old) or abs(old - new) > _WORTH * abs(old)


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
