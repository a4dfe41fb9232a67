"""Cuts of some levels of any table, from the duals of the attacker's linear program.

Let ``y`` be any multipliers of the equations ``M d = 0`` and ``r = e_k - M' y``. Then a
deviation moves cell `k` by ``d_k = r . d``, so a pattern `x` that lets it move by a
level has room for that (Fischetti and Salazar 2000)::

    sum over cells i of (r_i > 0 ? r_i up_i : -r_i down_i) x_i >= level.

This holds for every ``y``, so multipliers are rounded to a grid on which all the
arithmetic is exact, and the cut is valid whatever the tolerances of the solver. As in
networks, the room of primaries goes to the right-hand side and coefficients are cut
down to what is left there.

What is found for some levels depends on what is asked alone, not on what the solver did
before: any worker may be asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.cut import MULTIPLIER_GRID, Cut, capacity_cut
from evosdc.suppress.engine.general.model import Move, Tight
from evosdc.suppress.engine.general.solver import load_program
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# Cells that the relaxation does not hide count with this share, so that of all cuts
# that are violated alike one that crosses few other cells is found. A tolerance: large
# enough to tell such cuts apart, too small to make a violated cut seem satisfied.
_LEAST_SHARE = 1e-3
# A level is covered when all but this share of it is: a tolerance.
_SHORT = 1e-6

# The programs of a problem in this process, which take a while to load.
_LOADED = "level programs"
# Where a solver begins: the state of each column and row.
Basis = tuple[NDArray[np.int8], NDArray[np.int8]]


class Level(NamedTuple):
    """What is attacked: how far some cells move together, and by whom.

    One cell for a level, several for a sum; `attacker` is a row of
    `Problem.attackers`, and `amount` net of what it contributes itself.
    """

    cells: tuple[int, ...]
    sign: int
    amount: float
    attacker: int = 0


@dataclass(frozen=True, eq=False)
class AskedLevels:
    """Levels to be attacked, cells hidden to the extent `x`, and where to begin."""

    levels: tuple[Level, ...]
    x: Real
    basis: Basis | None


@dataclass(frozen=True, eq=False)
class AttackedLevels:
    """For each level a cut that forbids `x`, or a deviation; and where it ended.

    Deviations are in units of the level.
    """

    cuts: tuple[Cut | None, ...]
    deviations: tuple[Move | None, ...]
    basis: Basis


class LevelPrograms:
    """The attacker's program on a table, for one level after another."""

    def __init__(self, problem: Problem) -> None:
        table, self._attackers = problem.table, problem.attackers
        columns = sparse.csc_array(independent_equations(table, up_sets(table)))
        self._cells = np.flatnonzero(problem.hideable)
        self._at = np.full(len(table), -1, dtype=np.int64)
        self._at[self._cells] = np.arange(len(self._cells))
        self._matrix = sparse.csr_array(columns[:, self._cells])
        self._lp = load_program(sparse.csc_array(self._matrix))
        # Standing still is always feasible, and a new level changes mostly the goal:
        # the primal simplex method took 17 ms where the dual took 41.
        self._lp.setOptionValue("simplex_strategy", 4)
        self._index = np.arange(len(self._cells), dtype=np.int32)
        self._up = problem.up[self._cells]
        self._down = problem.down[self._cells]
        self._primary = problem.primary[self._cells]
        self._transposed = sparse.csr_array(self._matrix.T)
        self._whole = bool(np.all(self._matrix.data == np.rint(self._matrix.data)))

    def first(self, levels: Iterable[Level]) -> Iterator[Cut]:
        """Yield the cuts of single equations: the row and column model, generalised."""
        matrix = self._matrix
        for level in levels:
            k = int(self._at[level.cells[0]])
            for place in range(*self._transposed.indptr[k : k + 2]):
                row = self._transposed.indices[place]
                line = slice(*matrix.indptr[row : row + 2])
                cells = matrix.indices[line]
                others = cells != k
                factor = level.sign / self._transposed.data[place]
                cut = self._write(
                    level, cells[others], -factor * matrix.data[line][others]
                )
                if cut is not None:
                    yield cut

    def attack(self, asked: AskedLevels) -> AttackedLevels:
        """Attack some levels, whatever was asked before."""
        self._begin(asked.basis)
        found = [self._attack(level, asked.x) for level in asked.levels]
        return AttackedLevels(
            tuple(cut for cut, _ in found),
            tuple(deviation for _, deviation in found),
            self._end(),
        )

    def holds(self, level: Level, deviation: Move, x: Real) -> bool:
        """Whether a deviation that covers a level fits into the room `x` leaves."""
        low, high = self._room(level, x, 0.0)
        moved, by = self._at[deviation.cells], deviation.by
        own = np.isin(deviation.cells, level.cells)
        inside = (by <= high[moved] + _SHORT) & (by >= low[moved] - _SHORT)
        return bool(np.all(inside | own))

    def _begin(self, basis: Basis | None) -> None:
        self._lp.clearSolver()
        if basis is None:
            return
        start = highspy.HighsBasis()
        start.col_status = [highspy.HighsBasisStatus(int(s)) for s in basis[0]]
        start.row_status = [highspy.HighsBasisStatus(int(s)) for s in basis[1]]
        self._lp.setBasis(start)

    def _end(self) -> Basis:
        end = self._lp.getBasis()
        return (
            np.array([int(s) for s in end.col_status], dtype=np.int8),
            np.array([int(s) for s in end.row_status], dtype=np.int8),
        )

    def _attack(self, level: Level, x: Real) -> tuple[Cut | None, Move | None]:
        """Return a cut that forbids `x`, or else a deviation that covers a level.

        Neither for a level against an attacker that no pattern gives.
        """
        own = self._at[list(level.cells)]
        answer = self._ask(own, level.sign, *self._room(level, x, 0.0))
        if answer is None:
            return None, None
        d, y = answer
        if level.sign * float(d[own].sum()) >= 1.0 - _SHORT:
            moved = np.flatnonzero(d)
            return None, Move(self._cells[moved], d[moved])
        found = self._violated(level, y, x)
        # Of the cuts that are violated those are deep which ask little of cells that
        # are not suppressed.
        deeper = self._ask(own, level.sign, *self._room(level, x, _LEAST_SHARE))
        if deeper is not None and level.sign * float(deeper[0][own].sum()) < 1 - _SHORT:
            found = self._violated(level, deeper[1], x) or found
        return found, None

    def _violated(self, level: Level, y: Real, x: Real) -> Cut | None:
        """Return the cut of some multipliers, if `x` violates it and patterns exist."""
        cut = self._cut(level, y)
        if cut is None or cut.missing(x) < _SHORT:
            return None
        return cut if float(cut.coefficients.sum()) >= 1.0 - _SHORT else None

    def _ask(
        self, own: Long, sign: int, low: Real, high: Real
    ) -> tuple[Real, Real] | None:
        """How far cells can move within bounds: the deviation, and multipliers."""
        if len(own) == 1:
            (high if sign > 0 else low)[own] = float(sign)
        cost = np.zeros(len(self._cells))
        cost[own] = -float(sign)
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

    def _room(self, level: Level, x: Real, least: float) -> tuple[Real, Real]:
        """Room of each cell in units of the level, as far as it is hidden."""
        share = np.clip(x[self._cells], 0.0, 1.0)
        share += least * (1.0 - share)
        up, down = self._seen_by(level)
        return (
            -np.minimum(down / level.amount, 1.0) * share,
            np.minimum(up / level.amount, 1.0) * share,
        )

    def _seen_by(self, level: Level) -> tuple[Real, Real]:
        """Room of each cell as the attacker of a level sees it."""
        if not level.attacker:
            return self._up, self._down
        tight = Tight.of(self._attackers, [level.attacker])
        return tight.within(self._cells, self._up, self._down, level.cells[0])

    def _cut(self, level: Level, y: Real) -> Cut | None:
        """Write the cut of a level for any multipliers of the equations."""
        grid = np.rint(y * MULTIPLIER_GRID)
        r = -np.asarray(self._transposed @ grid)
        r[self._at[list(level.cells)]] += level.sign * MULTIPLIER_GRID
        if not self._whole:
            # Coefficients that are not whole leave rounding in the products.
            r[np.abs(r) < 1e-6 * MULTIPLIER_GRID] = 0.0
        moves = np.flatnonzero(r)
        return self._write(level, moves, r[moves] / MULTIPLIER_GRID)

    def _write(self, level: Level, moves: Long, r: Real) -> Cut | None:
        """Write the cut that a level's cells move by ``r . d`` over some cells."""
        up, down = self._seen_by(level)
        room = np.where(r > 0, up[moves], down[moves]) / level.amount
        cells, primary = self._cells[moves], self._primary[moves]
        return capacity_cut(cells, np.abs(r) * room, primary, _SHORT)


def programs_of(problem: Problem) -> LevelPrograms:
    """Return the programs of a problem, loaded when they are asked for first."""
    if _LOADED not in problem.derived:
        problem.derived[_LOADED] = LevelPrograms(problem)
    found: LevelPrograms = problem.derived[_LOADED]
    return found


def attack_levels(problem: Problem, asked: AskedLevels) -> AttackedLevels:
    """Attack some levels: what any worker can do."""
    return programs_of(problem).attack(asked)
