"""Boxes: the smallest deviations of a labelled table.

In one dimension, raising a leaf code raises every code above it; lowering another leaf
at the same time undoes that from their common total upwards. Choosing such a vector for
each dimension and multiplying them gives a deviation of the whole table that keeps
every equation of every sub-table: in a flat table the corners of a box, opposite in
sign along each edge; in a hierarchical one the corners in all sub-tables it touches,
which is what the backtracking of the hypercube method adds up one by one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.linear.model import Move
from evosdc.suppress.problem import Problem
from evosdc.table import Hierarchy

# Boxes weighed for one level at most; beyond it the dearest edges are left out.
MOST_BOXES = 400_000
# Leaves tried below a code that is a total itself.
MOST_BELOW = 6


class Boxes:
    """Cheapest boxes of one table."""

    def __init__(self, problem: Problem) -> None:
        table = problem.table
        self._problem = problem
        self._trees = [d.hierarchy for d in table.dimensions]
        self._shape = tuple(len(t) for t in self._trees)
        self._above = [_above(t) for t in self._trees]
        self._leaves = [np.flatnonzero(t.is_leaf) for t in self._trees]
        self._place = np.ravel_multi_index(tuple(table.codes.T), self._shape)
        self._cell = np.full(int(np.prod(self._shape)), -1, dtype=np.int64)
        self._cell[self._place] = np.arange(len(table))
        self._empty = self._known_empty()

    def cheapest(
        self, cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> Move | None:
        """Find the cheapest box that moves `cell` by `amount`, or None."""
        problem = self._problem
        codes = problem.table.codes[cell]
        costs = np.where(problem.hideable, price, np.inf)
        ceiling = 1.0 + float(costs[np.isfinite(costs)].sum())
        rise = np.where(problem.up >= amount, costs, np.inf)
        fall = np.where(problem.down >= amount, costs, np.inf)
        if sign < 0:
            rise, fall = fall, rise
        grids = self._grid(rise, ceiling), self._grid(fall, ceiling)
        edges = self._edges(codes, grids, ceiling)
        if any(len(e) == 0 for e in edges):
            return None
        totals = _contract(grids, edges)
        best = int(np.argmin(totals))
        if totals.flat[best] >= ceiling:
            return None
        chosen = np.unravel_index(best, totals.shape)
        return self._move(
            [e[i] for e, i in zip(edges, chosen, strict=True)], sign * amount
        )

    def _grid(self, cost: NDArray[np.float64], ceiling: float) -> NDArray[np.float64]:
        """Costs on the full grid: absent cells are free unless known to be empty."""
        grid = np.where(self._empty, ceiling, 0.0)
        grid[self._place] = np.minimum(cost, ceiling)
        return grid.reshape(self._shape)

    def _edges(
        self,
        codes: NDArray[np.int32],
        grids: tuple[NDArray[np.float64], NDArray[np.float64]],
        ceiling: float,
    ) -> list[NDArray[np.float64]]:
        """Vectors of each dimension that are affordable on their own line."""
        every: list[NDArray[np.float64]] = []
        for k, code in enumerate(codes.tolist()):
            at = tuple(slice(None) if j == k else int(c) for j, c in enumerate(codes))
            lines = grids[0][at], grids[1][at]
            vectors = self._vectors(k, code, lines[0])
            cost = (vectors > 0) @ lines[0] + (vectors < 0) @ lines[1]
            kept = np.flatnonzero(cost < ceiling)
            order = kept[np.argsort(cost[kept], kind="stable")]
            every.append(vectors[order])
        while np.prod([float(len(e)) for e in every]) > MOST_BOXES:
            widest = int(np.argmax([len(e) for e in every]))
            every[widest] = every[widest][: (len(every[widest]) + 1) // 2]
        return every

    def _vectors(
        self, k: int, code: int, line: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """All vectors of a dimension that raise a code by one."""
        above, leaves = self._above[k], self._leaves[k]
        below = leaves[above[leaves, code] > 0]
        others = leaves[above[leaves, code] == 0]
        if len(below) > MOST_BELOW:
            cost = above[below] @ line
            below = below[np.argsort(cost, kind="stable")[:MOST_BELOW]]
        rows = [above[below]]
        rows += [above[leaf] - above[others] for leaf in below.tolist()]
        return np.vstack(rows)

    def _move(self, vectors: list[NDArray[np.float64]], amount: float) -> Move | None:
        product = np.ones(1)
        for vector in vectors:
            product = np.multiply.outer(product, vector)
        flat = product.ravel()
        places = np.flatnonzero(flat)
        cells = self._cell[places]
        there = cells >= 0
        cells, by = cells[there], flat[places][there]
        order = np.argsort(cells)
        cells, by = cells[order], by[order]
        # Linked tables may lack the equations that a box relies on.
        if np.any(self._problem.table.columns[:, cells] @ by):
            return None
        return Move(cells, by * amount)

    def _known_empty(self) -> NDArray[np.bool_]:
        """Absent cells that an equation with cells in the table would contain."""
        present = (self._cell >= 0).reshape(self._shape)
        empty = np.zeros(self._shape, dtype=bool)
        for k, tree in enumerate(self._trees):
            here = np.moveaxis(present, k, 0)
            flag = np.moveaxis(empty, k, 0)
            for node in range(len(tree)):
                parts = tree.children(node)
                if parts:
                    counted = here[node] & here[parts].any(axis=0)
                    flag[parts] |= counted & ~here[parts]
        return empty.ravel()


def _contract(
    grids: tuple[NDArray[np.float64], NDArray[np.float64]],
    edges: list[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Cost of every product of vectors; the grids price rising and falling cells."""
    rise, fall = grids
    for vectors in edges:
        up, down = (vectors > 0).astype(np.float64), (vectors < 0).astype(np.float64)
        # Contract the first axis; the new one goes last, so the order comes out right.
        rise, fall = (
            np.tensordot(rise, up, (0, 1)) + np.tensordot(fall, down, (0, 1)),
            np.tensordot(fall, up, (0, 1)) + np.tensordot(rise, down, (0, 1)),
        )
    return rise


def _above(tree: Hierarchy) -> NDArray[np.float64]:
    """``[a, b]`` is 1 where code b is code a or stands above it."""
    above = np.eye(len(tree))
    for node in range(1, len(tree)):
        above[node] += above[tree.parents[node]]
    return above
