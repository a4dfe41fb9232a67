"""What a synthesis says while it works, and dates from door to door."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from evosdc import api
from evosdc.synth import Synthesiser

QUICK = {"moves": 30_000, "generations": 3, "time_limit": None}


def visits(size: int = 1500) -> pd.DataFrame:
    """Visits of two summers, on weekdays only, and how long they took."""
    rng = np.random.default_rng(0)
    days = pd.date_range("2021-01-01", "2022-12-31")
    weight = np.where(days.month.isin([6, 7, 8]), 5.0, 1.0) * (days.day_of_week < 5)
    when = rng.choice(days, size, p=weight / weight.sum())
    return pd.DataFrame(
        {
            "day": pd.to_datetime(when).date,
            "ward": rng.choice(["a", "b", "c"], size),
            "minutes": rng.integers(5, 90, size),
        }
    )


def test_every_phase_is_said_in_its_order():
    said: list[str] = []
    Synthesiser(seed=1, on_phase=said.append, **QUICK).fit(visits(300))
    assert said == [
        "looking at columns",
        "learning rules",
        "finding what chance alone would show",
        "drawing first candidates",
        "searching",
        "measuring risks",
        "drawing values",
    ]


def test_an_evaluation_is_a_phase_too():
    said: list[str] = []
    api.synthesise(visits(300), on_phase=said.append, **QUICK)
    assert said[-1] == "evaluating"


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_dates_stay_dates_of_their_season(tmp_path: Path, suffix: str):
    frame = visits()
    path = tmp_path / f"visits{suffix}"
    if suffix == ".csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    kinds = {c.name: c.kind for c in api.inspect(path)}
    assert kinds["day"] == "date"
    copy = Synthesiser(seed=1, **QUICK).fit(path).sample().to_pandas()
    day, known = pd.to_datetime(copy["day"]), pd.to_datetime(frame["day"])
    assert day.notna().all()
    assert known.min() <= day.min()
    assert day.max() <= known.max()
    assert (day == day.dt.normalize()).all()
    summer = [d.dt.month.isin([6, 7, 8]).mean() for d in (known, day)]
    assert summer[1] == pytest.approx(summer[0], abs=0.03)
