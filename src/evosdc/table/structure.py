"""Structure of the equations: the total of each, and the network that they form.

An equation ``sum of parts - total = 0`` has one cell of opposite sign. Where signs
leave a choice (two cells) the negative one is the total, as in files.

A table is a network when every cell occurs in at most two equations, with coefficients
of one size, and the signs of the equations can be chosen so that each cell enters one
and leaves the other. Flat two-dimensional tables are networks, and so are some linked
ones. Equations implied by others may be left out: without them a table of a tree by a
flat dimension is a network too. There a cell of a code that is a total occurs in three
equations, of which the one along the flat dimension is implied: replacing each of its
cells by its parts gives the equations of the parts. All this uses the matrix alone, not
the labels, and the result is verified: implied equations are combinations of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

Rows = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class Network:
    """A directed graph with one node per equation and one arc per cell.

    Raising cell `i` by one sends one unit from node ``tail[i]`` to node ``head[i]``.
    The last node is the ground: cells of a single equation start or end there.
    Cells of no equation have both ends at the ground. The nodes of implied equations
    that were left out have no arcs.
    """

    nodes: int
    tail: NDArray[np.int32]
    head: NDArray[np.int32]


def detect_network(matrix: Any) -> Network | None:
    """Return the network of the equations, or None where they do not form one."""
    columns = sparse.csc_array(matrix)
    m, n = columns.shape
    columns.eliminate_zeros()
    count = np.diff(columns.indptr)
    if (count > 2).any():
        implied = implied_equations(columns)
        if implied is None:
            return None
        columns = _without(columns, implied)
        count = np.diff(columns.indptr)
    if len(columns.data) and not _one_size(columns):
        return None
    positive = columns.data > 0
    pairs = np.flatnonzero(count == 2)
    one = columns.indptr[:-1][pairs]
    r1, r2 = columns.indices[one], columns.indices[one + 1]
    same = positive[one] == positive[one + 1]
    # Two copies of each equation, one for each sign: a cell with equal signs requires
    # opposite choices, a cell with opposite signs equal ones.
    a = np.concatenate([r1, r1 + m])
    b = np.concatenate([np.where(same, r2 + m, r2), np.where(same, r2, r2 + m)])
    graph = sparse.csr_array((np.ones(len(a)), (a, b)), shape=(2 * m, 2 * m))
    _, component = connected_components(graph, directed=False)
    if (component[:m] == component[m:]).any():
        return None
    # Of the two mirror components of an equation the one numbered lower is taken.
    flip = component[:m] > component[m:]
    ground = m
    tail = np.full(n, ground, dtype=np.int32)
    head = np.full(n, ground, dtype=np.int32)
    cell = np.repeat(np.arange(n), count)
    enters = positive != flip[columns.indices]
    head[cell[enters]] = columns.indices[enters]
    tail[cell[~enters]] = columns.indices[~enters]
    return Network(m + 1, tail, head)


def _without(columns: Any, equations: NDArray[np.int64]) -> Any:
    """Return the columns with some equations empty."""
    keep = np.ones(columns.shape[0])
    keep[equations] = 0.0
    left = sparse.csc_array(sparse.diags_array(keep) @ columns)
    left.eliminate_zeros()
    return left


def _one_size(columns: Any) -> bool:
    """Whether each equation uses coefficients of one absolute size."""
    size = np.abs(columns.data)
    low = np.full(columns.shape[0], np.inf)
    high = np.zeros(columns.shape[0])
    np.minimum.at(low, columns.indices, size)
    np.maximum.at(high, columns.indices, size)
    return bool(np.all((low == high) | (high == 0)))


def implied_equations(matrix: Any) -> Rows | None:
    """Return equations to leave out so that no cell occurs in more than two others.

    None where there are none, or where the candidates cannot be shown to be implied by
    the others.
    """
    rows = sparse.csr_array(matrix)
    if len(rows.data) and np.any(np.abs(rows.data) != 1.0):
        return None
    heads = _heads(rows)
    chosen = None if heads is None else _choose(rows, heads)
    if heads is None or chosen is None or not _follow(rows, heads, chosen):
        return None
    return chosen


def _heads(rows: Any) -> Rows | None:
    """Return the total of each equation: the one cell of its sign."""
    m = rows.shape[0]
    row = np.repeat(np.arange(m), np.diff(rows.indptr))
    negative = np.bincount(row[rows.data < 0], minlength=m)
    is_head = rows.data == np.where(negative == 1, -1.0, 1.0)[row]
    if np.any(np.bincount(row[is_head], minlength=m) != 1):
        return None
    return rows.indices[is_head].astype(np.int64)


def _choose(rows: Any, heads: Rows) -> Rows | None:
    """Return the only equations whose removal leaves each cell in at most two.

    Each of their cells must also be the total of another equation, so that it can be
    replaced by its parts. None where some cell would still occur in more.
    """
    m, n = rows.shape
    row = np.repeat(np.arange(m), np.diff(rows.indptr))
    others = np.bincount(heads, minlength=n)[rows.indices] - (
        heads[row] == rows.indices
    )
    between_totals = np.bincount(row[others > 0], minlength=m) == np.diff(rows.indptr)
    spare = np.bincount(rows.indices, minlength=n) - 2
    open_ones = np.bincount(rows.indices[between_totals[row]], minlength=n)
    forced = (spare > 0) & (open_ones == spare)
    chosen = np.zeros(m, dtype=bool)
    chosen[row[forced[rows.indices] & between_totals[row]]] = True
    spare -= np.bincount(rows.indices[chosen[row]], minlength=n)
    return None if (spare > 0).any() else np.flatnonzero(chosen)


def _follow(rows: Any, heads: Rows, chosen: Rows) -> bool:
    """Whether the chosen equations are implied by the rest.

    Each must be a combination of other equations, without cycles among those chosen.
    """
    m, n = rows.shape
    part = rows[chosen]
    at = np.repeat(np.arange(len(chosen)), np.diff(part.indptr))
    instead = _another_with_head(heads, part.indices, chosen[at], n)
    # The sign with which an equation cancels its total in the one chosen.
    order = np.arange(m)
    head_sign = np.asarray(rows[order, heads]).ravel()
    swaps = sparse.csr_array(
        (-part.data * head_sign[instead], (at, instead)), shape=(len(chosen), m)
    )
    rest = sparse.csr_array(part + swaps @ rows)
    rest.eliminate_zeros()
    # Equations contained in the remainder, with the same or all opposite signs.
    match = sparse.coo_array(rest @ rows.T)
    whole = np.abs(match.data) == np.diff(rows.indptr)[match.col]
    sums = sparse.csr_array(
        (np.sign(match.data[whole]), (match.row[whole], match.col[whole])),
        shape=(len(chosen), m),
    )
    combination = sparse.csr_array(sums - swaps)
    difference = part - combination @ rows
    if len(difference.data) and np.any(difference.data != 0.0):
        return False
    dependence = sparse.csr_array(combination[:, chosen])
    dependence.eliminate_zeros()
    groups, _ = connected_components(dependence, directed=True, connection="strong")
    return groups == len(chosen) and not dependence.diagonal().any()


def _another_with_head(heads: Rows, cells: Rows, not_this: Rows, n: int) -> Rows:
    """Return for each cell the first other equation with that total."""
    by_head = np.argsort(heads, kind="stable")
    first = np.searchsorted(heads[by_head], np.arange(n))
    found = by_head[first[cells]]
    following = by_head[np.minimum(first[cells] + 1, len(heads) - 1)]
    return np.where(found == not_this, following, found)
