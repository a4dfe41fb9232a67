"""Associations and margins: Cramer's V, two-way tables, chi-square tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.special import chdtrc

from evosdc.metrics.base import Breakdown, MeanOfParts, Metric
from evosdc.metrics.counts import cell_counts, pair_cells, shares
from evosdc.metrics.data import Categorical


def cramers_v(data: Categorical, first: int, second: int, smaller: int) -> float:
    """Return Cramer's V of two variables, the smaller one with `smaller` levels.

    An empty cell adds its expected count to chi-square, so only occupied cells are
    visited: together the empty ones add what the expected counts of the others leave.
    """
    if smaller < 2:
        return 0.0
    rows, cols, counts = pair_cells(data, first, second)
    row_sums = np.bincount(rows, weights=counts)
    col_sums = np.bincount(cols, weights=counts)
    expected = row_sums[rows] * col_sums[cols] / data.rows
    chi = float(((counts - expected) ** 2 / expected).sum())
    possible = np.count_nonzero(row_sums) * np.count_nonzero(col_sums)
    if len(counts) < possible:
        chi += max(0.0, data.rows - float(expected.sum()))
    return float(np.sqrt(chi / data.rows / (smaller - 1)))


class PairMetric(MeanOfParts):
    """A mean over all pairs of variables."""

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """A pair needs two variables."""
        del synthetic
        return "" if original.columns > 1 else "needs 2 variables, the files have 1"


@dataclass(frozen=True)
class CramersV(PairMetric):
    """Mean absolute difference of Cramer's V over all pairs of variables.

    A table has the levels that occur in either file, so both have the same shape.
    """

    name = "cramers_v"
    title = "Mean absolute difference of Cramer's V"
    source = (
        "Cramer (1946), Mathematical Methods of Statistics; Shlomo (2010), Journal of "
        "Privacy and Confidentiality 2(1); Chen (2020), section 4.7.1.1"
    )

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the absolute difference of each pair."""
        used = [
            len(cell_counts(original, synthetic, (j,))[0])
            for j in range(original.columns)
        ]
        return [
            (
                f"{original.names[j]} x {original.names[k]}",
                abs(
                    cramers_v(original, j, k, min(used[j], used[k]))
                    - cramers_v(synthetic, j, k, min(used[j], used[k]))
                ),
            )
            for j, k in combinations(range(original.columns), 2)
        ]


@dataclass(frozen=True)
class TwoWayL1(PairMetric):
    """Mean over all two-way tables of the sum of absolute differences of shares."""

    name = "l1_2"
    title = "L1 difference of two-way tables"
    range = (0.0, 2.0)
    source = "Chen (2020), section 4.7.1.2, equation 4.8"

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the L1 difference of each pair."""
        parts: Breakdown = []
        for j, k in combinations(range(original.columns), 2):
            p, q = shares(original, synthetic, (j, k))
            label = f"{original.names[j]} x {original.names[k]}"
            parts.append((label, float(np.abs(p - q).sum())))
        return parts


@dataclass(frozen=True)
class MarginChiSquare(Metric):
    """Chi-square test that a variable has the same distribution in both files.

    The value is the mean over the variables of the statistic by its degrees of freedom:
    1 is what two independent samples of one population give.
    """

    name = "chi_square_1"
    title = "Chi-square of the margins by degrees of freedom"
    kind = "utility"
    goal = "minimise"
    range = (0.0, float("inf"))
    source = "Pearson's test of homogeneity; Chen (2020), section 5.7, Table 1"

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the mean of the statistics, and statistic and p-value of each."""
        parts: Breakdown = []
        ratios = []
        for j, name in enumerate(original.names):
            chi, df = _homogeneity(original, synthetic, j)
            if df:
                ratios.append(chi / df)
            parts.append((f"{name}: chi-square", chi))
            parts.append((f"{name}: degrees of freedom", float(df)))
            parts.append((f"{name}: p-value", float(chdtrc(df, chi)) if df else 1.0))
        return sum(ratios) / len(ratios) if ratios else 0.0, parts


def _homogeneity(
    original: Categorical, synthetic: Categorical, column: int
) -> tuple[float, int]:
    """Return the chi-square statistic of a variable and its degrees of freedom."""
    a, b = cell_counts(original, synthetic, (column,))
    total = original.rows + synthetic.rows
    chi = 0.0
    for counts, rows in ((a, original.rows), (b, synthetic.rows)):
        expected = (a + b) * (rows / total)
        chi += float(((counts - expected) ** 2 / expected).sum())
    return chi, len(a) - 1
