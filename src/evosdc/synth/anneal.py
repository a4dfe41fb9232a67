"""The memetic step: record moves priced by the cells and keys they touch.

A move swaps one variable between two records (margins stay) or changes one value of
one record. Its price is exact: the change of the whole objective, utility and risk,
from the few counters it touches. Acceptance is simulated annealing or late acceptance
(Burke and Bykov 2017).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evosdc.synth.encoding import cell_at, number_of
from evosdc.synth.risk import key_risk, risk_totals
from evosdc.synth.rng import below, unit
from evosdc.synth.rules import breaks
from evosdc.synth.tables import JSD, L1, combine, group_values, table_sums, table_value

# Variables with more levels get a random value instead of the best of all.
_TRIED_LEVELS = 64


class Goal(NamedTuple):
    """How utility and risk make one cost.

    ``euclid`` is the thesis's combination ``sqrt((u U)^2 + (r R)^2)``; otherwise the
    cost is ``u U + r R``. `share` weighs the four risks into R. Each risk above its
    `limit` adds `penalty` times the excess.
    """

    euclid: bool
    utility: float
    risk: float
    share: NDArray[np.float64]
    limit: NDArray[np.float64]
    penalty: NDArray[np.float64]

    @property
    def looks_at_risk(self) -> bool:
        """Whether any risk enters the cost."""
        return bool(self.risk > 0 or self.penalty.any())


@njit(cache=True)
def cost_of(goal, utility, risks):  # type: ignore[no-untyped-def]
    """Return the cost of a candidate from its utility distance and scaled risks."""
    soft = 0.0
    excess = 0.0
    for r in range(len(risks)):
        soft += goal.share[r] * risks[r]
        excess += goal.penalty[r] * max(0.0, risks[r] - goal.limit[r])
    u = goal.utility * utility
    v = goal.risk * soft
    if goal.euclid:
        return np.sqrt(u * u + v * v) + excess
    return u + v + excess


@njit(cache=True)
def _price(kind, cell, original, counts, logs, weights, up, down):  # type: ignore[no-untyped-def]
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
    else:
        up[cell] = float(2 * c + 1) * weights[cell]
        down[cell] = float(1 - 2 * c) * weights[cell]


@njit(cache=True)
def _look(prices, cell, outside):  # type: ignore[no-untyped-def]
    return prices[cell] if cell >= 0 else outside


@njit(cache=True)
def _slope(kind, value, weight, records):  # type: ignore[no-untyped-def]
    """Return the slope of the utility in a table's sum."""
    if kind == JSD:
        return weight * 0.25 / (records * max(value, 1e-4))
    return weight / records


@njit(cache=True)
def _shift_risk(  # type: ignore[no-untyped-def]
    members,
    steps,
    order,
    heads,
    dense,
    hashes,
    original,
    start,
    pairs,
    counts,
    record,
    sign,
    totals,
):
    """Add or take away one record from the risk counters."""
    k = cell_at(heads, dense, hashes, 0, number_of(members, steps, order, 0, record))
    if k < 0:
        return
    key_risk(original, start, pairs, counts, k, totals, -1.0)
    counts[k] += sign
    p = cell_at(heads, dense, hashes, 1, number_of(members, steps, order, 1, record))
    if p >= 0:
        counts[p] += sign
    key_risk(original, start, pairs, counts, k, totals, 1.0)


@njit(cache=True)
def _exchange(  # type: ignore[no-untyped-def]
    members,
    steps,
    order,
    heads,
    dense,
    hashes,
    original,
    start,
    pairs,
    counts,
    codes,
    i,
    k,
    j,
    value,
    other,
    totals,
):
    """Give records `i` and `k` new values of variable `j`, with the risk counters.

    A change of one record has `i` and `k` the same.
    """
    for sign in (-1, 1):
        _shift_risk(
            members,
            steps,
            order,
            heads,
            dense,
            hashes,
            original,
            start,
            pairs,
            counts,
            codes[i],
            sign,
            totals,
        )
        if i != k:
            _shift_risk(
                members,
                steps,
                order,
                heads,
                dense,
                hashes,
                original,
                start,
                pairs,
                counts,
                codes[k],
                sign,
                totals,
            )
        codes[i, j] = value
        if i != k:
            codes[k, j] = other


@njit(cache=True)
def _wanted(  # type: ignore[no-untyped-def]
    members,
    steps,
    order,
    heads,
    dense,
    hashes,
    kinds,
    tables,
    table_steps,
    slope,
    up,
    record,
    old,
    wish,
):
    """Return the value whose cells are most in deficit, by prices at the margin."""
    wish[:] = 0.0
    for w in range(len(tables)):
        t = np.int64(tables[w])
        step = table_steps[w]
        lowest = number_of(members, steps, order, t, record) - step * np.int64(old)
        away = 1.0 if kinds[t] == L1 else 0.0
        for v in range(len(wish)):
            cell = cell_at(heads, dense, hashes, t, lowest + step * v)
            wish[v] += slope[t] * _look(up, cell, away)
    wish[old] = np.inf
    return np.int16(np.argmin(wish))


@njit(cache=True, nogil=True)
def anneal(  # type: ignore[no-untyped-def]
    target,
    risk,
    goal,
    rules,
    free,
    sizes,
    codes,
    counts,
    outside,
    weights,
    risk_counts,
    state,
    moves,
    hot,
    cold,
    swaps,
    history,
):
    """Make `moves` moves on one candidate, in place; return its cost and acceptances.

    The temperature falls from `hot` to `cold` geometrically. A non-empty `history`
    switches to late acceptance with that many remembered costs.
    """
    index = target.cells
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    original, logs, kinds = target.original, target.logs, target.kind
    degree, reference, records = target.degree, target.reference, target.records
    group, group_weight, floor = target.group, target.group_weight, target.floor
    touch_start, touch, touch_step = (
        target.touch_start,
        target.touch,
        target.touch_step,
    )
    r_members, r_steps, r_order = (
        risk.cells.members,
        risk.cells.steps,
        risk.cells.order,
    )
    r_heads, r_dense, r_hashes = risk.cells.heads, risk.cells.dense, risk.cells.hashes
    r_original, r_start, r_pairs = risk.original, risk.pair_start, risk.pair_cell
    role, scale = risk.role, risk.scale
    ruled = len(rules.touch) > 0
    n = len(codes)
    with_risk = goal.risk > 0.0 or goal.penalty.max() > 0.0
    utility_weight = goal.utility
    sums = table_sums(target, counts, outside, weights)
    values = np.empty(len(sums))
    for s in range(len(sums)):
        values[s] = table_value(kinds[s], sums[s], records, degree[s], reference[s])
    groups = group_values(target, sums)
    totals = risk_totals(risk, risk_counts)
    trial_groups = groups.copy()
    trial_totals = totals.copy()
    risks = totals * scale
    trial_risks = risks.copy()
    cost = cost_of(goal, combine(groups, floor), risks)
    widest = 1
    for j in range(len(sizes)):
        widest = max(widest, touch_start[j + 1] - touch_start[j])
    cells = np.empty((widest, 4), np.int64)
    up = np.zeros(len(counts))
    down = np.zeros(len(counts))
    slope = np.empty(len(sums))
    for s in range(len(sums)):
        slope[s] = _slope(kinds[s], values[s], group_weight[group[s]], records)
        for cell in range(index.first[s], index.first[s + 1]):
            _price(kinds[s], cell, original, counts, logs, weights, up, down)
    wish = np.empty(sizes.max())
    changes = np.empty(widest)
    accepted = 0
    cooling = (cold / hot) ** (1.0 / max(1, moves)) if hot > 0.0 else 1.0
    temperature = hot
    late = len(history) > 0
    history[:] = cost
    for move in range(moves):
        temperature *= cooling
        j = free[below(state, len(free))]
        i = below(state, n)
        old = codes[i, j]
        swap = unit(state) < swaps
        k = i
        begin = touch_start[j]
        width = touch_start[j + 1] - begin
        if swap:
            k = below(state, n)
            new = codes[k, j]
        elif 1 < sizes[j] <= _TRIED_LEVELS:
            new = _wanted(
                members,
                steps,
                order,
                heads,
                dense,
                hashes,
                kinds,
                touch[begin : begin + width],
                touch_step[begin : begin + width],
                slope,
                up,
                codes[i],
                old,
                wish[: sizes[j]],
            )
        else:
            new = np.int16(below(state, sizes[j]))
        if new == old:
            continue
        for g in range(len(groups)):
            trial_groups[g] = groups[g]
        jump = np.int64(new) - np.int64(old)
        for w in range(width):
            t = np.int64(touch[begin + w])
            shift = touch_step[begin + w] * jump
            kind = kinds[t]
            away = 1.0 if kind == L1 else 0.0
            number = number_of(members, steps, order, t, codes[i])
            if swap:
                other = number_of(members, steps, order, t, codes[k])
                if other == number + shift:
                    cells[w, 0] = -2
                    continue
                c = cell_at(heads, dense, hashes, t, other)
                d = cell_at(heads, dense, hashes, t, other - shift)
                cells[w, 2] = c
                cells[w, 3] = d
                change = _look(down, c, -away) + _look(up, d, away)
            else:
                change = 0.0
            a = cell_at(heads, dense, hashes, t, number)
            b = cell_at(heads, dense, hashes, t, number + shift)
            cells[w, 0] = a
            cells[w, 1] = b
            change += _look(down, a, -away) + _look(up, b, away)
            changes[w] = change
            g = group[t]
            trial_groups[g] += group_weight[g] * (
                table_value(kind, sums[t] + change, records, degree[t], reference[t])
                - values[t]
            )
        utility = combine(trial_groups, floor)
        if late:
            slot = move % len(history)
            bar = max(cost, history[slot])
            history[slot] = cost
        else:
            bar = cost - temperature * np.log(max(unit(state), 1e-300))
        # Most moves end here, on a bound that no gain in risk can mend.
        if utility_weight * utility > bar:
            continue
        moves_risk = with_risk and role[j] > 0
        trial = cost
        if not moves_risk:
            trial = cost_of(goal, utility, risks)
            if trial > bar:
                continue
        kept = new if swap else old
        put = old if swap else new
        if ruled:
            codes[i, j] = new
            if swap:
                codes[k, j] = put
            bad = breaks(rules, codes[i], j) or breaks(rules, codes[k], j)
            codes[i, j] = old
            codes[k, j] = kept
            if bad:
                continue
        if moves_risk:
            for r in range(4):
                trial_totals[r] = totals[r]
            _exchange(
                r_members,
                r_steps,
                r_order,
                r_heads,
                r_dense,
                r_hashes,
                r_original,
                r_start,
                r_pairs,
                risk_counts,
                codes,
                i,
                k,
                j,
                new,
                put,
                trial_totals,
            )
            for r in range(4):
                trial_risks[r] = trial_totals[r] * scale[r]
            trial = cost_of(goal, utility, trial_risks)
            if trial > bar:
                _exchange(
                    r_members,
                    r_steps,
                    r_order,
                    r_heads,
                    r_dense,
                    r_hashes,
                    r_original,
                    r_start,
                    r_pairs,
                    risk_counts,
                    codes,
                    i,
                    k,
                    j,
                    old,
                    kept,
                    trial_totals,
                )
                continue
            for r in range(4):
                totals[r] = trial_totals[r]
                risks[r] = trial_risks[r]
        codes[i, j] = new
        codes[k, j] = put
        cost = trial
        accepted += 1
        for g in range(len(groups)):
            groups[g] = trial_groups[g]
        for w in range(width):
            if cells[w, 0] == -2:
                continue
            t = np.int64(touch[begin + w])
            sums[t] += changes[w]
            values[t] = table_value(kinds[t], sums[t], records, degree[t], reference[t])
            slope[t] = _slope(kinds[t], values[t], group_weight[group[t]], records)
            for place in range(4 if swap else 2):
                cell = cells[w, place]
                sign = -1 if place % 2 == 0 else 1
                if cell >= 0:
                    counts[cell] += sign
                    _price(kinds[t], cell, original, counts, logs, weights, up, down)
                else:
                    outside[t] += sign
    return cost, accepted
