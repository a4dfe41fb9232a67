"""Count many records at once: table by table, so that a table stays in cache."""

from __future__ import annotations

import numpy as np
from numba import njit

from evosdc.synth.encoding import cell_at

BLOCK = 1024
# Tables up to this many cells are exchanged by cell number.
TRADED = 1 << 14


@njit(cache=True)
def _number_small(members, steps, order, t, columns, low, many, out):  # type: ignore[no-untyped-def]
    """Number the cells of records in 32 bits, which processors multiply at once."""
    for position in range(order[t]):
        column = columns[members[t, position], low : low + many]
        step = np.int32(steps[t, position])
        if position == 0:
            for i in range(many):
                out[i] = step * np.int32(column[i])
        else:
            for i in range(many):
                out[i] += step * np.int32(column[i])


@njit(cache=True)
def _number_large(members, steps, order, t, columns, low, many, out):  # type: ignore[no-untyped-def]
    """Number the cells of records in 64 bits."""
    out[:many] = 0
    for position in range(order[t]):
        column = columns[members[t, position], low : low + many]
        step = steps[t, position]
        for i in range(many):
            out[i] += step * np.int64(column[i])


@njit(cache=True)
def tally_tables(  # type: ignore[no-untyped-def]
    index,
    begin,
    end,
    size,
    columns,
    sign,
    counts,
    outside,
    others,
    other_outside,
    both,
):
    """Add `sign` to the cells of `size` records in tables `begin` to `end`.

    With `both`, take as much from the cells of the other candidate: the records that
    one loses in a crossover are those that the other gains.
    """
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    small = np.empty(BLOCK, np.int32)
    large = np.empty(BLOCK, np.int64)
    for low in range(0, size, BLOCK):
        many = min(BLOCK, size - low)
        for t in range(begin, end):
            if heads[t, 0] >= 0 or heads[t, 1] >= 0:
                _number_small(members, steps, order, t, columns, low, many, small)
                start = heads[t, 1] if heads[t, 0] < 0 else heads[t, 0]
                direct = heads[t, 0] >= 0
                for i in range(many):
                    place = start + np.int64(small[i])
                    large[i] = place if direct else dense[np.uint64(place)]
            else:
                _number_large(members, steps, order, t, columns, low, many, large)
                for i in range(many):
                    large[i] = cell_at(heads, dense, hashes, t, large[i])
            lost = 0
            for i in range(many):
                cell = large[i]
                if cell < 0:
                    lost += 1
                    continue
                counts[np.uint64(cell)] += sign
                if both:
                    others[np.uint64(cell)] -= sign
            outside[t] += sign * lost
            if both:
                other_outside[t] -= sign * lost


@njit(cache=True)
def trade(index, mine, yours, size, counts, outside, others, other_outside):  # type: ignore[no-untyped-def]
    """Exchange `size` whole records between two candidates' counters.

    Small tables gather the difference by cell number first, without looking for
    counters, and then visit each counter once.
    """
    members, steps, order = index.members, index.steps, index.order
    heads, first, number = index.heads, index.first, index.number
    small = np.empty(BLOCK, np.int32)
    change = np.zeros(TRADED, np.int32)
    for t in range(len(order)):
        low_cell, high_cell = first[t], first[t + 1]
        cells = heads[t, 4]
        if cells > TRADED:
            one = (index, t, t + 1, size)
            tally_tables(*one, mine, -1, counts, outside, others, other_outside, True)
            tally_tables(*one, yours, 1, counts, outside, others, other_outside, True)
            continue
        change[:cells] = 0
        for low in range(0, size, BLOCK):
            many = min(BLOCK, size - low)
            _number_small(members, steps, order, t, mine, low, many, small)
            for i in range(many):
                change[np.uint64(small[i])] -= 1
            _number_small(members, steps, order, t, yours, low, many, small)
            for i in range(many):
                change[np.uint64(small[i])] += 1
        inside = 0
        for cell in range(low_cell, high_cell):
            d = change[np.uint64(number[cell])]
            counts[cell] += d
            others[cell] -= d
            inside += d
        outside[t] -= inside
        other_outside[t] += inside


@njit(cache=True)
def columns_of(codes):  # type: ignore[no-untyped-def]
    """Return all records by column."""
    n, m = codes.shape
    out = np.empty((m, n), np.int16)
    for i in range(n):
        for j in range(m):
            out[j, i] = codes[i, j]
    return out


@njit(cache=True, nogil=True)
def count_all(index, codes, counts, outside):  # type: ignore[no-untyped-def]
    """Count the records of a candidate by cell, afresh."""
    counts[:] = 0
    outside[:] = 0
    columns = columns_of(codes)
    tally_tables(
        index,
        0,
        len(outside),
        len(codes),
        columns,
        1,
        counts,
        outside,
        counts,
        outside,
        False,
    )
