"""Columns of codes called like another column of a table's file are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evosdc
from builders import Command
from evosdc.errors import InputError
from evosdc.io import frame_of, published_frame, read_table, write_table
from evosdc.io.from_frame import RESERVED, VALUE
from evosdc.table import Dimension, Hierarchy, Table
from evosdc.table.build import build_table
from evosdc.tabulation import tabulate

NAMES = (VALUE, *RESERVED)


def records(name: str) -> dict[str, list[Any]]:
    return {
        name: ["a", "a", "b", "b", "c", "c"],
        "region": ["N", "S"] * 3,
        "turnover": [5, 6, 7, 8, 9, 10],
    }


def made_by(name: str) -> Table:
    tree = Hierarchy.flat(["a", "b"])
    codes = np.array([[1], [2]], dtype=np.int32)
    return build_table([Dimension(name, tree)], codes, np.array([1.0, 2.0]))


@pytest.mark.parametrize("name", [*NAMES, f"{VALUE} "])
def test_no_table_is_made_by_such_a_column(name: str) -> None:
    wrong = f"column '{name}' cannot be a dimension"
    with pytest.raises(InputError, match=wrong) as caught:
        evosdc.tabulate(records(name), [name], "turnover", rules="p:10")
    assert "rename the column" in caught.value.hint
    with pytest.raises(InputError, match=wrong):
        tabulate(records(name), [name, "region"], "turnover")


def test_every_span_is_looked_at_before_records_are() -> None:
    spans = [["region"], ["status", "region"]]
    with pytest.raises(InputError, match="'status' cannot be a dimension"):
        evosdc.tabulate("nowhere.parquet?", spans, "turnover", rules="p:10")


def test_a_hierarchy_may_be_read_from_such_a_column_and_have_no_table() -> None:
    trees = evosdc.Read(hierarchies={"kind": ["status", "kind"]})
    data = records("kind") | {"status": ["x", "x", "x", "x", "y", "y"]}
    made = evosdc.tabulate(data, ["kind"], "turnover", rules="p:10", read=trees)
    assert [d.name for d in made.table.dimensions] == ["kind"]
    spans = [["kind", "region"], ["status"]]
    with pytest.raises(InputError, match="'status' cannot be a dimension"):
        evosdc.tabulate(data, spans, "turnover", rules="p:10", read=trees)


def test_the_command_line_writes_nothing(run: Command, tmp_path: Path) -> None:
    source, table = tmp_path / "r.csv", tmp_path / "t.csv"
    source.write_text("weight,turnover\na,1\na,2\nb,3\n")
    words = ("--by", "weight", "--value", "turnover", "--rule", "p:10", "-o", table)
    code, _, err = run("tabulate", source, *words)
    assert code == 2
    assert "column 'weight' cannot be a dimension" in err
    assert list(tmp_path.iterdir()) == [source]


@pytest.mark.parametrize("name", NAMES)
def test_such_a_table_is_neither_protected_nor_written(
    name: str, tmp_path: Path
) -> None:
    wrong = f"column '{name}' cannot be a dimension"
    table = made_by(name)
    none = evosdc.Read(rules="none")
    with pytest.raises(InputError, match=wrong):
        evosdc.protect(table, read=none)
    with pytest.raises(InputError, match=wrong):
        write_table(tmp_path / "t.csv", table)
    assert not list(tmp_path.iterdir())
    for frame in (frame_of, published_frame):
        with pytest.raises(InputError, match=wrong):
            frame(table)


def test_frames_with_values_of_another_name_are_refused_too() -> None:
    frame = {"value": ["a", "b"], "turnover": [1, 2]}
    with pytest.raises(InputError, match="'value' cannot be a dimension"):
        evosdc.protect(frame, read=evosdc.Read(value="turnover", rules="none"))


def test_capitals_count_as_where_files_are_read(tmp_path: Path) -> None:
    made = evosdc.tabulate(records("Weight"), ["Weight"], "turnover", rules="p:10")
    write_table(tmp_path / "t.csv", made.table)
    again = read_table(tmp_path / "t.csv")
    assert again.dimensions == made.table.dimensions
    np.testing.assert_array_equal(again.codes, made.table.codes)
