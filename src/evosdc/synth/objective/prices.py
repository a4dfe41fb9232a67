"""What a record that comes or goes adds to tables and to risks."""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import cell_at
from evosdc.synth.data.shades import exact_number
from evosdc.synth.objective.risk import key_risk
from evosdc.synth.objective.tables import JSD, L1, MATCH


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


@kernel(inner=True)
def slope_of(kind, value, reference, noise, weight, records):  # type: ignore[no-untyped-def]
    """Return the slope of the utility in a table's sum: none at the noise floor."""
    if kind == JSD:
        if noise > 0.0 and value <= 0.0:
            return 0.0
        root = value + np.sqrt(noise + reference * reference)
        return weight * 0.25 / (records * max(root, 1e-4))
    return weight / records


@kernel(inner=True)
def shift_risk(  # type: ignore[no-untyped-def]
    members,
    steps,
    order,
    heads,
    dense,
    hashes,
    original,
    start,
    pairs,
    shades,
    counts,
    i,
    record,
    sign,
    totals,
):
    """Add or take away record `i`, by its exact values, from the risk counters."""
    first, head, shade = shades
    number = exact_number(members, steps, order, first, head, shade, 0, i, record)
    if number == -1:
        return
    k = cell_at(heads, dense, hashes, 0, number)
    if k < 0:
        return
    key_risk(original, start, pairs, counts, k, totals, -1.0)
    counts[k] += sign
    number = exact_number(members, steps, order, first, head, shade, 1, i, record)
    if number != -1:
        p = cell_at(heads, dense, hashes, 1, number)
        if p >= 0:
            counts[p] += sign
    key_risk(original, start, pairs, counts, k, totals, 1.0)


@kernel(inner=True)
def guides(goal, group_weight):  # type: ignore[no-untyped-def]
    """Return how much each objective weighs where a move looks for a deficit."""
    out = group_weight.copy()
    for g in range(len(goal.mix)):
        out[g] *= goal.mix[g]
    return out
