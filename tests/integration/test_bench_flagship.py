"""The flagship bench: every part on a table, rows and page."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.experiments import flagship
from evosdc.errors import InputError


@pytest.mark.slow
def test_each_part_has_a_row_and_remarks_are_kept(tmp_path: Path) -> None:
    rows: list[flagship.Row] = []
    for _ in range(2):
        paths = flagship.conduct(
            tmp_path,
            data=None,
            time_limit=0.5,
            families=["register-60x40"],
            workers=1,
            command="python -m benchmarks flagship",
            on_row=rows.append,
        )
        page = tmp_path / "flagship.md"
        assert paths == [tmp_path / "flagship.csv", page]
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("None.", "Seen."), encoding="utf-8")
    assert "Seen." in text
    rivals = [f"`{rival}` instead" for rival in flagship.RIVALS]
    assert [row.part for row in rows] == 2 * [*flagship.PARTS, *rivals]
    assert all(0 <= row.bound <= row.cost for row in rows)
    assert text.count("| all |") == 1


def test_an_unknown_table_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no table 'cube'"):
        flagship.conduct(
            tmp_path,
            data=None,
            time_limit=1.0,
            families=["cube"],
            workers=1,
            command="",
            on_row=lambda _: None,
        )
