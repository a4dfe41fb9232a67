"""The memetic step: record moves priced by the cells and keys they touch.

A move swaps one variable between two records (margins stay), changes one value of one
record, or a whole record where the full table is an objective. Its price is exact: the
change of the whole objective, utility and risk, from the few counters it touches.
Acceptance is simulated annealing or late acceptance (Burke and Bykov 2017).
"""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.synth.data.encoding import cell_at, number_of
from evosdc.synth.data.rules import breaks
from evosdc.synth.objective.goal import cost_of, distance_of
from evosdc.synth.objective.prices import guides, look, price, shift_risk, slope_of
from evosdc.synth.objective.risk import risk_totals
from evosdc.synth.objective.tables import L1, group_values, table_sums, table_value
from evosdc.synth.search.rng import below, unit
from evosdc.synth.search.whole import (
    CandidateState,
    full_table,
    in_deficit,
    in_surplus,
    replace,
    replaced,
)

# Variables with more levels get a random value instead of the best of all.
_TRIED_LEVELS = 128


@kernel(inner=True)
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
    shades,
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
        shift_risk(
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
            codes[i],
            sign,
            totals,
        )
        if i != k:
            shift_risk(
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
                k,
                codes[k],
                sign,
                totals,
            )
        codes[i, j] = value
        if i != k:
            codes[k, j] = other


@kernel(inner=True)
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
            wish[v] += slope[t] * look(up, cell, away)
    wish[old] = np.inf
    return np.int16(np.argmin(wish))


@kernel(inner=True)
def _bar(cost, temperature, state, history, move):  # type: ignore[no-untyped-def]
    """Return the highest cost that the next candidate may have."""
    if len(history) > 0:
        slot = move % len(history)
        bar = max(cost, history[slot])
        history[slot] = cost
        return bar
    return cost - temperature * np.log(max(unit(state), 1e-300))


@kernel(nogil=True)
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
    whole,
    source,
    history,
):
    """Make `moves` moves on one candidate, in place; return its cost and acceptances.

    A share `swaps` of them swap a value, the others change one; a share `whole` of all
    make a record one of `source` where the full table is among the objectives.
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
    cost = cost_of(goal, distance_of(goal, groups, floor), risks)
    widest = 1
    for j in range(len(sizes)):
        widest = max(widest, touch_start[j + 1] - touch_start[j])
    cells = np.empty((widest, 4), np.int64)
    up = np.zeros(len(counts))
    down = np.zeros(len(counts))
    guide = guides(goal, group_weight)
    slope = np.empty(len(sums))
    for s in range(len(sums)):
        slope[s] = slope_of(kinds[s], values[s], reference[s], guide[group[s]], records)
        for cell in range(index.first[s], index.first[s + 1]):
            price(kinds[s], cell, original, counts, logs, weights, up, down)
    wish = np.empty(sizes.max())
    changes = np.empty(widest)
    accepted = 0
    cooling = (cold / hot) ** (1.0 / max(1, moves)) if hot > 0.0 else 1.0
    temperature = hot
    history[:] = cost
    candidate = CandidateState(
        codes,
        counts,
        outside,
        weights,
        risk_counts,
        sums,
        values,
        slope,
        groups,
        up,
        down,
        totals,
        risks,
    )
    record = np.empty(len(sizes), codes.dtype)
    full = full_table(order, len(sizes))
    if full >= 0 and guide[group[full]] == 0.0:
        full = -1
    if full < 0:
        whole = 0.0
    # At the floor there is nothing to gain from whole records; they would go below it.
    held = group[full] if goal.floored else -1
    for move in range(moves):
        temperature *= cooling
        wanting = whole > 0.0 and (held < 0 or groups[held] > floor[held])
        if wanting and unit(state) < whole:
            i = in_surplus(target, full, codes, counts, state)
            o = in_deficit(target, full, source, counts, state)
            if replaced(codes, i, source[o], free, record):
                bar = _bar(cost, temperature, state, history, move)
                trial = replace(
                    target, risk, goal, rules, free, candidate, guide, i, record, bar
                )
                if trial >= 0.0:
                    cost = trial
                    accepted += 1
            continue
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
            if full >= 0 and wish[new] == 0.0:
                # No value leads into the support: keep the variable's distribution.
                new = source[below(state, len(source)), j]
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
                change = look(down, c, -away) + look(up, d, away)
            else:
                change = 0.0
            a = cell_at(heads, dense, hashes, t, number)
            b = cell_at(heads, dense, hashes, t, number + shift)
            cells[w, 0] = a
            cells[w, 1] = b
            change += look(down, a, -away) + look(up, b, away)
            changes[w] = change
            g = group[t]
            trial_groups[g] += group_weight[g] * (
                table_value(kind, sums[t] + change, records, degree[t], reference[t])
                - values[t]
            )
        utility = distance_of(goal, trial_groups, floor)
        bar = _bar(cost, temperature, state, history, move)
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
                risk.shades,
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
                    risk.shades,
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
            slope[t] = slope_of(
                kinds[t], values[t], reference[t], guide[group[t]], records
            )
            for place in range(4 if swap else 2):
                cell = cells[w, place]
                sign = -1 if place % 2 == 0 else 1
                if cell >= 0:
                    counts[cell] += sign
                    price(kinds[t], cell, original, counts, logs, weights, up, down)
                else:
                    outside[t] += sign
    return cost, accepted
