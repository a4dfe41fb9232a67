"""Cuts of any table, from the duals of the attacker's linear program.

Let ``y`` be any multipliers of the equations ``M d = 0`` and ``r = e_k - M' y``. Then a
deviation moves cell `k` by ``d_k = r . d``, so a pattern `x` that lets it move by a
level has room for that (Fischetti and Salazar 2000)::

    sum over cells i of (r_i > 0 ? r_i up_i : -r_i down_i) x_i >= level.

This holds for every ``y``, so multipliers are rounded to a grid on which all the
arithmetic is exact, and the cut is valid whatever the tolerances of the solver. As in
networks, the room of primaries goes to the right-hand side and coefficients are cut
down to what is left there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.general.model import load_program
from evosdc.suppress.problem import Problem
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# Multipliers of tables are halves, thirds and the like; this grid holds them exactly.
_GRID = 720720
# Cells that the relaxation does not hide count with this share, so that of all cuts
# that are violated alike one that crosses few other cells is found.
_SHADE = 1e-3
# A level is covered when all but this share of it is.
_SHORT = 1e-6
_CUTS_A_ROUND = 60


class AttackCuts:
    """Find the cuts that a fractional pattern violates, one level after another."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        table = problem.table
        columns = sparse.csc_array(independent_equations(table, up_sets(table)))
        self._cells = np.flatnonzero(problem.hideable)
        self._at = np.full(len(table), -1, dtype=np.int64)
        self._at[self._cells] = np.arange(len(self._cells))
        self._matrix = sparse.csr_array(columns[:, self._cells])
        self._lp = load_program(sparse.csc_array(self._matrix))
        # Standing still is always feasible, and a new level changes mostly the goal:
        # the primal simplex method took 17 ms where the dual took 41.
        self._lp.setOptionValue("simplex_strategy", 4)
        self._next = 0
        self._index = np.arange(len(self._cells), dtype=np.int32)
        self._up = problem.up[self._cells]
        self._down = problem.down[self._cells]
        self._primary = problem.primary[self._cells]
        self._transposed = sparse.csr_array(self._matrix.T)
        self._known: dict[int, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        self._whole = bool(np.all(self._matrix.data == np.rint(self._matrix.data)))

    def first(self) -> Iterator[Cut]:
        """Yield the cuts of single equations: the row and column model, generalised."""
        levels, matrix = self._problem.levels, self._matrix
        for level in range(len(levels)):
            k = int(self._at[levels.cell[level]])
            sign = float(levels.sign[level])
            for place in range(*self._transposed.indptr[k : k + 2]):
                row = self._transposed.indices[place]
                line = slice(*matrix.indptr[row : row + 2])
                cells = matrix.indices[line]
                others = cells != k
                r = -sign * matrix.data[line][others] / self._transposed.data[place]
                cut = self._write(level, cells[others], r)
                if cut is not None:
                    yield cut

    def violated(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round ends after some cuts, since one cut often serves several levels; the
        next goes on where it ended. A round without cuts has asked every level.
        """
        count, found = len(self._problem.levels), 0
        for step in range(count):
            level = (self._next + step) % count
            if stopped() or found == _CUTS_A_ROUND:
                self._next = level
                return
            if self._holds(level, x):
                continue
            cut = self._attack(level, x)
            if cut is not None:
                found += 1
                yield cut

    def _attack(self, level: int, x: NDArray[np.float64]) -> Cut | None:
        """Keep a deviation that covers a level, or return a cut that forbids `x`."""
        levels = self._problem.levels
        k, sign = int(self._at[levels.cell[level]]), int(levels.sign[level])
        for shade in (_SHADE, 0.0):
            answer = self._ask(k, sign, *self._room(level, x, shade))
            if answer is None:
                return None
            d, y = answer
            if sign * d[k] < 1.0 - _SHORT:
                cut = self._cut(level, y)
                if cut is None or float(cut.coefficients @ x[cut.cells]) > 1.0 - _SHORT:
                    return None
                return cut
            moved = np.flatnonzero(d)
            self._known[level] = (moved, d[moved])
            # A deviation that leans on cells which are not hidden proves nothing.
            if self._holds(level, x):
                return None
        return None

    def _ask(
        self, k: int, sign: int, low: NDArray[np.float64], high: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """How far a cell can move within bounds: the deviation, and multipliers."""
        if sign > 0:
            high[k] = 1.0
        else:
            low[k] = -1.0
        cost = np.zeros(len(self._cells))
        cost[k] = -float(sign)
        lp = self._lp
        lp.changeColsBounds(len(self._index), self._index, low, high)
        lp.changeColsCost(len(self._index), self._index, cost)
        lp.run()
        if lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            # A warm basis can mislead the simplex method; ask once more from scratch.
            lp.clearSolver()
            lp.run()
            if lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
                return None
        solution = lp.getSolution()
        return np.array(solution.col_value), -np.array(solution.row_dual)

    def _room(
        self, level: int, x: NDArray[np.float64], shade: float
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Room of each cell in units of the level, as far as it is hidden."""
        amount = float(self._problem.levels.amount[level])
        share = np.clip(x[self._cells], 0.0, 1.0)
        share += shade * (1.0 - share)
        return (
            -np.minimum(self._down / amount, 1.0) * share,
            np.minimum(self._up / amount, 1.0) * share,
        )

    def _holds(self, level: int, x: NDArray[np.float64]) -> bool:
        """Whether the last deviation of a level fits into the room that `x` leaves."""
        if level not in self._known:
            return False
        moved, by = self._known[level]
        low, high = self._room(level, x, 0.0)
        k = int(self._at[self._problem.levels.cell[level]])
        own = moved == k
        inside = (by <= high[moved] + _SHORT) & (by >= low[moved] - _SHORT)
        return bool(np.all(inside | own))

    def _cut(self, level: int, y: NDArray[np.float64]) -> Cut | None:
        """Write the cut of a level for any multipliers of the equations."""
        levels = self._problem.levels
        k, sign = int(self._at[levels.cell[level]]), float(levels.sign[level])
        grid = np.rint(y * _GRID)
        r = -np.asarray(self._transposed @ grid)
        r[k] += sign * _GRID
        if not self._whole:
            # Coefficients that are not whole leave rounding in the products.
            r[np.abs(r) < 1e-6 * _GRID] = 0.0
        moves = np.flatnonzero(r)
        return self._write(level, moves, r[moves] / _GRID)

    def _write(
        self, level: int, moves: NDArray[np.int64], r: NDArray[np.float64]
    ) -> Cut | None:
        """Write the cut that a level's cell moves by ``r . d`` over some cells."""
        amount = float(self._problem.levels.amount[level])
        room = np.where(r > 0, self._up[moves], self._down[moves]) / amount
        terms = np.abs(r) * room
        primary = self._primary[moves]
        rest = 1.0 - float(terms[primary].sum())
        if not rest > _SHORT:
            return None
        chosen = ~primary & (terms > 0)
        if not chosen.any():
            return None
        cells = self._cells[moves[chosen]]
        return Cut(cells, np.minimum(terms[chosen] / rest, 1.0))
