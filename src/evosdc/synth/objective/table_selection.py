"""Which tables of three and four variables a search aims at: those with most to gain.

There are too many to follow all of them, and most are right as soon as their pairs are.
So a candidate is compared with the original in as many as there is time for, and those
furthest above their noise floor are taken, the worst first. What was taken earlier
stays: a table that is let go drifts off again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, strides
from evosdc.synth.objective.sampling_noise import UNSEEN_SHARE, deep_floor, noise_terms
from evosdc.synth.objective.tables import (
    MAX_UNIQUE_SHARE,
    OUTSIDE_PRICE,
    Component,
    log_table,
)

Table = tuple[int, ...]

# The most tables that are followed, by their number of variables.
MAX_TABLES = {3: 200, 4: 40}
# Candidates: so many tables at most, and so many records visited in all.
_MAX_CANDIDATES, _MAX_VISITS = 1500, 20_000_000
# A result is measured by so many tables of an order, and so many records visited.
_MAX_MEASURED, _MAX_MEASURED_VISITS = 120, 2_000_000
# Cells are counted in so many slots, and numbers beyond them are hashed into these.
_SLOTS, _HASH_SHIFT, _HASH_FACTOR = 1 << 17, 17, 40_503
# Tables that are above their floors by no more than this share of them are at them.
_MAX_EXCESS_AT_FLOOR = 0.03


@dataclass(frozen=True, eq=False)
class TableSelection:
    """The tables to follow, and whether all that were compared are at their floors."""

    tables: tuple[Table, ...]
    reached: bool


def with_measured_tables(
    components: tuple[Component, ...], sizes: Long, records: int, seed: int
) -> tuple[Component, ...]:
    """Give objectives whose tables are to be chosen some tables to be measured by.

    Those are drawn from all tables of their order, whatever a search follows.
    """
    rng = np.random.default_rng([seed, 8])
    most = max(10, min(_MAX_MEASURED, _MAX_MEASURED_VISITS // max(1, records)))
    out = []
    for component in components:
        if component.chosen:
            order = min(component.order, len(sizes))
            found = tuple(some_tables(_varying(sizes), order, most, rng))
            component = component._replace(sets=found or None)
        out.append(component)
    return tuple(out)


def select_tables(
    original: Codes,
    candidate: Codes,
    sizes: Long,
    order: int,
    earlier: Sequence[Table],
    min_group: int,
    noise: bool,
    rng: np.random.Generator,
    budget: int | None = None,
    *,
    resampled: bool = False,
) -> TableSelection:
    """Choose tables of `order` variables for a candidate to follow.

    With `noise` tables have floors, else none. `resampled` says that the original is a
    resample of it.
    """
    if len(sizes) <= order:
        return TableSelection((), True)
    many = min(_MAX_CANDIDATES, max(20, _MAX_VISITS // max(1, len(original))))
    drawn = some_tables(_varying(sizes), order, many, rng)
    seen = list(dict.fromkeys([*earlier, *drawn]))
    if not seen:
        return TableSelection((), True)
    members = np.array(seen, np.int64).reshape(len(seen), -1)
    steps = np.array([strides(sizes, t)[0][list(t)] for t in seen], np.int64)
    found = compare_tables(
        np.ascontiguousarray(original.T),
        np.ascontiguousarray(candidate.T),
        members,
        steps.reshape(members.shape),
        max(1, min_group),
        noise_terms(),
        log_table(2 * len(original) + 2),
    )
    distance = np.sqrt(np.maximum(0.0, found[0]))
    floor = np.zeros(len(seen))
    if noise:
        floor = np.sqrt(deep_floor(*found[1:], resampled=resampled))
    above = np.maximum(0.0, distance - floor)
    reached = bool(above.mean() <= _MAX_EXCESS_AT_FLOOR * floor.mean())
    most = MAX_TABLES[order] if budget is None else budget
    return TableSelection(worst_tables(seen, above, len(earlier), most), reached)


def worst_tables(
    tables: Sequence[Table], excess: Real, earlier: int, most: int
) -> tuple[Table, ...]:
    """Return the tables with most excess, the worst first; the first ones stay."""
    order = np.argsort(-excess, kind="stable")
    kept = [k for k in order if excess[k] > 0.0 or k < earlier]
    return tuple(tables[k] for k in kept[:most])


def _varying(sizes: Long) -> list[int]:
    """Return the variables with several levels, those with most first."""
    # See `Component.tables` for the order.
    return [int(j) for j in np.argsort(-sizes, kind="stable") if sizes[j] > 1]


def some_tables(
    variables: list[int], order: int, many: int, rng: np.random.Generator
) -> list[Table]:
    """Return all tables of an order, or `many` of them."""
    if comb(len(variables), order) <= many:
        return list(combinations(variables, order))
    out: dict[Table, None] = {}
    while len(out) < many:
        drawn = np.sort(rng.permutation(len(variables))[:order])
        out[tuple(variables[k] for k in drawn)] = None
    return list(out)


@kernel(nogil=True)
def compare_tables(original, candidate, members, steps, min_group, terms, logs):  # type: ignore[no-untyped-def]
    """Return the divergence of each table, and what `deep_floor` needs of it.

    Cells of fewer than `min_group` records are one, without the empty ones. Cells of
    large tables collide in a hash now and then, which is exact enough to choose.
    """
    records = original.shape[1]
    mask = np.int64(_SLOTS - 1)
    counts = np.zeros((2, _SLOTS), np.int32)
    place = np.empty((2, records), np.int64)
    out = np.zeros((4, len(members)))
    for t in range(len(members)):
        for i in range(records):
            one, two = np.int64(0), np.int64(0)
            for position in range(members.shape[1]):
                j, step = members[t, position], steps[t, position]
                one += step * np.int64(original[j, i])
                two += step * np.int64(candidate[j, i])
            one = (one ^ (one >> _HASH_SHIFT) * _HASH_FACTOR) & mask
            two = (two ^ (two >> _HASH_SHIFT) * _HASH_FACTOR) & mask
            place[0, i], place[1, i] = one, two
            counts[0, one] += 1
            counts[1, two] += 1
        total, noise, few, cells = 0.0, 0.0, 0.0, 0
        left, right, unique, outside = 0, 0, 0, records
        for i in range(records):
            cell = place[0, i]
            a = counts[0, cell]
            if a >= min_group:
                c = counts[1, cell]
                total += logs[a] + logs[c] - logs[a + c]
                noise += terms[min(a, len(terms) - 1)]
                cells += 1
                outside -= c
            elif a > 0:
                left += a
                right += counts[1, cell]
                outside -= counts[1, cell]
                unique += a == 1
                few += terms[a]
            counts[0, cell] = 0
        for i in range(records):
            counts[1, place[1, i]] = 0
        if left > 0:
            total += logs[left] + logs[right] - logs[left + right]
            noise += terms[min(left, len(terms) - 1)]
            cells += 1
        noise *= (cells - 1) / max(1, cells)
        if min_group > 1:
            price = OUTSIDE_PRICE * max(
                0.0, 1.0 - unique / (MAX_UNIQUE_SHARE * records)
            )
            total += price * max(0.0, outside - UNSEEN_SHARE * unique)
        out[0, t] = 0.5 * total / records + 1.0
        out[1, t] = 0.5 * noise / records
        out[2, t] = 0.5 * few / records
        out[3, t] = UNSEEN_SHARE * unique / records
    return out
