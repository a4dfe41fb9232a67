"""Files: what may be read, what may be overwritten, which format a name says."""

from __future__ import annotations

from pathlib import Path

import pytest

from evosdc.errors import InputError
from evosdc.formats import suffixes
from evosdc.io import (
    check_output_file,
    open_output,
    read_table,
    table_from_frame,
    write_table,
)
from evosdc.io.paths import is_pattern
from evosdc.results.folder import check_output_directory
from evosdc.table import Table


@pytest.fixture
def table() -> Table:
    return table_from_frame({"r": ["a", "b"], "value": [1, 2]})


@pytest.mark.parametrize("suffix", suffixes("table", reading=False))
def test_every_suffix(tmp_path: Path, table: Table, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    check_output_file(path)
    write_table(path, table)
    assert read_table(path, totals="Total", missing=None).value.tolist() == [1, 2, 3]
    with pytest.raises(InputError, match="--force"):
        write_table(path, table)
    with pytest.raises(InputError, match="--force"):
        check_output_file(path)
    write_table(path, table, force=True)


@pytest.mark.parametrize("suffix", ["jj", "csv", "parquet", "tab", "asc"])
def test_unreadable(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    with pytest.raises(InputError, match="there is no file"):
        read_table(path)
    path.touch()
    with pytest.raises(InputError, match="is empty"):
        read_table(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="is a directory"):
        read_table(path)


def test_unknown_suffix(tmp_path: Path, table: Table) -> None:
    path = tmp_path / "t.xlsx"
    path.write_text("x")
    with pytest.raises(InputError, match="no suffix of a table"):
        read_table(path)
    for action in (write_table, lambda p, _: check_output_file(p)):
        with pytest.raises(InputError, match="no suffix of a table"):
            action(tmp_path / "u.xlsx", table)


def test_options_of_other_formats(tmp_path: Path, table: Table) -> None:
    write_table(tmp_path / "t.jj", table)
    with pytest.raises(InputError, match="takes no option 'hierarchies'"):
        read_table(tmp_path / "t.jj", hierarchies={})


def test_no_half_files(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")

    def crash() -> None:
        with open_output(path, force=True) as stream:
            stream.write(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        crash()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_folder(tmp_path: Path, table: Table) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        write_table(tmp_path / "nowhere" / "t.csv", table)
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(InputError, match="is a directory"):
        write_table(tmp_path / "d.csv", table, force=True)


def test_output_directory(tmp_path: Path) -> None:
    assert check_output_directory(tmp_path / "new") == tmp_path / "new"
    check_output_directory(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="--force"):
        check_output_directory(tmp_path)
    check_output_directory(tmp_path, force=True)
    with pytest.raises(InputError, match="is a file"):
        check_output_directory(tmp_path / "file")


def test_patterns_are_names_with_signs_and_no_file(tmp_path: Path) -> None:
    for name in ("firms-*.csv", "firms-?.csv", "firms-[12].csv"):
        assert is_pattern(tmp_path / name)
        (tmp_path / name).write_text("a")
        assert not is_pattern(tmp_path / name)
    assert not is_pattern(tmp_path / "firms.csv")


def test_a_name_that_the_disk_does_not_take_is_an_error_of_ours(tmp_path: Path) -> None:
    path = tmp_path / ("a" * 250)
    with pytest.raises(InputError, match="cannot be written"), open_output(path):
        pytest.fail("began")
    assert not list(tmp_path.iterdir())
