"""Count many records at once: table by table, so that a table stays in cache.

Small tables are counted by cell number first, without looking for counters; then each
counter is visited once. Tables contained in another one are summed from it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from evosdc.synth.encoding import cell_at, number_of
from evosdc.synth.plan import SMALL


@njit(cache=True)
def workspace(index, records):  # type: ignore[no-untyped-def]
    """Return room for the cell numbers of records, and for small tables."""
    return (
        np.empty((index.members.shape[1], records), np.int16),
        np.empty((index.plan.level.max() + 1, SMALL), np.int32),
    )


@njit(cache=True)
def _number(members, steps, t, kept, width, columns, out):  # type: ignore[no-untyped-def]
    """Number the cells of records by the first one, two, ... variables of a table.

    The first `kept` rows are there already, from a table that begins alike.
    """
    size = columns.shape[1]
    for position in range(kept, width):
        j = members[t, position]
        if position == 0:
            for i in range(size):
                out[0, i] = columns[j, i]
            continue
        step = np.int16(steps[t, position])
        for i in range(size):
            out[position, i] = out[position - 1, i] + step * columns[j, i]


@njit(cache=True)
def _sum_over(large, step, levels, cells, small):  # type: ignore[no-untyped-def]
    """Sum a table over the variable of stride `step`."""
    for high in range(cells // step):
        base = high * step * levels
        out = small[high * step : (high + 1) * step]
        out[:] = large[base : base + step]
        for v in range(1, levels):
            row = large[base + v * step : base + (v + 1) * step]
            for low in range(step):
                out[low] += row[low]


@njit(cache=True)
def _histogram(numbers, records, cells, table):  # type: ignore[no-untyped-def]
    """Count records by cell number.

    Many records in few cells would wait for each other's additions to the same cell;
    four tables side by side, added up in the end, let them pass.
    """
    if 4 * cells > SMALL or records < 4 * cells:
        table[:cells] = 0
        for i in range(records):
            table[np.uint64(numbers[i])] += 1
        return
    table[: 4 * cells] = 0
    one, two = table[:cells], table[cells : 2 * cells]
    three, four = table[2 * cells : 3 * cells], table[3 * cells : 4 * cells]
    for i in range(records // 4):
        one[np.uint64(numbers[4 * i])] += 1
        two[np.uint64(numbers[4 * i + 1])] += 1
        three[np.uint64(numbers[4 * i + 2])] += 1
        four[np.uint64(numbers[4 * i + 3])] += 1
    for i in range(records - records % 4, records):
        one[np.uint64(numbers[i])] += 1
    for c in range(cells):
        one[c] += two[c] + three[c] + four[c]


@njit(cache=True)
def _gather(table, near, counts):  # type: ignore[no-untyped-def]
    """Copy a table's cells that have a counter; return how many records they hold."""
    inside = 0
    for c in range(len(near)):
        many = table[np.uint64(near[c])]
        counts[c] = many
        inside += many
    return inside


@njit(cache=True)
def _count_large(index, t, columns, counts):  # type: ignore[no-untyped-def]
    """Count records in a table too large to count by number; return those outside."""
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    counts[index.first[t] : index.first[t + 1]] = 0
    outside = 0
    for i in range(columns.shape[1]):
        number = number_of(members, steps, order, t, columns[:, i])
        cell = cell_at(heads, dense, hashes, t, number)
        if cell < 0:
            outside += 1
        else:
            counts[cell] += 1
    return outside


@njit(cache=True)
def count_columns(index, room, columns, counts, outside):  # type: ignore[no-untyped-def]
    """Count records, given by column, in the cells of all tables."""
    members, steps, order = index.members, index.steps, index.order
    heads, first, near = index.heads, index.first, index.near
    visit, level, summed = index.plan
    numbers, tables = room
    records = columns.shape[1]
    for t in range(len(order)):
        if heads[t, 4] > SMALL:
            outside[t] = _count_large(index, t, columns, counts)
    last = -1
    for t in visit:
        cells, width, low, high = heads[t, 4], order[t], first[t], first[t + 1]
        if cells > SMALL:
            continue
        table = tables[level[t]]
        if level[t] > 0:
            _sum_over(tables[level[t] - 1], summed[t, 0], summed[t, 1], cells, table)
        else:
            kept = 0
            most = min(width - 1, order[last]) if last >= 0 else 0
            while kept < most and members[t, kept] == members[last, kept]:
                kept += 1
            last = t
            _number(members, steps, t, kept, width, columns, numbers)
            _histogram(numbers[width - 1], records, cells, table)
        outside[t] = records - _gather(table, near[low:high], counts[low:high])


@njit(cache=True)
def put_columns(codes, out):  # type: ignore[no-untyped-def]
    """Put all records by column."""
    for j in range(codes.shape[1]):
        for i in range(len(codes)):
            out[j, i] = codes[i, j]


@njit(cache=True, nogil=True)
def count_all(index, codes, counts, outside):  # type: ignore[no-untyped-def]
    """Count the records of a candidate by cell."""
    columns = np.empty((codes.shape[1], len(codes)), np.int16)
    put_columns(codes, columns)
    count_columns(index, workspace(index, len(codes)), columns, counts, outside)
