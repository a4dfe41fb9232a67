"""Simulated annealing: record moves priced by the cells and keys they touch.

A move swaps one variable between two records (margins stay), changes one value of one
record, or a whole record where the full table is an objective. Its price is exact: the
change of the whole objective, utility and risk, from the few counters it touches.
Acceptance is simulated annealing or late acceptance (Burke and Bykov 2017).
"""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel
from evosdc.synth.objective.cost import cost_of, distance_of
from evosdc.synth.search.move_deltas import state_of
from evosdc.synth.search.record_moves import (
    full_table,
    in_deficit,
    in_surplus,
    replace,
    replaced,
)
from evosdc.synth.search.rng import below, unit
from evosdc.synth.search.value_moves import change, make_attempt, new_value, try_tables


@kernel(inner=True)
def _bar(cost, temperature, state, history, move):  # type: ignore[no-untyped-def]
    """Return the highest cost that the next candidate may have."""
    if len(history) > 0:
        slot = move % len(history)
        bar = max(cost, history[slot])
        history[slot] = cost
        return bar
    return cost - temperature * np.log(max(unit(state), 1e-300))


@kernel(inner=True, borrows=True)
def _make_moves(  # type: ignore[no-untyped-def]
    target, risk, goal, records, candidate, attempt, guide, told, state, plan, history
):
    """Make moves on a candidate, as `anneal` says; return its cost and acceptances."""
    rules, free, sizes, source = records
    moves, hot, cold, swaps, whole = plan
    at_risk, held_still = told
    codes, counts, groups = candidate.codes, candidate.counts, candidate.groups
    floor = target.floor
    cost = cost_of(goal, distance_of(goal, groups, floor), candidate.risks)
    history[:] = cost
    accepted = 0
    cooling = (cold / hot) ** (1.0 / max(1, moves)) if hot > 0.0 else 1.0
    temperature = hot
    full = full_table(target.cells.order, target.kind, len(sizes))
    if full >= 0 and guide[target.group[full]] == 0.0:
        full = -1
    if full < 0:
        whole = 0.0
    # At the floor there is nothing to gain from whole records; they would go below it.
    held = target.group[full] if goal.floored else -1
    for move in range(moves):
        temperature *= cooling
        trial = -1.0
        wanting = whole > 0.0 and (held < 0 or groups[held] > floor[held])
        if wanting and unit(state) < whole:
            i = in_surplus(target, full, codes, counts, state)
            o = in_deficit(target, full, source, counts, state)
            record = attempt.record
            if replaced(codes, i, source[o], free, record):
                bar = _bar(cost, temperature, state, history, move)
                trial = replace(
                    target, risk, goal, rules, free, candidate, guide, i, record, bar
                )
        else:
            j = free[below(state, len(free))]
            i = below(state, len(codes))
            swap = unit(state) < swaps
            k = i
            if swap:
                k = below(state, len(codes))
                new = codes[k, j]
            else:
                new = new_value(target, candidate, attempt, sizes, source, state, i, j)
            if new != codes[i, j]:
                try_tables(target, candidate, attempt, i, k, j, new, swap)
                bar = _bar(cost, temperature, state, history, move)
                now = cost if held_still else -1.0
                trial = change(
                    target, risk, goal, rules, candidate, attempt, guide, at_risk,
                    i, k, j, new, swap, now, bar,
                )  # fmt: skip
        if trial >= 0.0:
            cost = trial
            accepted += 1
    return cost, accepted


@kernel(nogil=True)
def anneal(target, risk, goal, records, codes, tally, state, plan, history):  # type: ignore[no-untyped-def]
    """Make moves on one candidate, in place; return its cost and acceptances.

    Parameters
    ----------
    records
        Rules, the variables that may change, their sizes, and the original.
    codes, tally
        The candidate, and its counters: of cells, of records outside each table's
        support, weights of cells, keys, and products.
    plan
        How many moves; the temperatures, between which they cool geometrically; which
        share of them swap a value, the others change one; which share of all make a
        record one of the original where the full table is among the objectives.
    history
        The costs that late acceptance remembers, where there are any.
    """
    guide = target.group_weight.copy()
    for g in range(len(goal.mix)):
        guide[g] *= goal.mix[g]
    candidate = state_of(target, risk, guide, codes, tally)
    attempt = make_attempt(target, records[2], codes)
    at_risk = goal.risk > 0.0 or goal.penalty.max() > 0.0
    # Where tables have a noise floor, a move that no table feels leads nowhere but away
    # from what the others have right.
    held_still = target.noise.max() > 0.0
    told = (at_risk, held_still)
    return _make_moves(
        target,
        risk,
        goal,
        records,
        candidate,
        attempt,
        guide,
        told,
        state,
        plan,
        history,
    )
