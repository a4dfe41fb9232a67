"""JJ files: layouts that are accepted and mistakes that are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from evosdc.errors import InputError, NotAdditiveError
from evosdc.io import read_jj, write_jj
from evosdc.table import Table

GOOD = """0
3
0 10 10 s 0 100 0 0 0
1 4 4 u 0 100 1 2 0
2 6 6.5 m 0 100 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 (1)
"""


def read(folder: Path, text: str | bytes) -> Table:
    path = folder / "t.jj"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_jj(path)


def test_reads_what_tau_argus_writes(tmp_path: Path) -> None:
    table = read(tmp_path, GOOD)
    assert table.value.tolist() == [10, 4, 6]
    assert table.weight.tolist() == [10, 4, 6.5]
    assert "".join(table.status) == "sum"
    assert table.upl.tolist() == [0, 2, 0]
    assert table.matrix.toarray().tolist() == [[-1, 1, 1]]


def test_writes_what_tau_argus_reads(tmp_path: Path) -> None:
    write_jj(tmp_path / "out.jj", read(tmp_path, GOOD))
    assert (tmp_path / "out.jj").read_text() == GOOD


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(" ", "\t"),
        GOOD.replace("\n", "   \n"),
        GOOD + "\n\n  \n",
        GOOD.rstrip("\n"),
        GOOD.replace("\n0 3 :", "\n0.0 3 :"),
        GOOD.replace("\n0 3 :", "\n 0.00 3:"),
        GOOD.replace("(-1)", "( -1.0 )"),
        GOOD.replace("(", " ( ").replace("s 0", "S 0").replace("u", "U"),
        GOOD.replace(" 4 4 u", " +4.0 4e0 u"),
        "\ufeff" + GOOD,
        "\n" + GOOD.replace("\n", "\n\n"),
    ],
)
def test_other_layouts(tmp_path: Path, text: str) -> None:
    table = read(tmp_path, text)
    assert table.value.tolist() == [10, 4, 6]
    assert "".join(table.status) == "sum"
    assert table.matrix.toarray().tolist() == [[-1, 1, 1]]


@pytest.mark.parametrize("word", ["inf", "1e20", "1E+30", "Infinity", "+inf"])
def test_no_upper_bound(tmp_path: Path, word: str) -> None:
    table = read(tmp_path, GOOD.replace("s 0 100", f"s -1e21 {word}"))
    assert table.upper[0] == np.inf
    assert table.lower[0] == -np.inf


def test_negative_values_and_long_numbers(tmp_path: Path) -> None:
    text = (
        GOOD.replace("0 10 10 s 0", "0 -1.2345678901234567 1 s -5")
        .replace("1 4 4 u 0 100", "1 -1.2345678901234567 4 u -5 100")
        .replace("2 6 6.5 m", "2 0 6.5 z")
    )
    table = read(tmp_path, text)
    assert table.value[0] == -1.2345678901234567


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (GOOD.replace("0\n3", "1\n3", 1), 1, "'1'"),
        (GOOD.replace("\n3\n", "\nthree\n"), 2, "number of cells"),
        (GOOD.replace("\n3\n", "\n0\n"), 2, "number of cells"),
        (GOOD.replace("\n3\n", "\n999999999\n"), 2, "only 5 lines follow"),
        (GOOD.replace("\n3\n", "\n2\n"), 5, "number of equations"),
        (GOOD.replace("\n3\n", "\n4\n"), 6, "cell index '1'"),
        (GOOD.replace("\n2 6", "\n3 6"), 5, "cell index '3'"),
        (GOOD.replace(" 4 4 u", " four 4 u"), 4, "value of cell 1"),
        (GOOD.replace(" 4 4 u", " 4 nan u"), 4, "weight of cell 1"),
        (GOOD.replace(" 4 4 u", " 4 1_0 u"), 4, "weight of cell 1"),
        (GOOD.replace("100 1 2 0", "100 1 2"), 4, "8 fields"),
        (GOOD.replace("100 1 2 0", "100 1 2 0 7"), 4, "10 fields"),
        (GOOD.replace(" u ", " x "), 4, "'x'"),
        (GOOD.replace(" u ", " us "), 4, "'us'"),
        (GOOD.replace("\n1\n0 3", "\n2\n0 3"), 6, "only 1 lines follow"),
        (GOOD.replace("2 (1)\n", "2 (1"), 7, "has 2.75"),
        (GOOD.replace(" 2 (1)\n", "\n"), 7, "says 3 terms and has 2"),
        (GOOD.replace("2 (1)", "3 (1)"), 7, "cell '3'"),
        (GOOD.replace("2 (1)", "-2 (1)"), 7, "cell '-2'"),
        (GOOD.replace("2 (1)", "2 (one)"), 7, "'one'"),
        (GOOD.replace("1 (1) 2 (1)", "1 2 (1) (1)"), 7, "bracket"),
        (GOOD.replace("0 3 :", "0 3"), 7, "begin like an equation"),
        (GOOD.replace("0 3 :", "zero 3 :"), 7, "right-hand side"),
        (GOOD + "0 1 : 0 (1)\n", 8, "more after the last equation"),
        (GOOD[: GOOD.index("1\n0 3")], 5, "ends before the number of equations"),
    ],
)
def test_mistakes_have_a_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert f"line {line}:" in message
    assert words in message
    assert caught.value.expected
    assert caught.value.hint


def test_values_do_not_leak(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, GOOD.replace(" 4 4 u", " 4123x 4 u"))
    assert "4123" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GOOD.replace(" 4 4 u", " inf 4 u"), "value of cell 1 is infinite"),
        (GOOD.replace("100 1 2 0", "100 inf 2 0"), "lower level of cell 1"),
        (GOOD.replace("2 (1)", "1 (1)"), "cell 1 stands twice in equation 0"),
        ("  \n \n", "holds only blanks"),
    ],
)
def test_mistakes_without_a_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, text)


def test_wrong_totals(tmp_path: Path) -> None:
    with pytest.raises(NotAdditiveError, match="equation 0 of cell 0"):
        read(tmp_path, GOOD.replace("0 10 10", "0 11 10"))


def test_no_equations(tmp_path: Path) -> None:
    text = GOOD[: GOOD.index("1\n0 3")] + "0\n"
    assert read(tmp_path, text).matrix.shape == (0, 3)


def test_packed(tmp_path: Path) -> None:
    path = tmp_path / "t.jj.gz"
    path.write_bytes(gzip.compress(GOOD.encode()))
    table = read_jj(path)
    assert len(table) == 3
    write_jj(tmp_path / "a.jj.gz", table)
    write_jj(tmp_path / "b.jj.gz", table)
    assert (tmp_path / "a.jj.gz").read_bytes() == (tmp_path / "b.jj.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jj.gz").read_bytes()).decode() == GOOD


@pytest.mark.parametrize("cut", [-8, 20])
def test_broken_gzip(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "t.jj.gz"
    path.write_bytes(gzip.compress(GOOD.encode())[:cut])
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_jj(path)
    path.write_bytes(GOOD.encode())
    with pytest.raises(InputError, match="cannot be unpacked"):
        read_jj(path)
