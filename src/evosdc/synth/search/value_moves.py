"""Moves of one variable: a new value of a record, or a swap between two records.

Their price is exact: what they change in the tables that have the variable, and in the
counters of the keys that do.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, cell_at, number_of
from evosdc.synth.data.rules import breaks
from evosdc.synth.objective.cost import cost_of, distance_of
from evosdc.synth.objective.covariances import settle_products, try_products
from evosdc.synth.objective.tables import value_of
from evosdc.synth.search.move_deltas import (
    count_key,
    count_record,
    leaving,
    look,
    renew_table,
)
from evosdc.synth.search.rng import below

# Of variables with more levels so many are looked at, drawn from the variable's own
# distribution: the time of a move must not grow with the levels.
_TRIED_LEVELS = 6
# Stands for the cells of a table that a swap leaves as it is.
_UNMOVED = -2


class Attempt(NamedTuple):
    """Scratch space: what the move that is tried would change.

    ``cells[w]`` are the cells of the w-th table of the variable: those that record `i`
    leaves and enters, then those of record `k`; ``changes[w]`` is the change of its
    sum. `groups`, `totals` and `risks` are those of a candidate after the move, `wish`
    the price of the levels `tried`, `record` a whole record, `shift` what is added to
    the products of the variable's numbers.
    """

    cells: Long
    changes: Real
    wish: Real
    tried: Long
    groups: Real
    totals: Real
    risks: Real
    record: Codes
    shift: Real


@kernel(inner=True)
def make_attempt(target, sizes, codes):  # type: ignore[no-untyped-def]
    """Allocate scratch space for the moves of a candidate."""
    widest = 1
    for j in range(len(sizes)):
        widest = max(widest, target.touch_start[j + 1] - target.touch_start[j])
    return Attempt(
        np.empty((widest, 4), np.int64),
        np.empty(widest),
        np.empty(_TRIED_LEVELS),
        np.empty(_TRIED_LEVELS, np.int64),
        np.empty(len(target.group_weight)),
        np.empty(4),
        np.empty(4),
        np.empty(len(sizes), codes.dtype),
        np.empty((3, len(target.covariances.variable))),
    )


@kernel(inner=True, borrows=True)
def _exchange(risk, keys, codes, i, k, j, value, other, totals):  # type: ignore[no-untyped-def]
    """Give records `i` and `k` new values of variable `j`, with the risk counters.

    A change of one record has `i` and `k` the same.
    """
    for sign in (-1, 1):
        for place in range(1 if i == k else 2):
            record = k if place else i
            count_key(risk, keys, record, codes[record], sign, totals)
        codes[i, j] = value
        if i != k:
            codes[k, j] = other


@kernel(inner=True, borrows=True)
def _wanted(  # type: ignore[no-untyped-def]
    members, steps, order, heads, dense, hashes, away, tables, table_steps, slope, up,
    record, old, tried, wish,
):  # fmt: skip
    """Return that of the values tried whose cells are most in deficit.

    Prices are those at the margin. The value it has is no answer, nor is one that
    nothing speaks for: -1 then.
    """
    for k in range(len(tried)):
        wish[k] = 0.0
    for w in range(len(tables)):
        t = np.int64(tables[w])
        if slope[t] == 0.0:
            continue
        step = table_steps[w]
        lowest = number_of(members, steps, order, t, record) - step * np.int64(old)
        for k in range(len(tried)):
            cell = cell_at(heads, dense, hashes, t, lowest + step * tried[k])
            wish[k] += slope[t] * look(up, cell, away[t])
    best = -1
    for k in range(len(tried)):
        if tried[k] != old and (best < 0 or wish[k] < wish[best]):
            best = k
    if best < 0 or wish[best] == 0.0:
        return np.int64(-1)
    return tried[best]


@kernel(inline="always")
def new_value(target, candidate, attempt, sizes, source, state, i, j):  # type: ignore[no-untyped-def]
    """Return another value of variable `j` for record `i`; at worst the one it has."""
    if sizes[j] <= 1:
        return candidate.codes[i, j]
    begin, end = target.touch_start[j], target.touch_start[j + 1]
    many = min(sizes[j], _TRIED_LEVELS)
    for k in range(many):
        some = sizes[j] > _TRIED_LEVELS
        attempt.tried[k] = source[below(state, len(source)), j] if some else k
    index = target.cells
    new = _wanted(
        index.members,
        index.steps,
        index.order,
        index.heads,
        index.dense,
        index.hashes,
        target.away,
        target.touch[begin:end],
        target.touch_step[begin:end],
        candidate.slope,
        candidate.up,
        candidate.codes[i],
        candidate.codes[i, j],
        attempt.tried[:many],
        attempt.wish,
    )
    if new < 0:
        # No value is wanted, or none leads into the support of the full table: keep
        # the variable's distribution.
        return source[below(state, len(source)), j]
    return np.int16(new)


@kernel(inline="always")
def try_tables(target, candidate, attempt, i, k, j, new, swap):  # type: ignore[no-untyped-def]
    """Price a new value of variable `j` in every table that has it."""
    index = target.cells
    members, steps, order = index.members, index.steps, index.order
    heads, dense, hashes = index.heads, index.dense, index.hashes
    cells, up, down = attempt.cells, candidate.up, candidate.down
    begin = target.touch_start[j]
    jump = np.int64(new) - np.int64(candidate.codes[i, j])
    for g in range(len(candidate.groups)):
        attempt.groups[g] = candidate.groups[g]
    for w in range(target.touch_start[j + 1] - begin):
        t = np.int64(target.touch[begin + w])
        shift = target.touch_step[begin + w] * jump
        number = number_of(members, steps, order, t, candidate.codes[i])
        change, gone = 0.0, 0
        if swap:
            other = number_of(members, steps, order, t, candidate.codes[k])
            if other == number + shift:
                cells[w, 0] = _UNMOVED
                continue
            cells[w, 2] = cell_at(heads, dense, hashes, t, other)
            cells[w, 3] = cell_at(heads, dense, hashes, t, other - shift)
            change = look(down, cells[w, 2], 0.0) + look(up, cells[w, 3], 0.0)
            gone = int(cells[w, 3] < 0) - int(cells[w, 2] < 0)
        cells[w, 0] = cell_at(heads, dense, hashes, t, number)
        cells[w, 1] = cell_at(heads, dense, hashes, t, number + shift)
        change += look(down, cells[w, 0], 0.0) + look(up, cells[w, 1], 0.0)
        gone += int(cells[w, 1] < 0) - int(cells[w, 0] < 0)
        if gone != 0:
            change += leaving(target, candidate.outside, t, gone)
        attempt.changes[w] = change
        g = target.group[t]
        value = value_of(target, t, candidate.sums[t] + change)
        attempt.groups[g] += target.group_weight[g] * (value - candidate.values[t])
    if len(candidate.products) > 0:
        attempt.groups[len(candidate.groups) - 1] += try_products(
            target.covariances, candidate.products, candidate.codes, target.records,
            i, k, j, np.int64(new), swap, attempt.shift,
        )  # fmt: skip


@kernel(inner=True, borrows=True)
def _forbidden(rules, codes, i, k, j, new, put):  # type: ignore[no-untyped-def]
    """Whether records `i` and `k` break a rule with new values of variable `j`."""
    old, other = codes[i, j], codes[k, j]
    codes[i, j] = new
    codes[k, j] = put
    broken = breaks(rules, codes[i], j) or breaks(rules, codes[k], j)
    codes[i, j] = old
    codes[k, j] = other
    return broken


@kernel(inline="always")
def _try_risk(risk, goal, candidate, attempt, i, k, j, new, put, utility, bar):  # type: ignore[no-untyped-def]
    """Move the records in the risk counters, and back where that costs too much.

    Returns the new cost, or -1 where the move is not made.
    """
    keys, codes, totals = candidate.keys, candidate.codes, attempt.totals
    old, other = codes[i, j], codes[k, j]
    for r in range(4):
        totals[r] = candidate.totals[r]
    _exchange(risk, keys, codes, i, k, j, new, put, totals)
    for r in range(4):
        attempt.risks[r] = totals[r] * risk.scale[r]
    cost = cost_of(goal, utility, attempt.risks)
    if cost > bar:
        _exchange(risk, keys, codes, i, k, j, old, other, totals)
        return -1.0
    for r in range(4):
        candidate.totals[r] = totals[r]
        candidate.risks[r] = attempt.risks[r]
    return cost


@kernel(inline="always")
def _settle(target, candidate, attempt, guide, j, swap):  # type: ignore[no-untyped-def]
    """Move the counters of variable `j` and renew the prices of the cells touched."""
    cells, begin = attempt.cells, target.touch_start[j]
    for g in range(len(candidate.groups)):
        candidate.groups[g] = attempt.groups[g]
    for w in range(target.touch_start[j + 1] - begin):
        if cells[w, 0] == _UNMOVED:
            continue
        t = np.int64(target.touch[begin + w])
        renew_table(target, candidate, guide, t, attempt.changes[w])
        for place in range(4 if swap else 2):
            sign = -1 if place % 2 == 0 else 1
            count_record(target, candidate, t, cells[w, place], sign)
    if len(candidate.products) > 0:
        settle_products(target.covariances, candidate.products, j, attempt.shift)


@kernel(inline="always")
def change(  # type: ignore[no-untyped-def]
    target, risk, goal, rules, candidate, attempt, guide, at_risk, i, k, j, new, swap,
    now, bar,
):  # fmt: skip
    """Change variable `j` of record `i` if the cost stays within `bar`.

    A swap gives record `k` the value that `i` had. `attempt` holds what the tables say.
    A move that leaves the cost as it is `now` is not made.
    Returns the new cost, or -1 where the move is not made.
    """
    codes = candidate.codes
    put = codes[i, j] if swap else new
    utility = distance_of(goal, attempt.groups, target.floor)
    # Most moves end here, on a bound that no gain in risk makes up for.
    if goal.utility * utility > bar:
        return -1.0
    moves_risk = at_risk and risk.role[j] > 0
    cost = -1.0
    if not moves_risk:
        cost = cost_of(goal, utility, candidate.risks)
        if cost > bar or cost == now:
            return -1.0
    if len(rules.touch) > 0 and _forbidden(rules, codes, i, k, j, new, put):
        return -1.0
    if moves_risk:
        cost = _try_risk(
            risk, goal, candidate, attempt, i, k, j, new, put, utility, bar
        )
        if cost < 0.0:
            return -1.0
    codes[i, j] = new
    codes[k, j] = put
    _settle(target, candidate, attempt, guide, j, swap)
    return cost
