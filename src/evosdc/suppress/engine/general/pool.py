"""Witnesses in plain arrays: which deviation covers which demand, who uses which cell.

A deviation stays a witness as long as all its cells are hidden, so taking a cell out of
a pattern puts in doubt only the demands whose witness uses it.

An *entry* is one cell of one witness. The entries of a cell are a list, newest first:
what was stored last can be taken back by popping. A witness that covers nothing any
more stays in the lists and is passed over (``users[witness] == 0``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Rounding in a product of two numbers; a level missed by this share is reached.
ROUNDING = 1e-12


class Rows(NamedTuple):
    """Demands: `cell` must be movable by `amount` in direction `sign`.

    `up_row` and `down_row` hold the demand of each cell of the table, or -1.
    """

    cell: Ints
    sign: Ints
    amount: Floats
    up_row: Ints
    down_row: Ints


class Pool(NamedTuple):
    """The witnesses; ``tally`` counts witnesses and entries."""

    covered: Flags
    witness: Ints
    following: Ints
    before: Ints
    begin: Ints
    length: Ints
    first_user: Ints
    users: Ints
    entry_cell: Ints
    entry_by: Floats
    entry_next: Ints
    entry_witness: Ints
    cell_entry: Ints
    tally: Ints


def make_rows(cell: Ints, sign: NDArray[np.int8], amount: Floats, cells: int) -> Rows:
    """Index demands by cell."""
    up_row, down_row = np.full(cells, -1, np.int64), np.full(cells, -1, np.int64)
    number = np.arange(len(cell))
    rises = np.asarray(sign) > 0
    up_row[cell[rises]] = number[rises]
    down_row[cell[~rises]] = number[~rises]
    return Rows(cell, sign.astype(np.int64), amount, up_row, down_row)


def make_pool(demands: int, cells: int, witnesses: int, entries: int) -> Pool:
    """Make a pool with room for so many witnesses and entries."""
    return Pool(
        covered=np.zeros(demands, np.bool_),
        witness=np.full(demands, -1, np.int64),
        following=np.full(demands, -1, np.int64),
        before=np.full(demands, -1, np.int64),
        begin=np.empty(witnesses, np.int64),
        length=np.empty(witnesses, np.int64),
        first_user=np.empty(witnesses, np.int64),
        users=np.zeros(witnesses, np.int64),
        entry_cell=np.empty(entries, np.int64),
        entry_by=np.empty(entries, np.float64),
        entry_next=np.empty(entries, np.int64),
        entry_witness=np.empty(entries, np.int64),
        cell_entry=np.full(cells, -1, np.int64),
        tally=np.zeros(2, np.int64),
    )


@kernel
def store(pool: Pool, cells: Ints, by: Floats, size: int) -> int:
    """Add a witness that covers nothing yet; return its number."""
    number, entry = pool.tally[0], pool.tally[1]
    pool.begin[number], pool.length[number] = entry, size
    pool.first_user[number], pool.users[number] = -1, 0
    for i in range(size):
        c = cells[i]
        pool.entry_cell[entry], pool.entry_by[entry] = c, by[i]
        pool.entry_witness[entry] = number
        pool.entry_next[entry] = pool.cell_entry[c]
        pool.cell_entry[c] = entry
        entry += 1
    pool.tally[0], pool.tally[1] = number + 1, entry
    return number


@kernel(inner=True)
def take_back(pool: Pool, witnesses: int) -> None:
    """Forget all but the first so many witnesses; they must cover nothing."""
    if pool.tally[0] == witnesses:
        return
    start = pool.begin[witnesses]
    for entry in range(pool.tally[1] - 1, start - 1, -1):
        pool.cell_entry[pool.entry_cell[entry]] = pool.entry_next[entry]
    pool.tally[0], pool.tally[1] = witnesses, start


@kernel
def assign(pool: Pool, row: int, number: int) -> None:
    """Let a witness cover an open demand."""
    first = pool.first_user[number]
    pool.following[row], pool.before[row] = first, -1
    if first >= 0:
        pool.before[first] = row
    pool.first_user[number] = row
    pool.users[number] += 1
    pool.witness[row] = number
    pool.covered[row] = True


@kernel
def release(pool: Pool, row: int) -> None:
    """Open a demand again."""
    number = pool.witness[row]
    ahead, behind = pool.before[row], pool.following[row]
    if ahead >= 0:
        pool.following[ahead] = behind
    else:
        pool.first_user[number] = behind
    if behind >= 0:
        pool.before[behind] = ahead
    pool.users[number] -= 1
    pool.witness[row] = -1
    pool.covered[row] = False


@kernel
def claim(pool: Pool, rows: Rows, number: int, up: Floats, down: Floats) -> None:
    """Let a witness cover every open demand it can.

    It may be scaled up or down and turned round as far as the room of its cells allows
    (Castro 2005 checks all sensitive cells of a path at once).
    """
    begin, end = pool.begin[number], pool.begin[number] + pool.length[number]
    forth, back = np.inf, np.inf
    for entry in range(begin, end):
        c, by = pool.entry_cell[entry], pool.entry_by[entry]
        size = abs(by)
        forth = min(forth, (up[c] if by > 0 else down[c]) / size)
        back = min(back, (down[c] if by > 0 else up[c]) / size)
    forth *= 1 + ROUNDING
    back *= 1 + ROUNDING
    for entry in range(begin, end):
        c, by = pool.entry_cell[entry], pool.entry_by[entry]
        for sign in (1, -1):
            row = rows.up_row[c] if sign > 0 else rows.down_row[c]
            if row < 0 or pool.covered[row]:
                continue
            if rows.amount[row] / abs(by) <= (forth if by * sign > 0 else back):
                assign(pool, row, number)


@kernel
def rows_using(pool: Pool, cell: int, found: Ints, count: int, marked: Flags) -> int:
    """Append the demands whose witness uses a cell; `marked` ones are there already."""
    entry = pool.cell_entry[cell]
    while entry >= 0:
        number = pool.entry_witness[entry]
        if pool.users[number] > 0:
            row = pool.first_user[number]
            while row >= 0:
                if not marked[row]:
                    marked[row] = True
                    found[count] = row
                    count += 1
                row = pool.following[row]
        entry = pool.entry_next[entry]
    return count


@kernel(inner=True)
def in_use(pool: Pool, cell: int) -> bool:
    """Whether a witness that covers something uses a cell."""
    entry = pool.cell_entry[cell]
    while entry >= 0:
        if pool.users[pool.entry_witness[entry]] > 0:
            return True
        entry = pool.entry_next[entry]
    return False


@kernel
def put_back(pool: Pool, rows: Ints, old: Ints, count: int, witnesses: int) -> None:
    """Undo a trial: give demands their old witnesses, forget the new ones.

    Demands that were open before and that a new witness covered are open again.
    """
    for number in range(witnesses, pool.tally[0]):
        while pool.first_user[number] >= 0:
            release(pool, pool.first_user[number])
    take_back(pool, witnesses)
    for i in range(count):
        assign(pool, rows[i], old[i])


@kernel
def copy_pool(source: Pool, target: Pool, keep_idle: bool) -> None:
    """Copy witnesses into an empty pool, those that cover nothing only if asked to."""
    for number in range(source.tally[0]):
        if source.users[number] == 0 and not keep_idle:
            continue
        begin = source.begin[number]
        end = begin + source.length[number]
        new = store(
            target,
            source.entry_cell[begin:end],
            source.entry_by[begin:end],
            end - begin,
        )
        row = source.first_user[number]
        while row >= 0:
            assign(target, row, new)
            row = source.following[row]
