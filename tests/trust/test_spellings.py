"""Blanks that nobody sees, accents in two forms, capitals: what is one code?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from evosdc import api
from evosdc.errors import HierarchyError, TableError
from evosdc.io import read_hierarchy, table_from_frame
from evosdc.table import Hierarchy
from evosdc.table.hierarchy import is_total_word, tidy_code
from evosdc.tabulation import tabulate

SPELLINGS = ["N", "N ", " N", "N\u00a0", "\u202fN", "N\t", "\ufeffN"]


def csv(path: Path, frame: Mapping[str, Sequence[Any]]) -> Path:
    lines = [",".join(frame)]
    lines += [",".join(map(str, row)) for row in zip(*frame.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_blanks_and_accents_do_not_make_codes() -> None:
    assert {tidy_code(word) for word in SPELLINGS} == {"N"}
    assert tidy_code("I\u0302le ") == "\u00cele"
    assert tidy_code("New\u00a0York") == "New York"
    assert tidy_code("n") != tidy_code("N")
    assert is_total_word(" Total\u00a0")
    assert not is_total_word("Totnes")


def test_records_under_several_spellings_are_added_up(tmp_path: Path) -> None:
    frame = {"k": [*SPELLINGS, "S", "n"], "v": [1, 2, 4, 8, 16, 32, 64, 100, 200]}
    path = csv(tmp_path / "m.csv", frame)
    for source in (frame, path):
        table = tabulate(source, ["k"], "v")
        codes = table.dimensions[0].hierarchy.codes
        found = dict(
            zip((codes[c] for c in table.codes[:, 0]), table.value, strict=False)
        )
        assert found == {"Total": 427, "N": 127, "S": 100, "n": 200}
        assert any("'k': 7 codes" in n and "taken for 1" in n for n in table.notes)
        assert any("case only" in n and "N/n" in n for n in table.notes)


def test_a_holding_is_one_under_any_spelling() -> None:
    frame = {"k": ["a"] * 3 + ["b"] * 3, "v": [10, 9, 8] * 2}
    names = ["H", "H ", "I", "J", "K", "L"]
    table = tabulate(frame | {"h": names}, ["k"], "v", holding="h")
    assert table.holdings is not None
    assert table.holdings.tolist() == [5, 2, 3]


def test_hierarchies_and_records_meet_in_tidy_codes(tmp_path: Path) -> None:
    (tmp_path / "k.hrc").write_text("S \n @D\u00a0\n@ W\nN\n", encoding="utf-8")
    tree = read_hierarchy(tmp_path / "k.hrc")
    assert tree.codes == ("Total", "S", "D", "W", "N")
    assert tree.parents == (-1, 0, 1, 1, 0)
    table = tabulate(
        {"k": ["D ", "W", " N"], "v": [1, 2, 4]}, ["k"], "v", hierarchies={"k": tree}
    )
    assert sorted(table.value.tolist()) == [1, 2, 3, 4, 7]
    with pytest.raises(HierarchyError, match="'D' stands twice"):
        Hierarchy.from_parents({"D": "S", "D ": "N", "S": "Total", "N": "Total"})


def test_a_labelled_table_with_two_spellings_has_duplicates() -> None:
    with pytest.raises(TableError, match=r"stand twice.*3 codes that differ in blanks"):
        table_from_frame({"r": ["N", "N ", " N"], "value": [1, 2, 3]})
    table = table_from_frame(
        {"r": ["N", "N ", "s", "S"], "i": ["A", "B", "A", "B"], "value": [1, 2, 3, 4]},
        missing="empty",
    )
    assert any("2 codes" in n and "taken for 1: 'N'" in n for n in table.notes)
    assert any("case only" in n for n in table.notes)


def test_lost_zeros_are_noted() -> None:
    table = table_from_frame({"r": ["01", "1", "2"], "value": [1, 2, 9]})
    assert any("leading zeros" in n and "01/1" in n for n in table.notes)


def test_wishes_are_tidied(tmp_path: Path) -> None:
    table = table_from_frame(
        {
            "region": ["North", "North", "South", "South"],
            "industry": ["A", "B", "A", "B"],
            "value": [37, 52, 20, 21],
        }
    )
    path = tmp_path / "hide.csv"
    path.write_text("region,industry\nNorth\u00a0, A\n", encoding="utf-8")
    for wish in ("region= North\u00a0,industry=A", {"region": "North "}, f"@{path}"):
        done = api.protect(
            table,
            workers=1,
            cells=evosdc.CellRequests(hide=wish),
            stop=evosdc.Stop(evaluations=3),
        )
        label = [table.label(int(c)) for c in np.flatnonzero(done.table.hidden)]
        assert "region=North, industry=A" in label
