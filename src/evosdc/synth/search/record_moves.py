"""The whole-record move: a record in surplus becomes an original one in deficit.

Where nearly every record is alone in its cell of the full table, a change of one value
leaves a record outside the original's support whatever the value. Only a whole record
lands on a cell. The risk of doing so is in the price, as it is for every move.
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import cell_at, number_of
from evosdc.synth.data.rules import breaks
from evosdc.synth.objective.cost import cost_of, distance_of
from evosdc.synth.objective.covariances import try_record
from evosdc.synth.objective.tables import MATCH, value_of
from evosdc.synth.search.move_deltas import (
    count_key,
    count_record,
    leaving,
    look,
    renew_table,
)
from evosdc.synth.search.rng import below

# So many records are looked at for one in surplus, and for one in deficit.
_TRIES = 8


@kernel(inner=True)
def full_table(order, kind, variables):  # type: ignore[no-untyped-def]
    """Return the table of all variables to come near to, -1 where there is none.

    A table that counts people who must not be there whole is none.
    """
    for t in range(len(order)):
        if order[t] == variables and kind[t] != MATCH:
            return t
    return -1


@kernel(inner=True)
def _cell(index, t, record):  # type: ignore[no-untyped-def]
    number = number_of(index.members, index.steps, index.order, t, record)
    return cell_at(index.heads, index.dense, index.hashes, t, number)


@kernel(inner=True)
def in_surplus(target, full, codes, counts, state):  # type: ignore[no-untyped-def]
    """Return a record of a cell with too many, or any if there is none at hand."""
    i = below(state, len(codes))
    for _ in range(_TRIES):
        cell = _cell(target.cells, full, codes[i])
        if cell < 0 or counts[cell] > target.original[cell]:
            break
        i = below(state, len(codes))
    return i


@kernel(inner=True)
def in_deficit(target, full, source, counts, state):  # type: ignore[no-untyped-def]
    """Return an original record of a cell with too few, or any."""
    o = below(state, len(source))
    for _ in range(_TRIES):
        cell = _cell(target.cells, full, source[o])
        # Small cells were exchanged: an original record may be in none that is known.
        if cell >= 0 and counts[cell] < target.original[cell]:
            break
        o = below(state, len(source))
    return o


@kernel(inner=True)
def replaced(codes, i, wanted, free, out):  # type: ignore[no-untyped-def]
    """Set `out` to record `i` with the free values of another; say if it differs."""
    differs = False
    out[:] = codes[i]
    for j in free:
        out[j] = wanted[j]
        differs = differs or out[j] != codes[i, j]
    return differs


@kernel(inner=True)
def _forbidden(rules, free, record):  # type: ignore[no-untyped-def]
    if len(rules.touch) > 0:
        for j in free:
            if breaks(rules, record, j):
                return True
    return False


@kernel(inner=True)
def _exchange_keys(risk, keys, i, old, new, totals):  # type: ignore[no-untyped-def]
    """Exchange record `i` for another in the risk counters."""
    for sign in (-1, 1):
        count_key(risk, keys, i, old if sign < 0 else new, sign, totals)


@kernel(inner=True)
def _try_tables(target, candidate, old, record, cells, changes, groups):  # type: ignore[no-untyped-def]
    """Price the change of a record in every table it moves in."""
    for t in range(len(target.kind)):
        a = _cell(target.cells, t, old)
        b = _cell(target.cells, t, record)
        cells[t, 0], cells[t, 1] = a, b
        changes[t] = 0.0
        if a != b:
            changes[t] = look(candidate.down, a, 0.0) + look(candidate.up, b, 0.0)
            gone = int(b < 0) - int(a < 0)
            if gone != 0:
                changes[t] += leaving(target, candidate.outside, t, gone)
            g = target.group[t]
            value = value_of(target, t, candidate.sums[t] + changes[t])
            groups[g] += target.group_weight[g] * (value - candidate.values[t])


@kernel(inner=True)
def replace(target, risk, goal, rules, free, candidate, guide, i, record, bar):  # type: ignore[no-untyped-def]
    """Make record `i` another one if its cost stays within `bar`.

    Returns the new cost, or -1 where the move is not made.
    """
    old = candidate.codes[i]
    cells = np.empty((len(candidate.sums), 2), np.int64)
    changes = np.empty(len(candidate.sums))
    groups = candidate.groups.copy()
    _try_tables(target, candidate, old, record, cells, changes, groups)
    added = np.empty_like(candidate.products)
    if len(added) > 0:
        groups[len(groups) - 1] += try_record(
            target.covariances, candidate.products, target.records, old, record, added
        )
    utility = distance_of(goal, groups, target.floor)
    if goal.utility * utility > bar or _forbidden(rules, free, record):
        return -1.0
    totals = candidate.totals.copy()
    with_risk = goal.risk > 0.0 or goal.penalty.max() > 0.0
    if with_risk:
        _exchange_keys(risk, candidate.keys, i, old, record, totals)
    cost = cost_of(goal, utility, totals * risk.scale)
    if cost > bar:
        if with_risk:
            _exchange_keys(risk, candidate.keys, i, record, old, totals)
        return -1.0
    candidate.totals[:] = totals
    candidate.risks[:] = totals * risk.scale
    candidate.groups[:] = groups
    for t in range(len(target.kind)):
        if cells[t, 0] != cells[t, 1]:
            renew_table(target, candidate, guide, t, changes[t])
            count_record(target, candidate, t, cells[t, 0], -1)
            count_record(target, candidate, t, cells[t, 1], 1)
    candidate.products[:] += added
    candidate.codes[i] = record
    return cost
