"""Fronts: aims, halves, what counts as closer than a fresh sample."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.synth.objective.cost import CandidateGoal, cost_of, distance_of
from evosdc.synth.objective.front import BEYOND, HELD, PAIRS, Front, shares, two_fronts
from evosdc.synth.objective.options import TradeOff, parse_objective
from evosdc.synth.objective.risk import build_risk
from evosdc.synth.objective.split_halves import (
    bootstrap_risks,
    closer_than,
    deep,
    distances,
    noise_floor,
)

GOAL = CandidateGoal(
    False,
    1.0,
    0.0,
    np.array([0.0, 1.0, 1.0, 1.0]) / 3,
    np.array([np.inf, 0.2, np.inf, np.inf]),
    np.array([0.0, 2.0, 0.0, 0.0]),
)
SUGGESTED = np.array([0.5, 0.1, 0.2, 0.3])
BOOTSTRAP = np.array([0.6, 0.6, 0.4, 0.5])


def _front(objective="jsd:2,full", floored=True):
    marks = deep(parse_objective(objective))
    return Front(GOAL, marks, floored, (1, 2, 3), SUGGESTED, BOOTSTRAP)


def test_shares_fall_from_nearly_all_to_none():
    assert shares(0) == []
    assert shares(1) == [0.95]
    assert shares(2) == [0.95, 0.0]
    eight = shares(8)
    assert eight[0] == 0.95
    assert eight[-1] == 0.0
    assert (np.diff(eight) < 0).all()


def test_kinds_aim_at_pairs_at_the_floor_and_beyond_it():
    pairs, held, beyond = [], [], []
    for goal in _front().goals(8):
        kind = beyond if not goal.floored else held if goal.mix[1] else pairs
        kind.append(goal)
    assert [len(pairs), len(held), len(beyond)] == [3, 2, 3]
    assert all(goal.mix[0] == 1.0 for goal in pairs + held + beyond)
    # A deep table that only has to reach its floor weighs less than pairs.
    assert 0.0 < held[0].mix[1] < beyond[0].mix[1]
    for kind in (pairs, held):
        assert kind[0].limit[1:] == pytest.approx(0.95 * SUGGESTED[1:])
    # The user's own limit of 0.2 is below nearly all of a bootstrap's 0.6.
    assert beyond[0].limit[1:] == pytest.approx([0.2, 0.95 * 0.4, 0.95 * 0.5])
    for kind in (pairs, held, beyond):
        assert (kind[-1].limit[1:] == 0.0).all()
        for goal in kind:
            assert goal.limit[0] == np.inf
            assert (goal.penalty[1:] == 2.0).all()


def test_small_fronts_have_a_point_of_each_kind_they_can():
    assert _front().kinds(1) == [PAIRS]
    assert _front().kinds(2) == [PAIRS, BEYOND]
    assert _front().kinds(3) == [PAIRS, BEYOND, HELD]
    assert len(_front().goals(11)) == 11
    assert set(_front("jsd:2").kinds(8)) == {PAIRS}
    assert set(_front(floored=False).kinds(8)) == {PAIRS, BEYOND}
    assert set(_front("jsd:3,full").kinds(8)) == {HELD, BEYOND}
    # Deep tables on their own are not weighed against pairs.
    assert all((g.mix == 1.0).all() for g in _front("jsd:3,full").goals(8))


def test_a_mix_is_a_sum_and_pays_for_going_below_its_floor():
    values, floor = np.array([0.1, 0.5]), np.array([0.0, 0.4])
    mix = np.array([1.0, 0.3])
    held = GOAL._replace(mix=mix)
    free = GOAL._replace(mix=mix, floored=False)
    assert distance_of(held, values, floor) == pytest.approx(0.25)
    assert distance_of(free, values, floor) == pytest.approx(0.25)
    near, far = np.array([0.1, 0.399]), np.array([0.1, 0.298])
    assert distance_of(held, near, floor) == pytest.approx(0.1 + 0.3 * 0.4)
    assert distance_of(held, far, floor) == pytest.approx(0.1 + 0.3 * 0.5)
    assert distance_of(free, far, floor) == pytest.approx(0.1 + 0.3 * 0.298)
    # Without a mix it is the root mean square, with nothing gained below the floor.
    expected = np.sqrt((0.1**2 + 0.4**2) / 2)
    assert distance_of(GOAL, far, floor) == pytest.approx(expected)
    assert cost_of(held, 0.25, np.array([0.9, 0.3, 0.0, 0.0])) == pytest.approx(0.45)


def test_points_closer_than_a_fresh_sample_do_not_push_others_out():
    points = np.array(
        [
            [0.3, 0.9, 0.1],
            [0.2, 0.9, 0.2],
            [0.3, 0.9, 0.3],  # dominated by the first two
            [0.1, 0.4, 0.0],  # dominates all, but is closer
            [0.1, 0.5, 0.0],  # closer, dominated by the one before
            [0.2, 0.9, 0.2],  # as the second
        ]
    )
    closer = np.array([False, False, False, True, True, False])
    assert two_fronts(points, closer).tolist() == [1, 0, 3]
    assert two_fronts(points, np.ones(6, bool)).tolist() == [3]
    assert two_fronts(points[:1], np.zeros(1, bool)).tolist() == [0]


def test_closer_needs_more_than_the_difference_between_splits():
    assert closer_than(0.98, 1.0)
    assert not closer_than(0.995, 1.0)
    assert not closer_than(1.2, 1.0)


def test_auto_means_pairs_and_for_a_front_the_full_table_too():
    assert (
        TradeOff(objective="auto", mode="constraint").resolved(True) == "jsd:1,2,3*,4*"
    )
    assert TradeOff(objective="auto", mode="constraint").resolved(False) == "jsd:2"
    assert TradeOff(objective="auto", mode="pareto").resolved(True) == "jsd:2,full"
    assert TradeOff(objective="jsd:3", mode="pareto").resolved(True) == "jsd:3"
    assert deep(parse_objective("jsd:1,2,3,full+tables+cramer")).tolist() == [
        False,
        False,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("columns", [4, 6, 9], ids=["dense", "mixed", "sparse"])
def test_the_floor_is_what_a_fresh_sample_shows(columns):
    rng = np.random.default_rng(columns)
    sizes = np.full(columns, 4)
    chances = rng.dirichlet(np.ones(4), columns)

    def sample():
        draws = [rng.choice(4, 2000, p=p) for p in chances]
        return np.column_stack(draws).astype(np.int16)

    aims = parse_objective("jsd:full,1")
    one = sample()
    seen = np.mean([distances(one, sample(), sizes, aims) for _ in range(8)], axis=0)
    found = noise_floor(one, sizes, aims, None, None, rng).objectives
    assert found == pytest.approx(seen, rel=0.1, abs=0.01)


def test_other_distances_fall_with_the_root_of_the_records():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, (2000, 3)).astype(np.int16)
    other = rng.integers(0, 3, (2000, 3)).astype(np.int16)
    sizes, aims = np.full(3, 3), parse_objective("tables")
    found = noise_floor(codes, sizes, aims, None, None, rng).objectives
    assert found == pytest.approx(distances(codes, other, sizes, aims), rel=0.3)


def test_a_bootstrap_finds_two_thirds_of_the_uniques():
    # Every key is unique: a bootstrap has 1 - 1/e of them, 1/e of them once.
    codes = np.arange(900, dtype=np.int16)[:, None].repeat(2, axis=1)
    codes[:, 1] %= 3
    index = build_risk(codes, np.array([900, 3]), (0,), 1)
    found = bootstrap_risks(codes, index, np.random.default_rng(1))
    there, once = 1 - np.exp(-1), np.exp(-1)
    assert found == pytest.approx([there, there, once, there], abs=0.02)
