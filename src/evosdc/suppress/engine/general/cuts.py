"""Cuts of any table, from the duals of the attacker's linear programs.

Let ``y`` be any multipliers of the equations ``M d = 0`` and ``r = e_k - M' y``. Then a
deviation moves cell `k` by ``d_k = r . d``, so a pattern `x` that lets it move by a
level has room for that (Fischetti and Salazar 2000)::

    sum over cells i of (r_i > 0 ? r_i up_i : -r_i down_i) x_i >= level.

This holds for every ``y``, so multipliers are rounded to a grid on which all the
arithmetic is exact, and the cut is valid whatever the tolerances of the solver. As in
networks, the room of primaries goes to the right-hand side and coefficients are cut
down to what is left there.

Levels are attacked in rounds, many at a time. The cuts of some levels depend on these
alone, not on what the solver did before: any worker may find them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.arrays import Long, Real
from evosdc.parallel import LazyPool
from evosdc.suppress.engine.base import MULTIPLIER_GRID, Cut, capacity_cut
from evosdc.suppress.engine.general.model import Move, Tight
from evosdc.suppress.engine.general.pool import make_knowledge
from evosdc.suppress.engine.general.solver import load_program
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import independent_equations, up_sets

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
# Cuts of a round at most. With half as many the relaxation is solved more often, with
# twice as many one cut less often serves several levels.
_CUTS_PER_ROUND = 60
# Levels that are attacked in vain after a cut, for each cut so far, before a round
# ends. At half of it rounds are short, at twice of it most programs find no cut.
_LEVELS_WITHOUT_CUT = 8
# Levels that one worker attacks at a time. Half as many are more messages, twice
# as many wait longer for the slowest worker.
_LEVELS_PER_TASK = 4
# Cells above which a task is one level: its programs take so long that who gave it must
# be able to stop in between. At half of it workers wait more, at twice of it a limit of
# time may be passed by some seconds.
_CELLS_OF_SLOW_PROGRAMS = 4000
# Tasks of the widest wave, whatever the number of workers. Half as many leave some of
# many workers idle, twice as many attack levels that the first cuts have settled.
_TASKS_A_WAVE = 16


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
class LevelBatch:
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

    def attack(self, batch: LevelBatch) -> AttackedLevels:
        """Attack some levels; the answer does not depend on earlier ones."""
        self._begin(batch.basis)
        found = [self._attack(level, batch.x) for level in batch.levels]
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
        # Of the cuts that are violated those are deep which require little of cells
        # that are not suppressed.
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
            # A warm basis can mislead the simplex method; solve once more from scratch.
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
    """Return the programs of a problem, loaded when they are used first."""
    if _LOADED not in problem.derived:
        problem.derived[_LOADED] = LevelPrograms(problem)
    found: LevelPrograms = problem.derived[_LOADED]
    return found


def attack_levels(problem: Problem, batch: LevelBatch) -> AttackedLevels:
    """Attack some levels: what any worker can do."""
    return programs_of(problem).attack(batch)


class AttackCuts:
    """Find the cuts that a fractional pattern violates.

    Parameters
    ----------
    pool
        Who attacks the levels: others too, where it takes long. Cuts are the same.
    """

    def __init__(self, problem: Problem, pool: LazyPool[Problem] | None = None) -> None:
        self._problem = problem
        self._pool = LazyPool(problem) if pool is None else pool
        self._programs = programs_of(problem)
        few = problem.hideable.sum() <= _CELLS_OF_SLOW_PROGRAMS
        self._size = _LEVELS_PER_TASK if few else 1
        self._public = _levels_of(problem)
        # In the order in which they are attacked next. Levels against other attackers
        # are added when a deviation that covers one for the public moves their cells.
        sums = (Level(*level) for level in problem.sum_levels)
        self._levels = [*self._public, *sums]
        self._listed: set[tuple[int, int, int]] = set()
        self._owners = make_knowledge(
            problem.attackers, len(problem.attackers), len(problem.table)
        )
        self._known: dict[Level, Move] = {}
        self._basis: Basis | None = None

    def first(self) -> Iterator[Cut]:
        """Yield the cuts of single equations: the row and column model, generalised."""
        return self._programs.first(self._public)

    def violated(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round ends after some cuts, since one cut often serves several levels, or when
        levels that are attacked after the first cut no longer give any: solving for a
        new `x` tells more. The next round begins with the levels that gave cuts and
        those that were not attacked. A round without cuts has attacked every level.
        Waves are of twice as many parts each time: often one cut is all that is wanted.
        """
        waiting, violated, covered = deque(self._levels), list[Level](), list[Level]()
        parts, since = 1, 0
        while waiting and len(violated) < _CUTS_PER_ROUND and not stopped():
            if violated and since > _LEVELS_WITHOUT_CUT * (1 + len(violated)):
                break
            wave: list[Level] = []
            while waiting and len(wave) < parts * self._size:
                level = waiting.popleft()
                if self._holds(level, x):
                    covered.append(level)
                    waiting += self._others(level)
                else:
                    wave.append(level)
            for level, cut in self._attack(wave, x, stopped):
                since += 1
                if cut is None:
                    covered.append(level)
                    waiting += self._others(level)
                else:
                    since = 0
                    violated.append(level)
                    yield cut
            done = {*covered, *violated}
            waiting.extendleft(reversed([lv for lv in wave if lv not in done]))
            parts = min(2 * parts, _TASKS_A_WAVE)
            self._levels = [*violated, *waiting, *covered]
        self._levels = [*violated, *waiting, *covered]

    def _attack(
        self, wave: list[Level], x: Real, stopped: Callable[[], bool]
    ) -> Iterator[tuple[Level, Cut | None]]:
        """Attack the levels of a wave, all from where the last wave ended."""
        batches = [
            LevelBatch(tuple(wave[k : k + self._size]), x, self._basis)
            for k in range(0, len(wave), self._size)
        ]
        answers = self._pool.each(attack_levels, batches, len(batches), stopped)
        for part, answer in zip(batches, answers, strict=False):
            self._basis = answer.basis
            for level, cut, deviation in zip(
                part.levels, answer.cuts, answer.deviations, strict=True
            ):
                if deviation is not None:
                    self._known[level] = deviation
                yield level, cut

    def _holds(self, level: Level, x: Real) -> bool:
        """Whether the last deviation of a level, or the public's, still covers it."""
        public = level._replace(attacker=0)
        for known in (self._known.get(level), self._known.get(public)):
            if known is not None and self._programs.holds(level, known, x):
                return True
        return False

    def _others(self, level: Level) -> list[Level]:
        """List a level against attackers whose cells its deviation moves, if new."""
        known = self._known.get(level)
        if known is None or level.attacker or len(level.cells) > 1:
            return []
        cell, (owners, found) = level.cells[0], (self._owners, list[Level]())
        for moved, by in zip(known.cells, known.by, strict=True):
            for entry in owners.entry[owners.first[moved] : owners.first[moved + 1]]:
                attacker = int(owners.attacker[entry])
                room = (owners.up if by > 0 else owners.down)[entry]
                key = cell, level.sign, attacker
                if abs(by) * level.amount <= room or key in self._listed:
                    continue
                self._listed.add(key)
                amount = self._problem.amount_against(
                    attacker, cell, level.sign, level.amount
                )
                if amount > 0:
                    found.append(Level((cell,), level.sign, amount, attacker))
        return found


def _levels_of(problem: Problem) -> list[Level]:
    """The levels of a problem against the public."""
    levels = problem.levels
    each = (levels.cell.tolist(), levels.sign.tolist(), levels.amount.tolist())
    return [Level((c,), s, a) for c, s, a in zip(*each, strict=True)]
