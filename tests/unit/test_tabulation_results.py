"""Tabulation on small records whose table is known."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from evosdc.rules import Frequency, PPercent, Request, ZeroUnsafe, parse_rules
from evosdc.table import Hierarchy
from evosdc.table.knowledge import knowledge_words
from evosdc.tabulation import tabulate, tabulate_linked

REGIONS = Hierarchy.from_levels([("N", "01"), ("N", "02"), ("S", "03")])
ROWS = {
    "region": ["01", "01", "02", "02", "03", "03", "03"],
    "sex": ["f", "m", "f", "f", "m", "m", "f"],
    "x": [0.1, 0.2, 0.3, 10.0, 5.0, 4.0, 1.0],
}


def cell(table, **codes):
    nodes = [d.hierarchy.node_of[codes.get(d.name, "Total")] for d in table.dimensions]
    found = np.flatnonzero((table.codes == nodes).all(axis=1))
    assert len(found) == 1
    return int(found[0])


def frame():
    return pa.table(ROWS)


def test_every_total_of_every_level():
    table = tabulate(frame(), ["region", "sex"], "x", hierarchies={"region": REGIONS})
    assert table.value[cell(table)] == 20.6
    assert table.value[cell(table, region="N")] == 10.6
    assert table.value[cell(table, region="N", sex="f")] == 10.4
    assert table.value[cell(table, region="01", sex="f")] == 0.1
    assert table.frequency[cell(table, sex="f")] == 4
    assert table.value[cell(table, region="01")] == 0.3  # not 0.30000000000000004
    assert len(table) == 6 * 3 - 1  # nobody in region 02 is m
    assert np.abs(table.residuals()).max() < 1e-12
    assert table.matrix.shape[0] > 0
    assert table.name == "x"
    assert set(table.status) == {"s"}
    assert set(table.lower) == {0.0}
    assert np.isinf(table.upper).all()


def test_rules_see_totals_too():
    table = tabulate(
        frame(),
        ["region", "sex"],
        "x",
        hierarchies={"region": REGIONS},
        rules=[PPercent(10), Frequency(3)],
    )
    # N, f: 10, 0.3, 0.1: 1 - 0.1 = 0.9. Region 02: 10, 0.3: two records, level 30 %.
    n = cell(table, region="N", sex="f")
    assert (table.status[n], table.upl[n]) == ("u", pytest.approx(0.9))
    two = cell(table, region="02")
    assert table.upl[two] == pytest.approx(3.09)
    # All: 10, 5 known: 5.6 left, more than 1.
    assert table.status[cell(table)] == "s"


@pytest.mark.parametrize("kind", ["csv", "parquet", "glob", "arrow", "reader", "batch"])
def test_sources_agree(tmp_path, kind):
    expected = tabulate(frame(), ["region", "sex"], "x")
    source = frame()
    if kind == "csv":
        source = tmp_path / "r.csv"
        lines = [",".join(map(str, row)) for row in zip(*ROWS.values(), strict=True)]
        source.write_text("region,sex,x\n" + "\n".join(lines) + "\n")
    elif kind == "parquet":
        source = str(tmp_path / "r.parquet")
        pq.write_table(frame(), source)
    elif kind == "glob":
        pq.write_table(frame().slice(0, 3), tmp_path / "a.parquet")
        pq.write_table(frame().slice(3), tmp_path / "b.parquet")
        source = tmp_path / "*.parquet"
    elif kind == "reader":
        source = frame().to_reader(max_chunksize=2)
    elif kind == "batch":
        source = frame().to_batches()[0]
    table = tabulate(source, ["region", "sex"], "x")
    assert table.value.tolist() == expected.value.tolist()
    assert table.dimensions == expected.dimensions
    assert table.dimensions[0].hierarchy.codes == ("Total", "01", "02", "03")


def test_frames_and_relations():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    expected = tabulate(frame(), ["region", "sex"], "x").value.tolist()
    records = frame()
    with duckdb.connect() as connection:
        for source in (
            pandas.DataFrame(ROWS),
            polars.DataFrame(ROWS),
            polars.LazyFrame(ROWS),
            connection.from_arrow(records),
        ):
            assert tabulate(source, ["region", "sex"], "x").value.tolist() == expected


def test_codes_are_text():
    records = pa.table({"k": [1.0, 2.0, 10.0], "v": [1, 2, 3]})
    table = tabulate(records, ["k"], "v")
    assert table.dimensions[0].hierarchy.codes == ("Total", "1", "2", "10")


def test_counts():
    table = tabulate(frame(), ["region"], rules=[Frequency(3, 30)], cost="unit")
    assert table.value.tolist() == [7, 2, 2, 3]
    assert table.status.tolist() == ["s", "u", "u", "s"]
    assert table.upl.tolist() == [0, 1, 1, 0]
    assert table.is_integer
    assert table.name == "count"
    assert table.weight.tolist() == [1] * 4


def test_costs():
    by = {"value": [20.6, 0.3], "frequency": [7, 2], "x": [20.6, 0.3]}
    for cost, expected in by.items():
        table = tabulate(frame(), ["region"], "x", cost=cost)
        assert table.weight[:2] == pytest.approx(expected)


def test_bounds_by_percentage():
    table = tabulate(frame(), ["region"], "x", bounds="percent:50")
    assert table.lower[0] == pytest.approx(10.3)
    assert table.upper[0] == pytest.approx(30.9)


def test_negative_contributions_open_the_bounds():
    records = pa.table({"k": ["a", "a", "b"], "v": [5.0, -7.0, 3.0]})
    table = tabulate(records, ["k"], "v", rules=[PPercent(10)])
    assert table.value.tolist() == [1, -2, 3]
    # Only where a contribution is negative: b is not below 0.
    assert table.lower.tolist() == [-np.inf, -np.inf, 0]
    # a: 7 and 5, two contributors: 10 % of 7, up and down. All: 0.7 - 3 < 0.
    assert table.upl == pytest.approx([0, 0.7, 0.3])
    assert table.lpl == pytest.approx([0, 0.7, 0.3])


def test_zero_with_contributors_is_a_cell():
    records = pa.table({"k": ["a", "a", "b"], "v": [0, 0, 3]})
    table = tabulate(records, ["k"], "v")
    assert table.status.tolist() == ["s", "s", "s"]
    marked = tabulate(records, ["k"], "v", rules=[ZeroUnsafe(10)])
    assert marked.status.tolist() == ["s", "u", "s"]
    assert marked.upl.tolist() == [0, 10, 0]


def test_weights():
    records = pa.table(
        {"k": ["a", "a", "a", "b"], "v": [100, 40, 9, 1], "w": [2.5, 4.0, 0.0, 1.0]}
    )
    table = tabulate(records, ["k"], "v", weight="w", rules=parse_rules(["nk:3,60"]))
    assert table.value.tolist() == [411, 410, 1]
    assert table.frequency.tolist() == [3, 2, 1]  # weight 0 stands for nobody
    # a: 2.5 places of 100, 0.5 of 40 = 270 of 410, 65.9 %: 270 / 0.6 - 410 = 40.
    # All: 270 of 411: 39. b alone: 1 / 0.6 - 1.
    assert table.upl == pytest.approx([39, 40, 1 / 0.6 - 1])


def test_holdings_across_cells():
    # H has 6 in each of three cells: never the largest there, the largest of the total.
    records = pa.table(
        {
            "k": ["a", "a", "b", "b", "c", "c"],
            "h": ["H", "A", "H", "B", "H", "C"],
            "v": [6.0, 7.0, 6.0, 7.0, 6.0, 7.0],
        }
    )
    plain = tabulate(records, ["k"], "v", rules=[PPercent(90)])
    assert plain.status[0] == "s"  # 7 and 7 of 39: 6.3 - 25 < 0
    held = tabulate(records, ["k"], "v", holding="h", rules=[PPercent(90)])
    # H = 18, next 7, 14 left: 0.9 * 18 - 14 = 2.2
    assert held.upl[0] == pytest.approx(2.2)
    assert held.upl[1] == pytest.approx(6.3)
    counted = tabulate(records, ["k"], "v", holding="h", rules=[Frequency(5)])
    assert counted.status[0] == "u"  # six records, four holdings
    assert counted.frequency[0] == 6


def test_requests_with_and_without_holdings():
    records = pa.table(
        {
            "k": ["a", "a", "b", "b"],
            "h": ["P", "P", "Q", "R"],
            "v": [40.0, 60.0, 80.0, 20.0],
            "r": ["1", None, "0", "2"],
        }
    )
    rule = Request(70, 15)
    table = tabulate(records, ["k"], "v", request="r", rules=[rule])
    # a: 40 of 100 asks; b: 20 of 100 asks with code 2; all: 20 % and 10 %
    assert table.status.tolist() == ["s", "s", "u"]
    held = tabulate(records, ["k"], "v", request="r", holding="h", rules=[rule])
    # P is 100 of 100, and 50 % of all
    assert held.status.tolist() == ["s", "u", "u"]


def test_shadow():
    records = pa.table({"k": ["a", "a", "a"], "v": [1.0, 1, 2], "s": [90.0, 6, 4]})
    table = tabulate(records, ["k"], "v", shadow="s", rules=parse_rules(["nk:1,80"]))
    # 12.5 of a shadow of 100, so 12.5 % of the response of 4
    assert table.upl == pytest.approx([0.5, 0.5])
    assert tabulate(records, ["k"], "v", rules=parse_rules(["nk:1,80"])).upl[0] == 0


def test_same_bits_on_any_number_of_threads():
    rng = np.random.default_rng(3)
    n = 40_000
    records = pa.table(
        {
            "k": rng.integers(0, 9, n).astype(str),
            "l": rng.integers(0, 5, n).astype(str),
            "v": rng.lognormal(3, 2, n),
        }
    )
    tables = [
        tabulate(records, ["k", "l"], "v", rules=parse_rules(["business"]), threads=t)
        for t in (1, 2, 3)
    ]
    for other in tables[1:]:
        assert (tables[0].value == other.value).all()
        assert (tables[0].status == other.status).all()


def test_the_claim_says_that_unlisted_combinations_are_empty():
    full = {"k": ["a", "a", "b", "b"], "l": ["x", "y", "x", "y"], "v": [1, 2, 3, 4]}
    sparse = {name: column[:3] for name, column in full.items()}
    words = "combinations that are not listed are empty"
    assert words not in knowledge_words(tabulate(full, ["k", "l"], "v"))
    assert words in knowledge_words(tabulate(sparse, ["k", "l"], "v"))
    linked = tabulate_linked(full, [["k"], ["l"]], "v")
    assert words not in knowledge_words(linked.table)
