"""A CSV file is parsed once per call, however many tables and passes there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from builders import options_of
from evosdc.api import tabulate
from evosdc.table import Table
from evosdc.tabulation import source

LINES = """region;size;kind;firm;turnover;staff
a;1;11;f1;1.234,5;10
a;2;12;f2;2,25;20
b;1;11;f1;3,5;30
b;2;21;f3;4,5;40
c;2;22;f4;5,5;50
"""


@pytest.fixture
def parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[int]]:
    """Give a file of records that is gone once it was parsed, and a list of parses."""
    path = tmp_path / "records.csv"
    path.write_text(LINES, encoding="utf-8")
    parses: list[int] = []
    parse = source._parsed

    def counted(*args: Any) -> Any:
        relation = parse(*args)
        parses.append(1)
        path.unlink()
        return relation

    monkeypatch.setattr(source, "_parsed", counted)
    return path, parses


@pytest.mark.parametrize(
    ("by", "options"),
    [
        (["region", "size"], {}),
        (["region", "size"], {"holding": "firm", "contributions": True}),
        ([["region"], ["size"]], {}),
        ([["region"], ["kind"]], {"hierarchies": {"kind": ["size", "kind"]}}),
    ],
)
def test_a_file_is_read_once(
    parsed: tuple[Path, list[int]], by: Any, options: dict[str, Any]
) -> None:
    path, parses = parsed
    if "hierarchies" in options:
        # Every kind has one size: the first line of 21 is changed for that.
        path.write_text(LINES.replace("b;2;21", "b;3;21"), encoding="utf-8")
    given = options_of("tabulate", rules="p:10", **options)
    table = tabulate(path, by, "turnover", **given).table
    assert len(parses) == 1
    assert table.value.max() == pytest.approx(1250.25)


def test_records_are_the_same_whatever_is_read_of_them(tmp_path: Path) -> None:
    """Columns that a table does not use count for the fingerprint of the records."""
    path = tmp_path / "records.csv"
    path.write_text(LINES, encoding="utf-8")

    def of(value: str) -> Table:
        return tabulate(path, ["region"], value, rules="p:10").table

    one, other = of("turnover"), of("staff")
    assert one.origin.source == other.origin.source
    assert one.respondent is not None
    assert other.respondent is not None
    assert one.respondent.tolist() == other.respondent.tolist()
    path.write_text(LINES.replace("f4", "f5"), encoding="utf-8")
    assert of("turnover").origin.source != one.origin.source
