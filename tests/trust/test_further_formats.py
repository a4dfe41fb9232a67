"""No further format of a publication holds anything of a hidden cell."""

from __future__ import annotations

import json
import re
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from made_results import exposed, linked_of, numbers, result_of, tree_of, turnover_of

import evosdc
from builders import unlabelled
from evosdc.errors import InputError
from evosdc.formats import LAYOUTS, layout_names
from evosdc.io import (
    check_formats,
    published_frame,
    read_apriori_into,
    read_table,
)
from evosdc.results.tables import Protection

ALL = ",".join(layout_names())
PUBLISHABLE = [layout.name for layout in LAYOUTS]


def made(kind: str) -> Protection:
    draw = np.random.default_rng(5)
    if kind == "linked":
        table = linked_of(draw, 0)
    elif kind == "tree":
        table = tree_of(draw, 2)
    else:
        table = turnover_of(numbers(draw, (4, 5), 0))
    return result_of(table, [0, 3], [1, 4, 5])


def secrets(result: Protection) -> list[float]:
    """Hidden values, their levels and weights, and every number of contributors."""
    table, hidden = result.table, result.table.hidden
    assert table.frequency is not None
    columns = (table.value, table.weight, table.lpl, table.upl)
    found = np.concatenate([c[hidden] for c in columns] + [table.frequency])
    return [float(x) for x in np.unique(found[found != 0])]


def numbers_in(path: Path) -> set[float]:
    """Every number that a reader of the file could find."""
    if path.suffix == ".parquet":
        frame = pq.read_table(path)
        assert not frame.schema.metadata
        found = {x for x in frame["value"].to_pylist() if x is not None}
        groups = pq.ParquetFile(path).metadata
        for k in range(groups.num_columns):
            said = groups.row_group(0).column(k).statistics
            if said is not None and isinstance(said.min, float):
                found |= {said.min, said.max}
        return found
    text = path.read_text(encoding="utf-8")
    return {float(w) for w in re.findall(r"\d+(?:\.\d+)?", text)}


@pytest.mark.parametrize("kind", ["grid", "tree", "linked"])
def test_nothing_hidden_is_in_any_of_them(tmp_path: Path, kind: str) -> None:
    result = made(kind)
    out = result.write(tmp_path / "out", formats=ALL)
    assert out == tmp_path / "out" / "publish"
    files = [p for p in out.iterdir() if p.name != "report.html"]
    several = 2 if kind == "linked" else 1
    for suffix in ("-pivot.csv", "-grid.csv", "-sbs.csv", ".tab", ".rda", ".parquet"):
        assert sum(p.name.endswith(suffix) for p in files) == several
    seen: set[float] = set()
    for path in files:
        found = numbers_in(path)
        seen |= found
        for secret in secrets(result):
            assert secret not in found, path.name
    # The search above does find what is published.
    assert set(result.table.value[~result.table.hidden].tolist()) <= seen


@pytest.mark.parametrize("kind", ["grid", "tree", "linked"])
def test_primaries_look_like_secondaries(tmp_path: Path, kind: str) -> None:
    """Who swaps the two writes the same files, byte by byte."""
    result = made(kind)
    letters = {"u": "m", "m": "u"}
    other = replace(
        result,
        table=replace(
            result.table,
            status=np.array([letters.get(s, s) for s in result.table.status]),
        ),
    )
    one = result.write(tmp_path / "a", formats=PUBLISHABLE)
    two = other.write(tmp_path / "b", formats=PUBLISHABLE)
    names = sorted(p.name for p in one.iterdir())
    assert names == sorted(p.name for p in two.iterdir())
    for name in names:
        if name != "report.html":
            assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_published_frames_keep_nothing_in_their_buffers() -> None:
    """Arrow keeps what lies under a mask, and writes it to Feather files."""
    result = made("grid")
    sink = pa.BufferOutputStream()
    frame = published_frame(result.table)
    with pa.ipc.new_file(sink, frame.schema) as writer:
        writer.write_table(frame)
    content = sink.getvalue().to_pybytes()
    for cell, value in enumerate(result.table.value.tolist()):
        held = struct.pack("<d", value) in content
        assert held == (not result.table.hidden[cell])


def test_the_whole_table_as_jj_is_confidential(tmp_path: Path) -> None:
    result = made("grid")
    result.write(tmp_path / "out", formats="jj")
    path = tmp_path / "out" / "confidential" / "table.jj"
    assert path.stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "out" / "publish").glob("*.jj*"))
    again = read_table(path)
    np.testing.assert_array_equal(again.status, result.table.status)


def test_secondaries_for_next_year_are_confidential(tmp_path: Path) -> None:
    result = made("grid")
    result.write(tmp_path / "out", formats="hst")
    path = tmp_path / "out" / "confidential" / "next-year.hst"
    assert path.stat().st_mode & 0o077 == 0
    assert not list((tmp_path / "out" / "publish").glob("*.hst"))
    plain = result.table.with_pattern(result.table.status == "u")
    again = read_apriori_into(plain, path)
    assert result.secondaries > 0
    np.testing.assert_array_equal(again.weight == 1.0, result.table.status == "m")


def test_what_is_not_safe_stays_a_draft(tmp_path: Path) -> None:
    result = made("grid")
    bad = replace(result, verdict=exposed(result.table, [0]))
    assert bad.write(tmp_path / "out", formats=ALL) == tmp_path / "out" / "draft"
    assert not (tmp_path / "out" / "publish").exists()
    assert (tmp_path / "out" / "draft" / "published-grid.csv").exists()


@pytest.mark.parametrize("kind", ["tree", "linked"])
def test_force_leaves_none_of_them_behind(tmp_path: Path, kind: str) -> None:
    result = made(kind)
    result.write(tmp_path / "out", formats=ALL)
    (tmp_path / "out" / "publish" / "grid.csv").write_text("mine")
    result.write(tmp_path / "out", force=True)
    names = {p.name for p in (tmp_path / "out" / "publish").iterdir()}
    expected = {"published.csv", "report.html", "grid.csv"}
    assert {n for n in names if not re.match(r"published-\d-[\w-]+\.csv", n)} == (
        expected
    )
    assert not any("pivot" in n or "sbs" in n for n in names)
    claim = tmp_path / "out" / "confidential" / "claim.json"
    listed: Any = json.loads(claim.read_text(encoding="utf-8"))["files"]
    assert "confidential/table.jj" not in listed
    assert not (tmp_path / "out" / "confidential" / "table.jj").exists()


def test_formats_that_a_table_has_not_are_refused() -> None:
    cube = turnover_of(numbers(np.random.default_rng(2), (2, 2, 2), 0))
    assert check_formats("pivot, SBS,pivot", cube) == ("pivot", "sbs")
    for asked, says in (
        ("xlsx", "there is no format 'xlsx'"),
        ("grid", "3 dimensions has no grid"),
    ):
        with pytest.raises(InputError, match=says):
            check_formats(asked, cube)
    bare = unlabelled(cube)
    assert check_formats("parquet,jj", bare) == ("parquet", "jj")
    with pytest.raises(InputError, match="without labels has no tab"):
        check_formats("tab", bare)


def test_cells_that_no_table_shows_are_in_none_of_them(tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    firms = {name: draw.choice(list("pqr"), 300).tolist() for name in "abc"}
    firms["turnover"] = draw.integers(100_000, 999_999, 300).tolist()
    spans = [["a", "b"], ["b", "c"], ["a", "c"]]
    linked = evosdc.tabulate(firms, spans, "turnover", rules=["freq:32"])
    assert linked.table.unshown is not None
    result = evosdc.protect(linked, method="attacker", stop=evosdc.Stop(evaluations=1))
    out = result.write(tmp_path / "out", formats=PUBLISHABLE)
    unshown = {float(x) for x in result.table.value[result.table.unshown]}
    assert len(unshown) > 10
    files = [p for p in out.iterdir() if p.name != "report.html"]
    assert sum(p.name.endswith("-grid.csv") for p in files) == 3
    for path in files:
        assert not unshown & numbers_in(path), path.name
        if path.name.endswith("-pivot.csv"):
            assert len(path.read_text().splitlines()) == 1 + 16
    assert f"{int(result.table.shown.sum())} cells" in repr(result)
