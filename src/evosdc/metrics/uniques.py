"""Copies: records and unique keys of the original that the synthetic file repeats."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.counts import cell_counts
from evosdc.metrics.data import Categorical


@dataclass(frozen=True)
class ReplicatedUniques(Metric):
    """Keys that occur once in each file, in per cent of the synthetic records."""

    name = "rep_uniques_pct"
    title = "Replicated uniques (%)"
    kind = "risk"
    exact = True
    goal = "minimise"
    range = (0.0, 100.0)
    source = (
        "Nowok, Raab and Dibben (2016), Journal of Statistical Software 74(11); Raab, "
        "Nowok and Dibben (2024), arXiv:2406.16826 (repU)"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the share in per cent, and the unique keys of each file and both."""
        a, b = cell_counts(original, synthetic, original.key)
        both = float(((a == 1) & (b == 1)).sum())
        return 100 * both / synthetic.rows, [
            ("records counted", float(synthetic.rows)),
            ("unique keys in the original", float((a == 1).sum())),
            ("unique keys in the synthetic", float((b == 1).sum())),
            ("unique keys in both", both),
            ("unique in the original, found in the synthetic", float(b[a == 1].sum())),
        ]


@dataclass(frozen=True)
class IdenticalRecords(Metric):
    """Synthetic records that equal an original one on every variable, in per cent."""

    name = "identical_records_pct"
    title = "Records identical to an original one (%)"
    kind = "risk"
    exact = True
    goal = "minimise"
    range = (0.0, 100.0)
    source = "share of exact matches; Chen (2020), section 4.7.2.1"

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the share in per cent, the copies, and the copies of uniques."""
        a, b = cell_counts(original, synthetic, range(original.columns))
        identical = float(b[a > 0].sum())
        return 100 * identical / synthetic.rows, [
            ("records counted", float(synthetic.rows)),
            ("identical synthetic records", identical),
            ("copies of records unique in the original", float(b[a == 1].sum())),
            ("unique records of the original copied", float(np.sum(b[a == 1] > 0))),
        ]


@dataclass(frozen=True, eq=False)
class PopulationRisk(Metric):
    """How many people an intruder expects to find by keys that occur once.

    The sum of ``1 / N`` over keys that occur once in the released file, `N` being how
    many people of the population have the key: of that many, the intruder would pick
    one. A key that is not in the population counts nothing.

    Parameters
    ----------
    population
        The whole population, encoded together with the two files.
    """

    population: Categorical

    name = "population_risk"
    title = "People found by unique keys, given the population"
    kind = "risk"
    exact = True
    goal = "minimise"
    range = (0.0, np.inf)
    source = (
        "Shlomo (2010), Journal of Privacy and Confidentiality 2(1); Chen (2020), "
        "equation 4.10"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the expected number, what is counted, and the risk of the original."""
        people, released = cell_counts(self.population, synthetic, synthetic.key)
        alone = released == 1
        return self._expected(synthetic), [
            ("records counted", float(synthetic.rows)),
            ("unique keys in the synthetic", float(alone.sum())),
            ("of them in the population", float((alone & (people > 0)).sum())),
            ("of them unique in the population", float((alone & (people == 1)).sum())),
            ("people found by the original", self._expected(original)),
        ]

    def _expected(self, released: Categorical) -> float:
        people, count = cell_counts(self.population, released, released.key)
        return float((1 / people[(count == 1) & (people > 0)]).sum())
