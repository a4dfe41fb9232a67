"""What a metric is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Literal, Self

from evosdc.metrics.data import Categorical

Goal = Literal["minimise", "maximise"]
Kind = Literal["utility", "risk"]
Breakdown = list[tuple[str, float]]


class Metric(ABC):
    """One number about a synthetic file, with its goal, its range and its parts.

    Subclasses are frozen dataclasses of their parameters. `source` cites the
    definition; `name` is unique among the metrics of the registry.

    Attributes
    ----------
    range
        The smallest and the largest value.
    exact
        Whether the metric sees values as they are in the file; otherwise numbers are
        in bins.
    against_holdout
        Whether it compares with a hold-out, so that the hold-out has no value itself.
    """

    kind: ClassVar[Kind]
    goal: ClassVar[Goal]
    source: ClassVar[str]
    range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    exact: ClassVar[bool] = False
    against_holdout: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The short name, for files and the command line."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What is measured, in a few words."""

    @abstractmethod
    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the value, the parts it is made of, and figures to read it by."""

    def compute(self, original: Categorical, synthetic: Categorical) -> float:
        """Return the value."""
        return self.measure(original, synthetic)[0]

    def breakdown(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the parts."""
        return self.measure(original, synthetic)[1]

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """Return why the metric cannot be computed on these files, or nothing."""
        del original, synthetic
        return ""

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return values to compare with that need no other file."""
        del original, synthetic
        return {}

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return the metrics of this class that an evaluation measures."""
        del holdout, seed
        return (cls(),)

    @property
    def slowness(self) -> int:
        """When it is measured: 0 and 1 first with their baselines, then the others.

        Higher numbers are for models and for tables of many variables.
        """
        return 0 if self.kind == "risk" else 1

    @staticmethod  # noqa: B027
    def forget() -> None:
        """Drop what was kept from one measure to the next."""


class MeanOfParts(Metric):
    """A metric of utility that is the mean of its parts."""

    kind: ClassVar[Kind] = "utility"
    goal: ClassVar[Goal] = "minimise"

    @abstractmethod
    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the value of each part."""

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the mean and the parts; 0 where there are none."""
        found = self.parts(original, synthetic)
        value = sum(part for _, part in found) / len(found) if found else 0.0
        return value, found
