"""One list of suffixes: what it says, in messages, help texts and documentation."""

from __future__ import annotations

import ast
import gzip
import re
from pathlib import Path

import pyarrow as pa
import pytest

from evosdc.cli import options
from evosdc.errors import InputError
from evosdc.formats import (
    ASC,
    CSV,
    FORMATS,
    JJ,
    LAYOUTS,
    PACKINGS,
    PARQUET,
    TAB,
    layout_names,
    suffix_list,
    suffixes,
)
from evosdc.io import paths
from evosdc.io.delimited import read_csv, write_csv
from evosdc.io.suffixes import (
    format_of_pattern,
    format_to_read,
    format_to_write,
    load,
)
from evosdc.options.objects import FILES_OF_CODES
from evosdc.results.result import WrittenResult

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs/reference/formats.md"
# They choose a format, or write what is no table of its own.
CHOOSING = {"read_table", "write_table", "write_records", "write_with_sidecar"}
CHOOSING |= {"read_apriori_into", "write_hst"}


def put(folder: Path, name: str, text: str = "a,b\n1,2\n") -> Path:
    (folder / name).write_text(text)
    return folder / name


def test_the_format_of_a_name(tmp_path: Path) -> None:
    for name, form in [
        ("t.csv", CSV),
        ("T.TSV", CSV),
        ("t.1.Parquet", PARQUET),
        ("t.pq", PARQUET),
        ("t.jj", JJ),
        ("t.tab", TAB),
    ]:
        assert format_to_read(put(tmp_path, name), "table") is form
        assert format_to_write(name, "table") is form
    assert format_to_write("t.txt", "table") is CSV
    assert format_to_write("t.csv.zst", "table") is CSV
    assert format_of_pattern("firms-*.txt", "records") is CSV


@pytest.mark.parametrize("name", ["m.txt", "m.dat"])
def test_a_name_of_two_formats_is_looked_at(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, name, "1 2\n")
    with pytest.raises(
        InputError, match=r"m\.rda in its folder .* or names of columns"
    ):
        format_to_read(path, "records")
    for sign in ",;\t|":
        assert format_to_read(put(tmp_path, name, f"a{sign}b\n"), "table") is CSV
    put(tmp_path, "M.RDA")
    assert format_to_read(path, "records") is ASC
    with pytest.raises(InputError, match=r"does not hold a table.*evosdc tabulate"):
        format_to_read(path, "table")


def test_a_packed_file_is_looked_at_too(tmp_path: Path) -> None:
    path = tmp_path / "m.txt.gz"
    path.write_bytes(gzip.compress(b"1 2\n"))
    with pytest.raises(InputError, match="no separator"):
        format_to_read(path, "records")
    put(tmp_path, "m.rda")
    assert format_to_read(path, "records") is ASC


def test_what_a_format_does_not_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"jj .*does not hold records.*\.csv"):
        format_to_read(put(tmp_path, "t.jj"), "records")
    with pytest.raises(InputError, match="no suffix of a table"):
        format_to_write("t.asc", "table")
    with pytest.raises(InputError, match=r"\.csv, .*\.hrc.*; text may be compressed"):
        format_to_read(put(tmp_path, "t.xlsx"), "hierarchy")


@pytest.mark.parametrize("packing", ["", *PACKINGS])
@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_packed_files_come_back(tmp_path: Path, suffix: str, packing: str) -> None:
    path = tmp_path / f"t{suffix}{packing}"
    frame = pa.table({"a": ["x", "y,z"], "b": ["1", "2"]})
    write_csv(path, frame)
    assert read_csv(path).equals(frame)
    first = path.read_bytes()
    write_csv(path, frame, force=True)
    assert path.read_bytes() == first
    assert (b"a\tb" if suffix == ".tsv" else b"a,b") in paths.read_bytes(path)
    assert (b"a" not in first[:1]) == bool(packing)


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_damaged_packing_is_said(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"t.csv{packing}"
    write_csv(path, pa.table({"a": [str(k) for k in range(10_000)]}))
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], b"a,b\n1,2\n"):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"cannot be unpacked.*remove \."):
            read_csv(path)


def test_help_texts_name_the_suffixes() -> None:
    assert suffix_list("table", reading=True) == options.TABLES
    assert suffix_list("table", reading=False) == options.TABLES_WRITTEN
    assert suffix_list("records", reading=True) == options.RECORDS
    assert suffix_list("hierarchy", reading=True) == FILES_OF_CODES


def test_the_documentation_lists_the_suffixes() -> None:
    text = DOCS.read_text()
    for form in FORMATS:
        names = ", ".join(f"`{s}`" for s in form.suffixes)
        packed = "yes" if form.packed else ""
        read, written = (
            ", ".join(c.replace("table", "tables") for c in held if c != "columns")
            for held in (form.read, form.written)
        )
        row = f"| {names} | {packed} | {read} | {written} | {form.what}"
        assert row in text, row
    rows = re.findall(r"^\| (`\..*?) \|", text.partition("\n## ")[0], re.M)
    listed = {s for row in rows for s in re.findall(r"`(\.\w+)`", row)}
    assert listed == {s for form in FORMATS for s in form.suffixes} | {".hst"}
    records = suffixes("records", reading=True)
    assert len(records) == len(set(records)) >= 17


def named_functions() -> set[str]:
    """Every function that the registry names."""
    found = {name for form in FORMATS for name in form.read.values()}
    found |= {name for form in FORMATS for name in form.written.values()}
    for layout in LAYOUTS:
        found |= {layout.write, *filter(None, (layout.check, layout.files))}
    return found


def test_the_registry_names_functions_that_exist() -> None:
    for name in named_functions():
        assert callable(load(name)), name


def test_no_reader_or_writer_of_tables_is_forgotten() -> None:
    registered = {name.partition(":")[2] for name in named_functions()}
    for path in (ROOT / "src/evosdc/io").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef):
                continue
            taken = {a.arg: ast.unparse(a.annotation or a) for a in node.args.args}
            of_table = "Table" in (
                taken.get("table"),
                ast.unparse(node.returns or node),
            )
            of_frame = node.name.startswith("write_") and "frame" in taken
            if (
                node.name.startswith(("read_", "write_"))
                and "path" in taken
                and (of_table or of_frame)
            ):
                assert node.name in registered | CHOOSING, f"{path}: {node.name}"


def test_lists_of_layouts_are_complete() -> None:
    """Where the layouts are listed for readers, none is missing."""
    publishable = ",".join(layout.name for layout in LAYOUTS)
    commands = (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8")
    assert f"[--formats {','.join(layout_names())}]" in commands
    assert f"--formats {publishable}," in (ROOT / "README.md").read_text("utf-8")
    assert WrittenResult.write.__doc__ is not None
    said = " ".join(WrittenResult.write.__doc__.split())
    assert f"Further formats of a table: {', '.join(layout_names())};" in said
