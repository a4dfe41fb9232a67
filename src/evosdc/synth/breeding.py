"""Crossover and mutation of whole data sets, with counters kept as records change.

The crossovers are those of Chen (2020, section 4.3). Each swaps the same elements
between two candidates; only what differs touches a counter. A record that would break
a rule in either child stays as it was.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from evosdc.synth.encoding import cell_at, number_of
from evosdc.synth.risk import risk_totals
from evosdc.synth.rng import below, unit
from evosdc.synth.rules import breaks
from evosdc.synth.tables import fill_weights, group_values, table_sums

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
def _move_record(index, counts, outside, before, after):  # type: ignore[no-untyped-def]
    """Take one record out of its cells and count it where it is now."""
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    for t in range(len(order)):
        old = number_of(members, steps, order, t, before)
        new = number_of(members, steps, order, t, after)
        if old == new:
            continue
        cell = cell_at(heads, dense, hashes, t, old)
        if cell >= 0:
            counts[cell] -= 1
        else:
            outside[t] -= 1
        cell = cell_at(heads, dense, hashes, t, new)
        if cell >= 0:
            counts[cell] += 1
        else:
            outside[t] += 1


@njit(cache=True)
def _trade_record(index, counts, outside, others, other_outside, mine, yours):  # type: ignore[no-untyped-def]
    """Exchange a whole record between two candidates' counters."""
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    for t in range(len(order)):
        old = number_of(members, steps, order, t, mine)
        new = number_of(members, steps, order, t, yours)
        if old == new:
            continue
        cell = cell_at(heads, dense, hashes, t, old)
        if cell >= 0:
            counts[cell] -= 1
            others[cell] += 1
        else:
            outside[t] -= 1
            other_outside[t] += 1
        cell = cell_at(heads, dense, hashes, t, new)
        if cell >= 0:
            counts[cell] += 1
            others[cell] -= 1
        else:
            outside[t] += 1
            other_outside[t] -= 1


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
        if kind == _WHOLE:
            out[:] = True
        else:
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
    for j in range(len(record)):
        if breaks(rules, record, j):
            return True
    return False


@njit(cache=True)
def cross(  # type: ignore[no-untyped-def]
    target,
    risk,
    rules,
    kind,
    rate,
    one,
    counts1,
    outside1,
    risks1,
    two,
    counts2,
    outside2,
    risks2,
    state,
):
    """Swap elements between two candidates in place, with their counters."""
    n, m = one.shape
    ruled = len(rules.touch) > 0
    index, keys = target.index, risk.index
    none = np.zeros(2, np.int64)
    block = draw_block(kind, rate, n, m, state)
    mask = np.empty(m, np.bool_)
    row1 = np.empty(m, one.dtype)
    row2 = np.empty(m, one.dtype)
    for i in range(n):
        if not draw_mask(kind, rate, i, block, state, mask):
            continue
        differs = False
        whole = True
        for j in range(m):
            row1[j] = one[i, j]
            row2[j] = two[i, j]
            if row1[j] != row2[j]:
                if mask[j]:
                    differs = True
                else:
                    whole = False
        if not differs:
            continue
        for j in range(m):
            if mask[j]:
                one[i, j] = row2[j]
                two[i, j] = row1[j]
        if whole:
            _trade_record(index, counts1, outside1, counts2, outside2, row1, row2)
            _trade_record(keys, risks1, none, risks2, none, row1, row2)
            continue
        if ruled and (_record_breaks(rules, one[i]) or _record_breaks(rules, two[i])):
            one[i] = row1
            two[i] = row2
            continue
        _move_record(index, counts1, outside1, row1, one[i])
        _move_record(index, counts2, outside2, row2, two[i])
        _move_record(keys, risks1, none, row1, one[i])
        _move_record(keys, risks2, none, row2, two[i])


@njit(cache=True)
def mutate(  # type: ignore[no-untyped-def]
    target,
    risk,
    rules,
    free,
    sizes,
    source,
    uniform,
    rate,
    codes,
    counts,
    outside,
    risks,
    state,
):
    """Change each free element with probability `rate`, in place.

    The new value is uniform over the levels, or that of a random original record.
    """
    if rate <= 0.0:
        return
    n = len(codes)
    none = np.zeros(2, np.int64)
    before = np.empty(codes.shape[1], codes.dtype)
    skip = np.log1p(-min(rate, 1.0 - 1e-12))
    at = np.int64(np.log(max(unit(state), 1e-300)) / skip)
    while at < n * len(free):
        i = at // len(free)
        j = free[at % len(free)]
        new = (
            below(state, sizes[j]) if uniform else source[below(state, len(source)), j]
        )
        if new != codes[i, j]:
            before[:] = codes[i]
            codes[i, j] = new
            if breaks(rules, codes[i], j):
                codes[i, j] = before[j]
            else:
                _move_record(target.index, counts, outside, before, codes[i])
                _move_record(risk.index, risks, none, before, codes[i])
        at += 1 + np.int64(np.log(max(unit(state), 1e-300)) / skip)


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
    risks,
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
    for p in range(lo, hi):
        a, b = slots[p, 0], slots[p, 1]
        for child, parent in ((a, pairs[p, 0]), (b, pairs[p, 1])):
            codes[child] = codes[parent]
            counts[child] = counts[parent]
            outside[child] = outside[parent]
            risks[child] = risks[parent]
        cross(
            target,
            risk,
            rules,
            kind,
            rates[p],
            codes[a],
            counts[a],
            outside[a],
            risks[a],
            codes[b],
            counts[b],
            outside[b],
            risks[b],
            states[p],
        )
        for side in range(2):
            s = slots[p, side]
            mutate(
                target,
                risk,
                rules,
                free,
                sizes,
                source,
                uniform,
                mutations[p, side],
                codes[s],
                counts[s],
                outside[s],
                risks[s],
                states[p],
            )
            fill_weights(target, counts[s], weights[s])
            sums = table_sums(target, counts[s], outside[s], weights[s])
            groups[s] = group_values(target, sums)
            measured[s] = risk_totals(risk, risks[s]) * risk.scale
