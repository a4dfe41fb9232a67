"""Statistics of experiments against values worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.experiments.statistics import (
    Blocks,
    block_up,
    column,
    friedman,
    group,
    holm,
    signed_rank,
    summarise,
    wilcoxon_pairs,
    with_ratio,
)


def rows_of(costs: dict[str, list[float | None]]) -> list[dict]:
    return [
        {"family": "f", "table": n, "method": m, "cost": c, "cpu_seconds": 2.0}
        for m, values in costs.items()
        for n, c in enumerate(values, start=1)
    ]


def test_summary_of_four_numbers() -> None:
    found = summarise([4.0, 1.0, 3.0, 8.0])
    assert found is not None
    assert (found.count, found.mean, found.median) == (4, 4.0, 3.5)
    assert (found.best, found.worst) == (1.0, 8.0)
    # Squares of -3, -1, 0, 4 sum to 26; divided by 3.
    assert found.sd == pytest.approx((26 / 3) ** 0.5)
    assert summarise([]) is None
    single = summarise([7.0])
    assert single is not None
    assert single.sd == 0.0


def test_groups_keep_order_and_columns_leave_out_what_is_missing() -> None:
    rows = rows_of({"b": [1.0, None], "a": [2.0, 3.0]})
    assert list(group(rows, "method")) == [("b",), ("a",)]
    assert column(group(rows, "method")[("b",)], "cost") == [1.0]


def test_friedman_by_hand() -> None:
    # Ranks 1 2 3 / 1 2 3 / 1 3 2 / 1 2 3: sums 4, 9, 11;
    # 12 / (4 * 3 * 4) * (16 + 81 + 121) - 3 * 4 * 4 = 6.5.
    values = np.array([[1, 2, 3], [10, 20, 30], [5, 7, 6], [1, 4, 9]], dtype=float)
    found = friedman(Blocks(("a", "b", "c"), ((1,), (2,), (3,), (4,)), values))
    assert found is not None
    assert found.statistic == pytest.approx(6.5)
    assert found.p == pytest.approx(np.exp(-6.5 / 2))
    assert found.ranks == {"a": 1.0, "b": 2.25, "c": 2.75}


def test_friedman_needs_three_treatments_and_sees_ties() -> None:
    pair = Blocks(("a", "b"), ((1,), (2,)), np.ones((2, 2)))
    assert friedman(pair) is None
    same = friedman(Blocks(("a", "b", "c"), ((1,), (2,)), np.ones((2, 3))))
    assert same is not None
    assert (same.statistic, same.p) == (0.0, 1.0)


def test_signed_rank_by_hand() -> None:
    # All of five signs the same: 2 of 32 arrangements are as extreme.
    assert signed_rank(np.array([1.0, 2, 3, 4, 5])) == pytest.approx(2 / 32)
    # The smallest of five is negative: sum of ranks 1, four arrangements.
    assert signed_rank(np.array([-1.0, 2, 3, 4, 5])) == pytest.approx(4 / 32)
    assert signed_rank(np.zeros(4)) == 1.0
    # Zeros are left out.
    assert signed_rank(np.array([0.0, 1, 2, 3, 4, 5])) == pytest.approx(2 / 32)


def test_holm_by_hand() -> None:
    # 0.01 * 4, 0.02 * 3, 0.03 * 2, 0.5 * 1; never falling.
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_pairs_use_the_blocks_that_both_have() -> None:
    rows = rows_of(
        {"a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 4, 6, 8, 10, None], "c": [None] * 6}
    )
    data = block_up(rows, blocks=("family", "table"))
    assert data.complete().treatments == ("a",)
    (pair,) = wilcoxon_pairs(data)
    assert (pair.first, pair.second, pair.blocks) == ("a", "b", 5)
    # Relative difference is (1 - 2) / 1.5 on every block.
    assert pair.difference == pytest.approx(-2 / 3)


def test_blocks_average_seeds_and_miss_where_a_seed_failed() -> None:
    rows = rows_of({"a": [1.0, 2.0]}) + rows_of({"a": [3.0, None]})
    data = block_up(rows, blocks=("family", "table"))
    assert data.values[0, 0] == 2.0
    assert np.isnan(data.values[1, 0])


def test_improvement_ratio_by_hand() -> None:
    rows = with_ratio(rows_of({"h": [10.0, None], "x": [6.0, 5.0]}), "h")
    ratios = {(r["method"], r["table"]): r["ratio"] for r in rows}
    assert ratios[("x", 1)] == pytest.approx(2.0)
    assert ratios[("h", 1)] == 0.0
    # No reference, no ratio.
    assert ratios[("x", 2)] is None
