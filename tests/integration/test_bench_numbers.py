"""Numbers of a made-up file: the rows, sequential trees, and what is written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.experiments import numbers
from benchmarks.experiments.mixed_cart import mixed_cart
from evosdc.errors import InputError

pytest.importorskip("sklearn")


def people(size: int = 600) -> pa.Table:
    rng = np.random.default_rng(0)
    age = rng.integers(18, 90, size)
    income = np.where(age > 70, np.nan, (age * rng.lognormal(3, 0.3, size)).round())
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["m", "f"], size),
            "income": pa.array(income, from_pandas=True),
        }
    )


def test_trees_draw_values_of_the_file_and_what_is_missing_with_them():
    frame = people()
    copy = mixed_cart(frame, 1).to_pandas()
    original = frame.to_pandas()
    assert set(copy["income"].dropna()) <= set(original["income"].dropna())
    # Income is missing for the old, in the copy too.
    assert (copy["income"].isna() == (copy["age"] > 70)).all()
    both = [f[["age", "income"]].dropna().corr().iloc[0, 1] for f in (copy, original)]
    assert both[0] == pytest.approx(both[1], abs=0.08)
    assert not copy.equals(original)
    assert copy.equals(mixed_cart(frame, 1).to_pandas())


def test_a_row_counts_what_is_off():
    frame = people()
    same = numbers.measure("people", "itself", frame, lambda f, seed: f, 1)
    assert (same.numbers, same.links) == (2, 1)
    assert (same.means_off, same.spreads_off, same.links_off) == (0, 0, 0)
    assert same.ks == same.wasserstein == same.largest == 0.0
    assert same.outside == ""

    def shuffled(table, seed):
        rng = np.random.default_rng(seed)
        mixed = rng.permutation(table["age"].to_numpy()) * 3
        return table.set_column(0, "age", pa.array(mixed))

    other = numbers.measure("people", "other", frame, shuffled, 1)
    assert (other.means_off, other.spreads_off, other.links_off) == (1, 1, 1)
    assert other.outside == "mean of age, sd of age, age x income"
    assert other.largest > 0.2


def test_the_page_is_written(tmp_path: Path):
    pd.DataFrame(people(200).to_pydict()).to_csv(tmp_path / "people.csv", index=False)
    wanted = {
        "seeds": 1,
        "time_limit": 1.0,
        "command": "python -m benchmarks numbers",
        "on_row": lambda row: None,
    }
    out = tmp_path / "out"
    paths = numbers.conduct(out, data=tmp_path, files=[], **wanted)
    page = paths[1].read_text()
    for name in ("evosdc", "sequential trees", "bootstrap"):
        assert f"| people | {name} | 1 | 2 |" in page
    with pytest.raises(InputError, match=r"has people\. Expected: other\.csv"):
        numbers.conduct(out, data=tmp_path, files=["other"], **wanted)
    with pytest.raises(InputError, match="no data"):
        numbers.conduct(out, data=None, files=[], **wanted)
