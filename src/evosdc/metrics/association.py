"""Associations and margins: Cramer's V, two-way tables, chi-square tests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy.special import chdtrc

from evosdc.metrics.base import Breakdown, Goal, Kind, Metric, mean
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


@dataclass(frozen=True)
class PairMetric(Metric):
    """A mean over all pairs of variables."""

    kind: ClassVar[Kind] = "utility"
    goal: ClassVar[Goal] = "minimise"

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """A pair needs two variables."""
        del synthetic
        return "" if original.columns > 1 else "needs 2 variables, the files have 1"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the mean over the pairs."""
        return mean(self.breakdown(original, synthetic))

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the mean over the pairs and the value of each."""
        parts = self.breakdown(original, synthetic)
        return mean(parts), parts


@dataclass(frozen=True)
class CramersV(PairMetric):
    """Mean absolute difference of Cramer's V over all pairs of variables.

    A table has the levels that occur in either file, so both have the same shape.
    """

    source: ClassVar[str] = (
        "Cramer (1946), Mathematical Methods of Statistics; Shlomo (2010), Journal of "
        "Privacy and Confidentiality 2(1); Chen (2020), section 4.7.1.1"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "cramers_v"

    @property
    def title(self) -> str:
        """What is measured."""
        return "Mean absolute difference of Cramer's V"

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
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

    range: ClassVar[tuple[float, float]] = (0.0, 2.0)
    source: ClassVar[str] = "Chen (2020), section 4.7.1.2, equation 4.8"

    @property
    def name(self) -> str:
        """The short name."""
        return "l1_2"

    @property
    def title(self) -> str:
        """What is measured."""
        return "L1 difference of two-way tables"

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
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

    kind: ClassVar[Kind] = "utility"
    goal: ClassVar[Goal] = "minimise"
    range: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    source: ClassVar[str] = (
        "Pearson's test of homogeneity; Chen (2020), section 5.7, Table 1"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "chi_square_1"

    @property
    def title(self) -> str:
        """What is measured."""
        return "Chi-square of the margins by degrees of freedom"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the mean of the statistics by their degrees of freedom."""
        tests = [self._test(original, synthetic, j) for j in range(original.columns)]
        ratios = [chi / df for chi, df in tests if df]
        return sum(ratios) / len(ratios) if ratios else 0.0

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return statistic, degrees of freedom and p-value of each variable."""
        parts: Breakdown = []
        for j, name in enumerate(original.names):
            chi, df = self._test(original, synthetic, j)
            parts.append((f"{name}: chi-square", chi))
            parts.append((f"{name}: degrees of freedom", float(df)))
            parts.append((f"{name}: p-value", float(chdtrc(df, chi)) if df else 1.0))
        return parts

    @staticmethod
    def _test(
        original: Categorical, synthetic: Categorical, column: int
    ) -> tuple[float, int]:
        a, b = cell_counts(original, synthetic, (column,))
        total = original.rows + synthetic.rows
        chi = 0.0
        for counts, rows in ((a, original.rows), (b, synthetic.rows)):
            expected = (a + b) * (rows / total)
            chi += float(((counts - expected) ** 2 / expected).sum())
        return chi, len(a) - 1
