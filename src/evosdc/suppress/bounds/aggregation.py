"""Bridgeless rows and cuts of combined equations, found without a program.

A secondary that is the only hidden cell of an equation is worked out from it, cannot
move, and may as well be published. So among the cheapest safe patterns there is one in
which, for each equation without a sensitive cell and each cell i of it,

    x_i <= the sum of the other x of the equation

(Fischetti and Salazar 2001 use the same rows). On tables of three dimensions and
hierarchies they are worth more than all other cuts.

Sums of equations are equations too. Where the sensitive cells of two cancel, their sum
has none, and a secondary must not stand alone in it either; and what a sensitive cell
rests on in a sum may be less than in each of its equations. A violated combination is
found greedily: the heaviest cell of an equation is eliminated by adding another
equation of that cell, and so on (aggregation, as Marchand and Wolsey 2001 do before
they round). That takes microseconds where the attacker's program takes milliseconds,
and finds most of what it would find, and bridges across planes besides. Combinations
are of whole numbers, so that what cancels is zero and every cut is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.bounds.planes import moving_equations
from evosdc.suppress.engine.base import Cut, capacity_cut
from evosdc.suppress.problem.problem import Problem

# Rows added in one round at most, the most violated first. With half as many there are
# more rounds, with twice as many relaxations of more rows that do not bind.
_MOST_ROWS = 2000
# A row is violated where a cell is hidden by this much more than the others: tolerance.
_VIOLATED = 1e-4
# Weight of a sensitive cell where it may not be there at all, and at most: infinite
# room could not be taken off again. A numerical bound: well above all other weights.
HEAVY = 1e6
# A combination is of use where this much of a level is missing: a tolerance.
SHORT = 1e-3
# Share by which adding an equation may make a combination heavier. At half of it more
# combinations end early, at twice of it longer ones rarely get lighter again.
_MOST_GROWTH = 0.5
# Equations in a combination at most. At half of it sums across planes are missed; the
# longer ones that twice as many allow hardly ever cut.
_MOST_EQUATIONS = 8
# Cells hidden by less than this share are not tested for whether they can move: a
# tolerance.
_MIN_SHARE_HIDDEN = 0.02
# Combinations of one round at most, and cells in all of them. With half of either a
# round leaves more to the next one; twice as many are mostly of use for one cell only.
_MOST_COMBINATIONS, _MOST_CELLS = 500, 100_000
# Size of an entry at most: larger ones might not add up exactly after so many steps.
_LARGEST_ENTRY = 50.0


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
        own_x = x[self._cell]
        total = np.bincount(self._row, weights=own_x, minlength=self._equations)
        excess = 2.0 * own_x - total[self._row]
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

    A sliding level has no direction, so no cut of one direction holds for it; but
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


# Adding up equations until what they say of one cell rests on little (kernels).
#
# The combination begins with an equation of the cell. Its heaviest other cell is got
# rid of by adding a multiple of another equation of that cell, the one that leaves the
# least weight, and so on for some steps. Only entries of size 1 are divided by, so that
# combinations of equations in whole numbers stay whole and sums that cancel are zero.


class MovableEquations(NamedTuple):
    """Equations by rows and by columns, of the cells that can move."""

    start: Long
    cells: Long
    terms: Real
    cell_start: Long
    rows: Long
    cell_terms: Real


class MovableCells(NamedTuple):
    """To what extent cells are hidden, and how far they can move."""

    share: Real
    primary: Flags
    up: Real
    down: Real


class Scratch(NamedTuple):
    """The combination at hand: coefficients, the cells it has met, its equations.

    `served` cells have a combination already.
    """

    by: Real
    met: Long
    is_met: Flags
    used: Long
    served: Flags


class Combinations(NamedTuple):
    """Combinations that are of use, one after the other."""

    start: Long
    cells: Long
    by: Real
    about: Long


@kernel(inner=True, borrows=True)
def _weight(by: float, scale: float, cells: MovableCells, i: int) -> float:
    """How far a cell lets the one move that the combination is about.

    Without a `scale` any hidden cell is enough. Otherwise it is that of a level:
    its room in units of the level, at most 1 unless the cell is sensitive.
    """
    if by == 0.0:
        return 0.0
    if scale == 0.0:
        return HEAVY if cells.primary[i] else cells.share[i]
    moves = by * scale
    room = moves * cells.up[i] if moves > 0 else -moves * cells.down[i]
    if cells.primary[i]:
        return min(room, HEAVY)
    return min(room, 1.0) * cells.share[i]


@kernel(inner=True, borrows=True)
def _heaviest(
    about: int, count: int, scale: float, cells: MovableCells, scratch: Scratch
) -> int:
    """The cell of a combination that weighs most, or -1."""
    best, most = -1, 1e-9
    for at in range(count):
        i = scratch.met[at]
        if i == about:
            continue
        weight = _weight(scratch.by[i], scale, cells, i)
        if weight > most:
            best, most = i, weight
    return best


@kernel(inner=True, borrows=True)
def _change(
    row: int,
    by: float,
    about: int,
    scale: float,
    equations: MovableEquations,
    cells: MovableCells,
    scratch: Scratch,
) -> float:
    """How much heavier taking off a multiple of an equation makes a combination."""
    change = 0.0
    for at in range(equations.start[row], equations.start[row + 1]):
        i = equations.cells[at]
        if i == about:
            return np.inf
        now = scratch.by[i]
        change += _weight(now - by * equations.terms[at], scale, cells, i)
        change -= _weight(now, scale, cells, i)
    return change


@kernel(inner=True, borrows=True)
def _take_off(
    row: int, by: float, count: int, equations: MovableEquations, scratch: Scratch
) -> int:
    """Take off a multiple of an equation; return how many cells have been met."""
    for at in range(equations.start[row], equations.start[row + 1]):
        i = equations.cells[at]
        if not scratch.is_met[i]:
            scratch.is_met[i] = True
            scratch.met[count] = i
            count += 1
        scratch.by[i] -= by * equations.terms[at]
    return count


@kernel(inner=True, borrows=True)
def _combine(
    about: int,
    first: int,
    steps: int,
    level: float,
    equations: MovableEquations,
    cells: MovableCells,
    scratch: Scratch,
) -> tuple[int, float]:
    """Add up equations, beginning with one of a cell; return cells met and weight.

    `level` is what the cell must move by, up or down (negative); 0 tests only whether
    it can move at all.
    """
    count = _take_off(first, -1.0, 0, equations, scratch)
    scale = 0.0 if level == 0.0 else -1.0 / (scratch.by[about] * level)
    needed = cells.share[about] if level == 0.0 else 1.0
    weight = 0.0
    for at in range(count):
        i = scratch.met[at]
        if i != about:
            weight += _weight(scratch.by[i], scale, cells, i)
    scratch.used[0] = first
    for step in range(1, steps):
        if weight < needed - SHORT:
            break
        gone = _heaviest(about, count, scale, cells, scratch)
        if gone < 0:
            break
        best, least, best_by = -1, np.inf, 0.0
        for at in range(equations.cell_start[gone], equations.cell_start[gone + 1]):
            row, term = equations.rows[at], equations.cell_terms[at]
            if abs(term) != 1.0:
                continue
            used = False
            for before in range(step):
                used = used or scratch.used[before] == row
            if used:
                continue
            by = scratch.by[gone] / term
            change = _change(row, by, about, scale, equations, cells, scratch)
            if change < least:
                best, least, best_by = row, change, by
        if best < 0 or (step > 1 and least > _MOST_GROWTH * weight):
            break
        count = _take_off(best, best_by, count, equations, scratch)
        scratch.used[step] = best
        weight += least
    return count, weight


@kernel(inner=True, borrows=True)
def _clear(count: int, scratch: Scratch) -> None:
    for at in range(count):
        scratch.by[scratch.met[at]] = 0.0
        scratch.is_met[scratch.met[at]] = False


@kernel(borrows=True)
def combinations(
    about: Long,
    levels: Real,
    steps: int,
    equations: MovableEquations,
    cells: MovableCells,
    scratch: Scratch,
    found: Combinations,
) -> int:
    """Look for a combination for each cell and level; return how many there are.

    Of those that begin with the equations of a cell the lightest is kept. Without a
    level, one serves every cell in it that weighs more than all others together.
    """
    count, end = 0, 0
    scratch.served[:] = False
    for number in range(len(about)):
        k, level = about[number], levels[number]
        if count + 1 >= len(found.start):
            break
        if scratch.served[k] and level == 0.0:
            continue
        needed = cells.share[k] if level == 0.0 else 1.0
        best, size = needed - SHORT, 0
        for at in range(equations.cell_start[k], equations.cell_start[k + 1]):
            met, weight = _combine(
                k, equations.rows[at], steps, level, equations, cells, scratch
            )
            if weight < best and end + met <= len(found.cells):
                best, size = weight, 0
                for place in range(met):
                    i = scratch.met[place]
                    if scratch.by[i] != 0.0:
                        found.cells[end + size] = i
                        found.by[end + size] = scratch.by[i]
                        size += 1
            _clear(met, scratch)
        if size == 0:
            continue
        found.about[count], found.start[count] = number, end
        count, end = count + 1, end + size
        found.start[count] = end
        if level == 0.0:
            for place in range(found.start[count - 1], end):
                i = found.cells[place]
                if 2.0 * cells.share[i] > best + cells.share[k] + SHORT:
                    scratch.served[i] = True
    return count


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
            np.empty(_MOST_EQUATIONS, dtype=np.int64),
            np.zeros(count, dtype=np.bool_),
        )
        self._found = Combinations(
            np.zeros(_MOST_COMBINATIONS + 1, dtype=np.int64),
            np.empty(max(_MOST_CELLS, 2 * count), dtype=np.int64),
            np.empty(max(_MOST_CELLS, 2 * count)),
            np.empty(_MOST_COMBINATIONS, dtype=np.int64),
        )
        self._next = 0  # the level to begin with: a round may end before the last

    def violated(self, x: Real) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate."""
        primary = self._problem.primary
        share = np.where(self._problem.hideable, np.clip(x, 0.0, 1.0), 0.0)
        share[primary] = 1.0
        yield from self._bridges(share)
        yield from self._levels(share)

    def _combinations(
        self, share: Real, about: Long, levels: Real
    ) -> Iterator[tuple[int, Long, Real]]:
        """Yield the number of a question, and cells and terms of its combination."""
        problem, found = self._problem, self._found
        cells = MovableCells(share, problem.primary, problem.up, problem.down)
        count = combinations(
            about, levels, _MOST_EQUATIONS, self._equations, cells, self._scratch, found
        )
        for number in range(count):
            part = slice(*found.start[number : number + 2])
            yield int(found.about[number]), found.cells[part], found.by[part]

    def _bridges(self, share: Real) -> Iterator[Cut]:
        """Yield rows in which a secondary stands almost alone."""
        open_cells = (share > _MIN_SHARE_HIDDEN) & ~self._problem.primary
        about = np.flatnonzero(open_cells)
        about = about[np.argsort(-share[about], kind="stable")]
        for _, cells, _ in self._combinations(share, about, np.zeros(len(about))):
            excess = 2.0 * share[cells] - float(share[cells].sum())
            for alone in np.flatnonzero(excess > SHORT).tolist():
                coefficients = np.ones(len(cells))
                coefficients[alone] = -1.0
                yield Cut(cells.copy(), coefficients, 0.0)

    def _levels(self, share: Real) -> Iterator[Cut]:
        """Yield combinations in which too little lets a sensitive cell move."""
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
            cut = capacity_cut(cells, terms, problem.primary[cells], SHORT)
            if cut is not None:
                yield cut
        self._next = (last + 1) % len(levels)


def _equations(problem: Problem) -> MovableEquations:
    """Return the equations in whole numbers, without cells that cannot move."""
    matrix = moving_equations(problem)
    exact = (matrix.data == np.rint(matrix.data)) & (
        np.abs(matrix.data) <= _LARGEST_ENTRY
    )
    broken = np.zeros(matrix.shape[0], dtype=bool)
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    broken[rows[~exact]] = True
    matrix = sparse.csr_array(matrix[~broken])
    columns = sparse.csc_array(matrix)
    return MovableEquations(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        np.asarray(matrix.data, dtype=np.float64),
        columns.indptr.astype(np.int64),
        columns.indices.astype(np.int64),
        np.asarray(columns.data, dtype=np.float64),
    )
