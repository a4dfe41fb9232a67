"""What is written reads back: every format on random tables."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.formats import FORMATS
from evosdc.io import (
    frame_of,
    read_jj,
    read_pattern,
    read_table,
    table_from_frame,
    write_grid,
    write_pivot,
    write_table,
)
from evosdc.io.argus.jj import read_carefully, read_fast, write_jj
from evosdc.io.frames import pattern_frame
from evosdc.table import Dimension, Hierarchy, Table, build_table

ALL = ("value", "weight", "status", "lower", "upper", "lpl", "upl", "spl")
quick = examples(25)
COLUMNS = [
    ending
    for form in FORMATS
    if form.has_columns
    for ending in form.endings()[: 1 + form.packed]
]

codes = st.text(st.sampled_from("aZ0é;,\"' |.-1"), min_size=1, max_size=4).map(
    str.strip
)
plain_codes = st.text(st.sampled_from("aZé012."), min_size=1, max_size=4)
numbers = st.one_of(
    st.integers(-(10**6), 10**6).map(float),
    st.floats(-1e12, 1e12, allow_subnormal=False),
)


@st.composite
def hierarchies(draw: st.DrawFn, words: st.SearchStrategy[str]) -> Hierarchy:
    found = draw(
        st.lists(
            words.filter(lambda w: w not in ("", "Total")),
            min_size=1,
            max_size=6,
            unique=True,
        )
    )
    parent_of: dict[str, str] = {}
    for k, code in enumerate(found):
        parent_of[code] = draw(st.sampled_from(["Total", *found[:k]]))
    return Hierarchy.from_parents(parent_of)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    words: st.SearchStrategy[str] = codes,
    most: int = 3,
    least: int = 1,
    bounds: bool = True,
) -> Table:
    count = draw(st.integers(least, most))
    dims = [Dimension(f"d{k}", draw(hierarchies(words))) for k in range(count)]
    leaves = [np.flatnonzero(d.hierarchy.is_leaf) for d in dims]
    grid = np.stack(np.meshgrid(*leaves, indexing="ij"), axis=-1).reshape(-1, count)
    keep = np.array(
        draw(st.lists(st.booleans(), min_size=len(grid), max_size=len(grid)))
    )
    keep[0] = True
    inner = grid[keep]
    n = len(inner)
    value = np.array(draw(st.lists(numbers, min_size=n, max_size=n)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    frequency = rng.integers(0, 9, n) if draw(st.booleans()) else None
    table = build_table(dims, inner, value, missing="empty", frequency=frequency)
    status = rng.choice(list("sum"), len(table))
    status[table.value == 0] = "z"
    level = np.where(status == "u", np.abs(rng.normal(size=len(table))), 0.0)
    changes = {"status": status.astype("U1"), "lpl": level, "upl": level / 3}
    if bounds:
        far = rng.random(len(table)) < 0.5
        changes["upper"] = np.where(far, np.inf, np.abs(table.value) * 3.7)
        changes["lower"] = np.where(far, -np.inf, -np.abs(table.value) * 1.1)
        changes["spl"] = level * 2
        changes["weight"] = rng.random(len(table)) * 100
    return table.replace(**changes)


def same(one: Table, two: Table, names: tuple[str, ...] = ALL) -> None:
    for name in names:
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), name)
    assert abs(one.matrix - two.matrix).nnz == 0
    np.testing.assert_array_equal(one.rhs, two.rhs)


@quick
@given(tables(), st.sampled_from(COLUMNS))
def test_labelled(table: Table, suffix: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{suffix}"
        write_table(path, table)
        again = read_table(path)
    same(table, again)
    assert again.dimensions == table.dimensions
    np.testing.assert_array_equal(again.codes, table.codes)
    assert (again.frequency is None) == (table.frequency is None)
    if table.frequency is not None:
        np.testing.assert_array_equal(again.frequency, table.frequency)


@quick
@given(tables(), st.sampled_from([".jj", ".jj.gz"]))
def test_jj(table: Table, suffix: str) -> None:
    finite = table.replace(
        lower=np.where(np.isinf(table.lower), -1e9 - np.abs(table.value), table.lower),
        upper=np.where(np.isinf(table.upper), 1e9 + np.abs(table.value), table.upper),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{suffix}"
        write_jj(path, finite)
        again = read_jj(path)
    same(finite, again)


@quick
@given(tables())
def test_jj_infinite_bounds_leave_room_for_every_level(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jj"
        write_jj(path, table)
        again = read_jj(path)
    far = np.isinf(table.upper)
    assert np.all(again.upper[far] >= table.value[far] + table.upl[far])
    assert np.all(again.lower[far] <= table.value[far] - table.lpl[far])
    np.testing.assert_array_equal(again.upper[~far], table.upper[~far])


@quick
@given(tables(), st.sampled_from([" ", "  ", "\t", " \t"]), st.booleans())
def test_both_jj_readers_agree(table: Table, blank: str, windows: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.jj"
        write_jj(path, table)
        raw = path.read_bytes()
    raw = raw.replace(b" ", blank.encode())
    if windows:
        raw = raw.replace(b"\n", b" \r\n") + b"\r\n\r\n"
    fast, careful = read_fast(raw), read_carefully(raw, "t.jj")
    assert fast is not None
    for name in ("numbers", "status", "rhs", "indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(careful, name))


@quick
@given(tables(words=plain_codes, bounds=False))
def test_tab(table: Table) -> None:
    usual = np.where(table.value >= 0, 0.0, -np.inf)
    table = table.replace(lower=usual, upper=np.full(len(table), np.inf))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.tab"
        write_table(path, table)
        again = read_table(path)
    same(table, again)
    # A flat dimension is described by its codes alone, and codes without cells go.
    for k, d in enumerate(table.dimensions):
        other = again.dimensions[k].hierarchy
        assert [d.hierarchy.codes[c] for c in table.codes[:, k]] == [
            other.codes[c] for c in again.codes[:, k]
        ]


@quick
@given(tables(most=2, least=2))
def test_grid(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "g.csv"
        write_grid(path, table)
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))
    first, second = (d.hierarchy for d in table.dimensions)
    assert rows[0][1:] == list(second.codes)
    assert [row[0] for row in rows[1:]] == list(first.codes)
    filled = np.zeros((len(first), len(second)), dtype=bool)
    for cell, (r, c) in enumerate(table.codes):
        filled[r, c] = True
        word = rows[1 + r][1 + c]
        if table.hidden[cell]:
            assert word == "x"
        elif word != "-":
            assert float(word) == table.value[cell]
        else:
            assert table.frequency is not None
            assert table.frequency[cell] == 0
    assert all(rows[1 + r][1 + c] == "-" for r, c in np.argwhere(~filled))


@quick
@given(tables())
def test_pivot(table: Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.csv"
        write_pivot(path, table, status=True)
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(csv.reader(stream))[1:]
    assert len(rows) == len(table)
    for cell, row in enumerate(rows):
        label = [
            d.hierarchy.codes[table.codes[cell, k]]
            for k, d in enumerate(table.dimensions)
        ]
        assert row[: len(label)] == label
        assert row[-1] == table.status[cell]
        assert (row[-2] == "x") == bool(table.hidden[cell])
        if row[-2] not in ("x", "-"):
            assert float(row[-2]) == table.value[cell]


@quick
@given(tables())
def test_frames(table: Table) -> None:
    again = table_from_frame(
        frame_of(table),
        hierarchies={d.name: d.hierarchy for d in table.dimensions},
        missing="empty",
    )
    same(table, again)


@quick
@given(tables(), st.booleans(), st.randoms(use_true_random=False))
def test_pattern(table: Table, by_label: bool, shuffle: object) -> None:
    frame = pattern_frame(table)
    order = np.arange(len(table))
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    frame = frame.take(order)
    if by_label:
        frame = frame.drop_columns(["cell_id"])
    np.testing.assert_array_equal(read_pattern(frame, table), table.hidden)
