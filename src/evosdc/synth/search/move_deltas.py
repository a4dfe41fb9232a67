"""What is known of a candidate while it anneals, and what a move adds to its cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, cell_at
from evosdc.synth.data.exact_values import exact_number
from evosdc.synth.objective.covariances import covariance_value
from evosdc.synth.objective.risk import key_risk, risk_totals
from evosdc.synth.objective.tables import (
    JSD,
    L1,
    MATCH,
    group_values,
    table_sums,
    value_of,
)


class CandidateState(NamedTuple):
    """What is known of a candidate while it anneals; moves keep it true.

    `up` and `down` are what it adds to a table's sum when a cell gains or loses a
    record; `slope` is that of the utility in a table's sum.
    """

    codes: Codes
    counts: Int
    outside: Long
    weights: Real
    keys: Int
    products: Real
    sums: Real
    values: Real
    slope: Real
    groups: Real
    up: Real
    down: Real
    totals: Real
    risks: Real


@kernel(inner=True)
def state_of(target, risk, guide, codes, tally):  # type: ignore[no-untyped-def]
    """Return what moves need to know of a candidate, from its counters."""
    counts, outside, weights, keys, products = tally
    kinds = target.kind
    sums = table_sums(target, counts, outside, weights)
    values = np.empty(len(sums))
    slope = np.empty(len(sums))
    up = np.zeros(len(counts))
    down = np.zeros(len(counts))
    for t in range(len(sums)):
        values[t] = value_of(target, t, sums[t])
        slope[t] = slope_of(target, guide, t, values[t])
        for cell in range(target.cells.first[t], target.cells.first[t + 1]):
            price(
                kinds[t], cell, target.original, counts, target.logs, weights, up, down
            )
    groups = group_values(target, sums)
    if len(products) > 0:
        groups[len(groups) - 1] = covariance_value(
            target.covariances, products, target.records
        )
    totals = risk_totals(risk, keys)
    risks = totals * risk.scale
    return CandidateState(
        codes, counts, outside, weights, keys, products, sums, values, slope, groups,
        up, down, totals, risks,
    )  # fmt: skip


@kernel(inner=True)
def price(kind, cell, original, counts, logs, weights, up, down):  # type: ignore[no-untyped-def]
    """Set what it adds to a table's sum when `cell` gains or loses a record."""
    a = original[cell]
    c = counts[cell]
    if kind == JSD:
        now = logs[c] - logs[a + c]
        up[cell] = logs[c + 1] - logs[a + c + 1] - now
        if c > 0:
            down[cell] = logs[c - 1] - logs[a + c - 1] - now
    elif kind == L1:
        up[cell] = 1.0 if c >= a else -1.0
        down[cell] = -1.0 if c > a else 1.0
    elif kind == MATCH:
        up[cell] = 1.0 if c == 0 else 0.0
        down[cell] = -1.0 if c == 1 else 0.0
    else:
        up[cell] = float(2 * c + 1) * weights[cell]
        down[cell] = float(1 - 2 * c) * weights[cell]


@kernel(inner=True)
def look(prices, cell, outside):  # type: ignore[no-untyped-def]
    """Return the price of a cell, `outside` where it has none."""
    return prices[cell] if cell >= 0 else outside


@kernel(inner=True)
def leaving(target, outside, t, records):  # type: ignore[no-untyped-def]
    """Return what it adds to a table's sum when records go where nobody is."""
    now = outside[t] - target.allowed[t]
    return target.away[t] * (max(0.0, now + records) - max(0.0, now))


@kernel(inline="always")
def slope_of(target, guide, t, value):  # type: ignore[no-untyped-def]
    """Return the slope of the utility in the sum of table `t`, which has a `value`."""
    return _slope(
        target.kind[t],
        value,
        target.reference[t],
        target.noise[t],
        guide[target.group[t]],
        target.records,
    )


@kernel(inner=True)
def _slope(kind, value, reference, noise, weight, records):  # type: ignore[no-untyped-def]
    """Return the slope of the utility in a table's sum: none at the noise floor."""
    if kind == JSD:
        if noise > 0.0 and value <= 0.0:
            return 0.0
        root = value + np.sqrt(noise + reference * reference)
        return weight * 0.25 / (records * max(root, 1e-4))
    return weight / records


@kernel(inline="always")
def renew_table(target, candidate, guide, t, change):  # type: ignore[no-untyped-def]
    """Give table `t` the sum that a move leaves it with, and what follows from it."""
    candidate.sums[t] += change
    candidate.values[t] = value_of(target, t, candidate.sums[t])
    candidate.slope[t] = slope_of(target, guide, t, candidate.values[t])


@kernel(inline="always")
def count_record(target, candidate, t, cell, sign):  # type: ignore[no-untyped-def]
    """Let a record enter (1) or leave (-1) a cell of table `t`; renew its prices."""
    if cell < 0:
        candidate.outside[t] += sign
    else:
        candidate.counts[cell] += sign
        price(
            target.kind[t],
            cell,
            target.original,
            candidate.counts,
            target.logs,
            candidate.weights,
            candidate.up,
            candidate.down,
        )


@kernel(inline="always")
def count_key(risk, keys, i, record, sign, totals):  # type: ignore[no-untyped-def]
    """Add or take away record `i`, by its exact values, from the risk counters."""
    _shift_risk(
        risk.cells.members,
        risk.cells.steps,
        risk.cells.order,
        risk.cells.heads,
        risk.cells.dense,
        risk.cells.hashes,
        risk.original,
        risk.pair_start,
        risk.pair_cell,
        risk.values,
        keys,
        i,
        record,
        sign,
        totals,
    )


@kernel(inner=True)
def _shift_risk(  # type: ignore[no-untyped-def]
    members, steps, order, heads, dense, hashes, original, start, pairs, values,
    counts, i, record, sign, totals,
):  # fmt: skip
    first, head, drawn = values
    number = exact_number(members, steps, order, first, head, drawn, 0, i, record)
    if number == -1:
        return
    k = cell_at(heads, dense, hashes, 0, number)
    if k < 0:
        return
    key_risk(original, start, pairs, counts, k, totals, -1.0)
    counts[k] += sign
    number = exact_number(members, steps, order, first, head, drawn, 1, i, record)
    if number != -1:
        p = cell_at(heads, dense, hashes, 1, number)
        if p >= 0:
            counts[p] += sign
    key_risk(original, start, pairs, counts, k, totals, 1.0)
