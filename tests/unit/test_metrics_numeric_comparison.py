"""Numbers compared by their values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ks_2samp, wasserstein_distance

from evosdc.metrics import evaluate
from evosdc.metrics.numeric_comparison import compare_numbers


def files():
    rng = np.random.default_rng(0)
    x = rng.gamma(2, 10, 500)
    one = pd.DataFrame({"x": x, "y": x + rng.normal(0, 5, 500), "z": ["a", "b"] * 250})
    two = pd.DataFrame(
        {"x": rng.gamma(2, 11, 400), "y": rng.normal(20, 9, 400), "z": ["a"] * 400}
    )
    two.loc[:9, "x"] = np.nan
    return one, two


def test_distances_agree_with_scipy():
    one, two = files()
    found = {c.name: c for c in compare_numbers(one, two).columns}
    assert set(found) == {"x", "y"}
    for name, gap in found.items():
        a, b = one[name], two[name].dropna()
        assert gap.ks == pytest.approx(ks_2samp(a, b).statistic)
        expected = wasserstein_distance(a, b) / a.std(ddof=0)
        assert gap.wasserstein == pytest.approx(expected)
        error = a.std(ddof=0) / np.sqrt(len(a))
        assert gap.errors == pytest.approx((b.mean() - a.mean()) / error)
        assert gap.synthetic["q50"] == pytest.approx(b.median())


def test_correlations_and_coefficients_are_those_of_both_files():
    one, two = files()
    found = compare_numbers(one, two)
    (link,) = found.correlations
    assert link.original == pytest.approx(one[["x", "y"]].corr().iloc[0, 1])
    assert link.synthetic == pytest.approx(two[["x", "y"]].corr().iloc[0, 1])
    # Of two columns a standardised coefficient is their correlation.
    assert found.coefficients[0].original == pytest.approx(link.original)
    assert found.worst()["correlation"] == pytest.approx(link.gap)


def test_a_file_against_itself_has_no_gap():
    one, _ = files()
    assert all(
        value == 0
        for key, value in compare_numbers(one, one).worst().items()
        if key != "sd_ratio_off"
    )


def test_an_evaluation_has_them():
    one, _ = files()
    found = evaluate(one, one.sample(frac=1, random_state=1), key=["x"], target="z")
    assert {c.name for c in found.numbers.columns} == {"x", "y"}
    assert found.summary()["numbers"]["worst"]["kolmogorov_smirnov"] == 0.0
