"""Frames to codes and back: types, labels, bins, pools, missing values."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.frames import like, to_arrow
from evosdc.synth import Coding, Synthesiser
from evosdc.synth.data.domain import make_domain


def _frame(n=200):
    rng = np.random.default_rng(0)
    grade = pd.Categorical(
        rng.choice(["low", "mid", "high"], n),
        categories=["low", "mid", "high", "unused"],
        ordered=True,
    )
    income = rng.normal(1000, 300, n).round(2)
    income[rng.random(n) < 0.2] = 0.0
    frame = pd.DataFrame(
        {
            "sex": rng.choice(["m", "f"], n),
            "grade": grade,
            "age": rng.integers(0, 90, n),
            "income": income,
            "flag": rng.random(n) < 0.3,
            "day": [dt.date(2020, 1, 1) + dt.timedelta(int(d)) for d in range(n)],
            "kids": pd.array(rng.integers(0, 4, n), dtype="Int64"),
        }
    )
    frame.loc[rng.random(n) < 0.1, ["sex", "income", "kids"]] = None
    return frame


def _round(frame, **coding):
    table = to_arrow(frame)
    domain = make_domain(table, Coding(**{"least": 0, **coding}))
    codes = domain.encode(table)
    out = domain.decode(codes, np.random.default_rng(1))
    return domain, codes, out


@pytest.mark.parametrize("restore", ["uniform", "empirical"])
def test_pandas_types_and_missing_values_come_back(restore):
    frame = _frame()
    domain, codes, table = _round(frame, restore=restore)
    back = like(table, frame)
    assert (back.dtypes == frame.dtypes).all()
    assert (back.isna() == frame.isna()).all().all()
    for name in ("sex", "grade", "flag", "kids"):
        pd.testing.assert_series_equal(back[name], frame[name])
    assert back["grade"].cat.categories.tolist() == ["low", "mid", "high", "unused"]
    assert (domain.encode(to_arrow(back)) == codes).all()


def test_polars_and_arrow_come_back_as_they_were():
    frame = _frame().drop(columns=["day", "kids"])
    sexes = [s if isinstance(s, str) else None for s in frame["sex"]]
    as_polars = pl.DataFrame(
        {
            "sex": sexes,
            "age": frame["age"].to_numpy(),
            "income": frame["income"].to_numpy(),
        },
        schema_overrides={"sex": pl.Categorical},
    )
    _, _, table = _round(as_polars)
    back = like(table, as_polars)
    assert isinstance(back, pl.DataFrame)
    assert back.schema == as_polars.schema
    assert back["sex"].cast(str).to_list() == sexes
    arrow = pa.table({"a": ["x", None, "y"], "b": [1, 2, 3]})
    _, _, table = _round(arrow)
    assert table.equals(arrow)


def test_a_spike_keeps_its_value_and_bins_keep_their_range():
    frame = _frame(2000)
    domain, codes, table = _round(frame, bins=10)
    income = domain.variables[3]
    before = frame["income"].to_numpy()
    after = np.array(table.column("income").to_pylist(), float)
    assert (after[before == 0.0] == 0.0).all()
    for level in np.unique(codes[:, 3]):
        mine = codes[:, 3] == level
        if level == income.missing:
            continue
        assert after[mine].min() >= before[mine].min()
        assert after[mine].max() <= before[mine].max()
    assert np.allclose(after[~np.isnan(after)], np.round(after[~np.isnan(after)], 2))


def test_equal_width_and_own_edges():
    frame = pd.DataFrame({"x": np.arange(100.0)})
    domain, codes, _ = _round(frame, bins=4, binning="width")
    assert np.bincount(codes[:, 0])[:4].tolist() == [25, 25, 25, 24]
    domain, codes, _ = _round(frame, bins={"x": [0, 10, 90]})
    assert [c for c in np.bincount(codes[:, 0]) if c] == [10, 80, 10]
    assert domain.variables[0].edges.tolist() == [0, 10, 90]


def test_rare_levels_are_pooled_and_drawn_again():
    frame = pd.DataFrame({"x": ["a"] * 90 + ["b"] * 4 + ["c"] * 4 + ["d"] * 2})
    domain, _, table = _round(frame, pool=5)
    assert domain.sizes.tolist() == [2]
    drawn = table.column("x").to_pylist()
    assert drawn[:90] == ["a"] * 90
    assert set(drawn[90:]) <= {"b", "c", "d"}
    assert len(set(drawn[90:])) > 1


def test_a_constant_an_empty_and_a_long_column():
    n = 10_000
    frame = pd.DataFrame(
        {
            "one": ["x"] * n,
            "none": pd.array([None] * n, dtype="Float64"),
            "many": [f"id{i}" for i in range(n)],
        }
    )
    domain, _, table = _round(frame)
    assert domain.sizes.tolist() == [1, 1, n]
    assert table.column("none").null_count == n
    assert sorted(table.column("many").to_pylist()) == sorted(frame["many"])


def test_bad_frames_are_refused():
    with pytest.raises(InputError, match="1 record"):
        make_domain(to_arrow(pd.DataFrame({"a": [1]})), Coding(least=0))
    with pytest.raises(InputError, match="a list is not a frame"):
        Synthesiser().fit([1, 2])
    with pytest.raises(InputError, match="unknown column 'z'"):
        make_domain(
            to_arrow(pd.DataFrame({"a": [1, 2]})), Coding(bins={"z": 3}, least=0)
        )
    long = to_arrow(pd.DataFrame({"a": [f"i{k}" for k in range(33_000)]}))
    with pytest.raises(InputError, match="33,000 levels"):
        make_domain(long, Coding(least=0))
    domain = make_domain(to_arrow(pd.DataFrame({"a": ["x", "y"]})), Coding(least=0))
    strange = to_arrow(pd.DataFrame({"a": ["z"]}))
    with pytest.raises(InputError, match="that the original does not have"):
        domain.encode(strange)


def test_numbers_of_more_than_forty_values_are_binned():
    ages = np.arange(3000) % 75
    assert _round(pd.DataFrame({"x": ages % 40}))[0].variables[0].edges is None
    assert _round(pd.DataFrame({"x": ages}))[0].variables[0].edges is not None
    many = _round(pd.DataFrame({"x": ages}), most_levels=80)[0].variables[0]
    assert many.edges is None
    assert _round(pd.DataFrame({"x": ages}), most_levels=30)[0].sizes[0] < 30
    assert _round(pd.DataFrame({"x": np.arange(3000) % 101}))[0].sizes[0] < 30


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_the_ends_of_a_bin_are_drawn_as_often_as_what_is_between(scale):
    numbers = np.round(np.tile(np.arange(4), 5000) * scale, 1)
    *_, table = _round(pd.DataFrame({"x": numbers}), bins={"x": [0]})
    drawn = np.array(table.column("x").to_pylist())
    share = [(drawn == x).mean() for x in np.unique(numbers)]
    assert share == pytest.approx([0.25] * 4, abs=0.02)


def test_bins_of_few_records_are_merged_where_levels_are_pooled():
    numbers = np.concatenate([np.arange(100.0), [400.0, 401.0, 800.0]])
    table = pa.table({"x": numbers, "y": np.arange(103) % 3})
    coding = Coding(bins=10, binning="width", pool=5, least=0)
    domain = make_domain(table, coding)
    codes = domain.encode(table)
    assert np.bincount(codes[:, 0]).min() >= 5
    drawn = domain.decode(codes, np.random.default_rng(0))["x"].to_numpy()
    # Every number is drawn from the bin that it fell into.
    assert (domain.encode(table.set_column(0, "x", pa.array(drawn))) == codes).all()
