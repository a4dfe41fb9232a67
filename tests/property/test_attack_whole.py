"""Tables of counts: the judge against all whole tables that fit what is published."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from builders import examples
from evosdc.attack import intervals, judge, judge_attackers, strict_margin, verify
from evosdc.table import Dimension, Hierarchy, Origin, Table, build_table
from evosdc.table.attackers import lone_respondents

KINDS = ("two", "three", "odd", "equations")


def whole_tables(table: Table, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """All deviations by whole numbers of some cells: one after another, no cleverness.

    An equation is looked at when the last of its cells has been chosen.
    """
    cells = np.flatnonzero(free).tolist()
    matrix = table.matrix.toarray()
    place = {cell: k for k, cell in enumerate(cells)}
    closing: list[list[int]] = [[] for _ in cells]
    for row in range(len(matrix)):
        mine = [place[c] for c in np.flatnonzero(matrix[row]).tolist() if c in place]
        if mine:
            closing[max(mine)].append(row)
    low = np.ceil(table.lower - table.value).astype(int)
    high = np.floor(table.upper - table.value).astype(int)

    def extend(k: int, d: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        if k == len(cells):
            yield d.copy()
            return
        for step in range(int(low[cells[k]]), int(high[cells[k]]) + 1):
            d[cells[k]] = step
            if all(matrix[row] @ d == 0 for row in closing[k]):
                yield from extend(k + 1, d)
        d[cells[k]] = 0

    return np.array(list(extend(0, np.zeros(len(table), dtype=np.int64))))


def random_counts(kind: str, rng: np.random.Generator) -> Table:
    """A small table of counts with bounds on all cells and a random pattern."""
    if kind in ("odd", "equations"):
        n = int(rng.integers(4, 7))
        value = rng.integers(0, 4, n).astype(float)
        if kind == "odd":
            # Pairs of cells in a ring: an odd ring moves by halves where it moves.
            rows = np.eye(n) + np.eye(n)[:, np.r_[1:n, 0]]
            rows = rows[rng.random(n) < 0.9]
            extra = rng.choice([0.0, 1.0, 1.0, -1.0], (len(rows), 2))
            rows = np.hstack([rows, extra])
            value = np.append(value, rng.integers(0, 4, 2))
        else:
            rows = rng.integers(-2, 3, (int(rng.integers(2, 4)), n)).astype(float)
        table = Table.of(value, rows, rhs=rows @ value)
        hide = 0.9
    else:
        sizes = (2, 3) if kind == "two" else (2, 2, 2)
        dims = [
            Dimension(f"d{k}", Hierarchy.flat([f"{k}{i}" for i in range(size)]))
            for k, size in enumerate(sizes)
        ]
        axes = [np.arange(1, size + 1) for size in sizes]
        codes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
        codes = codes.reshape(-1, len(sizes))
        table = build_table(dims, codes, rng.integers(0, 4, len(codes)).astype(float))
        hide = 0.55
    n = len(table)
    status = np.where(rng.random(n) < hide, "m", "s")
    status[(rng.random(n) < 0.5) & (status == "m")] = "u"
    half = rng.choice([1.0, 0.5])
    level = half * rng.integers(0, 4, (3, n)) * (rng.random((3, n)) < 0.6)
    return table.replace(
        status=status,
        lower=np.maximum(table.value - rng.integers(0, 4, n) - 0.5, 0),
        upper=table.value + rng.integers(0, 4, n) + rng.choice([0.0, 0.5]),
        upl=level[0],
        lpl=level[1],
        spl=level[2] * (rng.random() < 0.5),
        frequency=np.where(rng.random(n) < 0.3, 1, 5),
        origin=Origin(counts=True),
    )


def own_shares(table: Table, own: NDArray[np.bool_]) -> dict[int, float]:
    """What cells hold at least by a respondent's own: again and again over equations.

    As docs/reference/certificate.md says it.
    """
    mine = np.flatnonzero(own).tolist()
    least = {cell: float(table.value[cell]) for cell in mine}
    matrix = table.matrix.toarray()
    for _ in range(len(table)):
        for row, right in zip(matrix, table.rhs, strict=True):
            below, above = np.flatnonzero(row < 0), np.flatnonzero(row > 0)
            one = below if len(below) == 1 else above
            if right or len(one) != 1 or not np.isin(row, (-1, 0, 1)).all():
                continue
            total = int(one[0])
            parts = [c for c in np.flatnonzero(row).tolist() if c != total]
            if total in mine or (table.lower[parts] < 0).any():
                continue
            known = sum(least.get(part, 0.0) for part in parts)
            if known > least.get(total, 0.0):
                least[total] = known
    return least


def is_covered(
    table: Table,
    cell: int,
    moves: NDArray[np.int64],
    strict: bool,
    own: dict[int, float] | None = None,
) -> bool:
    """By definition: how far does any of the possible tables move the cell?"""
    up, down = moves[:, cell].max(), -moves[:, cell].min()
    upl, lpl, spl = (float(a[cell]) for a in (table.upl, table.lpl, table.spl))
    more = strict_margin(table)[cell] if strict else 0.0
    if not (upl or lpl or spl) and not (strict and table.status[cell] == "u"):
        return bool(up + down > 0)
    above = max(float(table.upper[cell] - table.value[cell]), 0.0)
    below = max(float(table.value[cell] - table.lower[cell]), 0.0)
    over, under, wide = (
        min(level + more, max(level, room))
        for level, room in ((upl, above), (lpl, below), (spl, above + below))
    )
    if own is not None and cell in own:
        under = min(under, max(0.0, table.value[cell] - own[cell]))
    if not (over or under or wide):
        return bool(up + down > 0)
    return bool(up >= over and down >= under and up + down >= wide)


def compare(
    table: Table, known: NDArray[np.bool_], strict: bool, secondaries: bool
) -> int:
    """Compare with all tables; returns how many cells fractions would protect."""
    free = table.hidden & ~known
    moves = whole_tables(table, free)
    asked = np.isin(table.status, ("u", "m") if secondaries else ("u",))
    cells = np.flatnonzero(asked).tolist()
    exposed = {c for c in cells if not is_covered(table, c, moves, strict)}
    how = {"strict": strict, "secondaries": secondaries, "known": known}
    verdict, certificate = judge(table, **how)
    assert {e.cell for e in verdict.exposed} == exposed
    assert verdict.safe is (not exposed)
    assert not verdict.open
    assert verdict.exact
    assert not (certificate.numerators % np.repeat(
        certificate.denominators, np.diff(certificate.indptr)
    )).any()  # fmt: skip
    report = verify(table, certificate, **how)
    assert set(report.uncovered.tolist()) == exposed
    assert not len(report.refused)
    low, high = intervals(table, cells, known=known)
    assert (low <= table.value[cells] + moves[:, cells].min(axis=0)).all()
    assert (high >= table.value[cells] + moves[:, cells].max(axis=0)).all()
    for e in verdict.exposed:
        assert e.low <= e.high
        assert (e.reason == "published") == known[e.cell]
        value = table.value[e.cell]
        assert e.low <= value + moves[:, e.cell].min()
        assert e.high >= value + moves[:, e.cell].max()
        reached = e.low <= e.needed_low and e.high >= e.needed_high
        wide = e.high - e.low >= e.needed_width
        assert not (reached and wide and e.high > e.low)
    insiders(table, known, strict, exposed)
    rough, _ = judge(table, whole=False, **how)
    return len(exposed - {e.cell for e in rough.exposed})


def insiders(
    table: Table, known: NDArray[np.bool_], strict: bool, exposed: set[int]
) -> None:
    """The same with each lone respondent's cells known as well."""
    exposed = {c for c in exposed if table.status[c] == "u"}
    word = judge(table, strict=strict, known=known)
    verdict, certificate = judge_attackers(table, *word, strict=strict, known=known)
    who = lone_respondents(table)
    expected = set()
    for number in range(int(who.max()) + 1):
        own = who == number
        share = own_shares(table, own)
        moves = whole_tables(table, table.hidden & ~known & ~own)
        name = f"the lone respondent of {table.label(int(np.flatnonzero(own)[0]))}"
        expected |= {
            (c, name)
            for c in table.primaries.tolist()
            if not own[c]
            and c not in exposed
            and not is_covered(table, c, moves, strict, share)
        }
    assert {(e.cell, e.insider) for e in verdict.exposed if e.insider} == expected
    assert {e.cell for e in verdict.exposed if not e.insider} == exposed
    assert verdict.safe is (not exposed and not expected)
    assert not verdict.open
    assert all(e.label == table.label(e.cell) for e in verdict.exposed)
    report = verify(table, certificate, strict=strict, known=known, insiders=True)
    assert report.safe is verdict.safe
    found = {
        (c, f"the lone respondent of {table.label(of)}") for c, of in report.against
    }
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
def test_judge_agrees_with_all_whole_tables(kind: str) -> None:
    rng = np.random.default_rng(KINDS.index(kind))
    fractions = 0
    for _ in range(25):
        table = random_counts(kind, rng)
        known = rng.random(len(table)) < rng.choice([0.0, 0.15])
        fractions += compare(
            table, known, bool(rng.random() < 0.3), bool(rng.random() < 0.4)
        )
    if kind in ("odd", "equations"):
        assert fractions, "tables in which fractions protect nothing show nothing"


@examples(25)
@given(st.sampled_from(KINDS), st.integers(0, 2**32), st.booleans(), st.booleans())
def test_judge_agrees_whatever_the_counts(
    kind: str, seed: int, strict: bool, secondaries: bool
) -> None:
    rng = np.random.default_rng(seed)
    table = random_counts(kind, rng)
    compare(table, rng.random(len(table)) < 0.1, strict, secondaries)
