"""The cheapest box through a cell, as a compiled search.

In one dimension, raising a leaf code raises every code above it; lowering another leaf
at the same time undoes that from their common total upwards. One such vector for each
dimension, multiplied, gives a deviation of the whole table that keeps every equation:
in a flat table the corners of a box, opposite in sign along each edge.

The search goes dimension by dimension, cheapest vectors first, and leaves a branch as
soon as its cells cost as much as the best box: costs only add up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.structure.primitives import order_of

# What stands on a place of the grid that is no cell of the table.
ABSENT = -1
EMPTY = -2
# Leaves tried below a code that is a total itself, the cheapest. At half of it boxes of
# totals cost more, at twice of it searches of them list twice as many vectors.
MOST_BELOW = 6
# Branches of one search at most; what was found until then is taken. Hardly any search
# gets there: at half or twice of it only tables of many dimensions would differ.
MOST_STEPS = 300_000


class CodeGrid(NamedTuple):
    """The cells of a labelled table on the grid of all combinations of its codes.

    Attributes
    ----------
    cell
        The cell on each place, `ABSENT` (not asked about) or `EMPTY` (known zero).
    place
        The place of each cell.
    stride, size
        Of each dimension.
    first
        Where the codes of each dimension begin in `parent` and `leaf`.
    parent
        The code above each code, -1 for the total.
    """

    cell: Long
    place: Long
    stride: Long
    size: Long
    first: Long
    parent: Long
    leaf: Flags


class Boxwork(NamedTuple):
    """Scratch space of one search; nothing in it outlives a call."""

    rise: Real
    fall: Real
    rank: Long
    climb: Real
    ways_cost: Real
    below: Long
    beside: Long
    listed: Long
    order: Long
    turn: Long
    partial: Real
    rest: Real
    entry: Long
    entry_sign: Long
    place: Long
    way: Long
    length: Long
    best_place: Long
    best_way: Long


class Movable(NamedTuple):
    """Room of the cells both ways, what hiding each costs, and which are hidden.

    With `only_hidden` no other cell may move.
    """

    up: Real
    down: Real
    cost: Real
    hidden: Flags
    only_hidden: bool


@kernel(inner=True, borrows=True)
def price_of(cells: Movable, cell: int, way: int, amount: float) -> float:
    """What moving the cell on a place costs; infinite where it cannot."""
    if cell == ABSENT:
        return 0.0
    if cell == EMPTY:
        return np.inf
    if (cells.up[cell] if way > 0 else cells.down[cell]) < amount:
        return np.inf
    if cells.hidden[cell]:
        return 0.0
    return np.inf if cells.only_hidden else cells.cost[cell]


@kernel(inner=True)
def _list_vectors(
    grid: CodeGrid,
    work: Boxwork,
    k: int,
    place: int,
    way: int,
    amount: float,
    cells: Movable,
) -> None:
    """List the vectors of a dimension that raise the cell's code, cheapest first.

    A vector is a leaf at or below the code that rises and a leaf elsewhere that falls
    (or none: then every code above rises too).
    """
    size, first, stride = grid.size[k], grid.first[k], grid.stride[k]
    own = (place // stride) % size
    base = place - own * stride
    rise, fall, rank = work.rise, work.fall, work.rank
    for code in range(size):
        cell = grid.cell[base + code * stride]
        rise[code] = price_of(cells, cell, way, amount)
        fall[code] = price_of(cells, cell, -way, amount)
        rank[code] = -1
    # rank: steps above the code; climb: what raising the codes strictly between costs.
    code, steps, total = own, 0, 0.0
    while code >= 0:
        rank[code] = steps
        work.climb[steps] = total
        if steps > 0:
            total += rise[code]
        steps += 1
        code = grid.parent[first + code]
    whole = total
    # Leaves below the code, the cheapest few.
    found = 0
    lowest = np.empty(MOST_BELOW)
    leaves = np.empty(MOST_BELOW, np.int64)
    if grid.leaf[first + own]:
        lowest[0], leaves[0], found = 0.0, own, 1
    else:
        for code in range(own + 1, size):
            if not grid.leaf[first + code]:
                continue
            at, total = code, 0.0
            while at >= 0 and rank[at] < 0:
                total += rise[at]
                at = grid.parent[first + at]
            if at != own or not np.isfinite(total):
                continue
            spot = found if found < MOST_BELOW else MOST_BELOW - 1
            if found == MOST_BELOW and total >= lowest[spot]:
                continue
            while spot > 0 and lowest[spot - 1] > total:
                lowest[spot], leaves[spot] = lowest[spot - 1], leaves[spot - 1]
                spot -= 1
            lowest[spot], leaves[spot] = total, code
            found = min(found + 1, MOST_BELOW)
    count, most = 0, work.below.shape[1]
    if found > 0:
        for b in range(-1, size):
            if b < 0:
                total = whole
            else:
                if not grid.leaf[first + b]:
                    continue
                at, total = b, 0.0
                while rank[at] < 0:
                    total += fall[at]
                    at = grid.parent[first + at]
                if rank[at] == 0:
                    continue
                total += work.climb[rank[at]]
            if not np.isfinite(total):
                continue
            for a in range(found):
                if count == most:
                    break
                work.ways_cost[k, count] = total + lowest[a]
                work.below[k, count] = leaves[a]
                work.beside[k, count] = b
                count += 1
    work.listed[k] = count
    if count > 0:
        work.order[k, :count] = order_of(work.ways_cost[k, :count])


@kernel(inner=True, borrows=True)
def list_entries(grid: CodeGrid, work: Boxwork, k: int, own: int, vector: int) -> int:
    """Write down the codes of a vector other than the cell's own, with their signs."""
    first, parent = grid.first[k], grid.parent
    a, b = work.below[k, vector], work.beside[k, vector]
    n = 0
    at = a
    while at != own:
        work.entry[k, n], work.entry_sign[k, n] = at, 1
        n += 1
        at = parent[first + at]
    top = -1
    if b >= 0:
        at = b
        while True:
            top = own
            while top >= 0 and top != at:
                top = parent[first + top]
            if top == at:
                break
            work.entry[k, n], work.entry_sign[k, n] = at, -1
            n += 1
            at = parent[first + at]
    at = parent[first + own]
    while at != top and at >= 0:
        work.entry[k, n], work.entry_sign[k, n] = at, 1
        n += 1
        at = parent[first + at]
    return n


@kernel(inner=True)
def cheapest_box(
    grid: CodeGrid,
    work: Boxwork,
    target: int,
    sign: int,
    amount: float,
    cells: Movable,
    bound: float,
) -> tuple[int, float]:
    """Find the cheapest box that moves a cell one way and costs less than a bound.

    Returns its number of places (0 for none) and its cost, the bound for none; the
    places and directions are in ``work.best_place`` and ``work.best_way``.
    """
    n = len(grid.size)
    place = grid.place[target]
    for k in range(n):
        _list_vectors(grid, work, k, place, sign, amount, cells)
    for k in range(n):
        if work.listed[k] == 0:
            return 0, bound
    work.rest[n - 1] = 0.0
    for k in range(n - 2, -1, -1):
        least = work.ways_cost[k + 1, work.order[k + 1, 0]]
        work.rest[k] = work.rest[k + 1] + least
    best, found = bound, 0
    work.place[0, 0], work.way[0, 0] = place, sign
    work.length[0], work.partial[0], work.turn[0] = 1, 0.0, 0
    k, steps = 0, 0
    while k >= 0:
        steps += 1
        if work.turn[k] >= work.listed[k] or steps > MOST_STEPS:
            k -= 1
            continue
        vector = work.order[k, work.turn[k]]
        work.turn[k] += 1
        line = work.ways_cost[k, vector]
        if work.partial[k] + line + work.rest[k] >= best:
            k -= 1
            continue
        own = (place // grid.stride[k]) % grid.size[k]
        entries = list_entries(grid, work, k, own, vector)
        total, size = work.partial[k], work.length[k]
        limit = best - work.rest[k]
        for i in range(size):
            work.place[k + 1, i] = work.place[k, i]
            work.way[k + 1, i] = work.way[k, i]
        for i in range(work.length[k]):
            for e in range(entries):
                spot = work.place[k, i] + (work.entry[k, e] - own) * grid.stride[k]
                way = work.way[k, i] * work.entry_sign[k, e]
                total += price_of(cells, grid.cell[spot], way, amount)
                work.place[k + 1, size] = spot
                work.way[k + 1, size] = way
                size += 1
            if total >= limit:
                break
        if total >= limit:
            continue
        if k == n - 1:
            best, found = total, size
            for i in range(size):
                work.best_place[i] = work.place[k + 1, i]
                work.best_way[i] = work.way[k + 1, i]
        else:
            k += 1
            work.length[k], work.partial[k], work.turn[k] = size, total, 0
    return found, best
