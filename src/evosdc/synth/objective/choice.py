"""Which tables of three and four variables a search aims at: those with most to gain.

There are too many to follow all of them, and most are right as soon as their pairs are.
So a candidate is compared with the original in as many as there is time for, and those
furthest above their noise floor are taken, the worst first. What was taken earlier
stays: a table that is let go drifts off again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, Ints, strides
from evosdc.synth.objective.redrawn import UNSEEN, deep_floor, noise_terms
from evosdc.synth.objective.tables import AWAY, SPARSE, Component, log_table

Table = tuple[int, ...]
Floats = NDArray[np.float64]

# So many tables are followed at most, by their number of variables.
BUDGET = {3: 200, 4: 40}
# So many records are visited in all to look for tables, and so many tables at most.
_VISITS = 20_000_000
_LOOKED_AT = 1500
# A result is measured by so many tables of an order, and so many records visited.
_MEASURED, _MEASURED_VISITS = 120, 2_000_000
# Cells are counted in so many places, and numbers beyond them folded into these.
_SLOTS, _SHIFT, _ODD = 1 << 17, 17, 40_503
# Tables that are so little above their floors on average, as a part, are at them.
_AT_FLOOR = 0.03


@dataclass(frozen=True, eq=False)
class Choice:
    """The tables to follow, and how far those looked at are above their floors.

    `reached` says whether the tables looked at are at their floors.
    """

    tables: tuple[Table, ...]
    reached: bool


def measurable(
    components: tuple[Component, ...], sizes: Ints, records: int, seed: int
) -> tuple[Component, ...]:
    """Give objectives whose tables are to be chosen some tables to be measured by.

    Those are drawn from all tables of their order, whatever a search follows.
    """
    rng = np.random.default_rng([seed, 8])
    most = max(10, min(_MEASURED, _MEASURED_VISITS // max(1, records)))
    out = []
    for component in components:
        if component.chosen:
            order = min(component.order, len(sizes))
            found = tuple(_some(sizes, order, most, rng))
            component = component._replace(sets=found or None)
        out.append(component)
    return tuple(out)


def choose(
    original: Codes,
    candidate: Codes,
    sizes: Ints,
    order: int,
    earlier: Sequence[Table],
    least: int,
    noise: bool,
    rng: np.random.Generator,
    budget: int | None = None,
    *,
    anew: bool = False,
) -> Choice:
    """Choose tables of `order` variables for a candidate to follow.

    With `noise` tables have floors, else none. `anew` says that the original is a
    sample drawn anew from it.
    """
    if len(sizes) <= order:
        return Choice((), True)
    most = BUDGET[order] if budget is None else budget
    seen = list(
        dict.fromkeys([*earlier, *_looked_at(sizes, order, len(original), rng)])
    )
    if not seen:
        return Choice((), True)
    above, floor = _above(original, candidate, sizes, seen, least, noise, anew)
    kept = [
        k
        for k in np.argsort(-above, kind="stable")
        if above[k] > 0.0 or k < len(earlier)
    ]
    reached = bool(above.mean() <= _AT_FLOOR * floor.mean())
    return Choice(tuple(seen[k] for k in kept[:most]), reached)


def _looked_at(
    sizes: Ints, order: int, records: int, rng: np.random.Generator
) -> Iterable[Table]:
    """Return all tables of an order, or as many of them as there is time for."""
    return _some(
        sizes, order, min(_LOOKED_AT, max(20, _VISITS // max(1, records))), rng
    )


def _some(
    sizes: Ints, order: int, many: int, rng: np.random.Generator
) -> Iterable[Table]:
    """Return all tables of an order, or `many` of them."""
    # Those with most levels first: see `Component.tables`.
    variables = np.argsort(-sizes, kind="stable")
    variables = variables[sizes[variables] > 1].tolist()
    total = comb(len(variables), order)
    if total <= many:
        return combinations(variables, order)
    out: dict[Table, None] = {}
    while len(out) < many:
        drawn = np.sort(rng.permutation(len(variables))[:order])
        out[tuple(variables[k] for k in drawn)] = None
    return out


def _above(
    original: Codes,
    candidate: Codes,
    sizes: Ints,
    tables: Sequence[Table],
    least: int,
    noise: bool,
    anew: bool,
) -> tuple[Floats, Floats]:
    """Return how far a candidate is above the floor in each table, and the floors."""
    members = np.array(tables, np.int64).reshape(len(tables), -1)
    steps = np.array([strides(sizes, t)[0][list(t)] for t in tables], np.int64)
    found = compare_tables(
        np.ascontiguousarray(original.T),
        np.ascontiguousarray(candidate.T),
        members,
        steps.reshape(members.shape),
        max(1, least),
        noise_terms(),
        log_table(2 * len(original) + 2),
    )
    distance = np.sqrt(np.maximum(0.0, found[0]))
    floor = np.zeros(len(tables))
    if noise:
        floor = np.sqrt(deep_floor(*found[1:], anew=anew))
    return np.maximum(0.0, distance - floor), floor


@kernel(nogil=True)
def compare_tables(original, candidate, members, steps, least, terms, logs):  # type: ignore[no-untyped-def]
    """Return the divergence of each table, and what `deep_floor` needs of it.

    Cells of fewer than `least` records are one, without the empty ones. Cells of large
    tables are thrown together by a hash now and then, which is exact enough to choose.
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
            one = (one ^ (one >> _SHIFT) * _ODD) & mask
            two = (two ^ (two >> _SHIFT) * _ODD) & mask
            place[0, i], place[1, i] = one, two
            counts[0, one] += 1
            counts[1, two] += 1
        total, noise, few, cells = 0.0, 0.0, 0.0, 0
        left, right, lone, apart = 0, 0, 0, records
        for i in range(records):
            cell = place[0, i]
            a = counts[0, cell]
            if a >= least:
                c = counts[1, cell]
                total += logs[a] + logs[c] - logs[a + c]
                noise += terms[min(a, len(terms) - 1)]
                cells += 1
                apart -= c
            elif a > 0:
                left += a
                right += counts[1, cell]
                apart -= counts[1, cell]
                lone += a == 1
                few += terms[a]
            counts[0, cell] = 0
        for i in range(records):
            counts[1, place[1, i]] = 0
        if left > 0:
            total += logs[left] + logs[right] - logs[left + right]
            noise += terms[min(left, len(terms) - 1)]
            cells += 1
        noise *= (cells - 1) / max(1, cells)
        if least > 1:
            price = AWAY * max(0.0, 1.0 - lone / (SPARSE * records))
            total += price * max(0.0, apart - UNSEEN * lone)
        out[0, t] = 0.5 * total / records + 1.0
        out[1, t] = 0.5 * noise / records
        out[2, t] = 0.5 * few / records
        out[3, t] = UNSEEN * lone / records
    return out
