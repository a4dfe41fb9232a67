"""Equations that follow from others: what keeps a table with one tree from a network.

In a table of a tree by a flat dimension a cell of a code that is a total stands in
three equations. The one along the flat dimension follows from the others: put the parts
in the place of each of its cells, and the equations of the parts are left. This is read
off the matrix, so it holds for tables without labels too, and each step is checked in
the end: equations that are said to follow are combinations of the rest exactly.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

Rows = NDArray[np.int64]


def implied_equations(matrix: Any) -> Rows | None:
    """Equations to leave out so that no cell stands in more than two of the rest.

    None where there are no such equations, or where it cannot be shown that those
    that come into question follow from the others.
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
    """The total of each equation: the one cell whose sign no other cell has."""
    m = rows.shape[0]
    row = np.repeat(np.arange(m), np.diff(rows.indptr))
    negative = np.bincount(row[rows.data < 0], minlength=m)
    is_head = rows.data == np.where(negative == 1, -1.0, 1.0)[row]
    if np.any(np.bincount(row[is_head], minlength=m) != 1):
        return None
    return rows.indices[is_head].astype(np.int64)


def _choose(rows: Any, heads: Rows) -> Rows | None:
    """Equations between totals that cells with too many equations leave no choice of.

    Each of their cells must be the total of another equation too, so that its parts
    can take its place.
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
    """Whether the chosen equations follow from the rest.

    Each must be a combination of other equations, and no two of those chosen may lean
    on each other, however far round.
    """
    m, n = rows.shape
    part = rows[chosen]
    at = np.repeat(np.arange(len(chosen)), np.diff(part.indptr))
    instead = _another_with_head(heads, part.indices, chosen[at], n)
    # The sign with which an equation takes its total away from the one chosen.
    order = np.arange(m)
    head_sign = np.asarray(rows[order, heads]).ravel()
    swaps = sparse.csr_array(
        (-part.data * head_sign[instead], (at, instead)), shape=(len(chosen), m)
    )
    rest = sparse.csr_array(part + swaps @ rows)
    rest.eliminate_zeros()
    # Equations whose cells are all in what is left, with their signs or all opposite.
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
    leaning = sparse.csr_array(combination[:, chosen])
    leaning.eliminate_zeros()
    loops, _ = connected_components(leaning, directed=True, connection="strong")
    return loops == len(chosen) and not leaning.diagonal().any()


def _another_with_head(heads: Rows, cells: Rows, not_this: Rows, n: int) -> Rows:
    """For each cell the first equation with that total, other than the one named."""
    by_head = np.argsort(heads, kind="stable")
    first = np.searchsorted(heads[by_head], np.arange(n))
    found = by_head[first[cells]]
    following = by_head[np.minimum(first[cells] + 1, len(heads) - 1)]
    return np.where(found == not_this, following, found)
