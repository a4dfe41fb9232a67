"""Cuts of combined equations: what several equations say that none says alone.

Sums of equations are equations too. Where the sensitive cells of two cancel, their sum
has none, and a secondary must not stand alone in it either; and what a sensitive cell
rests on in a sum may be less than in each of its equations. A violated combination is
found greedily: the heaviest cell of an equation is got rid of by adding another
equation of that cell, and so on (aggregation, as Marchand and Wolsey 2001 do before
they round). That takes microseconds where the attacker's program takes milliseconds,
and finds most of what it would find, and bridges across planes besides.

Combinations are of whole numbers, so that what cancels is zero and every cut is valid.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long, Real
from evosdc.kernels import kernel
from evosdc.suppress.engine.cut import Cut, capacity_cut
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.subnetworks import moving_equations

# Adding up equations until what they say of one cell rests on little (kernels).
#
# The combination begins with an equation of the cell. Its heaviest other cell is got
# rid of by adding a multiple of another equation of that cell, the one that leaves the
# least weight, and so on for some steps. Only entries of size 1 are divided by, so that
# combinations of equations in whole numbers stay whole and sums that cancel are zero.

# Weight of a sensitive cell where it may not be there at all, and at most: infinite
# room could not be taken off again. A numerical bound: well above all other weights.
HEAVY = 1e6
# A combination is of use where this much of a level is missing: a tolerance.
SHORT = 1e-3
# Share by which adding an equation may make a combination heavier. At half of it more
# combinations end early, at twice of it longer ones rarely get lighter again.
_MOST_GROWTH = 0.5


class Sums(NamedTuple):
    """Equations of the cells that can move, how far these can, and a sum of equations.

    Attributes
    ----------
    start, cells, terms
        The equations by rows.
    cell_start, rows, cell_terms
        The same by cells.
    share
        To what extent each cell is hidden.
    by, met, is_met, used
        The sum at hand: its coefficients, the cells that it has met, its equations.
    served
        Cells that a sum was found for already.
    """

    start: Long
    cells: Long
    terms: Real
    cell_start: Long
    rows: Long
    cell_terms: Real
    share: Real
    primary: Flags
    up: Real
    down: Real
    by: Real
    met: Long
    is_met: Flags
    used: Long
    served: Flags


class Found(NamedTuple):
    """Combinations that are of use, one after the other."""

    start: Long
    cells: Long
    by: Real
    about: Long


@kernel(inner=True, borrows=True)
def _weight(by: float, scale: float, sums: Sums, i: int) -> float:
    """How far a cell lets the one move that the combination is about.

    Without a `scale` any hidden cell is enough. Otherwise it is that of a level:
    its room in units of the level, at most 1 unless the cell is sensitive.
    """
    if by == 0.0:
        return 0.0
    if scale == 0.0:
        return HEAVY if sums.primary[i] else sums.share[i]
    moves = by * scale
    room = moves * sums.up[i] if moves > 0 else -moves * sums.down[i]
    if sums.primary[i]:
        return min(room, HEAVY)
    return min(room, 1.0) * sums.share[i]


@kernel(inner=True, borrows=True)
def _heaviest(about: int, count: int, scale: float, sums: Sums) -> int:
    """The cell of a combination that weighs most, or -1."""
    best, most = -1, 1e-9
    for at in range(count):
        i = sums.met[at]
        if i == about:
            continue
        weight = _weight(sums.by[i], scale, sums, i)
        if weight > most:
            best, most = i, weight
    return best


@kernel(inner=True, borrows=True)
def _change(row: int, by: float, about: int, scale: float, sums: Sums) -> float:
    """How much heavier taking off a multiple of an equation makes a combination."""
    change = 0.0
    for at in range(sums.start[row], sums.start[row + 1]):
        i = sums.cells[at]
        if i == about:
            return np.inf
        now = sums.by[i]
        change += _weight(now - by * sums.terms[at], scale, sums, i)
        change -= _weight(now, scale, sums, i)
    return change


@kernel(inner=True, borrows=True)
def _take_off(row: int, by: float, count: int, sums: Sums) -> int:
    """Take off a multiple of an equation; return how many cells have been met."""
    for at in range(sums.start[row], sums.start[row + 1]):
        i = sums.cells[at]
        if not sums.is_met[i]:
            sums.is_met[i] = True
            sums.met[count] = i
            count += 1
        sums.by[i] -= by * sums.terms[at]
    return count


@kernel(inner=True, borrows=True)
def _combine(
    about: int, first: int, steps: int, level: float, sums: Sums
) -> tuple[int, float]:
    """Add up equations, beginning with one of a cell; return cells met and weight.

    `level` is what the cell must move by, up or down (negative); 0 asks only whether
    it can move at all.
    """
    count = _take_off(first, -1.0, 0, sums)
    scale = 0.0 if level == 0.0 else -1.0 / (sums.by[about] * level)
    needed = sums.share[about] if level == 0.0 else 1.0
    weight = 0.0
    for at in range(count):
        i = sums.met[at]
        if i != about:
            weight += _weight(sums.by[i], scale, sums, i)
    sums.used[0] = first
    for step in range(1, steps):
        if weight < needed - SHORT:
            break
        gone = _heaviest(about, count, scale, sums)
        if gone < 0:
            break
        best, least, best_by = -1, np.inf, 0.0
        for at in range(sums.cell_start[gone], sums.cell_start[gone + 1]):
            row, term = sums.rows[at], sums.cell_terms[at]
            if abs(term) != 1.0:
                continue
            used = False
            for before in range(step):
                used = used or sums.used[before] == row
            if used:
                continue
            by = sums.by[gone] / term
            change = _change(row, by, about, scale, sums)
            if change < least:
                best, least, best_by = row, change, by
        if best < 0 or (step > 1 and least > _MOST_GROWTH * weight):
            break
        count = _take_off(best, best_by, count, sums)
        sums.used[step] = best
        weight += least
    return count, weight


@kernel(inner=True, borrows=True)
def _clear(count: int, sums: Sums) -> None:
    for at in range(count):
        sums.by[sums.met[at]] = 0.0
        sums.is_met[sums.met[at]] = False


@kernel(borrows=True)
def combinations(
    about: Long, levels: Real, steps: int, sums: Sums, found: Found
) -> int:
    """Look for a combination for each cell and level; return how many there are.

    Of those that begin with the equations of a cell the lightest is kept. Without a
    level, one serves every cell in it that weighs more than all others together.
    """
    count, end = 0, 0
    sums.served[:] = False
    for number in range(len(about)):
        k, level = about[number], levels[number]
        if count + 1 >= len(found.start):
            break
        if sums.served[k] and level == 0.0:
            continue
        needed = sums.share[k] if level == 0.0 else 1.0
        best, size = needed - SHORT, 0
        for at in range(sums.cell_start[k], sums.cell_start[k + 1]):
            met, weight = _combine(k, sums.rows[at], steps, level, sums)
            if weight < best and end + met <= len(found.cells):
                best, size = weight, 0
                for place in range(met):
                    i = sums.met[place]
                    if sums.by[i] != 0.0:
                        found.cells[end + size] = i
                        found.by[end + size] = sums.by[i]
                        size += 1
            _clear(met, sums)
        if size == 0:
            continue
        found.about[count], found.start[count] = number, end
        count, end = count + 1, end + size
        found.start[count] = end
        if level == 0.0:
            for place in range(found.start[count - 1], end):
                i = found.cells[place]
                if 2.0 * sums.share[i] > best + sums.share[k] + SHORT:
                    sums.served[i] = True
    return count


# Equations in a combination at most. At half of it sums across planes are missed; the
# longer ones that twice as many allow hardly ever cut.
_MOST_EQUATIONS = 8
# Cells hidden by less than this share are not asked whether they can move: a tolerance.
_HIDDEN = 0.02
# Combinations of one round at most, and cells in all of them. With half of either a
# round leaves more to the next one; twice as many are mostly of use for one cell only.
_MOST_COMBINATIONS, _MOST_CELLS = 500, 100_000
# Size of an entry at most: larger ones might not add up exactly after so many steps.
_LARGEST_ENTRY = 50.0


class CombinedEquations:
    """Find the cuts of sums of equations that a fractional pattern violates."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._sums = _sums(problem)
        count = len(problem.cost)
        self._found = Found(
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
        found, sums = self._found, self._sums._replace(share=share)
        count = combinations(about, levels, _MOST_EQUATIONS, sums, found)
        for number in range(count):
            part = slice(*found.start[number : number + 2])
            yield int(found.about[number]), found.cells[part], found.by[part]

    def _bridges(self, share: Real) -> Iterator[Cut]:
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


def _sums(problem: Problem) -> Sums:
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
    count = len(problem.cost)
    return Sums(
        start=matrix.indptr.astype(np.int64),
        cells=matrix.indices.astype(np.int64),
        terms=np.asarray(matrix.data, dtype=np.float64),
        cell_start=columns.indptr.astype(np.int64),
        rows=columns.indices.astype(np.int64),
        cell_terms=np.asarray(columns.data, dtype=np.float64),
        share=np.zeros(count),
        primary=problem.primary,
        up=problem.up,
        down=problem.down,
        by=np.zeros(count),
        met=np.empty(count, dtype=np.int64),
        is_met=np.zeros(count, dtype=np.bool_),
        used=np.empty(_MOST_EQUATIONS, dtype=np.int64),
        served=np.zeros(count, dtype=np.bool_),
    )
