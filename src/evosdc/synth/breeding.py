"""Crossover and mutation of whole data sets, with counters kept as records change.

The crossovers are those of Chen (2020, section 4.3). Each swaps the same elements
between two candidates; only what differs touches a counter. A record that would break
a rule in either child stays as it was.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from evosdc.synth.risk import risk_totals
from evosdc.synth.rng import below, unit
from evosdc.synth.rules import breaks
from evosdc.synth.tables import fill_weights, group_values, table_sums
from evosdc.synth.tally import count_all, tally_tables, trade

CROSSOVERS = ("matrix", "variable", "cpc", "round-cpc", "whole-cpc", "puc")
_MATRIX, _VARIABLE, _CPC, _ROUND, _WHOLE, _PUC = range(6)


@njit(cache=True)
def _ends(state, length, out):  # type: ignore[no-untyped-def]
    """Draw two distinct cut points of 0..length, in order (two-point crossover)."""
    a = below(state, length + 1)
    b = below(state, length)
    if b >= a:
        b += 1
    out[0] = min(a, b)
    out[1] = max(a, b)


@njit(cache=True)
def draw_mask(kind, rate, i, block, state, out):  # type: ignore[no-untyped-def]
    """Mark the variables of record `i` to swap; say whether any is marked.

    `block` holds what is drawn once a pair: row and column ends of each variable.
    """
    m = len(out)
    some = False
    out[:] = False
    if kind == _MATRIX:
        if block[0, 0] <= i < block[0, 1]:
            out[block[1, 0] : block[1, 1]] = True
            some = True
    elif kind == _VARIABLE:
        for j in range(m):
            out[j] = block[j, 0] <= i < block[j, 1]
            some = some or out[j]
    elif kind == _PUC:
        for j in range(m):
            out[j] = unit(state) < rate
            some = some or out[j]
    elif unit(state) < rate:
        some = True
        ends = np.empty(2, np.int64)
        _ends(state, m, ends)
        out[ends[0] : ends[1]] = True
        if kind == _ROUND and unit(state) < 0.5:
            for j in range(m):
                out[j] = not out[j]
            some = ends[1] - ends[0] < m
    return some


@njit(cache=True)
def draw_block(kind, rate, n, m, state):  # type: ignore[no-untyped-def]
    """Draw what a crossover fixes once a pair."""
    block = np.zeros((max(m, 2), 2), np.int64)
    if kind == _MATRIX:
        if unit(state) < rate:
            _ends(state, n, block[0])
            _ends(state, m, block[1])
    elif kind == _VARIABLE:
        for j in range(m):
            if unit(state) < rate:
                _ends(state, n, block[j])
    return block


@njit(cache=True)
def _record_breaks(rules, record):  # type: ignore[no-untyped-def]
    for j in range(len(record)):  # noqa: SIM110  (Numba compiles loops best)
        if breaks(rules, record, j):
            return True
    return False


@njit(cache=True)
def cross_whole(rate, one, two, state, before1, before2):  # type: ignore[no-untyped-def]
    """Exchange whole records, each with probability `rate`, in place."""
    n, m = one.shape
    wholes = 0
    if rate <= 0.0:
        return wholes
    skip = np.log1p(-min(rate, 1.0 - 1e-12))
    i = np.int64(-1)
    while True:
        i += 1
        if rate < 0.1:
            # Jump to the next record chosen.
            i += np.int64(np.log(max(unit(state), 1e-300)) / skip)
        if i >= n:
            return wholes
        if rate >= 0.1 and unit(state) >= rate:
            continue
        differ = 0
        for j in range(m):
            a = one[i, j]
            b = two[i, j]
            one[i, j] = b
            two[i, j] = a
            before1[j, wholes] = a
            before2[j, wholes] = b
            differ |= a ^ b
        # A record that both have is overwritten by the next one.
        wholes += differ != 0


@njit(cache=True)
def cross_parts(kind, rate, rules, one, two, state, before1, before2, after1, after2):  # type: ignore[no-untyped-def]
    """Swap parts of records between two candidates in place.

    Returns how many records changed; `before` and `after` hold them by column.
    """
    n, m = one.shape
    ruled = len(rules.touch) > 0
    block = draw_block(kind, rate, n, m, state)
    mask = np.ones(m, np.bool_)
    parts = 0
    for i in range(n):
        if not draw_mask(kind, rate, i, block, state, mask):
            continue
        differs = False
        for j in range(m):
            a = one[i, j]
            b = two[i, j]
            before1[j, parts] = a
            before2[j, parts] = b
            if mask[j] and a != b:
                differs = True
                one[i, j] = b
                two[i, j] = a
        if not differs:
            continue
        if ruled and (_record_breaks(rules, one[i]) or _record_breaks(rules, two[i])):
            for j in range(m):
                one[i, j] = before1[j, parts]
                two[i, j] = before2[j, parts]
            continue
        for j in range(m):
            after1[j, parts] = one[i, j]
            after2[j, parts] = two[i, j]
        parts += 1
    return parts


@njit(cache=True)
def _recount(index, wholes, parts, changed, counts1, outside1, counts2, outside2):  # type: ignore[no-untyped-def]
    """Bring the counters of two candidates in line with a crossover."""
    before1, before2, after1, after2 = changed
    tables = len(outside1)
    if wholes > 0:
        trade(index, before1, before2, wholes, counts1, outside1, counts2, outside2)
    if parts > 0:
        for columns, sign, counts, outside in (
            (before1, -1, counts1, outside1),
            (after1, 1, counts1, outside1),
            (before2, -1, counts2, outside2),
            (after2, 1, counts2, outside2),
        ):
            tally_tables(
                index,
                0,
                tables,
                parts,
                columns,
                sign,
                counts,
                outside,
                counts,
                outside,
                False,
            )


@njit(cache=True)
def mutate(rules, free, sizes, source, uniform, rate, codes, state, before, after):  # type: ignore[no-untyped-def]
    """Change each free element with probability `rate`, in place.

    The new value is uniform over the levels, or that of a random original record.
    Returns how many records changed; `before` and `after` hold them by column.
    """
    if rate <= 0.0:
        return 0
    n, m = codes.shape
    changed = 0
    last = np.int64(-1)
    skip = np.log1p(-min(rate, 1.0 - 1e-12))
    at = np.int64(np.log(max(unit(state), 1e-300)) / skip)
    while at < n * len(free):
        i = at // len(free)
        j = free[at % len(free)]
        at += 1 + np.int64(np.log(max(unit(state), 1e-300)) / skip)
        old = codes[i, j]
        new = (
            below(state, sizes[j]) if uniform else source[below(state, len(source)), j]
        )
        if new == old:
            continue
        codes[i, j] = new
        if breaks(rules, codes[i], j):
            codes[i, j] = old
            continue
        if i != last:
            for v in range(m):
                before[v, changed] = codes[i, v]
                after[v, changed] = codes[i, v]
            before[j, changed] = old
            last = i
            changed += 1
        after[j, changed - 1] = new
    return changed


@njit(cache=True, nogil=True)
def breed(  # type: ignore[no-untyped-def]
    target,
    risk,
    rules,
    free,
    sizes,
    source,
    uniform,
    kind,
    codes,
    counts,
    outside,
    keys,
    weights,
    pairs,
    slots,
    rates,
    mutations,
    states,
    groups,
    measured,
    lo,
    hi,
):
    """Make the children of pairs `lo` to `hi` in their slots and price them."""
    n, m = codes.shape[1], codes.shape[2]
    tables = outside.shape[1]
    none = np.zeros(2, np.int64)
    changed = (
        np.empty((m, n), np.int16),
        np.empty((m, n), np.int16),
        np.empty((m, n), np.int16),
        np.empty((m, n), np.int16),
    )
    for p in range(lo, hi):
        a, b = slots[p, 0], slots[p, 1]
        for child, parent in ((a, pairs[p, 0]), (b, pairs[p, 1])):
            codes[child] = codes[parent]
            counts[child] = counts[parent]
            outside[child] = outside[parent]
            keys[child] = keys[parent]
        wholes, parts = 0, 0
        if kind == _WHOLE:
            wholes = cross_whole(
                rates[p], codes[a], codes[b], states[p], changed[0], changed[1]
            )
        else:
            parts = cross_parts(
                kind,
                rates[p],
                rules,
                codes[a],
                codes[b],
                states[p],
                changed[0],
                changed[1],
                changed[2],
                changed[3],
            )
        if 2 * parts > n:
            for s in (a, b):
                count_all(target.cells, codes[s], counts[s], outside[s])
                count_all(risk.cells, codes[s], keys[s], none)
        else:
            _recount(
                target.cells,
                wholes,
                parts,
                changed,
                counts[a],
                outside[a],
                counts[b],
                outside[b],
            )
            _recount(risk.cells, wholes, parts, changed, keys[a], none, keys[b], none)
        for side in range(2):
            s = slots[p, side]
            many = mutate(
                rules,
                free,
                sizes,
                source,
                uniform,
                mutations[p, side],
                codes[s],
                states[p],
                changed[0],
                changed[2],
            )
            for sign, columns in ((-1, changed[0]), (1, changed[2])):
                tally_tables(
                    target.cells,
                    0,
                    tables,
                    many,
                    columns,
                    sign,
                    counts[s],
                    outside[s],
                    counts[s],
                    outside[s],
                    False,
                )
                tally_tables(
                    risk.cells,
                    0,
                    2,
                    many,
                    columns,
                    sign,
                    keys[s],
                    none,
                    keys[s],
                    none,
                    False,
                )
            fill_weights(target, counts[s], weights[s])
            sums = table_sums(target, counts[s], outside[s], weights[s])
            groups[s] = group_values(target, sums)
            measured[s] = risk_totals(risk, keys[s]) * risk.scale
