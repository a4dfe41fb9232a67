"""Experiments made in pieces: rows of earlier runs stay, and are as they were."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.experiments.pieces import Pieces
from evosdc.errors import InputError


@dataclass(frozen=True)
class Row:
    file: str
    seed: int
    value: float
    chance: float | None = None


def pieces(folder: Path, *, fresh: bool = False) -> Pieces[Row]:
    key = lambda row: (row.file, str(row.seed))  # noqa: E731
    return Pieces(folder / "out" / "rows.csv", Row, key, again=fresh)


def test_rows_are_read_back_as_they_were_and_sorted_by_run(tmp_path: Path):
    late = [Row("b", 1, 0.1, None), Row("b", 1, 1 / 3, 0.5)]
    first = pieces(tmp_path)
    first.add(late)
    second = pieces(tmp_path)
    assert ("b", "1") in second
    assert ("a", "1") not in second
    second.add([Row("a", 1, 2.0)])
    assert pieces(tmp_path).rows == [Row("a", 1, 2.0), *late]
    assert pieces(tmp_path, fresh=True).rows == []


def test_a_file_of_other_columns_is_refused(tmp_path: Path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "rows.csv").write_text("file,seed\na,1\n")
    with pytest.raises(InputError, match=r"rows\.csv has other columns"):
        pieces(tmp_path)
