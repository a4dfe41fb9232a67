"""What a metric is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from evosdc.metrics.data import Categorical

Goal = Literal["minimise", "maximise"]
Kind = Literal["utility", "risk"]
Breakdown = list[tuple[str, float]]


class Metric(ABC):
    """One number about a synthetic file, with its goal, its range and its parts.

    Subclasses are frozen dataclasses of their parameters. `source` cites the
    definition; `name` is unique among the metrics of the registry.
    """

    kind: ClassVar[Kind]
    goal: ClassVar[Goal]
    source: ClassVar[str]
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    # Whether values count as they are in the file; otherwise numbers are in bins.
    exact: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The short name, for files and the command line."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is measured, in a few words."""

    @abstractmethod
    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the value."""

    @abstractmethod
    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the parts the value is made of, and figures to read it by."""

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the value and its parts; at once where one is made of the other."""
        return self.compute(original, synthetic), self.breakdown(original, synthetic)

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """Return why the metric cannot be computed on these files, or nothing."""
        del original, synthetic
        return ""

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return values to hold this one against that need no other file."""
        del original, synthetic
        return {}


def mean(parts: Breakdown) -> float:
    """Return the mean of the values of a breakdown, 0 where it is empty."""
    return sum(value for _, value in parts) / len(parts) if parts else 0.0
