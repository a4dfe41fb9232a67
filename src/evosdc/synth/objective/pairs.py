"""Tables of pairs in which few people's cells are stirred: what a search may aim at.

A search that is given every two-way table reproduces it, and with it the one person
who has a job at an age. So people in cells of fewer than `least` exchange one of the
two values with others before the table is shown to the search: rows and columns keep
their sums, large cells nearly so, and a small cell is there about as often as margins
alone would have it. Each table is stirred by itself; tables of three and more variables
are counted from records in which all these exchanges are made at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, seen_cells, strides

Pair = tuple[int, int]
Mask = NDArray[np.bool_]

# So many others are asked for an exchange; the most plausible one is made.
_ASKED = 24
# Larger tables have no room for a count of every cell: margins alone say what is
# plausible.
_MOST_CELLS = 1 << 22
_HARDLY = 1e-6
# Neighbours are a part of all levels this large, on both sides.
_PART = 20
_FEW = 20
# Of a level with so few times `least` people no small cell stays by chance, of one with
# so many every one may: all that is known of a small level is known of few.
_SMALL_LEVEL = (3, 7)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Stirred:
    """Exchanges by pair of variables: of which one, who, and with whom.

    `records` have all of them made, one after the other.
    """

    records: Codes
    exchanges: dict[Pair, tuple[int, Ints, Ints]] = field(default_factory=dict)

    def empty(self, codes: Codes, sizes: Ints) -> list[tuple[Pair, Mask]]:
        """Return by pair the cells that nobody is in once it is stirred."""
        out = []
        for pair in combinations(range(len(sizes)), 2):
            stride, cells = strides(sizes, pair)
            if cells <= _MOST_CELLS:
                numbers = self.numbers(codes, pair, stride)
                mask = np.bincount(numbers, minlength=cells) == 0
                if mask.any():
                    out.append((pair, mask))
        return out

    def numbers(self, codes: Codes, table: tuple[int, ...], stride: Ints) -> Ints:
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


def stir(
    codes: Codes,
    sizes: Ints,
    free: Ints,
    ordered: NDArray[np.bool_],
    least: int,
    rng: np.random.Generator,
) -> Stirred:
    """Stir every table of two variables, of which one at least is synthesised.

    `ordered` says whose levels have neighbours.
    """
    records = codes.copy()
    exchanges: dict[Pair, tuple[int, Ints, Ints]] = {}
    if least < 2:
        return Stirred(records)
    open_to = set(map(int, free))
    for a, b in combinations(range(len(sizes)), 2):
        if a not in open_to and b not in open_to:
            continue
        # The one with more levels moves: its values say most about a person.
        j = max((v for v in (a, b) if v in open_to), key=lambda v: int(sizes[v]))
        i = b if j == a else a
        who, whom = _exchanged(
            codes[:, [i, j]], sizes[[i, j]], ordered[[i, j]], least, rng
        )
        if len(who):
            exchanges[a, b] = (j, who, whom)
            records[who, j] = records[whom, j]
    return Stirred(records, exchanges)


def _exchanged(
    codes: Codes,
    sizes: Ints,
    ordered: NDArray[np.bool_],
    least: int,
    rng: np.random.Generator,
) -> tuple[Ints, Ints]:
    """Return the records that exchange their second value, and with whom.

    Those are the people in small cells, and others. A cell that chance alone would
    fill stays with that chance: it tells little about who is in it.
    """
    stride, cells = strides(sizes, (1, 0))
    numbers = cell_numbers(codes, stride)
    seen, count, place = seen_cells(numbers, cells)
    if count.min() >= least:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    rows, columns = (
        np.bincount(codes[:, k], minlength=int(sizes[k])) for k in range(2)
    )
    takes = np.zeros((0, 0))
    expected = rows[seen // sizes[1]] * columns[seen % sizes[1]] / len(codes)
    if cells <= _MOST_CELLS:
        table = np.bincount(numbers, minlength=cells).reshape(tuple(sizes))
        takes, usual = _room(table, ordered, least)
        expected = usual.ravel()[seen]
    fewest = np.minimum(rows[seen // sizes[1]], columns[seen % sizes[1]])
    small, large = _SMALL_LEVEL
    share = np.clip((fewest / least - small) / (large - small), 0.0, 1.0)
    chance = share * -np.expm1(-expected) * _as_few(expected, count)
    # By cell, not by person: a cell stays or goes.
    stays = rng.random(len(count)) < chance
    restless = rng.permutation(np.flatnonzero(((count < least) & ~stays)[place]))
    asked = rng.integers(0, len(codes), (len(restless), _ASKED))
    one, two = codes[:, 0].copy(), codes[:, 1].copy()
    partner = _partners(one, two, rows, columns, takes, restless, asked)
    who = np.flatnonzero(partner >= 0)
    return who, partner[who]


def _room(table: Ints, ordered: NDArray[np.bool_], least: int) -> tuple[Floats, Floats]:
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
    return np.where(table >= least, table, np.minimum(takes, least) + _HARDLY), expected


def _neighbours(table: Floats, axis: int) -> Floats:
    """Return the mean of the cells on both sides, without the cell itself."""
    size = table.shape[axis]
    reach = max(1, size // _PART)
    cumulative = np.cumsum(np.insert(table, 0, 0.0, axis=axis), axis=axis)
    at = np.arange(size)
    low, high = np.maximum(at - reach, 0), np.minimum(at + reach + 1, size)
    total = np.take(cumulative, high, axis=axis) - np.take(cumulative, low, axis=axis)
    total = total - table
    many = (high - low - 1).reshape((-1, 1) if axis == 0 else (1, -1))
    return np.asarray(total / np.maximum(many, 1))


def _as_few(expected: Floats, count: Ints) -> Floats:
    """Return how usual it is that a cell holds so few where so many are expected."""
    term = np.exp(-expected)
    total = term.copy()
    # Beyond that a cell is not small, whatever it is asked for.
    for k in range(1, min(int(count.max()), _FEW) + 1):
        term = term * expected / k
        total += np.where(count >= k, term, 0.0)
    return np.minimum(1.0, 2.0 * total)


@kernel
def _partners(one, two, rows, columns, takes, restless, asked):  # type: ignore[no-untyped-def]
    """Find for each restless record the most plausible swap of `two`, once each."""
    partner = np.full(len(one), -1, np.int64)
    for r in range(len(restless)):
        p = restless[r]
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
    return expected * np.exp(-expected) + _HARDLY
