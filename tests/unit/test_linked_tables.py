"""Linked tables: from records, from files, by labels; codes that lost their zeros."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import evosdc
from builders import options_of
from evosdc.errors import InputError
from evosdc.io import read_pattern, read_tables, write_table
from evosdc.table import Hierarchy, Table, link_tables, linked_parts
from evosdc.tabulation import hierarchy_from_columns, tabulate, tabulate_linked

RECORDS = {
    "kind": [7, 8, 7, 35, 8, 35, 7, 8, 35, 7],
    "size": list("ppppqqqqqp"),
    "place": list("rsrsrsrsrr"),
    "v": [5, 7, 11, 13, 17, 19, 23, 29, 31, 37],
}
KINDS = Hierarchy.from_levels([("B", "07"), ("B", "08"), ("D", "35")])
SPANS = [["kind", "size"], ["kind", "place"]]


def linked(**options: Any) -> Table:
    return evosdc.tabulate(
        RECORDS, SPANS, "v", rules="freq:3", **options_of("tabulate", **options)
    ).table


def test_several_spans_are_the_tables_linked() -> None:
    joint = linked()
    one, two = (tabulate(RECORDS, span, "v") for span in SPANS)
    by_hand = link_tables([one, two]).table
    assert joint.value.tolist() == by_hand.value.tolist()
    assert (joint.matrix != by_hand.matrix).nnz == 0
    assert len(joint.primaries) > 0
    shared = 4  # every kind and the total stand in both
    assert len(joint) == len(one) + len(two) - shared


def test_an_equation_in_both_tables_stands_once() -> None:
    rows = linked().matrix.toarray()
    assert len(np.unique(rows, axis=0)) == len(rows)


def test_the_parts_are_found_by_labels() -> None:
    joint = tabulate_linked(RECORDS, SPANS, "v")
    parts = linked_parts(joint.table)
    assert [part.dimensions for part in parts] == [(0, 1), (0, 2)]
    for part, place in zip(parts, joint.cell_numbers, strict=True):
        assert part.cells.tolist() == sorted(place.tolist())


def test_an_ordinary_table_is_one_part() -> None:
    table = tabulate(RECORDS, ["kind", "size", "place"], "v")
    (part,) = linked_parts(table)
    assert part.dimensions == (0, 1, 2)
    assert len(part.cells) == len(table)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_linked_tables_come_back_from_a_file(tmp_path: Path, suffix: str) -> None:
    joint = linked(hierarchies={"kind": KINDS}, digits={"kind": 2})
    path = tmp_path / f"t.{suffix}"
    write_table(path, joint)
    again = read_tables([path])
    assert again.value.tolist() == joint.value.tolist()
    assert again.codes.tolist() == joint.codes.tolist()
    rows, others = (
        np.unique(table.matrix.toarray(), axis=0) for table in (again, joint)
    )
    assert np.array_equal(rows, others)


def test_files_are_linked_in_any_order(tmp_path: Path) -> None:
    paths = [tmp_path / "one.csv", tmp_path / "two.parquet"]
    for path, span in zip(paths, SPANS, strict=True):
        write_table(path, evosdc.tabulate(RECORDS, span, "v", rules="freq:3").table)
    result = evosdc.protect(
        [str(path) for path in paths], stop=evosdc.Stop(evaluations=20)
    )
    assert result.safe
    other = read_tables(list(reversed(paths)))
    # Cells are numbered otherwise there: the labels of the pattern say which is which.
    hidden = read_pattern(result.pattern, other)
    assert evosdc.audit(other, hidden).safe
    assert hidden.sum() == result.table.hidden.sum()


def test_a_hierarchy_goes_to_the_files_that_have_its_column(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("kind,size,value\n07,p,1\n08,p,2\n35,p,4\n")
    two.write_text("kind,place,value\n07,r,1\n08,r,2\n35,s,4\n")
    trees = {"kind": KINDS}
    joint = read_tables([one, two], hierarchies=trees, missing="empty")
    assert joint.dimensions[0].hierarchy == KINDS
    with pytest.raises(InputError, match="'kin', which no table has"):
        read_tables([one, two], hierarchies={"kin": KINDS}, missing="empty")


def test_a_stream_is_read_for_every_table() -> None:
    table = pa.table(RECORDS)
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    joint = tabulate_linked(reader, SPANS, "v").table
    assert joint.value.tolist() == linked().value.tolist()


def test_options_of_no_variable_are_refused() -> None:
    with pytest.raises(InputError, match="'kin', which no table is made by"):
        linked(hierarchies={"kin": KINDS})
    with pytest.raises(InputError, match="'kin', which the table is not made by"):
        tabulate(RECORDS, ["kind"], "v", digits={"kin": 2})
    with pytest.raises(InputError, match="0 digits"):
        tabulate(RECORDS, ["kind"], "v", digits={"kind": 0})


def test_lost_zeros_are_named_and_given_back() -> None:
    trees = {"kind": KINDS}
    with pytest.raises(InputError, match="'7', '8'") as refused:
        tabulate(RECORDS, ["kind"], "v", hierarchies=trees)
    assert "--digits kind=2" in str(refused.value)
    for holding in (None, "size"):
        table = tabulate(
            RECORDS,
            ["kind"],
            "v",
            holding=holding,
            hierarchies=trees,
            digits={"kind": 2},
        )
        assert table.value.tolist() == [192, 129, 76, 53, 63, 63]


def test_columns_beside_give_the_tree_of_the_padded_codes() -> None:
    records = {"section": ["B", "B", "D"], "kind": [7, 8, 35], "v": [1, 2, 3]}
    tree = hierarchy_from_columns(records, ["section", "kind"], digits={"kind": 2})
    assert tree == KINDS


def test_a_dict_that_is_no_table_is_refused() -> None:
    with pytest.raises(InputError, match="cannot be turned into columns"):
        tabulate({"kind": [1, 2], "v": [1]}, ["kind"], "v")
