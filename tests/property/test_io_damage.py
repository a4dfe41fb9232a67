"""Damaged files: a table, or an error of ours; never another exception."""

from __future__ import annotations

import gzip
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.errors import EvosdcError
from evosdc.formats import FORMATS
from evosdc.io import (
    read_hierarchy,
    read_hst,
    read_pattern,
    read_table,
    write_table,
)
from evosdc.io.argus.asc import read_asc
from evosdc.io.argus.rda import read_rda
from evosdc.table import Hierarchy, Table, build_table
from evosdc.table.hierarchy import Dimension

JJ = b"""0
3
0 10 10 s 0 100 0 0 0
1 4 4 u 0 1e20 1 2 0
2 6 6.5 m -inf 100 0 0 0
1
0 3 : 0 (-1) 1 (1) 2 (1)
"""
CSV = b'r;s;value;status;lpl\n01;"x";1,5;u;1\n02;x;2;s;\nTotal;x;3,5;m;0\n'
HRC = b"N\n@n1\n@@n11\nS\n@s1\n"
RDA = b'R 1 2 99\n<RECODEABLE>\n<TOTCODE> "T"\nX 3 4\n<NUMERIC>\n<DECIMALS> 1\n'
TAB_RDA = b"<SEPARATOR> ;\n<SAFE> s\nR\n<RECODEABLE>\nX\n<NUMERIC>\nS\n<STATUS>\n"
TAB = b"a;1,5;s\nb;2;s\nTotal;3,5;s\n"
HST = b"a;U;1;2\nb;S\nb;C;5\n"
ASC = b"01 1.5\n02   2\n99  -3\n"
PATTERN = b"cell_id,r,value,status\n0,a,1,s\n1,b,2,m\n2,Total,3,s\n"

pieces = st.one_of(
    st.binary(max_size=3),
    st.sampled_from(
        [b"\n", b" ", b";", b",", b'"', b"(", b"-1", b"9e999", b"nan", b"\r", b"\x00"]
    ),
)


@st.composite
def damaged(draw: st.DrawFn, whole: bytes) -> bytes:
    data = whole
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        length = draw(st.one_of(st.just(0), st.integers(0, len(data))))
        data = data[:start] + draw(pieces) + data[start + length :]
    return data


def one_dimension() -> Table:
    tree = Hierarchy.flat(["a", "b"])
    return build_table([Dimension("r", tree)], [[1], [2], [0]], [1, 2, 3])


def pair() -> tuple[bytes, bytes]:
    """A table as CSV, and its side file."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "t.csv"
        write_table(path, one_dimension())
        return path.read_bytes(), path.with_name("t.csv.json").read_bytes()


TABLE, SIDE = pair()


@pytest.mark.parametrize(
    ("name", "whole"),
    [
        ("t.jj", JJ),
        ("t.jj.gz", gzip.compress(JJ, mtime=0)),
        ("t.csv", CSV),
        ("t.csv.json", SIDE),
        ("t.tab", TAB),
        ("t.rda", TAB_RDA),
        ("t.hrc", HRC),
        ("t.hst", HST),
        ("m.rda", RDA),
        ("m.asc", ASC),
        ("pattern.csv", PATTERN),
        ("tree.csv", b"a,b\nA,01\nA,02\nB,\n"),
    ],
)
@examples(20)
@given(data=st.data())
def test_damage(name: str, whole: bytes, data: st.DataObject) -> None:
    content = data.draw(damaged(whole))
    with tempfile.TemporaryDirectory() as place, suppress(EvosdcError):
        folder = Path(place)
        (folder / name).write_bytes(content)
        if name == "t.rda":
            (folder / "t.tab").write_bytes(TAB)
            read_table(folder / "t.tab")
        elif name == "t.tab":
            (folder / "t.rda").write_bytes(TAB_RDA)
            read_table(folder / "t.tab")
        elif name == "t.csv.json":
            (folder / "t.csv").write_bytes(TABLE)
            read_table(folder / "t.csv")
        elif name in ("t.hrc", "tree.csv"):
            read_hierarchy(folder / name)
        elif name == "t.hst":
            read_hst(folder / name)
        elif name == "m.rda":
            (folder / "m.asc").write_bytes(ASC)
            read_asc(folder / "m.asc", read_rda(folder / name))
        elif name == "m.asc":
            (folder / "m.rda").write_bytes(RDA)
            read_asc(folder / name, read_rda(folder / "m.rda"))
        elif name == "pattern.csv":
            read_pattern(folder / name, one_dimension())
        else:
            read_table(folder / name)


@pytest.mark.parametrize(
    "suffix", [form.suffixes[0] for form in FORMATS if "table" in form.written]
)
@examples(20)
@given(data=st.data())
def test_damage_of_every_format(suffix: str, data: st.DataObject) -> None:
    """What was written and damaged afterwards, with the files that belong to it."""
    with tempfile.TemporaryDirectory() as place, suppress(EvosdcError):
        path = Path(place) / f"t{suffix}"
        write_table(path, one_dimension())
        path.write_bytes(data.draw(damaged(path.read_bytes())))
        read_table(path)
