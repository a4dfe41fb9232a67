"""The one door for frames: the same data in any kind give the same Arrow table."""

from __future__ import annotations

import datetime as dt
import pickle
import warnings
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.frames import is_frame, is_stream, kind_of, like, to_arrow

DATA: dict[str, list[Any]] = {
    "region": ["n", "s", None],
    "code": [1, 2, 3],
    "value": [1.5, None, 3.0],
    "day": [dt.date(2020, 1, 1), None, dt.date(2020, 1, 3)],
}


class UnknownFrame:
    """A frame of a library nobody knows, which speaks Arrow."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = pa.table(data)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.data.__arrow_c_stream__(requested_schema)


class Grandchild(pd.DataFrame):
    """A frame of a library that is built on pandas."""


def relation(data: dict[str, Any]) -> Any:
    rows = pa.table(data)
    connection = duckdb.connect()
    connection.register("rows", rows)
    return connection.sql("SELECT * FROM rows")


KINDS: dict[str, Any] = {
    "dict": dict,
    "dict of arrays": lambda d: {k: np.array(v, dtype=object) for k, v in d.items()},
    "dict of polars series": lambda d: {k: pl.Series(v) for k, v in d.items()},
    "pandas": pd.DataFrame,
    "pandas with an index": lambda d: pd.DataFrame(d).set_index("region"),
    "pandas with two": lambda d: pd.DataFrame(d).set_index(["region", "code"]),
    "built on pandas": Grandchild,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "arrow": pa.table,
    "batch": pa.RecordBatch.from_pydict,
    "reader": lambda d: pa.table(d).to_reader(),
    "relation": relation,
    "stranger": UnknownFrame,
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_holds_the_same_data(kind: str) -> None:
    frame = KINDS[kind](DATA)
    assert is_frame(frame)
    assert to_arrow(frame).to_pydict() == DATA


@pytest.mark.parametrize(
    "kind", ["dict", "pandas", "built on pandas", "polars", "arrow"]
)
def test_nan_is_a_missing_value(kind: str) -> None:
    frame = KINDS[kind]({"x": np.array([1.0, np.nan]), "y": np.array([0.5, 1.5])})
    table = to_arrow(frame)
    assert table.to_pydict() == {"x": [1.0, None], "y": [0.5, 1.5]}


def test_columns_without_nan_are_not_copied() -> None:
    given = pa.table({"x": [1.0, 2.0], "y": ["a", None]})
    assert to_arrow(given) is given


@pytest.mark.parametrize(
    ("kind", "back"),
    [
        ("dict", dict),
        ("pandas", pd.DataFrame),
        ("pandas with an index", pd.DataFrame),
        ("polars", pl.DataFrame),
        ("polars lazy", pl.LazyFrame),
        ("arrow", pa.Table),
        ("batch", pa.Table),
        ("reader", pa.Table),
        ("relation", pa.Table),
        ("stranger", pa.Table),
    ],
)
def test_the_kind_that_was_given_comes_back(kind: str, back: type) -> None:
    frame = KINDS[kind](DATA)
    kept = pickle.loads(pickle.dumps(kind_of(frame)))
    table = pa.table({"region": ["a", "b"], "more": [1, 2]})
    for given in (frame, kept):
        answer = like(table, given)
        assert type(answer) is back
        assert to_arrow(answer).to_pydict() == table.to_pydict()


def test_a_path_is_answered_in_arrow() -> None:
    assert isinstance(like(pa.table({"a": [1]}), "cells.csv"), pa.Table)


def test_types_that_arrow_does_not_tell_come_back() -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None], dtype="Int64"),
            "flag": pd.array([True, None], dtype="boolean"),
            "word": pd.array(["a", None], dtype="string"),
            "grade": pd.Categorical(["lo", "hi"], ["lo", "hi", "none"], ordered=True),
        }
    )
    pd.testing.assert_frame_equal(like(to_arrow(frame), frame), frame)
    # A column that has become something else is left as what it is.
    changed = like(pa.table({"whole": [0.5, 1.5]}), frame)
    assert changed["whole"].tolist() == [0.5, 1.5]
    grades = pl.DataFrame({"g": pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"]))})
    assert like(to_arrow(grades), grades).equals(grades)
    assert like(pa.table({"g": ["a"]}), grades).schema == {"g": pl.String}
    named = pl.DataFrame({"g": pl.Series(["a", None], dtype=pl.Categorical)})
    assert like(to_arrow(named), named).schema == named.schema


def test_a_named_index_is_data() -> None:
    pivot = pd.DataFrame({"s": ["a", "b"], "v": [1, 2]}).groupby("s").sum()
    assert to_arrow(pivot).to_pydict() == {"s": ["a", "b"], "v": [1, 2]}
    assert list(like(to_arrow(pivot), pivot).columns) == ["s", "v"]
    both = pivot.set_index(["v"], append=True)
    both["w"] = 3
    assert to_arrow(both).column_names == ["s", "v", "w"]
    with pytest.raises(InputError, match=r"'v' stands twice.*index"):
        to_arrow(pivot.rename_axis("v"))


def test_row_numbers_are_not_data() -> None:
    frame = pd.DataFrame({"v": [1, 2, 3]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert to_arrow(frame).column_names == ["v"]
        assert to_arrow(frame[frame.v > 1]).to_pydict() == {"v": [2, 3]}


@pytest.mark.parametrize(
    "index", [["a", "b"], pd.MultiIndex.from_tuples([(1, 2), (3, 4)])]
)
def test_labels_without_a_name_go_with_a_warning(index: Any) -> None:
    frame = pd.DataFrame({"v": [1, 2]}, index=index)
    with pytest.warns(UserWarning, match="rename_axis"):
        assert to_arrow(frame).column_names == ["v"]


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
def test_numbers_among_words_are_words(kind: Any) -> None:
    frame = kind({"r": [1, 2.5, "x", None, np.nan, pd.NA, np.int64(7)]})
    words = ["1", "2.5", "x", None, None, None, "7"]
    assert to_arrow(frame)["r"].to_pylist() == words


def test_intervals_and_periods_are_codes() -> None:
    cut = pd.cut(pd.Series([1.0, 9.0, None]), [0, 5, 10])
    months = pd.Series(pd.period_range("2024-01", periods=3, freq="M"))
    table = to_arrow(pd.DataFrame({"size": cut, "month": months}))
    assert table["size"].to_pylist() == ["(0.0, 5.0]", "(5.0, 10.0]", None]
    assert table["month"].to_pylist() == ["2024-01", "2024-02", "2024-03"]


@pytest.mark.parametrize(
    "thing", [[1, 2], 3, None, pd.Series([1]), {"a": 3}, {"a": "word"}, pl.Series([1])]
)
def test_what_is_no_frame_is_refused(thing: Any) -> None:
    with pytest.raises(InputError, match=r"not a frame|into columns"):
        to_arrow(thing)


def test_columns_of_two_lengths_or_types_are_refused() -> None:
    with pytest.raises(InputError, match="of one length"):
        to_arrow({"a": [1], "b": [1, 2]})
    with pytest.raises(InputError, match="each of one type"):
        to_arrow({"a": [1, dt.date(2020, 1, 1)]})
    twice = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(InputError, match="'a' stands twice"):
        to_arrow(twice)


def test_only_readers_and_relations_are_streams() -> None:
    streams = {kind for kind in KINDS if is_stream(KINDS[kind](DATA))}
    assert streams == {"reader", "relation"}
