"""Detect the network inside a table from its equations, wherever they came from.

A table is a network when every cell stands in at most two equations, with coefficients
of one size, and the signs of the equations can be chosen so that each cell enters one
and leaves the other. Flat two-dimensional tables are networks, and so are some linked
ones. Equations that follow from others may be left out: without them a table of a tree
by a flat dimension is a network too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.table.implied import implied_equations


@dataclass(frozen=True, eq=False)
class Network:
    """A directed graph with a node per equation and an arc per cell.

    Raising cell `i` by one sends one unit from node ``tail[i]`` to node ``head[i]``.
    The last node is the ground: cells of a single equation start or end there.
    Cells that stand in no equation have both ends at the ground. Equations that follow
    from the others may have been left out; no cell meets at their nodes.
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
    # Two copies of each equation, one for each sign: a cell with equal signs asks for
    # opposite choices, a cell with opposite signs for equal ones.
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
    """Leave some equations empty."""
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
