"""Propensity scores and the analyst's logistic model."""

from __future__ import annotations

import sys
from math import log, sqrt

import numpy as np
import pytest
from scipy.optimize import minimize

from evosdc.errors import MissingExtraError
from evosdc.metrics import from_codes, regression
from evosdc.metrics.logistic import build_design, fit_logistic, pair_sums
from evosdc.metrics.propensity import PropensityScore
from evosdc.metrics.regression import CiOverlap, CoefficientDifference, LogitCorrelation


def encoded(codes, levels):
    return from_codes(codes, key=[0], target=len(levels) - 1, levels=levels)


def test_logistic_fit_by_hand() -> None:
    # One binary predictor: 3 of 4 and 1 of 4. Intercept log(1/3) for the reference
    # level 1, slope log(3) - log(1/3) = log(9); its error sqrt of the sum of 1/counts.
    design = build_design(
        np.array([[0], [1]], np.int32), ["x"], [["0", "1"]], reference=[1]
    )
    fit = fit_logistic(design, np.array([3.0, 1.0]), np.array([4.0, 4.0]))
    assert design.names == ("intercept", "x=0")
    assert fit.coefficients == pytest.approx([log(1 / 3), log(9)], abs=1e-6)
    assert fit.errors[1] == pytest.approx(sqrt(1 / 3 + 1 + 1 + 1 / 3), abs=1e-5)
    assert fit.rank == 2


def test_logistic_fit_agrees_with_a_general_optimiser() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 3, (80, 3)).astype(np.int32)
    design = build_design(
        codes, list("abc"), [["0", "1", "2"]] * 3, [0, 0, 0], interactions=True
    )
    trials = rng.integers(5, 30, 80).astype(float)
    wins = rng.binomial(trials.astype(int), 0.3 + 0.1 * codes[:, 0]).astype(float)
    fit = fit_logistic(design, wins, trials)
    dense = design.matrix.toarray()

    def loss(beta):
        eta = dense @ beta
        return float((trials * np.logaddexp(0, eta) - wins * eta).sum())

    other = minimize(loss, np.zeros(dense.shape[1]), method="BFGS").x
    assert fit.rank == dense.shape[1] == 1 + 6 + 12
    assert fit.logits(design) == pytest.approx(dense @ other, abs=1e-3)


def test_aliased_columns_are_left_out() -> None:
    codes = np.array([[0, 0], [1, 1], [0, 0], [1, 1]], np.int32)
    design = build_design(codes, ["x", "y"], [["0", "1"]] * 2, [0, 0])
    fit = fit_logistic(design, np.array([1.0, 3.0, 2.0, 1.0]), np.full(4, 4.0))
    assert fit.rank == 2
    assert np.isnan(fit.coefficients).sum() == 1


def test_separated_data_end_with_the_right_probabilities() -> None:
    design = build_design(np.array([[0], [1]], np.int32), ["x"], [["0", "1"]], [0])
    fit = fit_logistic(design, np.array([0.0, 10.0]), np.array([10.0, 10.0]))
    chance = 1 / (1 + np.exp(-fit.logits(design)))
    assert chance == pytest.approx([0, 1], abs=1e-6)
    assert fit.errors[1] > 10


# Original: level 0 three times of four; synthetic: once of four.
FIRST = encoded([[0, 0], [0, 0], [0, 0], [1, 0]], (2, 1))
SECOND = encoded([[0, 0], [1, 0], [1, 0], [1, 0]], (2, 1))


def test_pmse_by_hand() -> None:
    # Fitted propensities 1/4 and 3/4 against c = 1/2: pMSE 1/16. Expected with two
    # parameters: 1 x (1/2)^2 (1/2) / 8 = 1/64, deviation sqrt(2) / 64 (Snoke et al.).
    score = PropensityScore("main")
    assert score.compute(FIRST, SECOND) == pytest.approx(1 / 16)
    parts = dict(score.breakdown(FIRST, SECOND))
    assert parts["expected pMSE"] == pytest.approx(1 / 64)
    assert parts["parameters"] == 2
    assert PropensityScore("main", "ratio").compute(FIRST, SECOND) == pytest.approx(4)
    standard = PropensityScore("main", "standardised").compute(FIRST, SECOND)
    assert standard == pytest.approx(3 / sqrt(2))


def test_main_effects_are_blind_to_what_interactions_see() -> None:
    a = encoded([[0, 0], [1, 1]] * 50, (2, 2))
    b = encoded([[0, 0], [0, 1], [1, 0], [1, 1]] * 25, (2, 2))
    assert PropensityScore("main").compute(a, b) == pytest.approx(0, abs=1e-12)
    # Saturated: propensity 1/3 for 150 records, 1 for 50: mean of 1/36 and 1/4.
    expected = (150 / 36 + 50 / 4) / 200
    found = PropensityScore("interactions").compute(a, b)
    assert found == pytest.approx(expected, abs=1e-6)
    assert PropensityScore("interactions", max_parameters=3).why_not(a, b) == (
        "the model has 4 parameters, more than 3"
    )


def test_null_expectation_holds_for_data_from_the_right_model() -> None:
    # A bootstrap of the original is a draw from the right model: ratio about 1.
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (2000, 4))
    a = encoded(codes, (4,) * 4)
    for model in ("main", "interactions", "cart"):
        ratios = [
            PropensityScore(model, "ratio").compute(
                a, a.take(rng.integers(0, 2000, 2000))
            )
            for _ in range(8)
        ]
        assert np.mean(ratios) == pytest.approx(1, abs=0.3), model


def test_tree_sees_interactions_and_repeats_itself() -> None:
    a = encoded([[0, 0], [1, 1]] * 50, (2, 2))
    b = encoded([[0, 0], [0, 1], [1, 0], [1, 1]] * 25, (2, 2))
    tree = PropensityScore("cart", leaf=5, seed=3)
    # A full tree is the saturated model worked out above.
    assert tree.compute(a, b) == pytest.approx((150 / 36 + 50 / 4) / 200)
    again = PropensityScore("cart", "ratio", leaf=5, seed=3)
    assert again.compute(a, b) == again.compute(a, b) > 5


def test_tree_without_its_library_names_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.tree", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'evosdc\[learn\]'"):
        PropensityScore("cart", seed=99).compute(FIRST, SECOND)


def test_a_tree_of_too_many_entries_is_not_grown(monkeypatch) -> None:
    monkeypatch.setattr("evosdc.metrics.propensity._TREE_ENTRIES", 7)
    # One column by eight records.
    assert PropensityScore("cart").why_not(FIRST, SECOND) == (
        "the tree has 8 entries, more than 7"
    )
    assert PropensityScore("main").why_not(FIRST, SECOND) == ""


def logistic_file(high: int, low: int):
    """Predictor 1 with `high` of 40 positives, predictor 0 with `low` of 40."""
    rows = [[1, 1]] * high + [[1, 0]] * (40 - high) + [[0, 1]] * low
    return encoded(rows + [[0, 0]] * (40 - low), (2, 2))


def test_coefficients_and_overlap_by_hand() -> None:
    a, b = logistic_file(30, 10), logistic_file(20, 10)
    # Reference level 0 (a tie of 40 each, the first wins). Intercept log(1/3) in both;
    # slope log 9 against log 3 (odds 3 and 1 over 1/3).
    gap = log(9) - log(3)
    parts = list(dict(CoefficientDifference().breakdown(a, b)).values())
    assert sorted(parts) == pytest.approx([0, gap], abs=1e-6)
    assert CoefficientDifference().compute(a, b) == pytest.approx(gap / 2, abs=1e-6)
    # Half widths 1.96 sqrt(1/30 + 1/10 + 1/10 + 1/30) and with 1/20 + 1/20.
    ha = 1.959964 * sqrt(1 / 30 + 1 / 10 + 1 / 10 + 1 / 30)
    hb = 1.959964 * sqrt(1 / 20 + 1 / 20 + 1 / 10 + 1 / 30)
    common = ha + hb - gap
    overlap = (common / (2 * ha) + common / (2 * hb)) / 2
    assert CiOverlap().compute(a, b) == pytest.approx((1 + overlap) / 2, abs=1e-4)
    assert CiOverlap().compute(a, a) == pytest.approx(1)


def test_logit_correlation_is_signed() -> None:
    a, b = logistic_file(30, 10), logistic_file(10, 30)
    assert LogitCorrelation().compute(a, a) == pytest.approx(1)
    # With one binary predictor the logits of the other file are reversed.
    assert LogitCorrelation().compute(a, b) == pytest.approx(-1)


def test_a_target_of_three_levels_is_taken_one_against_the_rest() -> None:
    rng = np.random.default_rng(1)
    a = encoded(
        np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 3, 300)]), (2, 3)
    )
    names = [name for name, _ in LogitCorrelation().breakdown(a, a)]
    assert sorted(names) == ["v2=0", "v2=1", "v2=2"]


def test_models_say_why_they_cannot_be_fitted() -> None:
    constant = encoded([[0, 0], [0, 1]] * 20, (1, 2))
    assert "nothing to predict" in CiOverlap().why_not(constant, constant)
    rare = encoded([[0, 0], [1, 0]] * 20, (2, 1))
    assert "no level of the target" in CiOverlap().why_not(rare, rare)


def test_the_gram_kernel_agrees_with_the_matrix_product() -> None:
    rng = np.random.default_rng(8)
    codes = rng.integers(0, 3, (40, 3)).astype(np.int32)
    design = build_design(
        codes, list("abc"), [list("012")] * 3, [0] * 3, interactions=True
    )
    weights = rng.random(40) * (rng.random(40) < 0.8)
    dense = design.matrix.toarray()
    found = pair_sums(
        design.matrix.indptr, design.matrix.indices, weights, dense.shape[1]
    )
    assert found == pytest.approx(dense.T @ (weights[:, None] * dense))


def test_of_large_files_a_sample_is_modelled(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(6)
    codes = rng.integers(0, 2, (900, 3))
    codes[:, 2] |= codes[:, 0]
    a = from_codes(codes, key=[0, 1], target=2)
    b = from_codes(codes[::-1], key=[0, 1], target=2)
    regression.ModelMetric.forget()
    assert CoefficientDifference().compute(a, b) == pytest.approx(0, abs=1e-6)
    regression.ModelMetric.forget()
    monkeypatch.setattr(regression, "_MAX_RECORDS", 300)
    (model,) = CoefficientDifference().models(a, b)
    assert model.weights.sum() == 300
    found = CoefficientDifference().compute(a, b)
    assert found > 0.001
    regression.ModelMetric.forget()
    assert CoefficientDifference().compute(a, b) == found
    regression.ModelMetric.forget()
