"""Copies: records and unique keys of the original that the synthetic file repeats."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from evosdc.metrics.base import Breakdown, Goal, Kind, Metric
from evosdc.metrics.counts import cell_counts
from evosdc.metrics.data import Categorical


@dataclass(frozen=True)
class ReplicatedUniques(Metric):
    """Keys that occur once in each file, in per cent of the synthetic records."""

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    range: ClassVar[tuple[float, float]] = (0.0, 100.0)
    source: ClassVar[str] = (
        "Nowok, Raab and Dibben (2016), Journal of Statistical Software 74(11); Raab, "
        "Nowok and Dibben (2024), arXiv:2406.16826 (repU)"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "rep_uniques_pct"

    @property
    def title(self) -> str:
        """What is measured."""
        return "Replicated uniques (%)"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the share in per cent."""
        a, b = cell_counts(original, synthetic, original.key)
        return 100 * float(((a == 1) & (b == 1)).sum()) / synthetic.rows

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the unique keys of each file and of both."""
        a, b = cell_counts(original, synthetic, original.key)
        return [
            ("records counted", float(synthetic.rows)),
            ("unique keys in the original", float((a == 1).sum())),
            ("unique keys in the synthetic", float((b == 1).sum())),
            ("unique keys in both", float(((a == 1) & (b == 1)).sum())),
            ("unique in the original, found in the synthetic", float(b[a == 1].sum())),
        ]


@dataclass(frozen=True)
class IdenticalRecords(Metric):
    """Synthetic records that equal an original one on every variable, in per cent."""

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    range: ClassVar[tuple[float, float]] = (0.0, 100.0)
    source: ClassVar[str] = "share of exact matches; Chen (2020), section 4.7.2.1"

    @property
    def name(self) -> str:
        """The short name."""
        return "identical_records_pct"

    @property
    def title(self) -> str:
        """What is measured."""
        return "Records identical to an original one (%)"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the share in per cent."""
        a, b = cell_counts(original, synthetic, range(original.columns))
        return 100 * float(b[a > 0].sum()) / synthetic.rows

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the copies, and the copies of records that were unique."""
        a, b = cell_counts(original, synthetic, range(original.columns))
        return [
            ("records counted", float(synthetic.rows)),
            ("identical synthetic records", float(b[a > 0].sum())),
            ("copies of records unique in the original", float(b[a == 1].sum())),
            ("unique records of the original copied", float(np.sum(b[a == 1] > 0))),
        ]


@dataclass(frozen=True, eq=False)
class PopulationRisk(Metric):
    """How many people an intruder expects to find by keys that occur once.

    The sum of ``1 / N`` over keys that occur once in the released file, `N` being how
    many people of the population have the key: of that many, the intruder would pick
    one. A key that nobody has finds nobody.

    Parameters
    ----------
    population
        The whole population, encoded together with the two files.
    """

    population: Categorical

    kind: ClassVar[Kind] = "risk"
    exact: ClassVar[bool] = True
    goal: ClassVar[Goal] = "minimise"
    range: ClassVar[tuple[float, float]] = (0.0, np.inf)
    source: ClassVar[str] = (
        "Shlomo (2010), Journal of Privacy and Confidentiality 2(1); Chen (2020), "
        "equation 4.10"
    )

    @property
    def name(self) -> str:
        """The short name."""
        return "population_risk"

    @property
    def title(self) -> str:
        """What is measured."""
        return "People found by unique keys, given the population"

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the expected number."""
        del original
        return self._expected(synthetic)

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return what is counted, and the risk of the original itself."""
        people, released = cell_counts(self.population, synthetic, synthetic.key)
        alone = released == 1
        return [
            ("records counted", float(synthetic.rows)),
            ("unique keys in the synthetic", float(alone.sum())),
            ("of them in the population", float((alone & (people > 0)).sum())),
            ("of them unique in the population", float((alone & (people == 1)).sum())),
            ("people found by the original", self._expected(original)),
        ]

    def _expected(self, released: Categorical) -> float:
        people, count = cell_counts(self.population, released, released.key)
        return float((1 / people[(count == 1) & (people > 0)]).sum())
