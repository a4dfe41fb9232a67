"""The noise floor of every table: what it is, and what is counted against it."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.synth import Synthesiser
from evosdc.synth.data.encoding import Support, build_index, cell_at
from evosdc.synth.objective.sample_uniques import fresh_match_share
from evosdc.synth.objective.sampling_noise import sampling_noise
from evosdc.synth.objective.split_halves import distances
from evosdc.synth.objective.table_selection import select_tables
from evosdc.synth.objective.tables import (
    JSD,
    MATCH,
    Component,
    build_target,
    outside_zero,
    table_sums,
    table_value,
)
from evosdc.synth.objective.tally import count_all


def people(size: int = 3000, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 4, size)
    b = (a + rng.integers(0, 2, size)) % 4
    c = (a * b + rng.integers(0, 2, size)) % 5
    d = rng.integers(0, 3, size)
    return np.column_stack([a, b, c, d]).astype(np.int16)


SIZES = np.array([4, 4, 5, 3])


def counted(target, codes):
    counts = np.zeros(len(target.original), np.int32)
    outside = outside_zero(target)
    count_all(target.cells, codes, counts, outside)
    return counts, outside


def test_the_floor_is_the_distance_of_a_fresh_sample():
    codes = people()
    pairs = (Component(JSD, 2),)
    target = build_target(codes, SIZES, pairs)
    expected = np.sqrt(sampling_noise(target)).mean()
    rng = np.random.default_rng(1)
    drawn = [
        distances(codes, codes[rng.integers(0, len(codes), len(codes))], SIZES, pairs)
        for _ in range(30)
    ]
    assert np.mean(drawn) == pytest.approx(expected, rel=0.05)


def test_nothing_is_gained_below_the_floor():
    noise = 0.01
    total = {d: 2 * 100 * (d**2 - 1.0) for d in (0.05, 0.1, 0.3)}
    value = {d: table_value(JSD, t, 100, 1.0, 0.0, noise) for d, t in total.items()}
    assert value[0.05] == 0.0
    assert value[0.1] == pytest.approx(0.0, abs=1e-12)
    assert value[0.3] == pytest.approx(0.2)


def test_small_cells_of_deeper_tables_share_one_counter_without_the_empty_ones():
    codes = people(400)
    target = build_target(codes, SIZES, (Component(JSD, 3),), min_group=5)
    copy = np.random.default_rng(5).integers(0, SIZES, (400, len(SIZES)))
    copy = copy.astype(np.int16)
    counts, outside = counted(target, copy)
    assert outside.any()
    for t in range(len(target.kind)):
        members = target.cells.members[t, : target.cells.order[t]]
        _, many = np.unique(codes[:, members], axis=0, return_counts=True)
        first, end = target.cells.first[t : t + 2]
        assert sorted(target.original[first : end - 1]) == sorted(many[many >= 5])
        assert target.original[end - 1] == many[many < 5].sum()
        known = {tuple(r) for r in codes[:, members]}
        large = {
            r
            for r in known
            if (codes[:, members] == np.array(r)).all(axis=1).sum() >= 5
        }
        there = [tuple(r) for r in copy[:, members]]
        assert counts[end - 1] == sum(r in known and r not in large for r in there)
        assert outside[t] == sum(r not in known for r in there)


def test_records_where_nobody_is_cost_more_than_their_divergence_beyond_a_few():
    codes = people(400)
    target = build_target(codes, SIZES, (Component(JSD, 3),), min_group=5)
    copy = np.random.default_rng(5).integers(0, SIZES, (400, len(SIZES)))
    copy = copy.astype(np.int16)
    counts, outside = counted(target, copy)
    dear = table_sums(target, counts, outside, np.zeros(1))
    free = target._replace(allowed=np.full(len(target.kind), 400.0))
    cheap = table_sums(free, counts, outside, np.zeros(1))
    assert (target.away > 0.0).all()
    assert dear == pytest.approx(cheap + target.away * outside)


def test_records_where_nobody_is_cost_nothing_more_in_a_sparse_table():
    codes = np.random.default_rng(0).integers(0, 30, (400, 4)).astype(np.int16)
    target = build_target(codes, np.full(4, 30), (Component(JSD, 3),), min_group=5)
    assert not target.away.any()


def test_a_large_table_finds_the_shared_counter_by_its_hash():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 90, (500, 3)).astype(np.int16)
    codes[:50] = 7
    sizes = np.full(3, 90)
    index, counts, _ = build_index(
        codes, sizes, [(0, 1, 2)], support=[Support(5, rest=True)]
    )
    assert counts.tolist() == [50, 450]
    number = 7 + 90 * 7 + 8100 * 7
    few = int(codes[100] @ np.array([1, 90, 8100]))
    nobody = 8 + 90 * 7 + 8100 * 7
    found = [
        cell_at(index.heads, index.dense, index.hashes, 0, n)
        for n in (number, few, nobody)
    ]
    assert found == [0, 1, -1]


def test_lone_people_in_a_copy_are_counted_one_by_one():
    codes = people(60)
    target = build_target(codes, SIZES, (Component(MATCH, 0),))
    _, first, many = np.unique(codes, axis=0, return_index=True, return_counts=True)
    alone = codes[first[many == 1]]
    assert target.degree[0] == len(alone)
    copy = np.vstack([codes[many.argmax() : many.argmax() + 1], alone[:4], alone[:2]])
    copy = np.vstack([copy, np.repeat(copy[:1], 60 - len(copy), axis=0)])
    counts, outside = counted(target, copy)
    found = table_sums(target, counts, outside, np.zeros(1))[0]
    lone = {tuple(r) for r in alone}
    assert found == len({tuple(r) for r in copy} & lone)


def test_a_fresh_sample_has_few_lone_people_of_a_wide_file_and_many_of_a_narrow_one():
    rng = np.random.default_rng(0)
    wide = rng.integers(0, 9, (400, 8)).astype(np.int16)
    assert fresh_match_share(wide, np.full(8, 9), rng) == 0.0
    narrow = rng.integers(0, 9, (400, 2)).astype(np.int16)
    assert fresh_match_share(narrow, np.full(2, 9), rng) > 0.5


def test_the_worst_tables_are_chosen_and_kept():
    codes = people(4000)
    copy = codes.copy()
    rng = np.random.default_rng(3)
    # Only the table of the first three variables is spoilt, its pairs hardly.
    copy[:, 2] = (copy[:, 2] + (rng.random(4000) < 0.3)) % 5
    choice = select_tables(codes, copy, SIZES, 3, (), 5, True, rng, budget=1)
    assert set(choice.tables[0]) >= {2}
    assert not choice.reached
    same = select_tables(codes, codes.copy(), SIZES, 3, choice.tables, 5, True, rng)
    assert same.reached
    assert choice.tables[0] in same.tables


def _frame(seed: int = 0, size: int = 1500):
    codes = people(size, seed)
    return {f"x{j}": codes[:, j].astype(str).tolist() for j in range(4)}


def test_an_easy_file_ends_at_the_floor_long_before_its_time():
    model = Synthesiser(time_limit=60.0, seed=1).fit(_frame())
    assert model.reason_ == "noise floor reached"
    assert model.seconds_ < 30.0
    assert model.utility_["jsd:2"] <= 1.2 * model.floor_["jsd:2"]
    # A copy closer than that would repeat the chance of this sample.
    assert model.utility_["jsd:2"] >= 0.3 * model.floor_["jsd:2"]


def test_without_the_floor_a_copy_comes_closer():
    sized = {"moves": 60_000, "time_limit": None, "seed": 1}
    held = Synthesiser(**sized).fit(_frame())
    free = Synthesiser(noise_floor=False, least=0, **sized).fit(_frame())
    assert free.utility_["jsd:2"] < 0.7 * held.utility_["jsd:2"]


def test_a_round_never_leaves_a_candidate_worse():
    sized = {"time_limit": None, "seed": 2}
    costs = [
        Synthesiser(moves=moves, **sized).fit(_frame(3, 600)).record_[-1].cost
        for moves in (2_000, 20_000, 80_000)
    ]
    assert costs[0] >= costs[2]
    assert costs[1] >= costs[2]
