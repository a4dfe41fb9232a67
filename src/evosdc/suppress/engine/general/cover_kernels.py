"""Covering, cleaning up and rebuilding patterns by boxes, without a solver."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.general.box_kernels import (
    Boxwork,
    CodeGrid,
    Movable,
    cheapest_box,
)
from evosdc.suppress.engine.general.path_kernels import Pathwork, Planes, cheapest_cycle
from evosdc.suppress.engine.general.pool import (
    Pool,
    Rows,
    assign,
    claim,
    cover_row,
    in_use,
    put_back,
    release,
    rows_using,
    store,
)
from evosdc.suppress.structure.primitives import order_of

# Parts that a level may be split into, the share of what is left that each has at
# least, and the least share of the whole level. Twice as large shares pass over small
# cells, half as large ones (or half as many parts) run out of parts; both end in hiding
# a total. Measured in docs/notebook/large-tables.md.
MOST_PARTS = 24
PART = 1 / 8
LEAST_PART = 1 / 80


class Parts(NamedTuple):
    """Scratch space for deviations in several parts; `spot` is -1 between calls.

    ``most[0]`` is how many parts there may be.
    """

    most: Long
    at_once: Long
    spot: Long
    cells: Long
    by: Real
    up: Real
    down: Real
    fresh: Flags


class Trial(NamedTuple):
    """Scratch space of changes that may be undone; `marked` is False between calls.

    The demands that lost their witness and these, cells hidden and cells published.
    """

    rows: Long
    old: Long
    marked: Flags
    fresh: Long
    gone: Long


class CoverArrays(NamedTuple):
    """What never changes while patterns are built on a table.

    `price` is what hiding a cell costs, infinite where it may not be hidden. `off` is
    scratch space of zeros, one an equation; `cells` and `by` take the deviation found.
    """

    grid: CodeGrid
    work: Boxwork
    planes: Planes
    paths: Pathwork
    rows: Rows
    up: Real
    down: Real
    price: Real
    primary: Flags
    column_start: Long
    column_row: Long
    column_factor: Real
    off: Real
    cells: Long
    by: Real
    parts: Parts
    trial: Trial


@kernel(inner=True)
def _balanced(field: CoverArrays, size: int) -> bool:
    """Whether a deviation keeps every equation, links to other tables included."""
    off = field.off
    good = True
    for turn in range(3):
        for i in range(size):
            c = field.cells[i]
            for p in range(field.column_start[c], field.column_start[c + 1]):
                row = field.column_row[p]
                if turn == 0:
                    off[row] += field.column_factor[p] * field.by[i]
                elif turn == 1:
                    good = good and off[row] == 0.0
                else:
                    off[row] = 0.0
    return good


@kernel(inner=True)
def _take_down(field: CoverArrays, places: int, amount: float) -> int:
    """Turn the best places into cells and steps; 0 where an equation would break."""
    size = 0
    for i in range(places):
        c = field.grid.cell[field.work.best_place[i]]
        if c >= 0:
            field.cells[size] = c
            field.by[size] = float(field.work.best_way[i])
            size += 1
    if size > 0 and not _balanced(field, size):
        return 0
    for i in range(size):
        field.by[i] *= amount
    return size


@kernel(inner=True)
def _movable(field: CoverArrays, hidden: Flags, only_hidden: bool) -> Movable:
    """What may move; a kernel, so that a flag is of one type whoever passes it."""
    return Movable(field.up, field.down, field.price, hidden, only_hidden)


@kernel
def find_only_box(field: CoverArrays, cell: int, sign: int, amount: float) -> int:
    """Find the cheapest box; its cells are left in the field."""
    nothing = np.zeros(len(field.up), np.bool_)
    cells = _movable(field, nothing, False)
    places, _ = cheapest_box(field.grid, field.work, cell, sign, amount, cells, np.inf)
    return _take_down(field, places, amount)


@kernel(inner=True)
def _one_step(
    field: CoverArrays,
    hidden: Flags,
    row: int,
    amount: float,
    only_hidden: bool,
    bound: float,
) -> tuple[int, float]:
    """Find the cheapest box or cycle of one step size that costs less than a bound.

    Its cells are left in the field.
    """
    cell, sign = field.rows.cell[row], field.rows.sign[row]
    grid, work = field.grid, field.work
    cells = _movable(field, hidden, only_hidden)
    places, price = cheapest_box(grid, work, cell, sign, amount, cells, bound)
    if price > 0.0:
        longer, less = cheapest_cycle(
            grid, work, field.planes, field.paths, cell, sign, amount, cells, price
        )
        if longer > 0:
            size = _take_down(field, longer, amount)
            if size > 0:
                return size, less
            # Links to another table broke it: fall back on the box.
            places, price = cheapest_box(grid, work, cell, sign, amount, cells, bound)
    return _take_down(field, places, amount), price


@kernel(inner=True)
def _in_parts(
    field: CoverArrays, hidden: Flags, row: int, only_hidden: bool, limit: float
) -> int:
    """Move a cell by several boxes and cycles that together cost less than a limit.

    Each takes what the room of its cells allows, as augmenting paths do in a network;
    cells of one part are free for the next. Returns the number of cells, 0 for none;
    they are left in the field.
    """
    parts, up, down = field.parts, field.up, field.down
    amount = field.rows.amount[row]
    left, total, count, done = amount, 0.0, 0, False
    for _ in range(parts.most[0]):
        step = min(left, max(left * PART, amount * LEAST_PART))
        size, price = _one_step(field, hidden, row, step, only_hidden, limit - total)
        if size == 0 or count + size > len(parts.cells):
            break
        total += price
        push = left
        for i in range(size):
            c = field.cells[i]
            push = min(push, up[c] if field.by[i] > 0 else down[c])
        for i in range(size):
            c = field.cells[i]
            if parts.spot[c] < 0:
                parts.spot[c] = count
                parts.cells[count], parts.by[count] = c, 0.0
                parts.up[count], parts.down[count] = up[c], down[c]
                parts.fresh[count] = not hidden[c]
                count += 1
            moved = push if field.by[i] > 0 else -push
            parts.by[parts.spot[c]] += moved
            up[c] -= moved
            down[c] += moved
            hidden[c] = True
        left -= push
        if left <= 1e-12 * amount:
            done = True
            break
    size = 0
    for i in range(count):
        c = parts.cells[i]
        up[c], down[c] = parts.up[i], parts.down[i]
        parts.spot[c] = -1
        if parts.fresh[i]:
            hidden[c] = False
        if done and abs(parts.by[i]) > 1e-9 * amount and size < len(field.cells):
            field.cells[size], field.by[size] = c, parts.by[i]
            size += 1
    return size


@kernel(inner=True)
def find_move(field: CoverArrays, hidden: Flags, row: int, only_hidden: bool) -> int:
    """Find a cheap deviation for a demand; its cells are left in the field.

    Cells have the room that the attacker of the demand leaves them.
    """
    known, attacker = field.rows.knowledge, field.rows.attacker[row]
    if attacker == 0:
        return _find_public_move(field, hidden, row, only_hidden)
    begin, end = known.start[attacker], known.start[attacker + 1]
    for e in range(begin, end):
        c = known.cell[e]
        known.saved_up[e], known.saved_down[e] = field.up[c], field.down[c]
        if c != field.rows.cell[row]:
            field.up[c] = min(field.up[c], known.up[e])
            field.down[c] = min(field.down[c], known.down[e])
    size = _find_public_move(field, hidden, row, only_hidden)
    for e in range(begin, end):
        c = known.cell[e]
        field.up[c], field.down[c] = known.saved_up[e], known.saved_down[e]
    return size


@kernel(inner=True)
def _find_public_move(
    field: CoverArrays, hidden: Flags, row: int, only_hidden: bool
) -> int:
    """Find the cheapest box or cycle that carries the whole level of a demand.

    Or several that share it, where that is cheaper.
    """
    amount = field.rows.amount[row]
    whole, price = _one_step(field, hidden, row, amount, only_hidden, np.inf)
    if (whole > 0 and price == 0.0) or field.parts.most[0] == 0:
        return whole
    at_once = field.parts.at_once
    at_once[:whole] = field.cells[:whole]
    ways = np.sign(field.by[:whole])
    limit = price if whole > 0 else np.inf
    size = _in_parts(field, hidden, row, only_hidden, limit)
    if size > 0:
        return size
    field.cells[:whole] = at_once[:whole]
    field.by[:whole] = ways * amount
    return whole


@kernel(inner=True)
def _has_space(pool: Pool, field: CoverArrays) -> bool:
    free = len(pool.entry_cell) - pool.tally[1]
    return free > len(field.cells) and len(pool.begin) - pool.tally[0] > 1


@kernel
def cover_rows(
    field: CoverArrays,
    pool: Pool,
    hidden: Flags,
    order: Long,
    only_hidden: bool,
    failed: Long,
) -> tuple[int, int]:
    """Cover open demands in order, hiding what their boxes need.

    Returns how many of `order` were dealt with (fewer when the pool is full) and how
    many of them have no box; these are listed in `failed`.
    """
    misses = 0
    for i in range(len(order)):
        row = order[i]
        if pool.covered[row] or field.rows.amount[row] == 0.0:
            continue
        if not _has_space(pool, field):
            return i, misses
        size = find_move(field, hidden, row, only_hidden)
        if size == 0:
            failed[misses] = row
            misses += 1
            continue
        for j in range(size):
            hidden[field.cells[j]] = True
        number = store(pool, field.cells, field.by, size)
        claim(pool, field.rows, number, field.up, field.down, False)
        if not pool.covered[row]:
            assign(pool, row, number)
    return len(order), misses


@kernel(inner=True)
def _open(pool: Pool, trial: Trial, count: int) -> int:
    """Take the witnesses from demands; return how many the pool has before a trial."""
    for j in range(count):
        row = trial.rows[j]
        trial.marked[row] = False
        trial.old[j] = pool.witness[row]
        release(pool, row)
    return pool.tally[0]


@kernel(inner=True)
def _cover_again(field: CoverArrays, pool: Pool, row: int, size: int) -> bool:
    """Cover a demand by the deviation in the field; False if an attacker undoes it."""
    number = store(pool, field.cells, field.by, size)
    return cover_row(pool, field.rows, row, number, field.up, field.down)


@kernel
def drop_cells(field: CoverArrays, pool: Pool, hidden: Flags, cells: Long) -> int:
    """Publish the cells that no demand needs, in the order given.

    A cell in no witness goes free of charge; otherwise the demands that use it need new
    boxes among hidden cells. Returns how many cells were dealt with (fewer when the
    pool is full).
    """
    trial = field.trial
    for i in range(len(cells)):
        c = cells[i]
        if not hidden[c] or field.primary[c]:
            continue
        count = rows_using(pool, c, trial.rows, 0, trial.marked)
        hidden[c] = False
        witnesses = _open(pool, trial, count)
        # The largest level is the likeliest to fail, and what covers it may cover more.
        for j in order_of(-field.rows.amount[trial.rows[:count]]):
            row = trial.rows[j]
            if pool.covered[row] or field.rows.amount[row] == 0.0:
                continue
            full = not _has_space(pool, field)
            size = 0 if full else find_move(field, hidden, row, True)
            if size == 0 or not _cover_again(field, pool, row, size):
                put_back(pool, trial.rows, trial.old, count, witnesses)
                hidden[c] = True
                if full:
                    return i
                break
    return len(cells)


@kernel
def ruin(
    field: CoverArrays,
    pool: Pool,
    hidden: Flags,
    targets: Long,
    shuffle: Real,
    cost: Real,
) -> float:
    """Publish some cells, cover their demands again, keep it if it costs no more.

    `shuffle` gives the order in which demands are covered again; the field's prices
    steer the search, and `cost` decides. Returns the change of the cost, 0 where the
    old state was put back.
    """
    trial, gone, fresh = field.trial, field.trial.gone, field.trial.fresh
    count, lost, added, change = 0, 0, 0, 0.0
    for i in range(len(targets)):
        c = targets[i]
        if hidden[c] and not field.primary[c]:
            hidden[c] = False
            gone[lost] = c
            lost += 1
            change -= cost[c]
            count = rows_using(pool, c, trial.rows, count, trial.marked)
    witnesses = _open(pool, trial, count)
    # Cells that only these demands used are free to go before anything is rebuilt.
    for j in range(count):
        begin = pool.begin[trial.old[j]]
        for entry in range(begin, begin + pool.length[trial.old[j]]):
            c = pool.entry_cell[entry]
            if hidden[c] and not field.primary[c] and not in_use(pool, c):
                hidden[c] = False
                gone[lost] = c
                lost += 1
                change -= cost[c]
    keep = True
    for j in order_of(shuffle[:count]):
        row = trial.rows[j]
        if pool.covered[row] or field.rows.amount[row] == 0.0:
            continue
        size = find_move(field, hidden, row, False) if _has_space(pool, field) else 0
        if size == 0:
            keep = False
            break
        for i in range(size):
            c = field.cells[i]
            if not hidden[c]:
                hidden[c] = True
                fresh[added] = c
                added += 1
                change += cost[c]
        if change > 1e-9 or not _cover_again(field, pool, row, size):
            keep = False
            break
    if keep:
        return change
    put_back(pool, trial.rows, trial.old, count, witnesses)
    for i in range(added):
        hidden[fresh[i]] = False
    for i in range(lost):
        hidden[gone[i]] = True
    return 0.0
