"""What the metrics and the attacks found about a synthetic file: plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.metrics.base import Goal, Kind
from evosdc.metrics.counts import shares
from evosdc.metrics.data import Categorical
from evosdc.metrics.deadline import (
    INTERRUPTED,
    NO_TIME,
    OutOfTimeError,
    check_time,
)
from evosdc.metrics.divergence import jensen_shannon
from evosdc.metrics.memorisation_tests import FreshTest
from evosdc.metrics.numeric_comparison import NumberComparison


@dataclass(frozen=True)
class MetricValue:
    """One metric of one synthetic file, with what to read it by.

    `baselines` holds the same metric of other files: "original" (itself released),
    "bootstrap" (it drawn with replacement), "independent" (each variable by itself),
    "holdout" (other people of the population), and what the metric itself offers
    ("univariate", "chance").
    """

    name: str
    title: str
    kind: Kind
    goal: Goal
    range: tuple[float, float]
    source: str
    value: float
    baselines: Mapping[str, float]
    breakdown: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Margin:
    """One variable in both files: the share of each level."""

    name: str
    labels: tuple[str, ...]
    original: tuple[float, ...]
    synthetic: tuple[float, ...]


@dataclass(frozen=True)
class PairGap:
    """Two variables: the Jensen-Shannon distance of their table."""

    first: str
    second: str
    distance: float


@dataclass(frozen=True)
class Comparisons:
    """Univariate and bivariate comparisons for the report."""

    margins: tuple[Margin, ...]
    pairs: tuple[PairGap, ...]


@dataclass(frozen=True)
class Measurements:
    """Utility and risk of a synthetic file, and what was not protected.

    Attributes
    ----------
    values
        The metrics, utility before risk.
    skipped
        Metrics that could not be computed, each with the reason.
    plain_words
        What was *not* protected or not tested, a sentence each.
    reasons
        What speaks against a release: the tests that failed or were not made, a
        sentence each.
    risk
        The four risks that a search limits, as shares (see
        `evosdc.metrics.attribution.risk_figures`).
    target_in_classes
        Whether the target is a number of many values, taken in classes.
    tests
        The attacks that the verdict rests on, each compared with a fresh sample.
    left_out
        Columns of the original that were not compared, and why.
    numbers
        Columns of numbers compared by their values, not in bins.
    """

    values: tuple[MetricValue, ...]
    skipped: tuple[tuple[str, str], ...]
    plain_words: tuple[str, ...]
    reasons: tuple[str, ...]
    tests: tuple[FreshTest, ...]
    risk: Mapping[str, float]
    target_in_classes: bool
    comparisons: Comparisons
    names: tuple[str, ...]
    key: tuple[str, ...]
    target: str
    rows: int
    synthetic_rows: int
    holdout_rows: int | None
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    numbers: NumberComparison = field(default_factory=NumberComparison)

    def __getitem__(self, name: str) -> MetricValue:
        """Return a metric by name."""
        for value in self.values:
            if value.name == name:
                return value
        known = ", ".join(value.name for value in self.values)
        raise InputError(f"no metric {name!r} here", expected=f"one of {known}")

    @property
    def not_measured(self) -> tuple[str, ...]:
        """What there was no time for."""
        late = (NO_TIME, INTERRUPTED)
        return tuple(name for name, reason in self.skipped if reason in late)

    def summary(self) -> dict[str, Any]:
        """Return what was found as plain values."""
        return {
            "reasons": list(self.reasons),
            "tests": [
                {
                    "name": test.name,
                    "against": test.against,
                    "synthetic": test.value,
                    "fresh": test.usual,
                    "most_by_chance": test.bound,
                    "passed": test.passed,
                }
                for test in self.tests
            ],
            "risk": dict(self.risk),
            "not_protected": list(self.plain_words),
            "key": list(self.key),
            "target": self.target,
            "left_out": dict(self.left_out),
            "rows": self.rows,
            "synthetic_rows": self.synthetic_rows,
            "holdout_rows": self.holdout_rows,
            "seed": self.seed,
            "metrics": {
                value.name: {
                    "value": value.value,
                    "kind": value.kind,
                    "goal": value.goal,
                    "baselines": dict(value.baselines),
                }
                for value in self.values
            },
            "numbers": self.numbers.to_dict(),
            "skipped": dict(self.skipped),
            "not_measured": list(self.not_measured),
        }


def compare(original: Categorical, synthetic: Categorical) -> Comparisons:
    """Return the margins of both files and the distance of every pair.

    There are no pairs where there is no time for all of them.
    """
    columns = range(original.columns)
    pairs = []
    try:
        for j, k in combinations(columns, 2):
            check_time()
            gap = jensen_shannon(*shares(original, synthetic, (j, k)))
            pairs.append(PairGap(original.names[j], original.names[k], gap))
    except OutOfTimeError:
        pairs = []
    margins = tuple(_margin(original, synthetic, j) for j in columns)
    return Comparisons(margins, tuple(pairs))


def _margin(original: Categorical, synthetic: Categorical, column: int) -> Margin:
    size = original.levels[column]
    a, b = (
        np.bincount(data.codes[:, column], minlength=size) / data.rows
        for data in (original, synthetic)
    )
    seen = np.flatnonzero(a + b)
    labels = original.labels[column]
    return Margin(
        name=original.names[column],
        labels=tuple(labels[i] for i in seen),
        original=tuple(float(a[i]) for i in seen),
        synthetic=tuple(float(b[i]) for i in seen),
    )
