"""Repeats of a made-up file: the rows, and the files that are written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from benchmarks.experiments import repeats
from evosdc.errors import InputError


def people(size: int = 400) -> pa.Table:
    rng = np.random.default_rng(0)
    age = rng.integers(0, 6, size)
    return pa.table(
        {
            "age": age,
            "health": np.clip(age // 2 + rng.integers(-1, 2, size), 0, 3),
            "sex": rng.choice(["m", "f"], size),
        }
    )


def test_copies_are_compared_by_margins_and_pairs():
    rows = repeats.measure("people", people(), 3, None, moves=20_000, generations=2)
    assert [row.order for row in rows] == [1, 2]
    for row in rows:
        assert 0.0 < row.between < 0.3
        # A metric: two copies are no farther apart than by way of the original.
        assert row.between <= 2.0 * row.to_original + 1e-9
        assert row.between_fresh > 0.0
    assert rows[0].between < rows[1].between


def test_the_page_is_written_and_keeps_its_remarks(tmp_path: Path):
    pd.DataFrame(people().to_pydict()).to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "out"
    wanted = {
        "data": tmp_path,
        "seeds": 2,
        "time_limit": 1.0,
        "files": [],
        "command": "python -m benchmarks repeats",
        "on_row": lambda row: None,
    }
    repeats.conduct(out, **wanted)
    page = out / "repeats.md"
    text = page.read_text()
    assert "| people | 400 | 3 | 2 | 1 |" in text
    page.write_text(text.replace("None.", "Mine."))
    repeats.conduct(out, **wanted)
    assert page.read_text().endswith("Mine.\n")


def test_one_seed_or_no_data_is_refused(tmp_path: Path):
    kept = {"time_limit": 1.0, "files": [], "command": "", "on_row": print}
    with pytest.raises(InputError, match="seeds is 1"):
        repeats.conduct(tmp_path, data=tmp_path, seeds=1, **kept)
    with pytest.raises(InputError, match="no data"):
        repeats.conduct(tmp_path, data=None, seeds=2, **kept)
