"""Microdata of any kind: frames, lazy frames, dicts, streams and paths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import evosdc
from evosdc.errors import InputError

QUICK = {"generations": 2, "moves": 5_000, "time_limit": None}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    rng = np.random.default_rng(3)
    age = rng.integers(0, 6, 200)
    return pa.table(
        {
            "age": age,
            "sex": rng.choice(["m", "f"], 200),
            "ill": np.where(rng.random(200) < 0.1 * age, "yes", "no"),
        }
    )


KINDS = {
    "arrow": lambda t, folder: t,
    "pandas": lambda t, folder: t.to_pandas(),
    "polars": lambda t, folder: pl.from_arrow(t),
    "lazy": lambda t, folder: pl.from_arrow(t).lazy(),
    "dict": lambda t, folder: t.to_pydict(),
    "reader": lambda t, folder: t.to_reader(),
    "csv": lambda t, folder: _written(t, folder / "people.csv"),
    "parquet": lambda t, folder: str(_written(t, folder / "people.parquet")),
}


def _written(table, path):
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    else:
        pa.parquet.write_table(table, path)
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_any_kind_gives_the_same_copy_in_its_kind(people, kind, tmp_path) -> None:
    plain = evosdc.Synthesiser(["age", "sex"], "ill", **QUICK).fit_sample(people)
    given = KINDS[kind](people, tmp_path)
    found = evosdc.Synthesiser(["age", "sex"], "ill", **QUICK).fit_sample(given)
    wanted = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "lazy": pl.LazyFrame}
    assert isinstance(found, wanted.get(kind, dict if kind == "dict" else pa.Table))
    assert evosdc.frames.to_arrow(found).to_pydict() == plain.to_pydict()


@pytest.mark.parametrize("kind", ["lazy", "dict", "reader", "csv"])
def test_both_verbs_take_any_kind(people, kind, tmp_path) -> None:
    given = KINDS[kind](people, tmp_path)
    made = evosdc.synthesise(given, key=["age", "sex"], target="ill", **QUICK)
    again = evosdc.evaluate(
        KINDS[kind](people, tmp_path),
        made.copies[0],
        key=["age", "sex"],
        target="ill",
        holdout=KINDS[kind](people, tmp_path),
    )
    assert again.risk == made.evaluation.risk
    assert again.holdout_rows == 200


def test_a_file_is_read_with_the_types_of_the_original(people, tmp_path) -> None:
    real = people.set_column(0, "age", people["age"].cast(pa.string()))
    path = _written(people, tmp_path / "copy.csv")
    found = evosdc.evaluate(real, path, key=["age", "sex"], target="ill")
    assert found.names == ("age", "sex", "ill")
    with pytest.raises(InputError, match=r"people\.doc"):
        evosdc.evaluate(real, tmp_path / "people.doc", key=["age"], target="ill")
