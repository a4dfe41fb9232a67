"""Count many records at once: table by table, so that a table stays in cache.

Small tables are counted by cell number first, without looking for counters; then each
counter is visited once, or priced and not kept. Tables contained in another one are
summed from it. Unsigned places let the compiler leave out what negative ones need.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import SMALL, cell_at
from evosdc.synth.objective.tables import fill_weights, group_values, table_sum

_ONE, _TWO = np.uint64(1), np.uint64(2)
_LANES = np.uint64(4)
_HALF, _LOW = np.uint32(16), np.uint32(0xFFFF)


@kernel
def workspace(index, records):  # type: ignore[no-untyped-def]
    """Return space for the cell numbers of records, and for small tables."""
    return (
        np.empty((index.members.shape[1], records), np.int16),
        np.empty((index.plan.level.max() + 1, SMALL), np.int32),
    )


@kernel(inner=True)
def _number(members, steps, t, kept, width, columns, out):  # type: ignore[no-untyped-def]
    """Number the cells of records by the first one, two, ... variables of a table.

    The first `kept` rows are there already, from a table that begins alike.
    """
    records = np.uint64(columns.shape[1])
    for position in range(kept, width):
        row, j = np.uint64(position), np.uint64(members[t, position])
        if position == 0:
            for i in range(records):
                out[row, i] = columns[j, i]
            continue
        step = np.int16(steps[t, position])
        for i in range(records):
            out[row, i] = out[row - _ONE, i] + step * columns[j, i]


@kernel(inner=True)
def _sum_over(tables, level, step, levels, cells):  # type: ignore[no-untyped-def]
    """Sum the table of the level before over the variable of stride `step`."""
    large = level - _ONE
    for base in range(np.uint64(0), cells, step):
        source = base * levels
        if levels == _ONE:
            for i in range(step):
                tables[level, base + i] = tables[large, source + i]
            continue
        # Two at once spare a copy; most variables summed over have two levels.
        second = source + step
        for i in range(step):
            pair = tables[large, source + i] + tables[large, second + i]
            tables[level, base + i] = pair
        for v in range(_TWO, levels):
            row = source + v * step
            for i in range(step):
                tables[level, base + i] += tables[large, row + i]


@kernel(inner=True)
def _histogram(numbers, row, cells, tables):  # type: ignore[no-untyped-def]
    """Count records by cell number in the space of level 0.

    Many records in few cells would wait for each other's additions to the same cell;
    four tables side by side, added up in the end, let them pass.
    """
    level, records = np.uint64(0), np.uint64(numbers.shape[1])
    if _LANES * cells > np.uint64(SMALL) or records < _LANES * cells:
        for c in range(cells):
            tables[level, c] = 0
        for i in range(records):
            tables[level, np.uint64(np.uint16(numbers[row, i]))] += 1
        return
    for c in range(_LANES * cells):
        tables[level, c] = 0
    whole = records // _LANES * _LANES
    for i in range(np.uint64(0), whole, _LANES):
        for lane in range(_LANES):
            number = np.uint64(np.uint16(numbers[row, i + lane]))
            tables[level, lane * cells + number] += 1
    for i in range(whole, records):
        tables[level, np.uint64(np.uint16(numbers[row, i]))] += 1
    for lane in range(_ONE, _LANES):
        for c in range(cells):
            tables[level, c] += tables[level, lane * cells + c]


@kernel(inner=True)
def _gather(tables, level, near, start, end, counts):  # type: ignore[no-untyped-def]
    """Copy a table's cells to their counters; return how many records they hold."""
    inside = 0
    for c in range(start, end):
        many = tables[level, np.uint64(near[c])]
        counts[c] = many
        inside += many
    return inside


@kernel(inner=True)
def _gather_shared(index, t, tables, level, counts):  # type: ignore[no-untyped-def]
    """Do so in a table whose small cells share a counter."""
    inside = 0
    for c in range(index.first[t], index.first[t + 1]):
        counts[c] = 0
    for number in range(index.heads[t, 4]):
        many = tables[level, np.uint64(number)]
        if many > 0:
            cell = cell_at(index.heads, index.dense, index.hashes, t, number)
            if cell >= 0:
                counts[cell] += many
                inside += many
    return inside


@kernel(inner=True)
def _entropy(tables, level, words, start, end, logs):  # type: ignore[no-untyped-def]
    """Return the sum of L(c) - L(a + c) over a table's cells that have a counter.

    Terms are added in the order of `tables.table_sums`, so that both give the same to
    the last bit.
    """
    even = start + (end - start) // _TWO * _TWO
    x, y, z, w = 0.0, 0.0, 0.0, 0.0
    for i in range(start, even, _TWO):
        one, two = words[i], words[i + _ONE]
        c = np.uint64(tables[level, np.uint64(one & _LOW)])
        d = np.uint64(tables[level, np.uint64(two & _LOW)])
        x += logs[c]
        y += logs[np.uint64(one >> _HALF) + c]
        z += logs[d]
        w += logs[np.uint64(two >> _HALF) + d]
    if even < end:
        one = words[even]
        c = np.uint64(tables[level, np.uint64(one & _LOW)])
        x += logs[c]
        y += logs[np.uint64(one >> _HALF) + c]
    return (x - y) + (z - w)


@kernel(inner=True)
def _count_large(index, t, columns, counts):  # type: ignore[no-untyped-def]
    """Count records in a table too large to count by number; return those outside."""
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    records = np.uint64(columns.shape[1])
    numbers = np.zeros(records, np.int64)
    for position in range(order[t]):
        j, step = np.uint64(members[t, position]), steps[t, position]
        for i in range(records):
            numbers[i] += step * np.int64(columns[j, i])
    for c in range(index.first[t], index.first[t + 1]):
        counts[c] = 0
    outside = 0
    for i in range(records):
        cell = cell_at(heads, dense, hashes, t, numbers[i])
        if cell < 0:
            outside += 1
        else:
            counts[cell] += 1
    return outside


@kernel(inner=True)
def tally_columns(  # type: ignore[no-untyped-def]
    index, space, columns, direct, words, logs, counts, outside, sums
):
    """Count records, given by column, in all tables.

    A table marked `direct` gives its sum of entropy terms while it is there, others
    fill their counters. Arrays are handed on whole, with places in them: counting
    references to parts and to tuples of arrays would cost as much as small tables.
    """
    members, steps, order, heads = index.members, index.steps, index.order, index.heads
    first, near = index.first, index.near
    visit, level, summed = index.plan
    numbers, tables = space
    last = -1
    for t in visit:
        if heads[t, 4] > SMALL:
            outside[t] = _count_large(index, t, columns, counts)
            continue
        here, cells = np.uint64(level[t]), np.uint64(heads[t, 4])
        if here > 0:
            step, levels = np.uint64(summed[t, 0]), np.uint64(summed[t, 1])
            _sum_over(tables, here, step, levels, cells)
        else:
            kept, width = 0, order[t]
            most = min(width - 1, order[last]) if last >= 0 else 0
            while kept < most and members[t, kept] == members[last, kept]:
                kept += 1
            last = t
            _number(members, steps, t, kept, width, columns, numbers)
            _histogram(numbers, np.uint64(width - 1), cells, tables)
        start, end = np.uint64(first[t]), np.uint64(first[t + 1])
        if direct[t]:
            sums[t] = _entropy(tables, here, words, start, end, logs)
        else:
            if heads[t, 5] >= 0:
                inside = _gather_shared(index, t, tables, here, counts)
            else:
                inside = _gather(tables, here, near, start, end, counts)
            outside[t] = columns.shape[1] - inside


@kernel(inner=True)
def count_columns(index, space, columns, counts, outside):  # type: ignore[no-untyped-def]
    """Count records, given by column, in the cells of all tables."""
    direct = np.zeros(len(index.order), np.bool_)
    words, nothing = np.zeros(0, np.uint32), np.zeros(0)
    tally_columns(
        index, space, columns, direct, words, nothing, counts, outside, nothing
    )


@kernel(inner=True)
def put_columns(codes, out):  # type: ignore[no-untyped-def]
    """Put all records by column."""
    for j in range(codes.shape[1]):
        for i in range(len(codes)):
            out[j, i] = codes[i, j]


@kernel(nogil=True)
def count_all(index, codes, counts, outside):  # type: ignore[no-untyped-def]
    """Count the records of a candidate by cell."""
    columns = np.empty((codes.shape[1], len(codes)), np.int16)
    put_columns(codes, columns)
    count_columns(index, workspace(index, len(codes)), columns, counts, outside)


@kernel(inner=True)
def distances_of_columns(target, space, columns, counts, outside, weights):  # type: ignore[no-untyped-def]
    """Return the objectives of a candidate given by column.

    Its Jensen-Shannon terms are added up while a table is counted; only distances that
    need more than one cell at a time use counters.
    """
    index, direct, words, logs = target.cells, target.direct, target.words, target.logs
    sums = np.zeros(len(direct))
    tally_columns(index, space, columns, direct, words, logs, counts, outside, sums)
    fill_weights(target, counts, weights)
    for t in range(len(sums)):
        if direct[t]:
            sums[t] += target.constant[t]
        else:
            sums[t] = table_sum(target, t, counts, outside, weights)
    return group_values(target, sums)
