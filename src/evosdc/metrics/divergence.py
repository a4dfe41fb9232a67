"""Distances between the tables of two files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import rel_entr

from evosdc.metrics.base import Breakdown, MeanOfParts
from evosdc.metrics.counts import cell_counts, shares, tables
from evosdc.metrics.data import Categorical
from evosdc.metrics.deadline import check_time

Shares = NDArray[np.float64]


def jensen_shannon(p: Shares, q: Shares) -> float:
    """Return the square root of the Jensen-Shannon divergence in bits."""
    middle = (p + q) / 2
    bits = float(rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / np.log(2)
    return float(np.sqrt(max(0.0, bits / 2)))


def total_variation(p: Shares, q: Shares) -> float:
    """Return the largest difference of probability of any event."""
    return float(np.abs(p - q).sum() / 2)


@dataclass(frozen=True)
class TableMetric(MeanOfParts):
    """A mean over tables: all of `ways` variables, or the one of all variables.

    Beyond `limit` tables a random `limit` of them, drawn with `seed`, is taken; fewer,
    but at least 20, where counting them would read more than `budget` records.
    """

    ways: int | Literal["full"] = 2
    limit: int = 1500
    seed: int = 0
    budget: int = 200_000_000

    stem: ClassVar[str]
    label: ClassVar[str]
    ways_measured: ClassVar[tuple[int | Literal["full"], ...]] = (1, 2)

    @property
    def name(self) -> str:
        """The stem and the number of variables of a table."""
        return f"{self.stem}_{self.ways}"

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return one metric for tables of each number of variables."""
        del holdout
        return [
            cls(ways) if ways == "full" else cls(ways, seed=seed)
            for ways in cls.ways_measured
        ]

    @property
    def slowness(self) -> int:
        """Tables of three and four variables are many."""
        return 3 if self.kind == "utility" and self.ways in (3, 4) else super().slowness

    @property
    def title(self) -> str:
        """The label and the tables."""
        which = "full table" if self.ways == "full" else f"{self.ways}-way tables"
        return f"{self.label}, {which}"

    @abstractmethod
    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the value of one table."""

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """A table needs as many variables as it has ways."""
        del synthetic
        if self.ways != "full" and original.columns < self.ways:
            return f"needs {self.ways} variables, the files have {original.columns}"
        return ""

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the value of each table."""
        everything = tuple(range(original.columns))
        affordable = max(20, self.budget // (original.rows + synthetic.rows))
        limit = min(self.limit, affordable)
        chosen = (
            [everything]
            if self.ways == "full"
            else tables(original.columns, self.ways, limit, self.seed)
        )
        parts: Breakdown = []
        for columns in chosen:
            check_time()
            names = " x ".join(original.names[j] for j in columns)
            value = self.of_table(original, synthetic, columns)
            parts.append(("all variables" if self.ways == "full" else names, value))
        return parts


@dataclass(frozen=True)
class JensenShannon(TableMetric):
    """Jensen-Shannon distance: the square root of the divergence with base 2."""

    stem = "jsd"
    ways_measured = (1, 2, 3, 4, "full")
    label = "Jensen-Shannon distance"
    source = (
        "Lin (1991), IEEE Trans. Inf. Theory 37(1); "
        "Chen (2020), PhD thesis, University of Manchester, section 4.7.1.3"
    )

    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the distance of one table."""
        return jensen_shannon(*shares(original, synthetic, columns))


@dataclass(frozen=True)
class TotalVariation(TableMetric):
    """Total variation distance: half the sum of absolute differences of shares."""

    stem = "tvd"
    ways_measured = (1, 2, 3, 4, "full")
    label = "Total variation distance"
    source = "Levin, Peres and Wilmer (2009), Markov Chains, section 4.1"

    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the distance of one table."""
        return total_variation(*shares(original, synthetic, columns))


@dataclass(frozen=True)
class RatioOfEstimates(TableMetric):
    """Ratio of counts: the smaller over the larger estimate of a cell.

    The mean over the cells that occur in either file: 1 where both files say the
    same, 0 for a cell that only one of them has. Files of different sizes are compared
    by shares.
    """

    goal = "maximise"
    stem = "roe"
    label = "Ratio of estimates"
    source = (
        "Taub, Elliot and Sakshaug (2017), UNECE Work Session on Statistical Data "
        "Confidentiality"
    )

    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the mean ratio of the cells of one table."""
        p, q = shares(original, synthetic, columns)
        return float((np.minimum(p, q) / np.maximum(p, q)).mean())


@dataclass(frozen=True)
class TablePropensity(TableMetric):
    """pMSE ratio of a saturated propensity model on each table.

    With a parameter per cell the fitted propensity is the synthetic share of the cell,
    so no model has to be fitted and interactions are seen however many variables there
    are. About 1 for data drawn from the right model.
    """

    range = (0.0, float("inf"))
    stem = "pmse_tables"
    label = "pMSE ratio of saturated models"
    source = (
        "Raab, Nowok and Dibben (2021), arXiv:2109.12717; Voas and Williamson (2001), "
        "Geographical and Environmental Modelling 5(2)"
    )

    def of_table(
        self, original: Categorical, synthetic: Categorical, columns: tuple[int, ...]
    ) -> float:
        """Return the ratio of one table, 0 where it has one cell only."""
        a, b = cell_counts(original, synthetic, columns)
        total = original.rows + synthetic.rows
        c = synthetic.rows / total
        score = float(((a + b) * (b / (a + b) - c) ** 2).sum()) / total
        expected = (len(a) - 1) * (1 - c) ** 2 * c / total
        return score / expected if expected else 0.0
