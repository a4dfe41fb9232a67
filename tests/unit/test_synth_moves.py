"""Record moves and crossovers: counters and costs are what a recount says."""

from __future__ import annotations

import numpy as np
import pytest

from builders import shuffled_columns, synthesis_problem
from evosdc.synth.data.rules import RuleIndex, broken
from evosdc.synth.objective.cost import CandidateGoal, cost_of
from evosdc.synth.search.anneal import anneal
from evosdc.synth.search.breeding import CROSSOVERS, MUTATIONS
from evosdc.synth.search.initial import mutated, uniform, univariate
from evosdc.synth.search.population import (
    CandidatePopulation,
    Tally,
    Team,
)
from evosdc.synth.search.rng import below, streams, unit


def _problem(objective="jsd:2", rules=None, free=None):
    rng = np.random.default_rng(4)
    sizes = np.array([3, 2, 4, 5])
    original = rng.integers(0, sizes, (120, 4))
    original[:, 1] = original[:, 0] % 2
    original[:, 3] = (original[:, 2] + original[:, 0]) % 5
    return synthesis_problem(original, sizes, objective, rules, free)


def _forbid():
    # Level 0 of the first variable never meets level 3 of the third.
    forbidden = np.zeros(12, bool)
    forbidden[0 + 3 * 3] = True
    return RuleIndex(
        np.array([[1, 0, 3, 0]]),
        np.zeros(1, np.int64),
        forbidden,
        np.array([0, 1, 1, 2, 2]),
        np.array([0, 0], np.int32),
    )


def _consistent(population, slot, tally=None):
    groups, risks = population.groups[slot].copy(), population.risks[slot].copy()
    population.recount(slot)
    assert groups == pytest.approx(population.groups[slot], abs=1e-9)
    assert risks == pytest.approx(population.risks[slot], abs=1e-9)
    if tally is not None:
        fresh = Tally(population.problem)
        fresh.count(population.codes[slot])
        for name in ("counts", "outside", "keys"):
            assert (getattr(tally, name) == getattr(fresh, name)).all()


def _counted(population):
    tally = Tally(population.problem)
    tally.count(population.codes[0])
    tally.distances()
    return tally


GOALS = {
    "utility": CandidateGoal(
        False, 1.0, 0.0, np.zeros(4), np.full(4, np.inf), np.zeros(4)
    ),
    "limits": CandidateGoal(
        False, 1.0, 0.0, np.zeros(4), np.full(4, 0.01), np.array([0.1, 0.2, 0.3, 0.4])
    ),
    "euclid": CandidateGoal(
        True, 0.7, 0.7, np.full(4, 0.25), np.full(4, np.inf), np.zeros(4)
    ),
}


@pytest.mark.parametrize("goal", list(GOALS))
@pytest.mark.parametrize("objective", ["jsd:2", "jsd:2,3", "tables", "cramer+jsd:full"])
@pytest.mark.parametrize("late", [0, 50])
def test_a_run_of_moves_leaves_true_counters_and_a_true_cost(goal, objective, late):
    problem = _problem(objective)
    population = CandidatePopulation(problem, 1)
    population.put(0, shuffled_columns(problem, 5))
    tally = _counted(population)
    aim = GOALS[goal]
    before = cost_of(aim, population.utility(np.arange(1))[0], population.risks[0])
    swaps = 1.0 if "cramer" in objective else 0.5
    cost, accepted = anneal(
        problem.target,
        problem.risk,
        aim,
        (problem.rules, problem.free, problem.sizes, problem.original),
        population.codes[0],
        tally.arrays,
        np.array([7], np.uint64),
        (20_000, 1e-3, 1e-6, swaps, 0.0),
        np.zeros(late),
    )
    assert accepted > 0
    if not aim.looks_at_risk:
        tally.count_keys(population.codes[0])
    population.price(0, tally)
    _consistent(population, 0, tally)
    now = cost_of(aim, population.utility(np.arange(1))[0], population.risks[0])
    # The root of a table's sum makes 1e-8 of a rounding error of 1e-16 near zero.
    assert cost == pytest.approx(now, abs=1e-6)
    assert now < before
    if swaps == 1.0:
        for j in range(4):
            assert (
                np.bincount(population.codes[0][:, j], minlength=5)
                == np.bincount(problem.original[:, j], minlength=5)
            ).all()


def test_moves_respect_rules_and_kept_columns():
    problem = _problem(rules=_forbid(), free=[0, 3])
    start = shuffled_columns(problem, 6)
    start[broken(problem.rules, start), 0] = 1
    population = CandidatePopulation(problem, 1)
    population.put(0, start)
    tally = _counted(population)
    anneal(
        problem.target,
        problem.risk,
        GOALS["utility"],
        (problem.rules, problem.free, problem.sizes, problem.original),
        population.codes[0],
        tally.arrays,
        np.array([8], np.uint64),
        (20_000, 0.1, 1e-3, 0.5, 0.3),
        np.zeros(0),
    )
    assert (population.codes[0] != start).any()
    assert not broken(problem.rules, population.codes[0]).any()
    assert (population.codes[0][:, [1, 2]] == start[:, [1, 2]]).all()


@pytest.mark.parametrize("kind", range(6), ids=CROSSOVERS)
@pytest.mark.parametrize("objective", ["jsd:2,3", "tables"])
def test_children_share_out_their_parents(kind, objective):
    problem = _problem(objective)
    population = CandidatePopulation(problem, 4)
    population.put(0, shuffled_columns(problem, 1))
    population.put(1, shuffled_columns(problem, 2))
    with Team(1) as team:
        population.breed(
            team,
            kind,
            np.array([[0, 1]]),
            np.array([[2, 3]]),
            np.array([0.4 if kind else 1.0]),
            np.zeros((1, 2)),
            streams(np.random.default_rng(3), 1),
            way=0,
        )
    a, b, c, d = population.codes
    straight = (c == a) & (d == b)
    swapped = (c == b) & (d == a)
    assert (straight | swapped).all()
    moved = ~straight
    assert moved.any()
    differ = (a != b).any(axis=1)
    if CROSSOVERS[kind] == "whole-cpc":
        assert ((c == b).all(axis=1) | (c == a).all(axis=1)).all()
        assert 0.2 < (moved.any(axis=1) & differ).sum() / differ.sum() < 0.6
    if CROSSOVERS[kind] == "matrix":
        rows, columns = np.flatnonzero(moved.any(1)), np.flatnonzero(moved.any(0))
        box = np.zeros_like(moved)
        box[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] = True
        assert ((moved | (a == b))[box]).all()
    for slot in (2, 3):
        _consistent(population, slot)


@pytest.mark.parametrize("kind", [0, 2, 4, 5])
def test_children_and_mutants_break_no_rule(kind):
    problem = _problem(rules=_forbid())
    population = CandidatePopulation(problem, 4)
    for slot in range(2):
        codes = shuffled_columns(problem, slot)
        codes[broken(problem.rules, codes), 0] = 1
        population.put(slot, codes)
    with Team(1) as team:
        population.breed(
            team,
            kind,
            np.array([[0, 1]]),
            np.array([[2, 3]]),
            np.array([0.5]),
            np.full((1, 2), 0.3),
            streams(np.random.default_rng(3), 1),
            way=0,
        )
    for slot in (2, 3):
        assert not broken(problem.rules, population.codes[slot]).any()
        _consistent(population, slot)


def test_mutation_changes_the_share_it_is_told_to():
    problem = _problem()
    population = CandidatePopulation(problem, 4)
    population.put(0, problem.original)
    population.put(1, problem.original)
    with Team(1) as team:
        population.breed(
            team,
            4,
            np.array([[0, 1]]),
            np.array([[2, 3]]),
            np.zeros(1),
            np.array([[0.5, 0.0]]),
            streams(np.random.default_rng(9), 1),
            way=0,
        )
    # A uniform draw repeats the old level once in `size` times.
    expected = 0.5 * (1 - 1 / problem.sizes)
    found = (population.codes[2] != problem.original).mean(axis=0)
    assert found == pytest.approx(expected, abs=0.15)
    assert (population.codes[3] == problem.original).all()
    _consistent(population, 2)


def test_a_block_mutation_redraws_one_part_of_some_candidates():
    problem = _problem()
    population = CandidatePopulation(problem, 42)
    for slot in range(2):
        population.put(slot, problem.original)
    slots = np.arange(2, 42).reshape(-1, 2)
    with Team(1) as team:
        population.breed(
            team,
            4,
            np.tile([[0, 1]], (20, 1)),
            slots,
            np.zeros(20),
            np.full((20, 2), 0.5),
            streams(np.random.default_rng(9), 20),
            way=2,
        )
    hit = 0
    for slot in range(2, 42):
        moved = population.codes[slot] != problem.original
        rows, columns = np.flatnonzero(moved.any(1)), np.flatnonzero(moved.any(0))
        if len(rows):
            hit += 1
            inside = moved[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
            assert inside.mean() > 0.2
        _consistent(population, slot)
    assert 8 < hit < 32


def test_a_variable_mutation_redraws_some_variables_and_leaves_the_others():
    problem = _problem()
    population = CandidatePopulation(problem, 42)
    for slot in range(2):
        population.put(slot, problem.original)
    slots = np.arange(2, 42).reshape(-1, 2)
    with Team(1) as team:
        population.breed(
            team,
            4,
            np.tile([[0, 1]], (20, 1)),
            slots,
            np.zeros(20),
            np.full((20, 2), 0.25),
            streams(np.random.default_rng(9), 20),
            way=MUTATIONS.index("variable"),
        )
    moved = population.codes[2:42] != problem.original
    shares = moved.mean(axis=1)
    # A quarter of the variables is hit, each to a random share of its elements.
    hit = shares > 0
    assert 0.12 < hit.mean() < 0.38
    assert shares[hit].max() > 2 * shares[hit].min()
    _consistent(population, 2)


def test_a_mutated_original_keeps_its_margins_only_by_values():
    rng = np.random.default_rng(2)
    original = (rng.random((4000, 2)) < 0.05).astype(np.int16)
    sizes = np.array([2, 2])
    drawn = [
        mutated(0.5, source)(original, sizes, rng, 4000).mean()
        for source in (uniform, univariate)
    ]
    # Half of the elements are redrawn, from 0 and 1 alike or from 1 in 20.
    assert drawn == pytest.approx([0.275, 0.05], abs=0.01)


def test_kernel_streams_are_uniform():
    state = np.array([1], np.uint64)
    draws = np.array([unit(state) for _ in range(4000)])
    assert draws.min() >= 0
    assert draws.max() < 1
    assert draws.mean() == pytest.approx(0.5, abs=0.03)
    whole = np.bincount([below(state, 7) for _ in range(7000)], minlength=7)
    assert (np.abs(whole - 1000) < 150).all()
