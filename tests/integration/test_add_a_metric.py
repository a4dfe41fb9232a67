"""The page "Add a metric", followed in a copy of the package."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from how_to import FollowedPage


def people(towns: str, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    columns = [rng.choice(list(levels), 120) for levels in ("mf", towns, "yn")]
    return ["sex,town,ill", *(",".join(row) for row in zip(*columns, strict=True))]


@pytest.mark.slow
def test_the_metric_of_the_page_is_measured(tmp_path: Path) -> None:
    page = FollowedPage("add-a-metric.md", tmp_path)
    # One of four towns is lost: a quarter of the levels of one variable of three.
    page.write("people.csv", people("abcd", 1))
    page.write("copy.csv", people("abc", 2))
    made = page.run()
    assert made.returncode in (0, 1), made.stderr
    (path,) = tmp_path.glob("evaluation/**/metrics.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = {row["metric"]: row for row in csv.DictReader(file)}
    assert float(rows["levels_lost"]["value"]) == pytest.approx(1 / 12)
    (report,) = tmp_path.glob("evaluation/confidential/report.html")
    assert "Share of levels lost" in report.read_text(encoding="utf-8")
