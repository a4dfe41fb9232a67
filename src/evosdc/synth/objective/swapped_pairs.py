"""Tables of pairs in which people in small cells swap values: what a search aims at.

A search that is given every two-way table reproduces it, and with it the one person
who has a job at an age. So people in cells of fewer than `min_group` exchange one of
the two values with others before the table is shown to the search: rows and columns
keep their sums, large cells nearly so, and a small cell is there about as often as
margins alone would have it. Each table has swaps of its own; tables of three and more
variables are counted from records in which all these exchanges are made at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, cell_numbers, seen_cells, strides

Pair = tuple[int, int]

# So many others are asked for an exchange; the most plausible one is made.
_CANDIDATES = 24
# Larger tables are not counted cell by cell: margins alone say what is plausible.
_MAX_CELLS = 1 << 22
_MIN_PLAUSIBILITY = 1e-6
# Neighbours are one level in so many, on both sides.
_LEVELS_PER_NEIGHBOUR = 20
# Beyond so many people a cell is not small, whatever is asked for.
_MAX_SMALL_CELL = 20
# Of a level with so few times `min_group` people no small cell stays by chance, of one
# with so many every one may: all that is known of a small level is known of few.
_GROUPS_IN_SMALL_LEVEL, _GROUPS_IN_LARGE_LEVEL = 3, 7


@dataclass(frozen=True, eq=False)
class SwappedPairs:
    """Exchanges by pair of variables: of which one, who, and with whom.

    `records` have all of them made, one after the other.
    """

    records: Codes
    exchanges: dict[Pair, tuple[int, Long, Long]] = field(default_factory=dict)

    def empty(self, codes: Codes, sizes: Long) -> list[tuple[Pair, Flags]]:
        """Return by pair the cells that nobody is in once values are swapped."""
        out = []
        for pair in combinations(range(len(sizes)), 2):
            stride, cells = strides(sizes, pair)
            if cells <= _MAX_CELLS:
                numbers = self.numbers(codes, pair, stride)
                mask = np.bincount(numbers, minlength=cells) == 0
                if mask.any():
                    out.append((pair, mask))
        return out

    def numbers(self, codes: Codes, table: tuple[int, ...], stride: Long) -> Long:
        """Return the cell of each record in a table that a search may see."""
        if len(table) > 2:
            return cell_numbers(self.records, stride)
        out = cell_numbers(codes, stride)
        first, second = min(table), max(table)
        if (first, second) in self.exchanges:
            j, who, whom = self.exchanges[first, second]
            values = codes[:, j].astype(np.int64)
            out[who] += (values[whom] - values[who]) * stride[j]
        return out


def swap_small_cells(
    codes: Codes,
    sizes: Long,
    free: Long,
    ordered: Flags,
    min_group: int,
    rng: np.random.Generator,
) -> SwappedPairs:
    """Swap values in small cells of every pair that has a `free` variable.

    `ordered` says whose levels have neighbours.
    """
    records = codes.copy()
    exchanges: dict[Pair, tuple[int, Long, Long]] = {}
    if min_group < 2:
        return SwappedPairs(records)
    movable = set(map(int, free))
    for a, b in combinations(range(len(sizes)), 2):
        if a not in movable and b not in movable:
            continue
        # The one with more levels moves: its values say most about a person.
        j = max((v for v in (a, b) if v in movable), key=lambda v: int(sizes[v]))
        i = b if j == a else a
        who, whom = _exchanged(
            codes[:, [i, j]], sizes[[i, j]], ordered[[i, j]], min_group, rng
        )
        if len(who):
            exchanges[a, b] = (j, who, whom)
            records[who, j] = records[whom, j]
    return SwappedPairs(records, exchanges)


def _exchanged(
    codes: Codes, sizes: Long, ordered: Flags, min_group: int, rng: np.random.Generator
) -> tuple[Long, Long]:
    """Return the records that exchange their second value, and with whom.

    Those are the people in small cells, and others. A cell that chance alone would
    fill stays with that chance: it tells little about who is in it.
    """
    stride, cells = strides(sizes, (1, 0))
    numbers = cell_numbers(codes, stride)
    seen, count, place = seen_cells(numbers, cells)
    if count.min() >= min_group:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows, columns = (
        np.bincount(codes[:, k], minlength=int(sizes[k])) for k in range(2)
    )
    takes = np.zeros((0, 0))
    expected = rows[seen // sizes[1]] * columns[seen % sizes[1]] / len(codes)
    if cells <= _MAX_CELLS:
        table = np.bincount(numbers, minlength=cells).reshape(tuple(sizes))
        takes, usual = _plausibility(table, ordered, min_group)
        expected = usual.ravel()[seen]
    fewest = np.minimum(rows[seen // sizes[1]], columns[seen % sizes[1]])
    small, large = _GROUPS_IN_SMALL_LEVEL, _GROUPS_IN_LARGE_LEVEL
    share = np.clip((fewest / min_group - small) / (large - small), 0.0, 1.0)
    chance = share * -np.expm1(-expected) * _as_few(expected, count)
    # By cell, not by person: a cell stays or goes.
    stays = rng.random(len(count)) < chance
    movers = rng.permutation(np.flatnonzero(((count < min_group) & ~stays)[place]))
    asked = rng.integers(0, len(codes), (len(movers), _CANDIDATES))
    one, two = codes[:, 0].copy(), codes[:, 1].copy()
    partner = _partners(one, two, rows, columns, takes, movers, asked)
    who = np.flatnonzero(partner >= 0)
    return who, partner[who]


def _plausibility(table: Long, ordered: Flags, min_group: int) -> tuple[Real, Real]:
    """Return how well each cell takes another record, and what chance would put there.

    A large cell takes many. Of a small one its neighbours tell what to expect, where
    levels have an order, else margins; and where these would fill it often it is small
    for a reason.
    """
    total = table.sum()
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / total
    takes = expected * np.exp(-expected)
    if ordered.any():
        near = table.astype(float)
        for axis in np.flatnonzero(ordered):
            near = _neighbours(near, int(axis))
        expected = np.minimum(expected, near)
        takes = near
    return np.where(
        table >= min_group, table, np.minimum(takes, min_group) + _MIN_PLAUSIBILITY
    ), expected


def _neighbours(table: Real, axis: int) -> Real:
    """Return the mean of the cells on both sides, without the cell itself."""
    size = table.shape[axis]
    reach = max(1, size // _LEVELS_PER_NEIGHBOUR)
    cumulative = np.cumsum(np.insert(table, 0, 0.0, axis=axis), axis=axis)
    at = np.arange(size)
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, size)
    total = np.take(cumulative, high, axis=axis) - np.take(cumulative, low, axis=axis)
    total = total - table
    many = (high - low - 1).reshape((-1, 1) if axis == 0 else (1, -1))
    return np.asarray(total / np.maximum(many, 1))


def _as_few(expected: Real, count: Long) -> Real:
    """Return how usual it is that a cell holds so few where so many are expected."""
    term = np.exp(-expected)
    total = term.copy()
    for k in range(1, min(int(count.max()), _MAX_SMALL_CELL) + 1):
        term = term * expected / k
        total += np.where(count >= k, term, 0.0)
    return np.minimum(1.0, 2.0 * total)


@kernel
def _partners(one, two, rows, columns, takes, movers, asked):  # type: ignore[no-untyped-def]
    """Find for each record the most plausible swap of `two`, once each."""
    partner = np.full(len(one), -1, np.int64)
    for r in range(len(movers)):
        p = movers[r]
        if partner[p] >= 0:
            continue
        best, chosen = -1.0, -1
        for k in range(asked.shape[1]):
            q = asked[r, k]
            if partner[q] >= 0 or one[q] == one[p] or two[q] == two[p]:
                continue
            mine = _plausible(one[p], two[q], rows, columns, takes, len(one))
            his = _plausible(one[q], two[p], rows, columns, takes, len(one))
            if mine * his > best:
                best, chosen = mine * his, q
        if chosen >= 0:
            partner[p], partner[chosen] = chosen, p
    return partner


@kernel(inner=True)
def _plausible(i, j, rows, columns, takes, records):  # type: ignore[no-untyped-def]
    """Return how well a cell takes another record, by margins where nothing else."""
    if len(takes) > 0:
        return takes[i, j]
    expected = rows[i] * columns[j] / records
    return expected * np.exp(-expected) + _MIN_PLAUSIBILITY
