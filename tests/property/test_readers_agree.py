"""One table and one file of records, written in every way: one reading, or an error."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evosdc
from builders import examples
from evosdc.errors import EvosdcError, InputError
from evosdc.io import read_consents, read_hst, read_labels, read_records, read_table
from evosdc.io.cells import read_already_published, read_published
from evosdc.io.columns_file import read_columns_file
from evosdc.table import Table

CODES = ("Köln", "Łódź", "É", "Ñ", "d’Or", "Ulm")
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-be", "cp1252")
# How a number of cents is written: decimal mark, mark between thousands, minus.
STYLES = [
    (decimal, group, minus)
    for decimal in ".,"
    for group in ("", " ", "\u00a0", "\u202f", "'", "\u2019", ".", ",")
    for minus in ("-", "\u2212")
    if group != decimal
]


def write(path: Path, text: str, encoding: str, end: str) -> None:
    raw = text.replace("\n", end)
    if encoding == "utf-16-be":
        path.write_bytes(b"\xfe\xff" + raw.encode("utf-16-be"))
    else:
        path.write_bytes(raw.encode(encoding))


def written(cents: int, style: tuple[str, str, str]) -> str:
    decimal, group, minus = style
    whole, rest = divmod(abs(cents), 100)
    word = f"{whole:,}".replace(",", group)
    if rest:
        word += f"{decimal}{rest:02}"
    return (minus if cents < 0 else "") + word


def field(word: str, separator: str) -> str:
    return f'"{word}"' if separator in word else word


@st.composite
def files(draw: st.DrawFn) -> tuple[list[int], str, str, str, bool]:
    count = draw(st.integers(2, len(CODES)))
    cents = draw(
        st.lists(
            st.one_of(
                st.integers(-(10**9), 10**9),
                st.integers(-999, 999).map(lambda n: n * 100),
                st.integers(1000, 999_999).map(lambda n: n * 100),
            ),
            min_size=count,
            max_size=count,
        )
    )
    separator = draw(st.sampled_from(",;\t|"))
    style = draw(st.sampled_from(STYLES))
    encoding = draw(st.sampled_from(ENCODINGS))
    end = draw(st.sampled_from(("\n", "\r\n", "\r")))
    lines = [f"r{separator}value"]
    for code, cent in zip(CODES, cents, strict=False):
        if encoding == "cp1252" and code == "Łódź":
            code = "Lódz"
        lines.append(f"{code}{separator}{field(written(cent, style), separator)}")
    if draw(st.booleans()):
        lines.append("")
    text = "\n".join(lines) + "\n" * draw(st.integers(0, 1))
    if encoding == "cp1252" and not set("\u202f\u2212").isdisjoint(text):
        encoding = "utf-8"
    return cents, text, encoding, end, draw(st.booleans())


def values(table: Table, count: int) -> list[float]:
    """Values in the order of the codes."""
    tree = table.dimensions[0].hierarchy
    found = {tree.codes[table.codes[i, 0]]: v for i, v in enumerate(table.value)}
    codes = [c if c in found else "Lódz" for c in CODES[:count]]
    return [found[code] for code in codes]


@examples(150)
@given(files())
def test_readers_give_the_same_numbers_or_name_the_line(
    drawn: tuple[list[int], str, str, str, bool],
) -> None:
    cents, text, encoding, end, packed = drawn
    expected = [cent / 100 for cent in cents]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "t.csv"
        write(path, text, encoding, end)
        if packed:
            path = path.with_name("t.csv.gz")
            path.write_bytes(gzip.compress(path.with_name("t.csv").read_bytes()))
        read = reading(lambda: read_table(path, missing="empty", flat=["r"]))
        made = reading(
            lambda: (
                evosdc.tabulate(
                    path, ["r"], "value", rules="none", read=evosdc.Read(flat=["r"])
                ).table
            )
        )
        # What one refuses the other refuses too.
        assert (read is None) == (made is None)
        for table in (read, made):
            assert table is None or values(table, len(cents)) == expected
        frame = read_records(path).frame
        if frame.schema.field("value").type != "string":
            assert [round(v * 100) for v in frame["value"].to_pylist()] == cents


def reading(read: Callable[[], Table]) -> Table | None:
    """The table, or None where an error names the line."""
    try:
        return read()
    except InputError as error:
        if ", line " not in error.what:
            raise
        return None


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_file_is_read_in_every_encoding(
    encoding: str, end: str, tmp_path: Path
) -> None:
    def put(name: str, text: str) -> Path:
        write(tmp_path / name, text, encoding, end)
        return tmp_path / name

    put("t.hrc", "Süd\n@Ärö\n@Ünö\nNord\n")
    rda = '<SEPARATOR> ";"\nRégion\n<RECODEABLE>\n<HIERCODELIST> "t.hrc"\n'
    put("t.rda", rda + "Größe\n<NUMERIC>\n")
    table = read_table(put("t.tab", "Ärö;1,5\nÜnö;2\nNord;4\n"))
    assert table.dimensions[0].hierarchy.codes == ("Total", "Süd", "Ärö", "Ünö", "Nord")
    assert table.name == "Größe"
    assert sorted(table.value) == [1.5, 2, 3.5, 4, 7.5]
    entries = read_hst(put("t.hst", "Ärö;U;0,5;1\nNord;S\n"))
    assert [(e.codes, e.numbers) for e in entries] == [
        (("Ärö",), (0.5, 1)),
        (("Nord",), ()),
    ]
    put("m.rda", "Ört 1 3\n<RECODEABLE>\nX 4 5\n<NUMERIC>\nW 9 2\n<WEIGHT>\n")
    records = put("m.asc", "Ärö  1,5 2\nÜnö    3 1\nÜnö    5 1\n")
    made = evosdc.tabulate(records, ["Ört"], "X", rules="none").table
    assert sorted(made.value) == [3, 8, 11]
    jj = read_table(
        put(
            "t.jj",
            "0\n2\n0 1 1 s 0 9 0 0 0\n1 1 1 s 0 9 0 0 0\n1\n0 2 : 0 (-1) 1 (1)\n",
        )
    )
    assert jj.value.tolist() == [1, 1]
    listed = put("labels.csv", "Région;factor\nÄrö;1,5\n")
    assert read_labels(listed) == [({"Région": "Ärö"}, 1.5)]
    assert read_consents(put("w.txt", "Ärö\nÜnö\n")) == ["Ärö", "Ünö"]
    plan = put("c.toml", '[columns."Größe"]\naction = "drop"\n')
    assert read_columns_file(plan).exclude == ("Größe",)
    rows = "Région;value;status\nÄrö;1,5;s\nÜnö;2;s\nSüd;3,5;s\nNord;;x\nTotal;7,5;s\n"
    published = put("p.csv", rows)
    assert read_already_published(published, table).known.sum() == 4
    assert read_published(published, table).sum() == 1


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"r,value\na,1\n\x81,2\n", 3),
        (b"r,value\na\x8d,1\n", 2),
        (b"r,value\r\na,1\r\nb\x9d,2\r\n", 3),
        (b"\xef\xbb\xbfr,value\na,1\n\xe9,2\n", 3),
        (b"r,value\na,1\x00\n", 2),
        (b"\xff\xfer\x00,\x00v\x00\n\x00a\x00,\x00\x00\xd8", 2),
        (b"r,value\nK\xc3\xb6ln,1\nK\xf6ln,2\n", 2),
    ],
)
def test_bytes_that_are_no_text_are_named_by_their_line(
    raw: bytes, line: int, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(raw)
    for read in (
        read_table,
        read_records,
        lambda p: evosdc.tabulate(p, ["r"], "value", rules="none"),
    ):
        with pytest.raises(InputError, match=f"line {line}\\b"):
            read(path)


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("1e5", 1e5),
        ("12.", 12),
        (".5", 0.5),
        ("+5", 5),
        (" 7 ", 7),
        ("\u00a07", 7),
        ("1234567890123456", 1234567890123456),
        ("9007199254740993", None),
        ("1_000", None),
        ("5%", None),
        ("12-", None),
        ("１２", None),
        ("0x10", None),
        ("NaN", None),
        ("inf", None),
        ("1e999", None),
        ("\ufeff5", None),
        ("5 €", None),
        ("1 23", None),
        ("1,23,456", None),
    ],
)
def test_odd_numbers_are_read_alike(
    word: str, number: float | None, tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"r;value\na;{word}\nb;2\n", encoding="utf-8")
    if number is None:
        with pytest.raises(EvosdcError):
            read_table(path)
        with pytest.raises(EvosdcError):
            evosdc.tabulate(path, ["r"], "value", rules="none")
        return
    assert number in read_table(path).value
    assert number in evosdc.tabulate(path, ["r"], "value", rules="none").table.value


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ('r,value\n"a\nb",1\nc,2\n', 3),
        ('"r","value"\n"a ""x""",1\nc,2\n', 3),
        ("r,value\na,1\n\nb,2\n\n", 3),
        ("\n\nr,value\na,1\nb,2\n", 3),
        ("r,value\na,1\r\nb,2\n", 3),
        ('"r;s",value\na,1\nb,2\n', 3),
        ("r,value\na,1,3\nb,2,4\n", None),
        ("r,value\na,1\nb\n", None),
        ('r,value\na,1\n"b,2\n', None),
        ("r,value\n", None),
        ("", None),
        ("\n", None),
    ],
)
def test_odd_rows_are_read_alike(text: str, rows: int | None, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(text.encode())

    def cells(table: Table) -> set[tuple[str, float]]:
        tree = table.dimensions[0].hierarchy
        return {
            (tree.codes[c], v)
            for (c,), v in zip(table.codes, table.value.tolist(), strict=True)
        }

    by = "r;s" if "r;s" in text else "r"
    if rows is None:
        with pytest.raises(EvosdcError):
            read_table(path)
        with pytest.raises(EvosdcError):
            evosdc.tabulate(path, [by], "value", rules="none")
        return
    one = cells(read_table(path))
    other = cells(evosdc.tabulate(path, [by], "value", rules="none").table)
    assert one == other
    assert len(one) == rows


def test_several_files_are_read_together_whatever_their_encoding(
    tmp_path: Path,
) -> None:
    for k, encoding in enumerate(ENCODINGS):
        write(tmp_path / f"f{k}.csv", "r;v\nÖ;1,5\nÜ;2\n", encoding, "\r\n")
    made = evosdc.tabulate(tmp_path / "f*.csv", ["r"], "v", rules="none").table
    assert sorted(made.value) == [7.5, 10, 17.5]
    write(tmp_path / "f9.csv", "v;r\n1,5;Ö\n", "utf-8", "\n")
    with pytest.raises(InputError, match="other columns"):
        evosdc.tabulate(tmp_path / "f*.csv", ["r"], "v", rules="none")


def test_the_other_columns_of_a_file_say_what_a_point_means(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("r;value;weight\na;1.234;0,5\nb;567;2\n")
    assert read_table(path).value.tolist() == [1234, 567, 1801]
    made = evosdc.tabulate(
        path,
        ["r"],
        "value",
        rules="none",
        contributors=evosdc.Contributors(weight="weight"),
    ).table
    np.testing.assert_array_equal(np.sort(made.value), [617, 1134, 1751])
    path.write_text("r;value;weight\na;1.234;0.5\nb;567;2\n")
    assert read_table(path).value.tolist() == [1.234, 567, 568.234]
