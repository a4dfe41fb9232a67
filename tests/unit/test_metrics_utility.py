"""Utility metrics on examples worked by hand."""

from __future__ import annotations

from math import log2, sqrt

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from evosdc.metrics import from_codes
from evosdc.metrics.association import CramersV, MarginChiSquare, TwoWayL1
from evosdc.metrics.correspondence import McaDistance, category_coordinates
from evosdc.metrics.divergence import (
    JensenShannon,
    RatioOfEstimates,
    TablePropensity,
    TotalVariation,
)


def pair(first, second, levels=(2, 2)):
    return tuple(
        from_codes(codes, key=[0], target=1, levels=levels) for codes in (first, second)
    )


# Four records each. Original: (0,0) twice, (1,1) twice. Synthetic: one of each cell.
DEPENDENT = [[0, 0], [0, 0], [1, 1], [1, 1]]
INDEPENDENT = [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_jensen_shannon_by_hand() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    # p = (1/2, 0, 0, 1/2), q = 1/4 each, m = (3/8, 1/8, 1/8, 3/8).
    p_part = log2((1 / 2) / (3 / 8))
    q_part = 0.5 * log2((1 / 4) / (3 / 8)) + 0.5 * log2((1 / 4) / (1 / 8))
    expected = sqrt((p_part + q_part) / 2)
    assert JensenShannon(2).compute(a, b) == pytest.approx(expected, abs=1e-15)
    assert JensenShannon("full").compute(a, b) == pytest.approx(expected, abs=1e-15)
    # The margins agree.
    assert JensenShannon(1).compute(a, b) == 0
    assert JensenShannon(2).breakdown(a, b)[0][0] == "v1 x v2"


def test_files_without_a_common_cell_are_one_apart() -> None:
    a, b = pair([[0, 0]], [[1, 1], [1, 1]])
    assert JensenShannon("full").compute(a, b) == pytest.approx(1)
    assert TotalVariation("full").compute(a, b) == pytest.approx(1)


def test_total_variation_and_l1_by_hand() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    # Four cells differ by 1/4 each.
    assert TwoWayL1().compute(a, b) == pytest.approx(1)
    assert TotalVariation(2).compute(a, b) == pytest.approx(0.5)


def test_a_table_needs_its_variables() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    assert JensenShannon(3).why_not(a, b) == "needs 3 variables, the files have 2"
    assert JensenShannon(2).why_not(a, b) == ""


def test_a_budget_of_records_thins_the_tables_out() -> None:
    rng = np.random.default_rng(0)
    a = from_codes(rng.integers(0, 2, (50, 8)), key=[0], target=1, levels=(2,) * 8)
    assert len(JensenShannon(3).breakdown(a, a)) == 56
    # 100 records a table: a budget of 3,000 buys 30, and never fewer than 20.
    assert len(JensenShannon(3, budget=3000).breakdown(a, a)) == 30
    assert len(JensenShannon(3, budget=1).breakdown(a, a)) == 20


def test_ratio_of_estimates_by_hand() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    # Two cells 2 against 1, two cells 0 against 1: (1/2 + 1/2 + 0 + 0) / 4.
    assert RatioOfEstimates(2).compute(a, b) == pytest.approx(0.25)
    # The same shares from a file twice as large are the same estimates.
    _, double = pair(DEPENDENT, INDEPENDENT * 2)
    assert RatioOfEstimates(2).compute(a, double) == pytest.approx(0.25)


def test_saturated_propensity_by_hand() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    # Propensities 1/3 in two cells of three records, 1 in two cells of one:
    # pMSE = (6 (1/6)^2 + 2 (1/2)^2) / 8 = 1/12; expected 3 / 8 / 8 = 3/64.
    assert TablePropensity(2).compute(a, b) == pytest.approx((1 / 12) / (3 / 64))


def test_cramers_v_by_hand() -> None:
    a, b = pair(DEPENDENT, INDEPENDENT)
    # V is 1 for a function and 0 for independence.
    assert CramersV().compute(a, b) == pytest.approx(1)
    # 3, 1 / 1, 3: each expected 2, so chi-square 4 x 1/2 = 2 and V = sqrt(2/8).
    c, _ = pair([[0, 0]] * 3 + [[0, 1], [1, 0]] + [[1, 1]] * 3, INDEPENDENT)
    assert CramersV().compute(c, b) == pytest.approx(0.5)


def test_cramers_v_agrees_with_scipy_where_cells_are_empty() -> None:
    rng = np.random.default_rng(2)
    codes = np.column_stack([rng.integers(0, 5, 60), rng.integers(0, 4, 60) ** 2 // 3])
    levels = (5, 4)
    a, b = pair(codes, [[0, 0]] * 60, levels)
    table = np.zeros(levels)
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    table = table[:, table.sum(axis=0) > 0]
    chi = chi2_contingency(table, correction=False)[0]
    smaller = min(table.shape)
    assert CramersV().compute(a, b) == pytest.approx(sqrt(chi / 60 / (smaller - 1)))


def test_margin_chi_square_by_hand_and_by_scipy() -> None:
    # v1: 3 against 1 of level 0 in files of four: expected 2, chi 4 x 1/2 = 2, df 1.
    a, b = pair([[0, 0], [0, 0], [0, 0], [1, 0]], [[0, 0], [1, 0], [1, 0], [1, 0]])
    parts = dict(MarginChiSquare().breakdown(a, b))
    assert parts["v1: chi-square"] == pytest.approx(2)
    assert parts["v1: degrees of freedom"] == 1
    test = chi2_contingency([[3, 1], [1, 3]], correction=False)
    assert parts["v1: p-value"] == pytest.approx(test[1])
    # v2 is constant and says nothing: the mean is over v1 alone.
    assert parts["v2: p-value"] == 1
    assert MarginChiSquare().compute(a, b) == pytest.approx(2)


def test_correspondence_analysis_by_hand() -> None:
    # Two variables that are one: a single axis of inertia 1, categories at -1 and 1.
    masses, places, inertias = category_coordinates(np.array(DEPENDENT), (2, 2), 2)
    assert masses.tolist() == [0.25] * 4
    assert inertias == pytest.approx([1, 0], abs=1e-12)
    assert np.abs(places[:, 0]) == pytest.approx([1, 1, 1, 1])
    assert places[0, 0] == pytest.approx(places[2, 0])
    assert places[0, 0] == pytest.approx(-places[1, 0])
    # Independent variables: every axis has inertia 1 / number of variables.
    _, _, inertias = category_coordinates(np.array(INDEPENDENT), (2, 2), 2)
    assert inertias == pytest.approx([0.5, 0.5])


def test_mca_distance_ignores_the_order_of_records_and_sees_a_flip() -> None:
    a, same = pair(DEPENDENT, DEPENDENT[::-1])
    assert McaDistance().compute(a, same) == pytest.approx(0, abs=1e-9)
    # The flipped file pairs 0 with 1: no turn of the map repairs that. One axis:
    # original (-1, 1, -1, 1), synthetic (-1, 1, 1, -1): the best turn leaves two of
    # four categories right, or all squared gaps (0, 0, 4, 4) of size 4: sqrt(2).
    _, flipped = pair(DEPENDENT, [[0, 1], [0, 1], [1, 0], [1, 0]])
    assert McaDistance(dimensions=1).compute(a, flipped) == pytest.approx(sqrt(2))
    parts = dict(McaDistance(dimensions=1).breakdown(a, flipped))
    assert sorted(parts.values()) == pytest.approx([0, 0, 2, 2], abs=1e-9)
    assert McaDistance(max_categories=3).why_not(a, flipped) == (
        "there are 4 categories, more than 3"
    )
