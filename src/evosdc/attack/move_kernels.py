"""Numba kernels on general tables: small moves among hidden cells, and neighbourhoods.

A small move changes a few cells by the same amount, up or down, so that every equation
still holds: rectangles in two dimensions, cubes in three, and similar sets of cells of
any other equations.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_MAX_UNBALANCED = 14  # equations out of balance at once before a try is given up
_MAX_CELLS = 32  # of a small move


@kernel(inner=True)
def _draw(state: int) -> int:
    """Return the next state of a linear congruential generator, which breaks ties."""
    return (state * 6364136223846793005 + 1442695040888963407) & 0x7FFFFFFFFFFFFFFF


@kernel(inner=True)
def _best_step(
    broken: Ints,
    count: int,
    off: Ints,
    moved: Ints,
    amount: float,
    prefer_slack: bool,
    rp: Ints,
    ri: Ints,
    rx: Ints,
    cp: Ints,
    ci: Ints,
    cx: Ints,
    up: Floats,
    down: Floats,
    state: int,
) -> tuple[int, int, int]:
    """Choose the cell whose move reduces the imbalance most; ties broken at random.

    `prefer_slack` prefers cells with room in both directions: these have large
    neighbours, which the moves of a large cell need.
    """
    best, best_way, best_gain, ties = -1, 0, 1_000_000, 0
    for b in range(count):
        row = broken[b]
        for e in range(rp[row], rp[row + 1]):
            c = ri[e]
            if moved[c] != 0:
                continue
            way = -1 if off[row] * rx[e] > 0 else 1
            if (up[c] if way > 0 else down[c]) < amount:
                continue
            gain = 1 if prefer_slack and min(up[c], down[c]) < amount else 0
            for f in range(cp[c], cp[c + 1]):
                before = off[ci[f]]
                gain += 2 * (abs(before + cx[f] * way) - abs(before))
            if gain < best_gain:
                best, best_way, best_gain, ties = c, way, gain, 1
            elif gain == best_gain:
                ties += 1
                state = _draw(state)
                if (state >> 33) % ties == 0:
                    best, best_way = c, way
    return best, best_way, state


@kernel(inner=True)
def small_move(
    cell: int,
    sign: int,
    amount: float,
    tries: int,
    rp: Ints,
    ri: Ints,
    rx: Ints,
    cp: Ints,
    ci: Ints,
    cx: Ints,
    up: Floats,
    down: Floats,
    off: Ints,
    moved: Ints,
    state: int,
) -> tuple[int, Ints, Ints, int]:
    """Look for a small move of one cell.

    Greedy: move the cell that most reduces the imbalance of equations, repeatedly.
    Returns the number of cells moved (0 for none), the cells and their directions.
    `off` and `moved` are scratch arrays, zero before and after.
    """
    cells = np.empty(_MAX_CELLS, np.int64)
    ways = np.empty(_MAX_CELLS, np.int64)
    broken = np.empty(_MAX_UNBALANCED + 16, np.int64)
    for attempt in range(tries):
        size, count = 0, 0
        c, way = cell, sign
        while True:
            cells[size] = c
            ways[size] = way
            size += 1
            moved[c] = way
            for f in range(cp[c], cp[c + 1]):
                row = ci[f]
                before = off[row]
                off[row] = before + cx[f] * way
                if before == 0 and count < len(broken):
                    broken[count] = row
                    count += 1
            kept = 0
            for b in range(count):
                if off[broken[b]] != 0:
                    broken[kept] = broken[b]
                    kept += 1
            count = kept
            if count == 0 or count > _MAX_UNBALANCED or size == _MAX_CELLS:
                break
            c, way, state = _best_step(
                broken, count, off, moved, amount, attempt % 2 == 0,
                rp, ri, rx, cp, ci, cx, up, down, state,
            )  # fmt: skip
            if c < 0:
                break
        balanced = count == 0
        for i in range(size):
            moved[cells[i]] = 0
            for f in range(cp[cells[i]], cp[cells[i] + 1]):
                off[ci[f]] = 0
        if balanced:
            return size, cells, ways, state
    return 0, cells, ways, state


@kernel
def small_moves(
    cells: Ints,
    signs: Ints,
    amounts: Floats,
    tries: int,
    rp: Ints,
    ri: Ints,
    rx: Ints,
    cp: Ints,
    ci: Ints,
    cx: Ints,
    up: Floats,
    down: Floats,
    seed: int,
) -> tuple[Ints, Ints, Ints]:
    """Look for a small move for each cell of a list, largest amounts first.

    A cell is left out when an earlier move covers it. Returns the size of each move (0
    for none) and the concatenated cells and directions of all moves.
    """
    n, m = len(cp) - 1, len(rp) - 1
    off = np.zeros(m, np.int64)
    moved = np.zeros(n, np.int64)
    far_up, far_down = np.zeros(n), np.zeros(n)
    sizes = np.zeros(len(cells), np.int64)
    space = 8 * len(cells) + _MAX_CELLS
    all_cells, all_ways = np.empty(space, np.int64), np.empty(space, np.int64)
    used = 0
    state = np.int64(seed)
    for i in range(len(cells)):
        k = cells[i]
        if (far_up[k] if signs[i] > 0 else far_down[k]) >= amounts[i]:
            continue
        size, moved_cells, ways, state = small_move(
            k, signs[i], amounts[i], tries, rp, ri, rx, cp, ci, cx,
            up, down, off, moved, state,
        )  # fmt: skip
        sizes[i] = size
        if used + size > len(all_cells):
            more = np.empty(2 * len(all_cells), np.int64)
            more[:used] = all_cells[:used]
            all_cells = more
            more = np.empty(2 * len(all_ways), np.int64)
            more[:used] = all_ways[:used]
            all_ways = more
        for j in range(size):
            c = moved_cells[j]
            all_cells[used] = c
            all_ways[used] = ways[j]
            used += 1
            if ways[j] > 0:
                far_up[c] = max(far_up[c], amounts[i])
            else:
                far_down[c] = max(far_down[c], amounts[i])
    return sizes, all_cells[:used], all_ways[:used]


@kernel
def neighbourhood(
    cell: int,
    branch: int,
    limit: int,
    rp: Ints,
    ri: Ints,
    cp: Ints,
    ci: Ints,
    freedom: Floats,
    up: Floats,
    down: Floats,
    amount: float,
    touched: Ints,
    inside: Ints,
) -> Ints:
    """Grow a set of cells around one cell that can move among themselves.

    Each equation of the cell adds its `branch` best cells, those with most room for the
    amount and most others to move with; then every cell is added that has no new
    equation, or only one while it is in two known ones. In a table of dimensions this
    is a sub-table. `touched` and `inside` are scratch arrays, zero before and after.
    """
    found = np.empty(limit, np.int64)
    rows = np.empty(len(rp), np.int64)
    size, known = 1, 0
    found[0] = cell
    inside[cell] = 1
    for f in range(cp[cell], cp[cell + 1]):
        touched[ci[f]] = 1
        rows[known] = ci[f]
        known += 1
    for r in range(known):
        row = rows[r]
        for _ in range(branch):
            best, most = -1, 0.0
            for e in range(rp[row], rp[row + 1]):
                c = ri[e]
                if inside[c] != 0:
                    continue
                worth = freedom[c] * (
                    min(1.0, up[c] / amount) + min(1.0, down[c] / amount)
                )
                if best < 0 or worth > most:
                    best, most = c, worth
            if best < 0 or size == limit:
                break
            inside[best] = 1
            found[size] = best
            size += 1
    done = 0
    while size < limit:
        for i in range(done, size):
            for f in range(cp[found[i]], cp[found[i] + 1]):
                if touched[ci[f]] == 0:
                    touched[ci[f]] = 1
                    rows[known] = ci[f]
                    known += 1
        done = size
        for r in range(known):
            row = rows[r]
            for e in range(rp[row], rp[row + 1]):
                c = ri[e]
                if inside[c] != 0 or size == limit:
                    continue
                new, old = 0, 0
                for f in range(cp[c], cp[c + 1]):
                    if touched[ci[f]] == 0:
                        new += 1
                    else:
                        old += 1
                if new == 0 or (new == 1 and old >= 2):
                    inside[c] = 1
                    found[size] = c
                    size += 1
        if size == done:
            break
    for i in range(size):
        inside[found[i]] = 0
    for r in range(known):
        touched[rows[r]] = 0
    return found[:size]
