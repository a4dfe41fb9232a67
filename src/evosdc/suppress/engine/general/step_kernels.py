"""Numba kernel: a deviation in whole units, found by a walk over broken equations.

A cell is moved, which breaks its equations. One of these is drawn at a time and mended
by the cell that breaks the others least and costs least, until all hold (the walk of
Selman, Kautz and Cohen 1994 over clauses that are not satisfied). A walk takes
microseconds where a program over the table takes seconds, and its steps are whole: what
a vertex of a program shares out in fractions it hands on from cell to cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel

# Equations that are broken at once before a walk is given up. At half of it walks of
# four dimensions end early, at twice of it those that get nowhere take twice as long.
_MOST_BROKEN = 100
# Steps for which a moved cell stays as it is, at least and at most. Without it walks go
# to and fro; twice as many leave too few cells to mend an equation with.
_LEAST_HELD, _MORE_HELD = 3, 4
# How far chance may outdo what a cell mends and costs, in equations mended. Without it
# every walk is the same, at twice of it walks wander.
_NOISE = 1.0


class Steps(NamedTuple):
    """Equations with whole factors, room in whole units, and space to work in.

    Entries ``row_start[r]`` to ``row_start[r + 1]`` of `cell` and `factor` are equation
    `r`, those of `column_start`, `row` and `column_factor` a cell. `off`, `by` and
    `moved_at` are zero between calls, `place` is anything.
    """

    row_start: Long
    cell: Long
    factor: Long
    column_start: Long
    row: Long
    column_factor: Long
    up: Long
    down: Long
    off: Long
    by: Long
    moved_at: Long
    place: Long


@kernel(inner=True)
def _draw(state: int) -> int:
    """Return the next state of a linear congruential generator."""
    return (state * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF


@kernel(inner=True)
def _mending(
    at: Steps, row: int, cell: int, size: float, price: Real, now: int, state: int
) -> tuple[int, int, int]:
    """The cell that mends an equation best, how far it moves, and the next state."""
    best, best_by, least = -1, 0, np.inf
    held = _LEAST_HELD + (state >> 20) % _MORE_HELD
    for e in range(at.row_start[row], at.row_start[row + 1]):
        k = at.cell[e]
        if k == cell or not np.isfinite(price[k]):
            continue
        had = at.by[k]
        by = -at.off[row] * at.factor[e]
        by = min(by, at.up[k] - had) if by > 0 else max(by, -at.down[k] - had)
        if by == 0 or (had != 0 and now - at.moved_at[k] < held):
            continue
        worth = 0.0
        for f in range(at.column_start[k], at.column_start[k + 1]):
            before = at.off[at.row[f]]
            worth += (abs(before + at.column_factor[f] * by) - abs(before)) / size
        if had == 0:
            worth += price[k]
        elif had + by == 0:
            worth -= price[k]
        state = _draw(state)
        worth += _NOISE * ((state >> 33) & 0xFFFFF) / 1048576.0
        if worth < least:
            best, best_by, least = k, by, worth
    return best, best_by, state


@kernel
def whole_steps(
    at: Steps, cell: int, by: int, price: Real, tries: int, most: int, state: int
) -> tuple[Long, Long, int]:
    """Walk from the move of one cell to a deviation, in `tries` of `most` steps each.

    `price` is what moving a cell costs, in equations mended, infinite where it must
    stay. Returns the cells and how far they move, none where all tries fail, and the
    next state of the generator.
    """
    broken = np.empty(_MOST_BROKEN + 64, np.int64)
    touched = np.empty(most + 2, np.int64)
    cells, steps = np.empty(most + 2, np.int64), np.empty(most + 2, np.int64)
    size = float(abs(by))
    for _ in range(tries):
        count, many, c, way = 0, 0, cell, by
        found = False
        for now in range(1, most + 2):
            if at.moved_at[c] == 0:
                touched[many] = c
                many += 1
            at.by[c] += way
            at.moved_at[c] = now
            for f in range(at.column_start[c], at.column_start[c + 1]):
                r = at.row[f]
                before = at.off[r]
                after = before + at.column_factor[f] * way
                at.off[r] = after
                if before == 0 and after != 0:
                    if count < len(broken):
                        broken[count] = r
                        at.place[r] = count
                    count += 1
                elif before != 0 and after == 0:
                    count -= 1
                    if count < len(broken):
                        last = broken[count]
                        broken[at.place[r]] = last
                        at.place[last] = at.place[r]
            found = count == 0
            if found or count > _MOST_BROKEN:
                break
            state = _draw(state)
            row = broken[(state >> 33) % count]
            c, way, state = _mending(at, row, cell, size, price, now, state)
            if c < 0:
                break
        moved = 0
        for i in range(many):
            k = touched[i]
            if found and at.by[k] != 0:
                cells[moved], steps[moved] = k, at.by[k]
                moved += 1
            at.by[k] = at.moved_at[k] = 0
            for f in range(at.column_start[k], at.column_start[k + 1]):
                at.off[at.row[f]] = 0
        if found:
            return cells[:moved].copy(), steps[:moved].copy(), state
    return cells[:0].copy(), steps[:0].copy(), state
