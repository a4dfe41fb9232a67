"""Records as integers: strides, compact cells of a table, dense or hashed look-up.

A cell of a contingency table is the number ``sum(stride[j] * code[j])`` of its record.
Only cells that occur in the original need a counter: a Jensen-Shannon distance does not
change with how the mass outside the original's support is spread (the sparse form after
Connor et al. 2013). So a table of any size has at most as many counters as the original
has records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Int, Long
from evosdc.compile.kernels import kernel

Codes = NDArray[np.int16]

# Tables up to this many cells are counted by cell number in 16 bits.
SMALL = 1 << 14
# Up to here a look-up is an array by cell; beyond it a hash table of the cells seen.
_DENSE_CELLS = 1 << 21
# Tables whose small cells share a counter are many, and sparse: a hash table of the
# cells that occur stays in the cache.
_DENSE_REST = 1 << 12
# A table of two variables and this little larger than its support has a counter for
# every cell: record moves then need no look-up.
_COMPLETE_SHARE = 4
_EXACT_LIMIT = 1 << 62
_HASH_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Plan(NamedTuple):
    """The order of counting; plain arrays for kernels.

    `visit` names the tables, each right after those that it follows from. `level` is
    0 for a table counted from records; else it is summed from the last table of the
    level before, over a variable with stride and size `summed`.
    """

    visit: Long
    level: Long
    summed: Long


class TableIndex(NamedTuple):
    """Where the cells of several tables are found; plain arrays for kernels.

    Table `t` covers the variables ``members[t, :order[t]]``, with strides ``steps[t]``.
    Its counters run from ``first[t]`` to ``first[t + 1]``. A row of `heads` says how to
    find them: the first counter of a small table that has one for every cell, else
    where the look-up starts in `dense`, else in `hashes` and with how many bits; then
    come the table's number of cells, and the counter that cells of few people share,
    -1 where there is none. Cells that nobody is in have no counter.
    `near` leads back from counters to cell numbers, in tables small enough for it.
    """

    members: Int
    steps: Long
    order: Int
    heads: Long
    dense: Int
    hashes: Long
    first: Long
    near: NDArray[np.uint16]
    plan: Plan


class Support(NamedTuple):
    """Which cells of a table get a counter: those of `fewest` to `most` records.

    With a `rest` all others that occur share one: nobody can tell them apart. A `plain`
    table is that of the codes themselves, whatever others are counted from.
    """

    fewest: int = 1
    most: int = 1 << 62
    rest: bool = False
    plain: bool = False

    def of(self, seen: Long, count: Long) -> tuple[Long, Long, Long]:
        """Return the cells that get a counter, all counts, and the cells of the rest.

        The count of the rest is the last.
        """
        kept = (count >= self.fewest) & (count <= self.most)
        few = seen[~kept] if self.rest else seen[:0]
        if self.rest:
            return seen[kept], np.append(count[kept], count[~kept].sum()), few
        return seen[kept], count[kept], few


EVERY = Support()


def strides(sizes: Long, members: tuple[int, ...]) -> tuple[Long, int]:
    """Return mixed-radix strides of some variables and the number of cells.

    Where the number of cells passes 2**62 the strides are fixed odd multipliers and
    the arithmetic wraps: a hash of the record instead of its number. Two of a million
    records then meet with probability 1e-7.
    """
    out = np.zeros(len(sizes), np.int64)
    cells = 1
    for j in members:
        out[j] = cells if cells < _EXACT_LIMIT else 0
        cells *= int(sizes[j])
    if cells >= _EXACT_LIMIT:
        draws = np.random.default_rng(0).integers(0, 2**63, len(members))
        out[list(members)] = draws | 1
    return out, cells


def cell_numbers(codes: NDArray[np.integer], stride: Long) -> Long:
    """Return the cell number of each record."""
    out = np.zeros(len(codes), np.int64)
    for j in np.flatnonzero(stride):
        out += codes[:, j].astype(np.int64) * stride[j]
    return out


def build_index(
    codes: Codes,
    sizes: Long,
    tables: list[tuple[int, ...]],
    complete: Flags | None = None,
    number: Callable[[Codes, tuple[int, ...], Long], Long] | None = None,
    support: Sequence[Support] | None = None,
) -> tuple[TableIndex, Int, list[Long]]:
    """Index the cells of some tables of the original.

    Tables marked `complete` get a counter for every cell, seen or not; so do tables
    that most of their cells occur in. `number` gives the cells of records in a table
    by its strides, where they are not those of the codes themselves, and `support` says
    which cells of a table get a counter.

    Returns
    -------
    The index, the original's count by counter, and each table's counter by record.
    """
    width = max((len(t) for t in tables), default=1)
    members = np.zeros((len(tables), width), np.int32)
    steps = np.zeros((len(tables), width), np.int64)
    heads = np.full((len(tables), 6), -1, np.int64)
    first = np.zeros(len(tables) + 1, np.int64)
    lookups = _Lookups()
    counts: list[Int] = []
    inverses: list[Long] = []
    near: list[NDArray[np.uint16]] = []
    for t, table in enumerate(tables):
        stride, cells = strides(sizes, table)
        members[t, : len(table)] = table
        steps[t, : len(table)] = stride[list(table)]
        heads[t, 4] = min(cells, _EXACT_LIMIT)
        kept = EVERY if support is None else support[t]
        if number is None or kept.plain:
            numbers = cell_numbers(codes, stride)
        else:
            numbers = number(codes, table, stride)
        seen, count, inverse = seen_cells(numbers, cells)
        whole = complete is not None and bool(complete[t])
        small = len(table) <= 2 and cells <= _COMPLETE_SHARE * len(seen)
        if kept is EVERY and (whole or small):
            heads[t, 0] = first[t]
            inverse, seen = numbers, np.arange(cells)
            count = np.bincount(numbers, minlength=cells)
        else:
            seen, count, few = kept.of(seen, count)
            rest = first[t] + len(seen)
            ids = np.append(first[t] + np.arange(len(seen)), np.full(len(few), rest))
            most = _DENSE_REST if kept.rest else _DENSE_CELLS
            heads[t, 1:4] = lookups.add(np.append(seen, few), ids, cells, most)
            if kept.rest:
                heads[t, 5] = rest
                seen = np.append(seen, 0)
        first[t + 1] = first[t] + len(seen)
        counts.append(count.astype(np.int32))
        inverses.append(inverse)
        near.append(seen.astype(np.uint16))
    index = TableIndex(
        members,
        steps,
        np.array([len(t) for t in tables], np.int32),
        heads,
        _joined(lookups.dense, np.zeros(1, np.int32)),
        _joined(lookups.hashes, np.zeros((1, 2), np.int64)),
        first,
        _joined(near, np.zeros(0, np.uint16)),
        build_plan(tables, sizes),
    )
    return index, _joined(counts, np.zeros(0, np.int32)), inverses


def build_plan(tables: list[tuple[int, ...]], sizes: Long) -> Plan:
    """Choose for each table the cheapest other one that contains it."""
    cells = [int(np.prod(sizes[list(t)], dtype=object)) for t in tables]
    place = {t: k for k, t in reversed(list(enumerate(tables)))}
    below: dict[int, list[int]] = {}
    summed = np.zeros((len(tables), 2), np.int64)
    roots = []
    for k, table in enumerate(tables):
        best = _source(table, place, cells, sizes)
        if best is None or place[table] != k:
            roots.append(k)
            continue
        source, extra = best
        lower = list(tables[source][: tables[source].index(extra)])
        summed[k] = int(np.prod(sizes[lower], dtype=object)), sizes[extra]
        below.setdefault(source, []).append(k)
    visit: list[int] = []
    level = np.zeros(len(tables), np.int64)
    stack = [(k, 0) for k in sorted(roots, key=lambda k: tables[k], reverse=True)]
    while stack:
        k, depth = stack.pop()
        visit.append(k)
        level[k] = depth
        stack += [(s, depth + 1) for s in below.get(k, [])]
    return Plan(np.array(visit, np.int64), level, summed)


def _source(
    table: tuple[int, ...],
    place: dict[tuple[int, ...], int],
    cells: list[int],
    sizes: Long,
) -> tuple[int, int] | None:
    """Return the smallest table with one variable more, and that variable."""
    found = []
    for extra in range(len(sizes)):
        for at in range(len(table) + 1):
            k = place.get((*table[:at], extra, *table[at:]), -1)
            if k >= 0 and cells[k] <= SMALL:
                # Of two alike the later place: additions run over longer rows.
                found.append((cells[k], -at, k, extra))
    if not found:
        return None
    *_, k, extra = min(found)
    return k, extra


class _Lookups:
    """Look-ups from cell numbers to counters: arrays by cell, or hash tables."""

    def __init__(self) -> None:
        self.dense: list[Int] = []
        self.hashes: list[Long] = []

    def add(
        self, seen: Long, ids: Long, cells: int, most: int = _DENSE_CELLS
    ) -> tuple[int, int, int]:
        """Add a table; return where its array or its hash table starts, and its bits.

        What a table does not have is -1. One of up to `most` cells is an array.
        """
        if cells <= most:
            start = sum(map(len, self.dense))
            self.dense.append(np.full(cells, -1, np.int32))
            self.dense[-1][seen] = ids
            return start, -1, -1
        start = sum(map(len, self.hashes))
        bits = max(2, int(2 * len(seen) - 1).bit_length())
        self.hashes.append(_hash_table(seen, ids, bits))
        return -1, start, bits


def seen_cells(numbers: Long, cells: int) -> tuple[Long, Long, Long]:
    """Return the cells that occur, their counts, and each record's place in them."""
    if cells > _DENSE_CELLS:
        found = np.unique(numbers, return_inverse=True, return_counts=True)
        return found[0], found[2], found[1].astype(np.int64)
    count = np.bincount(numbers, minlength=cells)
    seen = np.flatnonzero(count)
    place = np.zeros(cells, np.int64)
    place[seen] = np.arange(len(seen))
    return seen, count[seen], place[numbers]


def _joined(parts: list, empty: NDArray) -> NDArray:
    return np.concatenate(parts) if parts else empty


@kernel
def _hash_table(keys, values, bits):  # type: ignore[no-untyped-def]
    size = 1 << bits
    out = np.full((size, 2), -1, np.int64)
    shift = np.uint64(64 - bits)
    for i in range(len(keys)):
        slot = np.int64((np.uint64(keys[i]) * _HASH_MULTIPLIER) >> shift)
        while out[slot, 1] >= 0:
            slot = (slot + 1) & (size - 1)
        out[slot, 0] = keys[i]
        out[slot, 1] = values[i]
    return out


@kernel(inner=True)
def cell_at(heads, dense, hashes, t, number):  # type: ignore[no-untyped-def]
    """Return the counter of cell `number` of table `t`, or -1."""
    start = heads[t, 0]
    if start >= 0:
        return start + number
    start = heads[t, 1]
    if start >= 0:
        return np.int64(dense[start + number])
    start = heads[t, 2]
    bits = heads[t, 3]
    mask = (np.int64(1) << bits) - 1
    shift = np.uint64(64 - bits)
    slot = np.int64((np.uint64(number) * _HASH_MULTIPLIER) >> shift)
    while True:
        cell = hashes[start + slot, 1]
        if cell < 0 or hashes[start + slot, 0] == number:
            return cell
        slot = (slot + 1) & mask


@kernel(inner=True)
def number_of(members, steps, order, t, record):  # type: ignore[no-untyped-def]
    """Return the cell number of a record in table `t`."""
    out = np.int64(0)
    for position in range(order[t]):
        out += steps[t, position] * np.int64(record[members[t, position]])
    return out
