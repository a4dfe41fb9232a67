"""Whole-record moves: true counters, surplus and deficit, rules, the floor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders import shuffled_columns, synthesis_problem
from evosdc.synth.data.rules import RuleIndex, broken
from evosdc.synth.objective.cost import CandidateGoal, cost_of, distance_of
from evosdc.synth.objective.tables import JSD, MATCH, Component, build_target
from evosdc.synth.search.anneal import anneal
from evosdc.synth.search.population import CandidatePopulation, Tally
from evosdc.synth.search.record_moves import _cell, full_table, in_deficit, in_surplus

PLAIN = CandidateGoal(False, 1.0, 0.0, np.zeros(4), np.full(4, np.inf), np.zeros(4))
GOALS = {
    "utility": PLAIN,
    "limits": PLAIN._replace(limit=np.full(4, 0.02), penalty=np.full(4, 2.0)),
    "mix": PLAIN._replace(mix=np.array([1.0, 0.3]), floored=False),
}


def _problem(objective, size=90, rules=None, free=None, columns=6):
    rng = np.random.default_rng(2)
    sizes = np.full(columns, 4)
    codes = rng.integers(0, 4, (size, columns)).astype(np.int16)
    codes[:, 1] = codes[:, 0]
    return synthesis_problem(codes, sizes, objective, rules, free)


def _annealed(
    problem, goal, whole, start=None, moves=4000, late=0, hot=1e-3, swaps=0.5
):
    population = CandidatePopulation(problem, 1)
    population.put(0, shuffled_columns(problem, 3) if start is None else start)
    tally = Tally(problem)
    tally.count(population.codes[0])
    cost, accepted = anneal(
        problem.target,
        problem.risk,
        goal,
        (problem.rules, problem.free, problem.sizes, problem.original),
        population.codes[0],
        tally.arrays,
        np.array([11], np.uint64),
        (moves, hot, hot / 100, swaps, whole),
        np.zeros(late),
    )
    return population, tally, cost, accepted


@pytest.mark.parametrize("goal", list(GOALS))
@pytest.mark.parametrize("objective", ["jsd:2,full", "tables+jsd:full"])
@pytest.mark.parametrize("late", [0, 50])
def test_whole_records_leave_true_counters_and_a_true_cost(goal, objective, late):
    problem, aim = _problem(objective), GOALS[goal]
    population, tally, cost, accepted = _annealed(problem, aim, 0.5, late=late)
    assert accepted > 0
    fresh = Tally(problem)
    fresh.count(population.codes[0])
    assert (tally.counts == fresh.counts).all()
    assert (tally.outside == fresh.outside).all()
    if aim.looks_at_risk:
        assert (tally.keys == fresh.keys).all()
    distance = distance_of(aim, fresh.distances(), problem.target.floor)
    assert cost == pytest.approx(cost_of(aim, distance, fresh.risks()), abs=1e-6)


def test_every_record_that_changed_is_one_of_the_original():
    problem = _problem("jsd:full")
    start = shuffled_columns(problem, 3)
    population, *_ = _annealed(problem, PLAIN, 1.0, start, moves=40)
    now = population.codes[0]
    moved = (now != start).any(axis=1)
    known = {tuple(r) for r in problem.original.tolist()}
    assert moved.sum() > 10
    assert {tuple(r) for r in now[moved].tolist()} <= known
    # Surplus and deficit guide it: no cell gets more than the original has.
    full, many = np.unique(now[moved], axis=0, return_counts=True)
    for record, count in zip(full, many, strict=True):
        assert count <= (problem.original == record).all(axis=1).sum()


def test_a_sparse_full_table_comes_near_only_by_whole_records():
    problem = _problem("jsd:full", columns=8)
    with_them, *_ = _annealed(problem, PLAIN, 0.2)
    without, *_ = _annealed(problem, PLAIN, 0.0)
    for population in (with_them, without):
        population.recount(0)
    assert with_them.groups[0, 0] < 0.5 * without.groups[0, 0]


def test_without_a_way_into_the_support_margins_are_kept():
    # Nothing is to be gained, and every change is accepted: levels must not pile up.
    problem = _problem("jsd:full", columns=8, size=400)
    population, *_ = _annealed(problem, PLAIN, 0.0, hot=1.0, moves=20_000, swaps=0.0)
    for j in range(8):
        share = np.bincount(population.codes[0][:, j], minlength=4) / 400
        assert share.max() < 0.4


def test_records_in_surplus_and_in_deficit_are_found():
    problem = _problem("jsd:2,full")
    order = problem.target.cells.order
    full = full_table(order, problem.target.kind, 6)
    assert order[full] == 6
    pairs = _problem("jsd:2").target
    assert full_table(pairs.cells.order, pairs.kind, 6) == -1
    codes = problem.original.copy()
    # The second half repeats the first record: all else there is missing.
    codes[45:] = codes[0]
    tally = Tally(problem)
    tally.count(codes)
    state = np.array([5], np.uint64)
    surplus = [
        in_surplus(problem.target, full, codes, tally.counts, state) for _ in range(200)
    ]
    same = (codes == codes[0]).all(axis=1)
    assert same[surplus].mean() > 0.95
    wanted = [
        in_deficit(problem.target, full, problem.original, tally.counts, state)
        for _ in range(200)
    ]
    assert (np.array(wanted) >= 45).mean() > 0.95


def test_a_record_of_no_known_cell_is_in_no_deficit():
    problem = _problem("jsd:2,full")
    target = problem.target
    full = full_table(target.cells.order, target.kind, 6)
    tally = Tally(problem)
    tally.count(problem.original)
    # Every cell is full but the very last of all counters, and that of one record.
    cell = _cell(target.cells, full, problem.original[7])
    tally.counts[[cell, -1]] -= 1
    rng = np.random.default_rng(4)
    strange = rng.integers(0, 4, (400, 6)).astype(np.int16)
    strange = strange[[_cell(target.cells, full, r) < 0 for r in strange]]
    source = np.concatenate([problem.original[:9], strange[:9]])
    state = np.array([5], np.uint64)
    wanted = [in_deficit(target, full, source, tally.counts, state) for _ in range(200)]
    assert np.mean(np.array(wanted) == 7) > 0.3


def test_people_who_must_not_be_there_whole_are_no_table_to_come_near_to():
    """Default runs count lone people in a table of all variables."""
    plain = _problem("jsd:2")
    components = (Component(JSD, 2), Component(MATCH, 0))
    target = build_target(plain.original, plain.sizes, components)
    # No match is allowed, so that a search is always above that floor.
    target.reference[target.kind == MATCH] = 0.0
    problem = replace(plain, target=target)
    assert full_table(target.cells.order, target.kind, 6) == -1
    one, *_ = _annealed(problem, PLAIN, 0.0)
    two, *_ = _annealed(problem, PLAIN, 1.0)
    assert (one.codes[0] == two.codes[0]).all()


def test_without_a_full_table_there_are_no_whole_records():
    problem = _problem("jsd:2")
    one, *_ = _annealed(problem, PLAIN, 0.0)
    two, *_ = _annealed(problem, PLAIN, 1.0)
    assert (one.codes[0] == two.codes[0]).all()


def test_a_goal_without_weight_on_the_full_table_has_no_whole_records():
    problem = _problem("jsd:2,full")
    goal = PLAIN._replace(mix=np.array([1.0, 0.0]))
    one, *_ = _annealed(problem, goal, 0.0)
    two, *_ = _annealed(problem, goal, 1.0)
    assert (one.codes[0] == two.codes[0]).all()


def test_whole_records_respect_rules_and_kept_columns():
    # Level 0 of the first variable never meets level 0 of the fourth.
    forbidden = np.zeros(16, bool)
    forbidden[0] = True
    stride = np.array([[1, 0, 0, 4, 0, 0]])
    touch = np.array([0, 1, 1, 1, 2, 2, 2])
    rules = RuleIndex(
        stride, np.zeros(1, np.int64), forbidden, touch, np.array([0, 0], np.int32)
    )
    problem = _problem("jsd:full", rules=rules, free=[0, 3, 4, 5], size=200)
    assert broken(rules, problem.original).any()
    start = shuffled_columns(problem, 3)
    start[broken(rules, start), 0] = 1
    population, *_ = _annealed(problem, PLAIN, 1.0, start, hot=1.0)
    now = population.codes[0]
    assert (now[:, [0, 3, 4, 5]] != start[:, [0, 3, 4, 5]]).any()
    assert not broken(rules, now).any()
    assert (now[:, [1, 2]] == start[:, [1, 2]]).all()


@pytest.mark.parametrize(
    "goal", [PLAIN, PLAIN._replace(mix=np.array([1.0, 1.0]))], ids=["euclid", "mix"]
)
def test_a_floored_goal_is_not_carried_below_the_floor(goal):
    problem = _problem("jsd:2,full")
    floor = np.array([0.0, 0.8])
    problem.target.floor[:] = floor
    held, *_ = _annealed(problem, goal, 1.0)
    held.recount(0)
    assert 0.97 * 0.8 < held.groups[0, 1] < 1.02 * 0.8
    free, *_ = _annealed(
        problem, goal._replace(mix=np.array([1.0, 1.0]), floored=False), 1.0
    )
    free.recount(0)
    assert free.groups[0, 1] < 0.5 * 0.8
