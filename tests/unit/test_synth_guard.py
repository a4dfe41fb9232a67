"""Small groups: pools of levels, coded tails, identifiers, swapped pairs."""

from __future__ import annotations

import datetime as dt

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.bins import draw, safe_bins, slope_for
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.identifiers import fresh_column, why_identifying
from evosdc.synth.data.rare_levels import pool_others, pool_texts, round_numbers
from evosdc.synth.objective.swapped_pairs import swap_small_cells
from evosdc.synth.small_groups import _rare_levels, count_pairs


def _shown(values, counts, least=5):
    """Return what every value is shown as."""
    pools = pool_texts(values, np.array(counts, float), least)
    names = {
        int(k): v
        for k, v, h in zip(pools.level, values, pools.hidden, strict=True)
        if not h
    }
    names |= dict(zip(pools.label_level.tolist(), pools.labels, strict=True))
    return [names[int(k)] for k in pools.level]


def test_rare_texts_become_other_under_a_name_that_is_free():
    assert _shown(["a", "b", "c"], [50, 3, 2]) == ["a", "other", "other"]
    assert _shown(["a", "b", "other"], [50, 4, 4]) == ["a", "other (2)", "other (2)"]
    assert _shown(["a", "b", "Other"], [50, 6, 6]) == ["a", "b", "Other"]
    made = _shown(["a", "Other", "c", "d"], [50, 9, 3, 3])
    assert made == ["a", "Other", "other (2)", "other (2)"]
    assert _shown(["a", "b", "c"], [5, 6, 7]) == ["a", "b", "c"]


def test_codes_are_pooled_by_the_longest_beginning_that_enough_share():
    codes = ["01.11", "01.12", "01.13", "02.10", "02.20"]
    pooled = ["01.11", "01.1*", "01.1*", "02*", "02*"]
    assert _shown(codes, [90, 3, 2, 3, 3]) == pooled
    # A code that is left alone widens the pool beside it.
    codes.insert(3, "01.20")
    pooled = ["01.11", "01*", "01*", "01*", "02*", "02*"]
    assert _shown(codes, [90, 3, 2, 4, 3, 3]) == pooled


def test_a_pool_of_too_few_takes_in_a_small_level_but_not_a_large_one():
    assert _shown(["a", "b", "c"], [500, 12, 2]) == ["a", "other", "other"]
    assert _shown(["f", "m", "x"], [500, 490, 3]) == ["f", "m", "f"]


def test_truth_values_and_numbers_are_shown_as_what_enough_people_have():
    assert pool_others(np.array([97.0, 3.0]), 5).level.tolist() == [0, 0]
    numbers = np.array([-9.0, 0.0, 1.0, 2.0, 3.0, 99.0])
    pools = round_numbers(numbers, np.array([1.0, 50, 2, 40, 60, 3]), 5)
    shown = numbers[~pools.hidden][pools.level]
    assert shown.tolist() == [0, 0, 0, 2, 3, 3]
    assert pools.protection.replaced == 3


def test_rare_numbers_above_all_others_are_shown_as_their_mean():
    numbers = np.array([-8.0, 1, 6, 30, 40, 45, 50, 60])
    counts = np.array([50.0, 40, 3, 30, 2, 1, 1, 1])
    pools = round_numbers(numbers, counts, 5, pool_tail=True)
    # 40, 40, 45, 50 and the largest as 50: 45 is somebody's.
    assert pools.labels == (44,)
    assert pools.level.tolist() == [0, 1, 1, 2, 3, 3, 3, 3]
    assert pools.label_level.tolist() == [3]
    assert pools.hidden.tolist() == [False, False, True, False, *[True] * 4]
    assert (pools.protection.pooled, pools.protection.replaced) == (4, 1)
    # The largest may be anything, if it is no code.
    numbers[-1] = 56
    assert round_numbers(numbers, counts, 5, pool_tail=True).labels == (44,)
    numbers[-1] = 999
    assert round_numbers(numbers, counts, 5, pool_tail=True).labels == ()
    counts[-4] = 1
    assert round_numbers(numbers, counts, 5, pool_tail=True).labels == ()


@pytest.mark.parametrize("mean", [0.02, 0.3, 0.5, 0.9])
def test_the_shape_has_the_mean_that_is_asked_for(mean):
    u = np.random.default_rng(0).random(100_000)
    ends = np.array([[0.0, 1000.0, 1000.0 * mean]])
    drawn = draw(ends, 1.0, u, np.zeros(len(u), np.int64))
    assert drawn.mean() == pytest.approx(1000 * mean, rel=0.02)
    assert drawn.min() >= 0
    assert drawn.max() <= 1000
    assert np.sign(slope_for(np.array([mean]))[0].round(6)) == np.sign(mean - 0.5)


def test_tails_end_where_enough_people_are_on_both_sides_of_special_codes():
    numbers = np.array([-500.0, 1, 2, 3, 4, 5, 6, 7, 8, 900, 9999])
    weight = np.array([1.0, 3, 3, 3, 3, 3, 3, 3, 3, 1, 200])
    alone = numbers == 9999
    bins = safe_bins(numbers, weight, np.arange(11), alone, 5)
    low, high = bins.ends[:-1, 0].min(), bins.ends[:-1, 1].max()
    assert (low, high) == (2, 7)
    assert numbers[bins.hidden].tolist() == [-500, 1, 8, 900]
    assert np.bincount(bins.level, weights=weight).min() >= 5
    assert bins.ends[-1].tolist() == [9999, 9999, 9999]


def test_a_few_between_two_special_codes_are_shown_as_the_nearer():
    numbers, weight = np.array([0.0, 40, 70, 99]), np.array([50.0, 1, 2, 60])
    bins = safe_bins(numbers, weight, np.arange(4), numbers % 99 == 0, 5)
    assert bins.level.tolist() == [0, 0, 1, 1]
    assert bins.ends[:, :2].tolist() == [[0, 0], [99, 99]]


def test_few_missing_values_are_not_shown_as_missing():
    table = pa.table({"x": ["a"] * 50 + ["b"] * 50 + [None] * 2, "y": [1] * 102})
    domain = make_domain(table, Coding(least=5))
    out = domain.decode(domain.encode(table), np.random.default_rng(0))
    assert out["x"].null_count == 0
    assert domain.variables[0].protection.missing


def _column(values):
    return pa.chunked_array([pa.array(values)])


def test_identifiers_are_told_from_amounts_and_codes():
    rng = np.random.default_rng(0)
    n = 1000
    days = [dt.date(1950, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 2e4, n)]
    notes = [""] * 800 + [f"fell at {k} Mill Lane" for k in range(200)]
    identifying = {
        "a": rng.permutation(n) + 5000,
        "b": np.arange(n) * 7,
        "c": rng.choice(np.arange(10**8, 10**9, 97), n, replace=False),
        "d": [f"x{k}" for k in range(n)],
        "e": notes,
        "f": days,
        "household_id": rng.integers(0, 400, n),
    }
    ordinary = {
        "income": np.exp(rng.normal(10, 0.5, n)).astype(int),
        "weight": rng.normal(70, 10, n),
        "age": rng.integers(0, 90, n),
        "sic": [f"{k:02d}.1" for k in rng.integers(0, 60, n)],
        "sick": rng.random(n) < 0.5,
    }
    for name, values in identifying.items():
        assert why_identifying(name, _column(values), 5), name
    for name, values in ordinary.items():
        assert not why_identifying(name, _column(values), 5), name


@pytest.mark.parametrize(
    "values",
    [
        list(range(1, 101)),
        [f"AB-{k:03d}" for k in range(100)],
        [str(dt.date(1960, 1, 1) + dt.timedelta(101 * k)) for k in range(100)],
        [dt.date(1960, 1, 1) + dt.timedelta(101 * k) for k in range(100)],
        [dt.date(1960, 1, 1) + dt.timedelta(k) for k in range(200)],
        ["x", "y"] * 50,
        [1.5 * k for k in range(100)],
    ],
    ids=["dense", "code", "text date", "date", "all dates", "short", "float"],
)
def test_fresh_values_are_of_the_same_type_and_none_is_real(values):
    column = _column(values)
    fresh = fresh_column(column, 150, np.random.default_rng(0))
    assert fresh.type == column.type
    assert len(fresh) == 150
    assert not set(fresh.to_pylist()) & set(values)


def test_stirring_keeps_margins_and_large_cells_and_moves_the_few():
    rng = np.random.default_rng(0)
    one = rng.integers(0, 3, 2000)
    codes = np.column_stack([one, (one + (rng.random(2000) < 0.2)) % 3])
    # A level of thirteen people, one at each of thirteen values of another column.
    codes = np.column_stack([codes, rng.integers(0, 13, 2000)]).astype(np.int16)
    codes[:13, 0], codes[:13, 2] = 3, np.arange(13)
    sizes = np.array([4, 3, 13])
    free, ordered = np.arange(3), np.zeros(3, bool)
    swapped = swap_small_cells(codes, sizes, free, ordered, 5, np.random.default_rng(1))
    step = np.array([1, 0, 4])
    seen = swapped.numbers(codes, (0, 2), step)
    before = np.bincount(codes @ step, minlength=52).reshape(13, 4)
    after = np.bincount(seen, minlength=52).reshape(13, 4)
    assert (before.sum(axis=0) == after.sum(axis=0)).all()
    assert (before.sum(axis=1) == after.sum(axis=1)).all()
    assert (after[:, 3] != 1).sum() >= 4
    large = before >= 20
    assert np.abs(after - before)[large].max() <= 6
    for j in range(3):
        assert (np.sort(swapped.records[:, j]) == np.sort(codes[:, j])).all()
    # Columns that are kept are not touched; without a guard nothing is.
    fixed = swap_small_cells(
        codes, sizes, np.array([1]), ordered, 5, np.random.default_rng(1)
    )
    assert (fixed.records[:, [0, 2]] == codes[:, [0, 2]]).all()
    none = swap_small_cells(codes, sizes, free, ordered, 1, np.random.default_rng(1))
    assert (none.records == codes).all()
    assert not none.exchanges


def test_neighbours_keep_out_combinations_that_do_not_exist():
    rng = np.random.default_rng(0)
    age = rng.integers(0, 80, 2000)
    widowed = (age > 60) & (rng.random(2000) < 0.2)
    codes = np.column_stack([age, widowed]).astype(np.int16)
    sizes, free = np.array([80, 2]), np.arange(2)
    ordered = np.array([True, False])
    seen = swap_small_cells(
        codes, sizes, free, ordered, 5, np.random.default_rng(0)
    ).numbers(codes, (0, 1), np.array([1, 80]))
    assert ((seen >= 80) & (seen % 80 < 50)).sum() == 0


def test_an_enum_of_polars_loses_the_categories_of_few():
    kinds = pl.Enum(["a", "b", "c", "d"])
    frame = pl.DataFrame({"x": ["a"] * 60 + ["b"] * 50 + ["c"] * 3 + ["d"] * 3}).cast(
        {"x": kinds}
    )
    frame = frame.with_columns(y=pl.Series([0, 1] * 58))
    copy = Synthesiser(moves=2000, generations=2, time_limit=None).fit_sample(frame)
    assert isinstance(copy.schema["x"], pl.Enum)
    assert copy.schema["x"].categories.to_list() == ["a", "b", "other"]


def test_groups_of_exactly_the_least_are_not_small():
    table = pa.table(
        {
            "a": ["x"] * 5 + ["y"] * 4 + ["z"] * 6,
            "b": ["p"] * 5 + ["q"] * 4 + ["p"] * 6,
        }
    )
    domain = make_domain(table, Coding(least=0))
    codes = domain.encode(table)
    (pair,) = count_pairs(codes, codes, domain, 5)
    assert (pair.few, pair.shown) == (1, 1)  # y-q of four
    assert count_pairs(codes, codes[:5], domain, 5)[0].shown == 0
    assert count_pairs(codes, codes, domain, 4) == []
    copy = table.slice(5)
    found = _rare_levels("a", table["a"], copy["a"], 5)
    assert (found.few, found.shown) == (1, 1)
    found = _rare_levels("a", table["a"], copy["a"], 6)
    assert (found.few, found.shown) == (2, 1)
