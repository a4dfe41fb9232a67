"""CSV and Parquet: separators, decimals, encodings, side files, mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evosdc.errors import InputError, TableError
from evosdc.io import read_labelled, table_from_frame, write_labelled
from evosdc.table import Hierarchy, Table


def read(folder: Path, text: str | bytes, **options: object) -> Table:
    path = folder / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_labelled(path, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "r,value\n01,1.5\n02,2\nTotal,3.5\n",
        "r;value\r\n01;1,5\r\n02;2\r\nTotal;3,5\r\n",
        "r\tvalue\n01\t1,5\n02\t2,0\n",
        "\ufeffr;value\n01;1.5\n02;2\n",
        '"r","value"\n"01","1.5"\n"02",2\n\n',
        "\nr, value\n 01 ,1.5\n02, 2 \n",
    ],
)
def test_layouts(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, text)
    assert table.dimensions[0].hierarchy.codes == ("Total", "01", "02")
    assert table.value.tolist() == [1.5, 2, 3.5]


def test_latin_1(tmp_path: Path) -> None:
    table = read(tmp_path, "r;value\né;1\nü;2\n".encode("latin-1"))
    assert table.dimensions[0].hierarchy.codes == ("Total", "é", "ü")


def test_decimal_commas_leave_codes_alone(tmp_path: Path) -> None:
    table = read(tmp_path, "r;value;weight\n01,1;1,5;2,5\n01,2;2;1\n")
    assert table.dimensions[0].hierarchy.codes == ("Total", "01,1", "01,2")
    assert table.weight.tolist() == [2.5, 1, 3.5]


def test_words_that_look_missing_are_codes(tmp_path: Path) -> None:
    table = read(tmp_path, "r,value\nNA,1\nnull,2\nnan,3\n")
    assert table.dimensions[0].hierarchy.codes == ("Total", "NA", "null", "nan")


def test_own_totals_and_columns(tmp_path: Path) -> None:
    text = "r,s,turnover\nx,T,1\ny,T,2\nall,T,3\n"
    table = read(
        tmp_path, text, totals={"r": "all", "s": "T"}, value="turnover", missing="empty"
    )
    assert [d.hierarchy.total for d in table.dimensions] == ["all", "T"]
    assert len(table) == 3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("r,value\n", "no rows"),
        (",\n1,2\n", "no header"),
        ("r,r,value\na,b,1\n", "'r' twice"),
        ("r,,value\na,b,1\n", "blank name"),
        ("r,value\na,1\nb,2,3\n", "line 3: 3 fields"),
        ("r,value\na\n", "line 2: 1 fields"),
        ('r,value\na,"1,234"\n', "line 2: column 'value' has"),
        ("r;value\na;1.234,5\nb;1,234.5\n", "column 'value' has both"),
        ("r;value\na;1,5\n\nb;5%\n", "line 4: column 'value' is not a number"),
        ("r,size\na,1\n", "no column 'value'"),
        ("r,size\na,1\n", "evosdc tabulate"),
    ],
)
def test_mistakes(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert "1.234" not in str(caught.value)
    assert "1,234" not in str(caught.value)


def test_missing_cells(tmp_path: Path) -> None:
    text = "r,s,value\na,x,1\nb,y,2\n"
    with pytest.raises(TableError, match="r=a, s=y"):
        read(tmp_path, text)
    assert len(read(tmp_path, text, missing="empty")) == 7


def tree_table() -> Table:
    tree = Hierarchy.from_parents({"N": "All", "n1": "N", "n2": "N", "S": "All"}, "All")
    frame = {"r": ["n1", "n2", "S"], "s": ["x", "x", "y"], "value": [1, 2, 3]}
    return table_from_frame(
        frame, hierarchies={"r": tree}, missing="empty", name="turnover"
    )


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "parquet"])
def test_hierarchies_are_kept(tmp_path: Path, suffix: str) -> None:
    table = tree_table()
    path = tmp_path / f"t.{suffix}"
    write_labelled(path, table)
    again = read_labelled(path)
    assert again.dimensions == table.dimensions
    assert again.name == "turnover"
    np.testing.assert_array_equal(again.value, table.value)


def test_the_side_file_can_be_overruled(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_labelled(path, tree_table())
    with pytest.raises(TableError, match="inner cells are missing"):
        read_labelled(path, missing="error")
    flat = Hierarchy.flat(["x", "y", "z"])
    assert (
        len(read_labelled(path, hierarchies={"s": flat}).dimensions[1].hierarchy) == 4
    )


def test_side_files_are_not_overwritten(tmp_path: Path) -> None:
    side = tmp_path / "t.csv.json"
    side.write_text("precious")
    with pytest.raises(InputError, match=r"t\.csv\.json exists"):
        write_labelled(tmp_path / "t.csv", tree_table())
    assert side.read_text() == "precious"
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "{}",
        json.dumps({"format": "other"}),
        '{"format": "evosdc-table", "version": 3}',
    ],
)
def test_broken_side_files(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.csv.json").write_text(text)
    with pytest.raises(InputError, match="does not describe a table"):
        read(tmp_path, "r,value\na,1\n")


def test_parquet_without_metadata(tmp_path: Path) -> None:
    pq.write_table(pa.table({"r": [1, 2], "value": [1, 2]}), tmp_path / "t.parquet")
    assert read_labelled(tmp_path / "t.parquet").value.tolist() == [1, 2, 3]
    (tmp_path / "u.parquet").write_text("no parquet")
    with pytest.raises(InputError, match="is not a Parquet file"):
        read_labelled(tmp_path / "u.parquet")


def test_tables_that_labels_do_not_describe(tmp_path: Path) -> None:
    bare = Table.of([3, 1, 2], np.array([[-1, 1, 1]]))
    with pytest.raises(InputError, match="no labels"):
        write_labelled(tmp_path / "t.csv", bare)
    table = tree_table()
    fewer = table.replace(matrix=table.matrix[1:], rhs=table.rhs[1:])
    with pytest.raises(TableError, match="other equations"):
        write_labelled(tmp_path / "t.csv", fewer)
    assert not list(tmp_path.iterdir())
