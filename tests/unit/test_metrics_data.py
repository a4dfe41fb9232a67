"""Encoding frames, and counting without dense tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.metrics import encode_frames, from_codes
from evosdc.metrics.counts import cell_counts, classes, joint_keys, tables
from evosdc.metrics.data import MISSING, encode_exact

ORIGINAL = {
    "sex": ["m", "f", None, "f"],
    "age": [1, 2, 2, 3],
    "job": ["a", "b", "b", "a"],
}
SYNTHETIC = {"sex": ["f", "x", "f", "m"], "age": [3, 3, None, 1], "job": ["a"] * 4}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_frame_gives_the_same_codes(make) -> None:
    a, b = encode_frames((make(ORIGINAL), make(SYNTHETIC)), ["sex", "age"], "job")
    # Labels in order (f, m, x, then missing), numbers by size, missing values last.
    assert a.codes.tolist() == [[1, 0, 0], [0, 1, 1], [3, 1, 1], [0, 2, 0]]
    assert b.codes.tolist() == [[0, 2, 0], [2, 2, 0], [0, 3, 0], [1, 0, 0]]
    assert a.levels == b.levels == (4, 4, 2)
    assert a.labels[0] == ("f", "m", "x", MISSING)
    assert (a.key, a.target) == ((0, 1), 2)
    assert a.ordered == (False, True, False)


def test_the_index_of_pandas_is_no_variable() -> None:
    frame = pd.DataFrame(ORIGINAL)
    a, b = encode_frames((frame, frame[[True, False, True, True]]), None, "job")
    assert b.names == ("sex", "age", "job")
    assert b.codes.tolist() == a.codes[[0, 2, 3]].tolist()


def test_columns_are_matched_by_name() -> None:
    swapped = pd.DataFrame(SYNTHETIC)[["job", "age", "sex"]]
    _, b = encode_frames((pd.DataFrame(ORIGINAL), swapped), None, "job")
    assert b.codes[:, 2].tolist() == [0, 0, 0, 0]


def test_many_numbers_are_cut_at_quantiles_of_the_original() -> None:
    original = pd.DataFrame({"x": np.arange(100.0), "t": ["a"] * 100})
    synthetic = pd.DataFrame({"x": np.full(100, 1e6), "t": ["a"] * 100})
    a, b = encode_frames((original, synthetic), None, "t", bins=4)
    # A quarter of the records is reached at 24, half at 49, three quarters at 74.
    assert np.bincount(a.codes[:, 0]).tolist() == [24, 25, 25, 26]
    assert set(b.codes[:, 0]) == {3}
    assert a.labels[0][0] == "[-inf, 24)"


def test_a_special_number_starts_a_bin() -> None:
    # A third are zeros: the quantiles are those of the others.
    x = np.concatenate([np.zeros(50), np.arange(1.0, 101.0)])
    frame = pd.DataFrame({"x": x, "t": ["a"] * 150})
    shaken = frame.assign(x=x + 0.25)
    a, b = encode_frames((frame, shaken), None, "t", bins=4)
    assert a.labels[0] == ("[0, 25)", "[25, 50)", "[50, 75)", "[75, inf)")
    assert np.bincount(a.codes[:, 0]).tolist() == [74, 25, 25, 26]
    # Who only shakes numbers a little does not leave his bin.
    assert (a.codes == b.codes).all()


def test_nan_is_missing_in_polars_too() -> None:
    frame = pl.DataFrame({"x": [1.0, float("nan"), None], "t": ["a", "a", "a"]})
    a, _ = encode_frames((frame, frame), None, "t")
    assert a.codes[:, 0].tolist() == [0, 1, 1]


def test_an_ordered_factor_keeps_its_order() -> None:
    sizes = pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"size": sizes, "t": ["a", "b", "a"]})
    a, _ = encode_frames((frame, frame), None, "t")
    assert a.codes[:, 0].tolist() == [0, 2, 1]
    assert a.ordered[0]


@pytest.mark.parametrize(
    ("synthetic", "key", "target", "words"),
    [
        ({"sex": ["m"], "job": ["a"]}, None, "job", "missing \\['age'\\]"),
        ({**SYNTHETIC, "more": [1, 2, 3, 4]}, None, "job", "extra \\['more'\\]"),
        (SYNTHETIC, ["sex", "job"], "job", "key includes the target 'job'"),
        (SYNTHETIC, ["shoe"], "job", "unknown variable 'shoe'"),
        (SYNTHETIC, [], "job", "key is empty"),
        ({**SYNTHETIC, "age": list("abcd")}, None, "job", "'age' is number and text"),
        ({"sex": [], "age": [], "job": []}, None, "job", "without records"),
    ],
)
def test_bad_input_is_named(synthetic, key, target, words) -> None:
    with pytest.raises(InputError, match=words):
        encode_frames((pd.DataFrame(ORIGINAL), pd.DataFrame(synthetic)), key, target)


def test_mixed_types_are_words_and_nested_ones_are_refused() -> None:
    frame = pd.DataFrame({"x": [1, "a"], "t": ["a", "b"]})
    assert encode_frames([frame], None, "t")[0].labels[0] == ("1", "a")
    with pytest.raises(InputError, match="cannot be turned into columns"):
        encode_frames([{"x": [1, 2], "t": ["a"]}], None, "t")


def test_cell_counts_list_occupied_cells_of_either_file() -> None:
    a = from_codes([[0, 0], [0, 0], [1, 1]], key=[0], target=1, levels=(2, 2))
    b = from_codes([[1, 1], [1, 0]], key=[0], target=1, levels=(2, 2))
    first, second = cell_counts(a, b, (0, 1))
    assert first.tolist() == [2, 0, 1]
    assert second.tolist() == [0, 1, 1]


def test_a_table_of_1e24_cells_is_counted() -> None:
    rng = np.random.default_rng(0)
    levels = (1000,) * 8
    base = rng.integers(0, 1000, (50, 8))
    a = from_codes(base[rng.integers(0, 50, 400)], key=[0], target=1, levels=levels)
    b = from_codes(base[rng.integers(0, 50, 300)], key=[0], target=1, levels=levels)
    keys, span = joint_keys((a, b), range(8))
    assert span < 2**62
    first, second = cell_counts(a, b, range(8))
    expected = {tuple(r): 0 for r in np.vstack([a.codes, b.codes]).tolist()}
    for row in a.codes.tolist():
        expected[tuple(row)] += 1
    assert sorted(first.tolist()) == sorted(expected.values())
    assert second.sum() == 300
    ka, kb, number = classes(a, b, range(8))
    assert number == len(expected)
    assert len(np.unique(np.r_[ka, kb])) == number
    assert len(keys[0]) == 400


def test_tables_beyond_the_limit_are_a_seeded_sample() -> None:
    assert tables(4, 2, 10, 0) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    drawn = tables(30, 4, 50, 3)
    assert len(set(drawn)) == 50
    assert drawn == tables(30, 4, 50, 3) != tables(30, 4, 50, 4)


def test_the_synthetic_file_does_not_decide_whether_a_number_is_binned() -> None:
    original = {"x": list(range(10)) * 10, "t": ["a"] * 100}
    other = {"x": list(range(100)), "t": ["a"] * 100}
    a, b = encode_frames((original, other), None, "t")
    assert a.labels[0] == tuple(map(str, range(100)))
    assert len(np.unique(a.codes[:, 0])) == 10
    assert len(np.unique(b.codes[:, 0])) == 100


def test_a_little_noise_on_a_number_of_few_values_makes_no_levels() -> None:
    original = {"x": [0, 1, 2, 5] * 20, "t": ["a"] * 80}
    noise = np.random.default_rng(0).uniform(-0.49, 0.49, 80)
    shaken = {"x": original["x"] + noise, "t": ["a"] * 80}
    other = {"x": [3, 4, 1.5, 7] * 20, "t": ["a"] * 80}
    a, b, c = encode_frames((original, shaken, other), None, "t")
    assert (a.codes == b.codes).all()
    assert a.labels[0] == ("0", "1", "1.5", "2", "3", "4", "5", "7")
    assert not np.isin(c.codes[:, 0], a.codes[:, 0]).any()
    # Keys count as they are in the file.
    a, b = encode_exact((original, shaken), None, "t")
    assert not np.isin(b.codes[:, 0], a.codes[:, 0]).any()
