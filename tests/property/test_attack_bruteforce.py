"""The judge and its intervals against plain linear programs on small random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from builders import examples
from evosdc.attack import intervals, judge, strict_margin, verify
from evosdc.table import Dimension, Hierarchy, Table, build_table, link_tables

KINDS = (
    "two",
    "three",
    "four",
    "tree",
    "linked",
    "frequency",
    "negative",
    "bounded",
    "decimal",
    "bare",
)


def plain_interval(table: Table, cell: int) -> tuple[float, float]:
    """Two linear programs over all hidden cells, no cleverness."""
    hidden = np.flatnonzero(table.hidden)
    if cell not in hidden:
        return float(table.value[cell]), float(table.value[cell])
    matrix = table.matrix.toarray()[:, hidden]
    low = np.minimum(table.lower - table.value, 0)[hidden]
    high = np.maximum(table.upper - table.value, 0)[hidden]
    bounds = [
        (None if np.isinf(a) else a, None if np.isinf(b) else b)
        for a, b in zip(low, high, strict=True)
    ]
    ends = []
    for sign in (1, -1):
        cost = np.where(hidden == cell, sign, 0.0)
        equations = {}
        if len(matrix):
            equations = {"A_eq": matrix, "b_eq": np.zeros(len(matrix))}
        answer = linprog(cost, bounds=bounds, method="highs", **equations)
        if answer.status in (3, 4):
            ends.append(-sign * np.inf)
        else:
            assert answer.status == 0
            ends.append(sign * answer.fun)
    return float(table.value[cell] + ends[0]), float(table.value[cell] + ends[1])


def random_table(kind: str, rng: np.random.Generator) -> Table:
    """A small table of some kind with random primaries, levels and a random pattern."""
    sizes = {
        "three": rng.integers(2, 4, 3),
        "four": rng.integers(2, 3, 4),
        "tree": rng.integers(2, 4, 2),
    }.get(kind, rng.integers(2, 6, 2))
    dims = []
    for k, size in enumerate(sizes):
        codes = [f"{k}{i}" for i in range(size)]
        if kind == "tree" or (kind == "linked" and k == 0):
            parents = {}
            for code in codes:
                parents[code] = "Total"
                for j in range(rng.integers(0, 3)):
                    parents[f"{code}{j}"] = code
            dims.append(Dimension(f"d{k}", Hierarchy.from_parents(parents)))
        else:
            dims.append(Dimension(f"d{k}", Hierarchy.flat(codes)))
    leaves = [np.flatnonzero(d.hierarchy.is_leaf) for d in dims]
    grid = np.stack(np.meshgrid(*leaves, indexing="ij"), axis=-1)
    codes = grid.reshape(-1, len(dims))
    n = len(codes)
    top = 4 if kind == "frequency" else 30
    values = rng.integers(0, top, n).astype(float)
    if kind == "negative":
        values -= 10
    if kind == "decimal":
        values = np.round(values * rng.choice([0.1, 0.25, 3.7]), 2)
    table = build_table(dims, codes, values)
    if kind == "linked":
        other = Dimension("e", Hierarchy.flat(["x", "y", "z"]))
        split = rng.multinomial(int(values.sum()), [0.2, 0.3, 0.5]).astype(float)
        one = build_table((other,), np.arange(1, 4)[:, None], split)
        total = np.flatnonzero((table.codes == 0).all(axis=1))
        assert table.value[total] == split.sum()
        table = link_tables([table, one]).table
    return with_pattern(table, kind, rng)


def with_pattern(table: Table, kind: str, rng: np.random.Generator) -> Table:
    n = len(table)
    status = np.where(rng.random(n) < rng.choice([0.4, 0.7, 1.0]), "m", "s")
    status[rng.random(n) < rng.choice([0.05, 0.3])] = "u"
    if rng.random() < 0.7:
        status[table.value == 0] = "z"
    size = np.abs(table.value)
    share = rng.choice([0.1, 0.5, 1.0])
    upl, lpl = np.ceil(share * size), np.ceil(share * size / 2)
    spl = np.where(rng.random(n) < 0.4, np.ceil(size * rng.choice([0.5, 2.0])), 0.0)
    if rng.random() < 0.3:
        upl, lpl = np.zeros(n), np.zeros(n)
    changes = {"status": status, "upl": upl, "lpl": lpl, "spl": spl}
    if kind == "bounded":
        changes["lower"] = table.value - rng.integers(0, 9, n)
        changes["upper"] = table.value + rng.integers(0, 9, n)
        open_ends = rng.random(n) < 0.2
        changes["upper"] = np.where(open_ends, np.inf, changes["upper"])
        changes["lower"] = np.where(rng.random(n) < 0.1, -np.inf, changes["lower"])
    if kind == "bare":
        changes |= {"dimensions": (), "codes": np.empty((n, 0), dtype=np.int32)}
    return table.replace(**changes)


def compare(table: Table, strict: bool, secondaries: bool) -> None:
    verdict, certificate = judge(table, strict=strict, secondaries=secondaries)
    asked = np.isin(table.status, ("u", "m") if secondaries else ("u",))
    cells = np.flatnonzero(asked)
    low, high = intervals(table, cells)
    margin = strict_margin(table) if strict else np.zeros(len(table))
    exposed = set()
    plain_of = {}
    for i, cell in enumerate(cells.tolist()):
        plain = plain_of[cell] = plain_interval(table, cell)
        assert (low[i], high[i]) == pytest.approx(plain, rel=1e-7, abs=1e-7)
        down, up = table.value[cell] - plain[0], plain[1] - table.value[cell]
        more = margin[cell]
        upl, lpl, spl = table.upl[cell], table.lpl[cell], table.spl[cell]
        exceed = strict and table.status[cell] == "u"
        # Nobody can be made to believe beyond a bound.
        above = max(table.upper[cell] - table.value[cell], 0.0)
        under = max(table.value[cell] - table.lower[cell], 0.0)
        over, less, wide = (
            min(level + more, max(level, room))
            for level, room in ((upl, above), (lpl, under), (spl, above + under))
        )
        if not (upl or lpl or spl or exceed) or not (over or less or wide):
            covered = up + down > 1e-7
        else:
            covered = (
                up >= over - 1e-7 and down >= less - 1e-7 and up + down >= wide - 1e-7
            )
        if not covered:
            exposed.add(cell)
    assert {e.cell for e in verdict.exposed} == exposed
    assert verdict.safe == (not exposed)
    assert verdict.exact
    assert verdict.judged == len(cells)
    report = verify(table, certificate, strict=strict, secondaries=secondaries)
    assert report.exact
    assert not len(report.refused)
    assert set(report.uncovered.tolist()) == exposed
    for e in verdict.exposed:
        assert (e.low, e.high) == pytest.approx(plain_of[e.cell], rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_judge_agrees_with_plain_programs(kind: str, seed: int) -> None:
    rng = np.random.default_rng([KINDS.index(kind), seed])
    for _ in range(5):
        compare(
            random_table(kind, rng), bool(rng.random() < 0.3), bool(rng.random() < 0.3)
        )


@examples(30)
@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_judge_agrees_whatever_the_table(
    kind: str, seed: int, strict: bool, secondaries: bool
) -> None:
    compare(random_table(kind, np.random.default_rng(seed)), strict, secondaries)
