"""Cuts of combined equations: what several equations say that none says alone.

Sums of equations are equations too. Where the sensitive cells of two cancel, their sum
has none, and a secondary must not stand alone in it either; and what a sensitive cell
leans on in a sum may be less than in each of its equations. A violated combination is
found greedily: the heaviest cell of an equation is got rid of by adding another
equation of that cell, and so on (aggregation, as Marchand and Wolsey 2001 do before
they round). That takes microseconds where the attacker's program takes milliseconds,
and finds most of what it would find, and bridges across planes besides.

Combinations are of whole numbers, so that what cancels is zero and every cut is valid.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.suppress.bounds.combined_kernels import (
    SHORT,
    Cells,
    Equations,
    Found,
    Scratch,
    combinations,
)
from evosdc.suppress.engine.cut import Cut, leaning_cut
from evosdc.suppress.problem import Problem

# Equations in a combination at most: longer ones hardly ever cut.
_STEPS = 8
# Cells hidden by less than this share are not asked whether they can move.
_HIDDEN = 0.02
# Combinations of one round at most, and cells in all of them.
_COMBINATIONS, _CELLS = 500, 100_000
# Larger entries might no longer add up exactly after so many steps.
_LARGEST = 50.0


class CombinedEquations:
    """Find the cuts of sums of equations that a fractional pattern violates."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._equations = _equations(problem)
        count = len(problem.cost)
        self._scratch = Scratch(
            np.zeros(count),
            np.empty(count, dtype=np.int64),
            np.zeros(count, dtype=np.bool_),
            np.empty(_STEPS, dtype=np.int64),
            np.zeros(count, dtype=np.bool_),
        )
        self._found = Found(
            np.zeros(_COMBINATIONS + 1, dtype=np.int64),
            np.empty(max(_CELLS, 2 * count), dtype=np.int64),
            np.empty(max(_CELLS, 2 * count)),
            np.empty(_COMBINATIONS, dtype=np.int64),
        )
        self._next = 0  # the level to begin with: a round may end before the last

    def violated(self, x: NDArray[np.float64]) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate."""
        primary = self._problem.primary
        share = np.where(self._problem.hideable, np.clip(x, 0.0, 1.0), 0.0)
        share[primary] = 1.0
        yield from self._bridges(share)
        yield from self._levels(share)

    def _combinations(
        self,
        share: NDArray[np.float64],
        about: NDArray[np.int64],
        levels: NDArray[np.float64],
    ) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.float64]]]:
        """Yield the number of a question, and cells and terms of its combination."""
        problem, found = self._problem, self._found
        cells = Cells(share, problem.primary, problem.up, problem.down)
        count = combinations(
            about, levels, _STEPS, self._equations, cells, self._scratch, found
        )
        for number in range(count):
            part = slice(*found.start[number : number + 2])
            yield int(found.about[number]), found.cells[part], found.by[part]

    def _bridges(self, share: NDArray[np.float64]) -> Iterator[Cut]:
        """Yield rows in which a secondary stands almost alone."""
        asked = (share > _HIDDEN) & ~self._problem.primary
        about = np.flatnonzero(asked)
        about = about[np.argsort(-share[about], kind="stable")]
        for _, cells, _ in self._combinations(share, about, np.zeros(len(about))):
            excess = 2.0 * share[cells] - float(share[cells].sum())
            for alone in np.flatnonzero(excess > SHORT).tolist():
                coefficients = np.ones(len(cells))
                coefficients[alone] = -1.0
                yield Cut(cells.copy(), coefficients, 0.0)

    def _levels(self, share: NDArray[np.float64]) -> Iterator[Cut]:
        """Yield combinations in which a sensitive cell has too little to lean on."""
        problem, levels = self._problem, self._problem.levels
        if not len(levels):
            return
        order = np.roll(np.arange(len(levels)), -self._next)
        amount = (levels.sign * levels.amount)[order]
        last = -1
        for number, cells, by in self._combinations(share, levels.cell[order], amount):
            last = int(order[number])
            own = int(levels.cell[last])
            others = cells != own
            moves = -by[others] / (float(by[~others][0]) * amount[number])
            cells = cells[others]
            room = np.where(moves > 0, problem.up[cells], problem.down[cells])
            terms = np.abs(moves) * room
            cut = leaning_cut(cells, terms, problem.primary[cells], SHORT)
            if cut is not None:
                yield cut
        self._next = (last + 1) % len(levels)


def _equations(problem: Problem) -> Equations:
    """Return the equations in whole numbers, without cells that cannot move."""
    matrix = sparse.csr_array(problem.table.matrix, copy=True)
    moves = problem.hideable & (problem.up + problem.down > 0)
    matrix.data = np.where(moves[matrix.indices], matrix.data, 0.0)
    matrix.eliminate_zeros()
    exact = (matrix.data == np.rint(matrix.data)) & (np.abs(matrix.data) <= _LARGEST)
    broken = np.zeros(matrix.shape[0], dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    broken[rows[~exact]] = True
    matrix = sparse.csr_array(matrix[~broken])
    columns = sparse.csc_array(matrix)
    return Equations(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        np.asarray(matrix.data, dtype=np.float64),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int64),
        np.asarray(columns.data, dtype=np.float64),
    )
