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
