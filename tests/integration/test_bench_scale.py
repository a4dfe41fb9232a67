"""The bench of growing sizes: rows, page and pictures, each size measured once."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments import scale
from evosdc.errors import InputError


@pytest.mark.slow
def test_sizes_are_measured_once(tmp_path: Path) -> None:
    rows: list[scale.Row] = []
    for families in (["records-2000"], ["records-2000", "cells-600", "guarded-600"]):
        paths = scale.conduct(
            tmp_path,
            families=families,
            command="python -m benchmarks scale",
            on_row=rows.append,
        )
    assert all(path.exists() for path in paths)
    assert rows[0] == rows[1]
    assert rows[0]["records"] == 2000
    assert rows[2]["verdict"] == "SAFE"
    assert rows[2]["judged"] == rows[2]["primaries"] > 0
    page = (tmp_path / "scale.md").read_text(encoding="utf-8")
    assert page.count("| 2,000 |") == 1
    assert "## Cells" in page
    assert "with lone respondents" in page
    assert rows[3]["secondaries"] >= rows[2]["secondaries"]


def test_an_unknown_size_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no size 'rows-5'"):
        scale.conduct(tmp_path, families=["rows-5"], command="", on_row=print)
