"""The equations of a table as plain arrays, and what they say of its dimensions.

An *up-set* is an inner cell and every total it is part of, to the top of the table.
Raising an inner cell raises exactly these cells by the same amount, so the up-sets of
the inner cells span all deviations of a table whose equations say "the parts make the
total", whatever its dimensions and hierarchies. In linked tables a total is split up in
several ways, and one up-set alone may break an equation of another split.

Tables without labels, as in JJ files, get codes from their equations. An equation runs
along one dimension. Two cells of an equation have the same codes in every other
dimension, so equations through them along another dimension are parallel: their totals
stand together in an equation again. Parallel equations are put together, equations of a
total and of its parts are put into one dimension, and the code of a cell in a dimension
is what the equations along all the others have in common. Everything is checked: where
two cells get the same codes, or a code two totals, the table is left without
dimensions, and deviations found with them are checked one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.table import Dimension, Hierarchy, Table

# With more than this, equations that fit nowhere have been taken for dimensions.
MOST_DIMENSIONS = 6


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


@dataclass(frozen=True, eq=False)
class UpSets:
    """The up-sets of a table.

    Attributes
    ----------
    reach
        CSR matrix of ones: one row per inner cell, one column per cell of the table.
    sound
        Which rows satisfy every equation.
    row_heads
        The total of each equation.
    part_of
        CSR: one row per inner cell, one column per equation with a part in its up-set.
    """

    reach: Any
    sound: Flags
    row_heads: Long
    part_of: Any

    @cached_property
    def below(self) -> Any:
        """CSR: one row per cell, one column per inner cell whose up-set has it."""
        return sparse.csr_array(self.reach.T)

    @cached_property
    def candidates(self) -> Any:
        """CSR: one row per equation, one column per inner cell that moves a part."""
        return sparse.csr_array(self.part_of.T)

    def inner_below(self, cell: int) -> Long:
        """Rows of `reach` that contain a cell."""
        start, end = self.below.indptr[cell : cell + 2]
        return np.asarray(self.below.indices[start:end], dtype=np.int64)


def up_sets(table: Table) -> UpSets | None:
    """Return the up-sets, or None where an equation is not "parts - total = 0"."""
    heads = totals_of(table.matrix)
    if heads is None:
        return None
    rows, n = table.matrix.shape
    row = np.repeat(np.arange(rows), np.diff(table.matrix.indptr))
    is_part = table.matrix.indices != heads[row]
    cells, equation = table.matrix.indices[is_part], row[is_part]
    ones = np.ones(len(cells))
    above = sparse.csr_array((ones, (cells, heads[equation])), shape=(n, n))
    parts = sparse.csr_array((ones, (cells, equation)), shape=(n, rows))
    inner = np.flatnonzero(np.bincount(heads, minlength=n) == 0)
    if not len(inner):
        return None
    step = sparse.csr_array(
        (np.ones(len(inner)), (np.arange(len(inner)), inner)), shape=(len(inner), n)
    )
    reach = step
    while step.nnz:
        step = step @ above
        step.data[:] = 1.0
        before = reach.nnz
        reach = reach + step
        reach.data[:] = 1.0
        if reach.nnz == before:
            # Nothing new: all totals are reached (or they go round in a circle).
            break
    off = abs(reach @ table.columns.T).sum(axis=1)
    part_of = reach @ parts
    return UpSets(reach, np.asarray(off).ravel() == 0, heads, part_of)


def independent_equations(table: Table, sets: UpSets | None) -> Any:
    """Leave out equations that follow from the others, where that is plain to see.

    When every up-set is sound, the deviations have one degree of freedom per inner
    cell, and so one equation for each total is enough: in a table of three dimensions
    most equations go, and with them the degeneracy that slows the simplex method down.
    """
    if sets is None or not sets.sound.all():
        return table.columns
    sizes = np.diff(table.matrix.indptr)
    order = np.lexsort((sizes, sets.row_heads))
    _, first = np.unique(sets.row_heads[order], return_index=True)
    return sparse.csc_array(table.matrix[np.sort(order[first])])


def dimensions_of(table: Table) -> tuple[tuple[Dimension, ...], Int] | None:
    """Return the dimensions and codes of a table: its own, or those of its equations.

    None where it has no labels and its equations do not show any.
    """
    return (table.dimensions, table.codes) if table.dimensions else find_codes(table)


def find_codes(table: Table) -> tuple[tuple[Dimension, ...], Int] | None:
    """Return dimensions and the codes of each cell, or None where there are none."""
    heads = totals_of(table.matrix)
    if heads is None:
        return None
    axis = _axes(table, heads)
    if axis is None:
        return None
    rows, n = table.matrix.shape
    along = np.repeat(axis, np.diff(table.matrix.indptr))
    equation = np.repeat(np.arange(rows), np.diff(table.matrix.indptr))
    dimensions, codes = [], np.empty((n, int(axis.max()) + 1), dtype=np.int32)
    for k in range(codes.shape[1]):
        other = along != k
        ends = (table.matrix.indices[other], n + equation[other])
        graph = sparse.csr_array(
            (np.ones(int(other.sum())), ends), shape=(n + rows, n + rows)
        )
        _, part = connected_components(graph, directed=False)
        _, code = np.unique(part[:n], return_inverse=True)
        mine = along == k
        tree = _tree(code, heads[equation[mine]], table.matrix.indices[mine])
        if tree is None:
            return None
        hierarchy, number = tree
        dimensions.append(Dimension(f"d{k + 1}", hierarchy))
        codes[:, k] = number[code]
    if len(np.unique(codes, axis=0)) < n:
        return None
    return tuple(dimensions), codes


def _axes(table: Table, heads: Long) -> Long | None:
    """The dimension along which each equation runs."""
    equations = Equations.of(table.matrix, table.columns)
    parallel = _parallel(equations, heads)
    return _share_out(table, heads, _same_tree(parallel, equations, heads))


def _share_out(table: Table, heads: Long, tree: Long) -> Long | None:
    """Put bundles of equations that have no part in common into one dimension."""
    rows, n = table.matrix.shape
    _, bundle, size = np.unique(tree, return_inverse=True, return_counts=True)
    equation = np.repeat(np.arange(rows), np.diff(table.matrix.indptr))
    is_part = table.matrix.indices != heads[equation]
    cells, of_bundle = table.matrix.indices[is_part], bundle[equation[is_part]]
    order = np.argsort(of_bundle, kind="stable")
    cells = cells[order]
    ends = np.cumsum(np.bincount(of_bundle, minlength=len(size)))
    taken: list[Flags] = []
    axis = np.empty(len(size), np.int64)
    for b in np.argsort(-size, kind="stable").tolist():
        mine = cells[ends[b - 1] if b else 0 : ends[b]]
        free = [k for k, used in enumerate(taken) if not used[mine].any()]
        k = free[0] if free else len(taken)
        if k == MOST_DIMENSIONS:
            return None
        if not free:
            taken.append(np.zeros(n, dtype=bool))
        taken[k][mine] = True
        axis[b] = k
    found: Long = axis[bundle]
    return found


def _tree(code: Long, head: Long, member: Long) -> tuple[Hierarchy, Long] | None:
    """The tree of the codes of a dimension, and the node of each code."""
    count = int(code.max()) + 1
    part = member != head
    above = np.full(count, -1, np.int64)
    lower, upper = code[member[part]], code[head[part]]
    above[lower] = upper
    if np.any(above[lower] != upper) or np.any(lower == upper):
        return None
    tops = np.flatnonzero(above < 0)
    # Several tops get a total that no cell of the table has.
    root = int(tops[0]) if len(tops) == 1 else count
    if len(tops) > 1:
        above = np.append(above, -1)
        above[tops] = root
    elif not len(tops):
        return None
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(above.tolist()):
        children.setdefault(parent, []).append(node)
    number = np.full(len(above), -1, np.int64)
    parents: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        number[node] = len(parents)
        parents.append(-1 if node == root else int(number[above[node]]))
        waiting.extend(reversed(children.get(node, [])))
    if (number < 0).any():
        return None
    return Hierarchy(tuple(map(str, range(len(parents)))), tuple(parents)), number


@kernel(inner=True)
def _root(above: Long, node: int) -> int:
    while above[node] != node:
        above[node] = above[above[node]]
        node = above[node]
    return node


@kernel(inner=True)
def _share_equation(equations: Equations, one: int, two: int) -> bool:
    """Whether two different cells stand in one equation."""
    start, row = equations.column_start, equations.row
    for e in range(start[one], start[one + 1]):
        for f in range(start[two], start[two + 1]):
            if row[e] == row[f]:
                return True
    return False


@kernel
def _parallel(equations: Equations, heads: Long) -> Long:
    """Bundle equations that run along one dimension at the same level."""
    row_start, column_start = equations.row_start, equations.column_start
    above = np.arange(len(heads))
    for row in range(len(heads)):
        for p in range(row_start[row], row_start[row + 1] - 1):
            one, two = equations.cell[p], equations.cell[p + 1]
            for e in range(column_start[one], column_start[one + 1]):
                first = equations.row[e]
                if first == row or heads[first] == one:
                    continue
                for f in range(column_start[two], column_start[two + 1]):
                    second = equations.row[f]
                    if second == row or heads[second] == two:
                        continue
                    a, b = _root(above, first), _root(above, second)
                    if a == b or heads[first] == heads[second]:
                        continue
                    if _share_equation(equations, heads[first], heads[second]):
                        above[max(a, b)] = min(a, b)
    for row in range(len(heads)):
        above[row] = _root(above, row)
    return above


@kernel(inner=True)
def _crosses(
    equations: Equations, heads: Long, parallel: Long, row: int, upper: int
) -> bool:
    """Whether a part of an equation is a part of one parallel to another."""
    column_start = equations.column_start
    for p in range(equations.row_start[row], equations.row_start[row + 1]):
        part = equations.cell[p]
        if part == heads[row]:
            continue
        for f in range(column_start[part], column_start[part + 1]):
            other = equations.row[f]
            if (
                other != row
                and heads[other] != part
                and parallel[other] == parallel[upper]
            ):
                return True
    return False


@kernel
def _same_tree(parallel: Long, equations: Equations, heads: Long) -> Long:
    """Join the bundle that splits a total up with the one in which it is a part.

    A total is a part along other dimensions too; but there its own parts are parts in
    parallel equations, and along its own dimension they are not.
    """
    column_start = equations.column_start
    above = parallel.copy()
    for row in range(len(heads)):
        total = heads[row]
        for e in range(column_start[total], column_start[total + 1]):
            upper = equations.row[e]
            if upper == row or heads[upper] == total:
                continue
            if not _crosses(equations, heads, parallel, row, upper):
                a, b = _root(above, row), _root(above, upper)
                above[max(a, b)] = min(a, b)
    for row in range(len(heads)):
        above[row] = _root(above, row)
    return above
