"""Bad records: one clear message each."""

from __future__ import annotations

import pyarrow as pa
import pytest

from evosdc.errors import InputError
from evosdc.rules import Request
from evosdc.table import Hierarchy
from evosdc.tabulation import tabulate

TREE = {"k": Hierarchy.from_levels([("A", "a1"), ("A", "a2"), ("B", "b1")])}


def refused(match, source, *args, **options):
    with pytest.raises(InputError, match=match) as caught:
        tabulate(source, *args, **options)
    assert caught.value.expected
    assert caught.value.hint


def records(k=("a1", "a2", "b1"), v=(1.0, 2.0, 3.0), **more):
    return pa.table({"k": list(k), "v": list(v), **more})


def test_codes():
    refused(
        r"codes? 'zz' \(1 records\)",
        records(k=["a1", "zz", "b1"]),
        ["k"],
        "v",
        hierarchies=TREE,
    )
    refused(
        r"'A' \(2 records\), which have parts",
        records(k=["A", "A", "b1"]),
        ["k"],
        "v",
        hierarchies=TREE,
    )
    refused("no code in 2 of 3", records(k=["a1", None, ""]), ["k"], "v")
    refused("code of the total", records(k=["Total", "x", "y"]), ["k"], "v")
    refused("code of the total", records(), ["k"], "v", total="a2")


def test_numbers():
    refused("'v' is missing in 1 of 3", records(v=[1.0, None, 2]), ["k"], "v")
    refused(
        "'v' is not finite in 1 of 3",
        records(v=[-1, float("inf"), 1]),
        ["k"],
        "v",
    )
    refused("'v' is not a number", records(v=["1", "1,5%", "2"]), ["k"], "v")
    refused("'v' has both decimal points", records(v=["1.5", "1,5", "2"]), ["k"], "v")
    refused("'v' has a whole number", records(v=[1, 2**53 + 1, 2]), ["k"], "v")
    refused("'v' has a whole number", records(v=["1", f"{2**53 + 1}", "2"]), ["k"], "v")
    refused("negative in 1 of 3", records(w=[1, -1, 1]), ["k"], "v", weight="w")
    refused("is 0 in all 3", records(w=[0, 0, 0]), ["k"], "v", weight="w")
    refused("cost 'c' is negative", records(c=[1, -1, 1]), ["k"], "v", cost="c")
    dates = records(t=pa.array([1, 2, 3], pa.date32()))
    refused("type DATE", dates, ["k"], "t")


def test_confidential_values_stay_out_of_messages():
    with pytest.raises(InputError) as caught:
        tabulate(records(v=["987654", "98x", "2"]), ["k"], "v")
    assert "98" not in str(caught.value)


def test_columns_and_options():
    refused("no column 'q'", records(), ["q"], "v")
    refused("no column 'u'", records(), ["k"], "u")
    refused("no dimension", records(), [], "v")
    refused("twice", records(), ["k", "k"], "v")
    refused("hierarchy for 'z'", records(), ["k"], "v", hierarchies={"z": TREE["k"]})
    refused("unknown bounds", records(), ["k"], "v", bounds="percent:x")
    refused("request column", records(), ["k"], "v", rules=[Request(70)])
    refused("no holding in 1", records(h=["x", None, "y"]), ["k"], "v", holding="h")
    refused(
        "different codes",
        records(r=["1", "2", "3"]),
        ["k"],
        "v",
        request="r",
        rules=[Request(70), Request(70, codes=("3", "4"))],
    )
    refused("memory limit", records(), ["k"], "v", memory_limit="lots")
    refused("type list", [1, 2], ["k"], "v")


def test_files(tmp_path):
    refused("directory", tmp_path, ["k"], "v")
    refused("no file", tmp_path / "none.csv", ["k"], "v")
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    refused("is empty", empty, ["k"], "v")
    header = tmp_path / "header.csv"
    header.write_text("k,v\n")
    refused("no records", header, ["k"], "v")
    odd = tmp_path / "odd.xyz"
    odd.write_text("k,v\na,1\n")
    refused("no suffix of records", odd, ["k"], "v")
    broken = tmp_path / "broken.parquet"
    broken.write_text("not parquet at all")
    refused("cannot be read", broken, ["k"], "v")
    refused("cannot be read", tmp_path / "*.pq", ["k"], "v")
