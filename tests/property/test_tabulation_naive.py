"""Tabulation against a plain Python twin on random records."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.rules import CellContributors, Dominance, Frequency, PPercent, Request
from evosdc.table import Hierarchy
from evosdc.tabulation import microdata, tabulate

TREES = {
    # Ragged: c is a leaf right under the total, a2 has parts of its own.
    "k": Hierarchy.from_levels(
        [("a", "a1"), ("a", "a2", "a21"), ("a", "a2", "a22"), ("b", "b1"), ("c",)]
    ),
}
LEAVES = ["a1", "a21", "a22", "b1", "c"]
RULES = [PPercent(15, 2), Dominance(3, 70), Frequency(3), Request(60, 30)]

record = st.tuples(
    st.sampled_from(LEAVES),
    st.sampled_from("xyz"),
    st.one_of(st.just(0.0), st.integers(-20, 300).map(lambda v: v / 4)),
    st.sampled_from([0.5, 1.0, 2.25, 3.0]),
    st.sampled_from("PQRST"),
    st.sampled_from(["0", "1", "2", None]),
)
SETTINGS = examples(20)


def ancestors(code):
    tree = TREES["k"]
    node, found = tree.node_of[code], []
    while node >= 0:
        found.append(tree.codes[node])
        node = tree.parents[node]
    return found


def naive(records):
    """Return the records of each cell of each level."""
    cells = {}
    for row in records:
        for cell in product(ancestors(row[0]), [row[1], "Total"]):
            cells.setdefault(cell, []).append(row)
    return cells


def contributors(rows, *, weighted, held):
    groups = {}
    for i, (_, _, x, w, h, r) in enumerate(rows):
        w = w if weighted else 1.0
        groups.setdefault(h if held else i, []).append((x, w, r))
    summed = []
    for members in groups.values():
        asks = {r for _, _, r in members}
        if held:
            summed.append((abs(sum(x * w for x, w, _ in members)), 1.0, asks))
        else:
            summed.append((abs(members[0][0]), members[0][1], asks))
    summed.sort(key=lambda c: (-c[0], -c[1]))
    ask = [max([c[0] for c in summed if code in c[2]], default=0.0) for code in "12"]
    return summed, ask


def check_contributions(found, rows, names, *, weighted, held):
    """Compare the two largest of a cell; `names` are the contributors by hash."""
    parts = {}
    for i, (*codes, x, w, h, r) in enumerate(rows):
        # Records that agree in every column cannot be told apart.
        who = h if held else (*codes, x, w, h, r)
        key = h if held else i
        before = parts.get(key, (0.0, None))[0]
        parts[key] = (before + x * (w if weighted else 1.0), who)
    active = sorted(((abs(a), who) for a, who in parts.values() if a), reverse=True)
    assert found.count == len(active)
    if any(row[2] < 0 for row in rows):
        assert found.amount.tolist() == [0.0, 0.0]
    else:
        wanted = [a for a, _ in active[:2]] + [0.0] * (2 - len(active[:2]))
        assert found.amount.tolist() == wanted  # sixteenths, as above
    assert [bool(who) for who in found.who] == [k < len(active) for k in range(2)]
    sizes = [a for a, _ in active]
    for k, (size, who) in enumerate(active[:2]):
        if sizes.count(size) == 1:
            assert names.setdefault(found.who[k], who) == who


def table_of(records):
    names = ["k", "l", "v", "w", "h", "r"]
    columns = dict(zip(names, map(list, zip(*records, strict=True)), strict=True))
    columns["r"] = pa.array(columns["r"], pa.string())
    return pa.table(columns)


@SETTINGS
@given(
    st.lists(record, min_size=1, max_size=40),
    st.booleans(),
    st.booleans(),
)
def test_cells_and_contributors(records, weighted, held):
    seen = []
    real = microdata.mark

    def spy(contributors: CellContributors, *args, **options):
        seen.append(contributors)
        return real(contributors, *args, **options)

    microdata.mark = spy
    try:
        table = tabulate(
            table_of(records),
            ["k", "l"],
            "v",
            hierarchies=TREES,
            weight="w" if weighted else None,
            holding="h" if held else None,
            request="r",
            rules=RULES,
            contributions=True,
            threads=1,
        )
    finally:
        microdata.mark = real
    found = seen[0]
    cells = naive(records)
    assert len(table) == len(cells)
    assert table.contributions is not None
    names = {}
    for i in range(len(table)):
        key = tuple(
            d.hierarchy.codes[c]
            for d, c in zip(table.dimensions, table.codes[i], strict=True)
        )
        rows = cells[key]
        weight = [row[3] if weighted else 1.0 for row in rows]
        exact = sum(row[2] * w for row, w in zip(rows, weight, strict=True))
        assert table.value[i] == exact  # sixteenths: exact in floats and in decimals
        assert table.frequency[i] == len(rows)
        assert found.units[i] == pytest.approx(sum(weight))
        summed, ask = contributors(rows, weighted=weighted, held=held)
        top = [c[0] for c in summed][:3] + [0.0] * (3 - len(summed))
        assert found.largest[i] == pytest.approx(top)
        assert found.asking[i] == pytest.approx(ask)
        someone = [w for row, w in zip(rows, weight, strict=True) if row[2]]
        assert found.active[i] == pytest.approx(sum(someone))
        check_contributions(
            table.contributions[i], rows, names, weighted=weighted, held=held
        )
        # Alone is who contributes alone, or is there alone with a zero.
        parties = [c for c in summed if c[0]] or summed
        assert bool(table.respondent[i]) == (len(parties) == 1)
        if held:
            assert found.holdings[i] == len(summed)
            assert found.active_holdings[i] == sum(c[0] != 0 for c in summed)
            assert found.total[i] == pytest.approx(sum(c[0] for c in summed))
        else:
            assert found.total[i] == pytest.approx(sum(c[0] * c[1] for c in summed))
            if not weighted:
                continue
            tw = [c[1] for c in summed][:3] + [0.0] * (3 - len(summed))
            assert found.weights[i] == pytest.approx(tw)


@SETTINGS
@given(st.lists(record, min_size=1, max_size=40))
def test_order_of_records_does_not_matter(records):
    tables = [
        tabulate(table_of(rows), ["k", "l"], "v", weight="w", rules=RULES[:3])
        for rows in (records, records[::-1])
    ]
    assert tables[0].value.tolist() == tables[1].value.tolist()
    assert tables[0].upl.tolist() == tables[1].upl.tolist()
    assert tables[0].status.tolist() == tables[1].status.tolist()
