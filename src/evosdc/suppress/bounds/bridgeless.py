"""Bridgeless rows: a secondary never stands alone in an equation.

A secondary that is the only hidden cell of an equation is worked out from it, cannot
move, and may as well be published. So among the cheapest safe patterns there is one in
which, for each equation without a sensitive cell and each cell i of it,

    x_i <= the sum of the other x of the equation

(Fischetti and Salazar 2001 use the same rows). They cost no attacker's program, and on
tables of three dimensions and hierarchies they are worth more than all other cuts.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evosdc.arrays import Real
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.problem.problem import Problem

# Rows added in one round at most, the most violated first. With half as many there are
# more rounds, with twice as many relaxations of more rows that do not bind.
_MOST_ROWS = 2000
# A row is violated where a cell is hidden by this much more than the others: tolerance.
_VIOLATED = 1e-4


class BridgelessRows:
    """The rows of one table, found when a solution violates them."""

    def __init__(self, problem: Problem) -> None:
        matrix = problem.table.matrix
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        with_primary = np.zeros(matrix.shape[0], dtype=bool)
        with_primary[rows[problem.primary[matrix.indices]]] = True
        # Cells that may not be hidden have x = 0 and are left out of every row.
        keep = ~with_primary[rows] & problem.hideable[matrix.indices]
        self._row = rows[keep]
        self._cell = matrix.indices[keep].astype(np.int64)
        self._start = np.searchsorted(self._row, np.arange(matrix.shape[0] + 1))
        self._equations = matrix.shape[0]

    def violated(self, x: Real) -> Iterator[Cut]:
        """Yield rows that cells hidden to the extent `x` violate."""
        mine = x[self._cell]
        total = np.bincount(self._row, weights=mine, minlength=self._equations)
        excess = 2.0 * mine - total[self._row]
        places = np.flatnonzero(excess > _VIOLATED)
        if len(places) > _MOST_ROWS:
            places = places[np.argsort(-excess[places], kind="stable")[:_MOST_ROWS]]
        for place in places.tolist():
            row = int(self._row[place])
            start, end = int(self._start[row]), int(self._start[row + 1])
            coefficients = np.ones(end - start)
            coefficients[place - start] = -1.0
            yield Cut(self._cell[start:end], coefficients, 0.0)


def sliding_partner_cuts(problem: Problem) -> Iterator[Cut]:
    """Yield cuts for cells that must move either way: another must move with them.

    A sliding level asks for no direction, so no cut of one direction holds for it; but
    in each equation of its cell another hidden cell must move.
    """
    matrix = problem.table.matrix.tocsc()
    rows = problem.table.matrix
    for cell in problem.levels.slide.tolist():
        for row in matrix.indices[matrix.indptr[cell] : matrix.indptr[cell + 1]]:
            others = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
            others = others[(others != cell) & problem.hideable[others]]
            # A sensitive cell is hidden anyway and may be the only one that moves.
            if len(others) and not problem.primary[others].any():
                yield Cut(others.astype(np.int64), np.ones(len(others)))
