"""Crossover and mutation of whole data sets, and the price of their children.

The crossovers are those of Chen (2020, section 4.3). Each swaps the same elements
between two candidates. A record that would break a rule in either child stays as it
was.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.data.rules import breaks
from evosdc.synth.objective.risk import count_exact, risk_totals
from evosdc.synth.objective.tally import (
    count_columns,
    distances_of_columns,
    put_columns,
)
from evosdc.synth.search.atomic_counter import next_number
from evosdc.synth.search.rng import below, unit

CROSSOVERS = ("matrix", "variable", "cpc", "round-cpc", "whole-cpc", "puc")
_MATRIX, _VARIABLE, _CPC, _ROUND, _WHOLE, _PUC = range(6)
MUTATIONS = ("uniform", "univariate", "block", "variable")
_UNIFORM, _UNIVARIATE, _BLOCK, _ONE_VARIABLE = range(4)
# From this rate on, records to exchange are not jumped to but met on the way.
_MIN_RATE_OF_SCANS = 0.1
# So many records are exchanged at once: their masks stay in the nearest cache.
_BLOCK_RECORDS = 512


@kernel(inner=True)
def _ends(state, length, out):  # type: ignore[no-untyped-def]
    """Draw two distinct cut points of 0..length, in order (two-point crossover)."""
    a = below(state, length + 1)
    b = below(state, length)
    if b >= a:
        b += 1
    out[0] = min(a, b)
    out[1] = max(a, b)


@kernel(inner=True)
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


@kernel(inner=True)
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


@kernel(inner=True)
def _record_breaks(rules, record):  # type: ignore[no-untyped-def]
    for j in range(len(record)):  # noqa: SIM110  (Numba compiles loops best)
        if breaks(rules, record, j):
            return True
    return False


@kernel(inner=True)
def _exchange(mother, father, masks, one, two):  # type: ignore[no-untyped-def]
    """Copy elements to two children, the other way round where the mask is set."""
    for k in range(len(mother)):
        both = (mother[k] ^ father[k]) & masks[k]
        one[k] = mother[k] ^ both
        two[k] = father[k] ^ both


@kernel(inner=True)
def cross_often(rate, mother, father, one, two, state):  # type: ignore[no-untyped-def]
    """Make two children of whole records, each exchanged with probability `rate`.

    Parents are read once and children written once: large data sets do not fit a cache.
    A mask for a block of records is drawn first; with it the rest is one loop over
    neighbouring elements, many at once, and no branch that would be guessed wrong.
    """
    n, m = one.shape
    from_mother, from_father = mother.reshape(n * m), father.reshape(n * m)
    to_one, to_two = one.reshape(n * m), two.reshape(n * m)
    masks = np.empty(_BLOCK_RECORDS * m, np.int16)
    for first in range(0, n, _BLOCK_RECORDS):
        many = min(_BLOCK_RECORDS, n - first)
        for i in range(many):
            masks[i * m : (i + 1) * m] = -np.int16(unit(state) < rate)
        block = slice(first * m, (first + many) * m)
        _exchange(
            from_mother[block], from_father[block], masks, to_one[block], to_two[block]
        )


@kernel(inner=True)
def cross_seldom(rate, one, two, state):  # type: ignore[no-untyped-def]
    """Exchange a few whole records, each with probability `rate`, in place."""
    n, m = one.shape
    if rate <= 0.0:
        return
    skip = np.log1p(-rate)
    at = np.int64(np.log(max(unit(state), 1e-300)) / skip)
    while at < n:
        for j in range(m):
            one[at, j], two[at, j] = two[at, j], one[at, j]
        # Jump to the next record chosen.
        at += 1 + np.int64(np.log(max(unit(state), 1e-300)) / skip)


@kernel(inner=True)
def _swap(one, two, i, mask):  # type: ignore[no-untyped-def]
    """Swap the marked elements of record `i`; say whether any differs."""
    differs = False
    for j in range(len(mask)):
        if mask[j] and one[i, j] != two[i, j]:
            differs = True
            one[i, j], two[i, j] = two[i, j], one[i, j]
    return differs


@kernel(inner=True)
def cross_parts(kind, rate, rules, one, two, state):  # type: ignore[no-untyped-def]
    """Swap parts of records between two candidates in place."""
    n, m = one.shape
    ruled = len(rules.touch) > 0
    block = draw_block(kind, rate, n, m, state)
    mask = np.ones(m, np.bool_)
    for i in range(n):
        if not draw_mask(kind, rate, i, block, state, mask):
            continue
        if not _swap(one, two, i, mask):
            continue
        if ruled and (_record_breaks(rules, one[i]) or _record_breaks(rules, two[i])):
            _swap(one, two, i, mask)


@kernel(inner=True)
def _mutate_block(rules, free, source, rate, codes, state):  # type: ignore[no-untyped-def]
    """Redraw a random part of a candidate, with probability `rate` (Chen 2020)."""
    if unit(state) >= rate:
        return
    rows, columns = np.empty(2, np.int64), np.empty(2, np.int64)
    _ends(state, len(codes), rows)
    _ends(state, len(free), columns)
    for i in range(rows[0], rows[1]):
        for j in free[columns[0] : columns[1]]:
            old = codes[i, j]
            codes[i, j] = source[below(state, len(source)), j]
            if breaks(rules, codes[i], j):
                codes[i, j] = old


@kernel(inner=True)
def _mutate_variable(rules, free, source, rate, codes, state):  # type: ignore[no-untyped-def]
    """Redraw elements of each variable chosen with probability `rate` (Chen 2020, 5.1).

    The source says that positions are "randomly selected", not how many: a random
    share of them.
    """
    for j in free:
        if unit(state) >= rate:
            continue
        share = unit(state)
        for i in range(len(codes)):
            if unit(state) < share:
                old = codes[i, j]
                codes[i, j] = source[below(state, len(source)), j]
                if breaks(rules, codes[i], j):
                    codes[i, j] = old


@kernel(inner=True)
def mutate(rules, free, sizes, source, way, rate, codes, state):  # type: ignore[no-untyped-def]
    """Mutate a candidate in place.

    Each free element changes with probability `rate`, uniformly to any level or to that
    of a random original record; or a whole part of the candidate does, or of a
    variable.
    """
    if rate <= 0.0:
        return
    if way == _BLOCK:
        _mutate_block(rules, free, source, rate, codes, state)
        return
    if way == _ONE_VARIABLE:
        _mutate_variable(rules, free, source, rate, codes, state)
        return
    skip = np.log1p(-min(rate, 1.0 - 1e-12))
    at = np.int64(np.log(max(unit(state), 1e-300)) / skip)
    while at < len(codes) * len(free):
        i = at // len(free)
        j = free[at % len(free)]
        at += 1 + np.int64(np.log(max(unit(state), 1e-300)) / skip)
        old = codes[i, j]
        if way == _UNIFORM:
            new = below(state, sizes[j])
        else:
            new = np.int64(source[below(state, len(source)), j])
        codes[i, j] = new
        if new != old and breaks(rules, codes[i], j):
            codes[i, j] = old


@kernel(nogil=True)
def breed(  # type: ignore[no-untyped-def]
    target, risk, how, kind, codes, tally, workspaces, pairs, slots, rates, mutations,
    states, groups, measured, watched, counter,
):  # fmt: skip
    """Make the children of pairs in their slots and price them, pair by pair in turns.

    `how` are the rules, the variables that may change, their sizes, the original and
    the way of mutation. Counting a child afresh, table by table in cache, is no slower
    than following what it inherits: keeping the counters of a whole population costs
    more time in memory.
    """
    counts, outside, weights, keys, _ = tally
    columns, space, key_space = workspaces
    nowhere = np.zeros(2, np.int64)
    while True:
        p = next_number(counter)
        if p >= len(pairs):
            return
        mother, father = codes[pairs[p, 0]], codes[pairs[p, 1]]
        one, two = codes[slots[p, 0]], codes[slots[p, 1]]
        if kind == _WHOLE and rates[p] >= _MIN_RATE_OF_SCANS:
            cross_often(rates[p], mother, father, one, two, states[p])
        else:
            one[:] = mother
            two[:] = father
            if kind == _WHOLE:
                cross_seldom(rates[p], one, two, states[p])
            else:
                cross_parts(kind, rates[p], how[0], one, two, states[p])
        for side in range(2):
            s = slots[p, side]
            mutate(*how, mutations[p, side], codes[s], states[p])
            put_columns(codes[s], columns)
            groups[s] = distances_of_columns(
                target, space, columns, counts, outside, weights
            )
            if watched:
                if risk.by_value:
                    count_exact(risk, codes[s], keys)
                else:
                    count_columns(risk.cells, key_space, columns, keys, nowhere)
                measured[s] = risk_totals(risk, keys) * risk.scale
