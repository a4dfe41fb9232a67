"""A side file beside another table is an error, whatever the order of events."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import evosdc
from builders import Command
from evosdc.errors import InputError, TableError
from evosdc.io import read_table, write_table
from evosdc.table import Hierarchy, Table

SUFFIXES = ("csv", "csv.gz", "tsv", "jj", "tab", "parquet")


def tabulated(value: float = 10.0, rule: str = "freq:3") -> Table:
    """Regions by sizes; the larger `value`, the larger one contribution."""
    records = {
        "r": ["N"] * 5 + ["S"] * 6,
        "c": ["a", "a", "a", "b", "b", "a", "a", "a", "b", "b", "b"],
        "v": [value, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110],
    }
    return evosdc.tabulate(records, ["r", "c"], "v", rules=rule).table


def side_of(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def carry_over(old: Path, new: Path) -> None:
    """Put another table under the name of one that has a side file."""
    if new.suffix == ".parquet":
        # As programs do that keep the metadata of a frame whose columns they change.
        metadata = pq.read_schema(old).metadata
        pq.write_table(pq.read_table(new).replace_schema_metadata(metadata), old)
    else:
        shutil.copy(new, old)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_table_replaced_under_its_name_is_not_read(
    run: Command, tmp_path: Path, suffix: str
) -> None:
    path, other = tmp_path / f"t.{suffix}", tmp_path / f"u.{suffix}"
    write_table(path, tabulated())
    write_table(other, tabulated(999.0))
    carry_over(path, other)
    code, _, error = run("protect", path, "-o", tmp_path / "out", "--evaluations", 5)
    assert code == 2
    assert "was not written with the table as it is now" in error
    assert "tabulate the records again" in error
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", ["csv", "jj"])
@pytest.mark.parametrize(
    ("old", "new"),
    [('"freq:3"', '"freq:9"'), ('"counts": false', '"counts": true')],
)
def test_an_edited_side_file_is_not_read(
    tmp_path: Path, suffix: str, old: str, new: str
) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(path, tabulated())
    text = side_of(path).read_text()
    assert old in text
    side_of(path).write_text(text.replace(old, new))
    with pytest.raises(InputError, match="was changed after it was written"):
        read_table(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("N,b,90,u", "N,b,90,s"),  # no longer sensitive
        ("value", "valu"),
        (",upl,", ",upper_level,"),
        ("N,a,60,s", "N,a,60.1,s"),
        ("N,a,", "S,a,"),
    ],
)
def test_an_edited_table_is_another_table(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "t.csv"
    write_table(path, tabulated())
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(InputError):
        read_table(path)


def test_columns_that_a_verdict_depends_on_cannot_be_added(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, tabulated())
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + ",holdings", *(x + ",9" for x in lines[1:])]))
    with pytest.raises(InputError, match="was not written with the table"):
        read_table(path)
    path.write_text("\n".join([lines[0] + ",remark", *(x + ",9" for x in lines[1:])]))
    assert read_table(path).origin == tabulated().origin


def test_another_column_of_values_has_no_rules(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, tabulated())
    with pytest.raises(InputError, match="was not written with the table"):
        read_table(path, value="lpl")


def test_costs_may_be_edited(tmp_path: Path) -> None:
    """They decide which cells are hidden, not whether that is safe."""
    path = tmp_path / "t.csv"
    write_table(path, tabulated())
    frame = csv.read_csv(path)
    prices = pa.array([7.0] * frame.num_rows)
    at = frame.column_names.index("weight")
    csv.write_csv(frame.set_column(at, "weight", prices), path)
    again = read_table(path)
    assert set(again.weight.tolist()) == {7.0}
    assert again.origin == tabulated().origin


def test_jj_with_other_equations(tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    table = tabulated()
    write_table(path, table)
    side = side_of(path).read_bytes()
    write_table(
        path, table.replace(matrix=table.matrix[1:], rhs=table.rhs[1:]), force=True
    )
    side_of(path).write_bytes(side)
    with pytest.raises(InputError, match="was not written with the table"):
        read_table(path)


def test_tab_keeps_no_equations_but_those_of_its_labels(tmp_path: Path) -> None:
    table = tabulated()
    fewer = table.replace(matrix=table.matrix[1:], rhs=table.rhs[1:])
    with pytest.raises(TableError, match="other equations than its labels imply"):
        write_table(tmp_path / "t.tab", fewer)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_pair_is_read_back_whatever_the_order_of_codes(
    tmp_path: Path, suffix: str
) -> None:
    tree = Hierarchy.from_parents({"z": "Total", "b": "z", "a": "z", "c": "Total"})
    records = {
        "r": ["a", "b", "c", "b", "a"] * 3,
        "s": ["y", "x", "x", "y", "x"] * 3,
        "v": [0.1 + k / 3 for k in range(15)],
    }
    made = evosdc.tabulate(
        records,
        ["r", "s"],
        "v",
        rules=["p:10"],
        read=evosdc.Read(hierarchies={"r": tree}),
    )
    path = tmp_path / f"t.{suffix}"
    write_table(path, made.table)
    assert read_table(path).origin == made.table.origin


def test_tab_with_other_statuses(tmp_path: Path) -> None:
    path = tmp_path / "t.tab"
    write_table(path, tabulated())
    path.write_text(path.read_text().replace(";u\n", ";s\n"))
    with pytest.raises(InputError, match="was not written with the table"):
        read_table(path)


@pytest.mark.parametrize(
    ("name", "old"),
    [
        ("t.csv", {"format": "evosdc-table", "version": 2, "name": "v"}),
        ("t.jj", {"format": "evosdc-origin", "version": 1, "name": "v", "cells": ""}),
    ],
)
def test_side_files_of_older_versions_prove_nothing(
    tmp_path: Path, name: str, old: dict[str, Any]
) -> None:
    path = tmp_path / name
    write_table(path, tabulated())
    side_of(path).write_text(json.dumps(old))
    with pytest.raises(InputError, match="another version") as caught:
        read_table(path)
    assert f"delete {name}.json" in caught.value.hint
    side_of(path).unlink()
    assert read_table(path).origin.rules is None


@pytest.mark.parametrize("suffix", ["csv", "jj", "tab"])
@pytest.mark.parametrize("before", ["nothing", "pair", "table"])
def test_no_moment_mixes_two_tables(
    tmp_path: Path, suffix: str, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looked at before and after every step that changes a name, as after a crash."""
    folder, seen = tmp_path / "work", tmp_path / "seen"
    folder.mkdir()
    path = folder / f"t.{suffix}"
    old, new = tabulated(), tabulated(999.0, "freq:4")
    if before != "nothing":
        write_table(path, old)
    if before == "table":
        side_of(path).unlink()
    moments: list[Path] = []

    def looking(change: Any) -> Any:
        def step(*names: Any, **more: Any) -> Any:
            for number in range(2):
                moments.append(shutil.copytree(folder, seen / str(len(moments))))
                if not number:
                    result = change(*names, **more)
            return result

        return step

    for name in ("replace", "rename", "unlink", "link"):
        monkeypatch.setattr(os, name, looking(getattr(os, name)))
    write_table(path, new, force=True)
    monkeypatch.undo()
    assert len(moments) >= 4
    found = set()
    for moment in moments:
        try:
            table = read_table(moment / path.name)
        except (InputError, OSError):
            continue
        found.add((table.origin.rules, float(table.value.max())))
    allowed = {(new.origin.rules, float(new.value.max()))}
    if before != "nothing":
        rules = old.origin.rules if before == "pair" else None
        allowed.add((rules, float(old.value.max())))
    assert (new.origin.rules, float(new.value.max())) in found
    assert found <= allowed


def test_a_table_that_cannot_be_written_leaves_the_pair_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    write_table(path, tabulated())

    def fail(*_: Any, **__: Any) -> None:
        raise InputError("t.csv cannot be written: the disk is full")

    monkeypatch.setattr("evosdc.io.delimited.write_csv", fail)
    with pytest.raises(InputError, match="disk is full"):
        write_table(path, tabulated(999.0, "freq:4"), force=True)
    with pytest.raises(InputError, match="disk is full"):
        write_table(tmp_path / "u.csv", tabulated(999.0, "freq:4"))
    monkeypatch.undo()
    assert read_table(path).origin == tabulated().origin
    assert {p.name for p in tmp_path.iterdir()} == {"t.csv", "t.csv.json"}


def test_a_table_that_needs_no_side_file_leaves_none(tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    write_table(path, tabulated())
    side_of(path).unlink()
    bare = read_table(path)
    write_table(path, tabulated(), force=True)
    with pytest.raises(InputError, match=r"t\.jj.* exists already"):
        write_table(path, bare)
    write_table(path, bare, force=True)
    assert not side_of(path).exists()
    assert read_table(path).origin == bare.origin


def test_a_side_file_of_somebody_else_is_found_before_the_work(
    run: Command, tmp_path: Path
) -> None:
    (tmp_path / "m.csv").write_text("r,v\na,1\nb,2\n")
    (tmp_path / "t.jj.json").write_text("precious")
    code, _, error = run(
        "tabulate", tmp_path / "m.csv", "--by", "r", "--rule", "none", "-o",
        tmp_path / "t.jj",
    )  # fmt: skip
    assert code == 2
    assert "t.jj.json exists already" in error
    assert not (tmp_path / "t.jj").exists()
    assert (tmp_path / "t.jj.json").read_text() == "precious"
