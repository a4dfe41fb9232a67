"""Propensity scores: can a model distinguish synthetic records from original ones?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from evosdc.errors import MissingExtraError
from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.counts import distinct_rows, levels_used
from evosdc.metrics.data import Categorical
from evosdc.metrics.deadline import check_time
from evosdc.metrics.logistic import Design, build_design, fit_logistic

Model = Literal["main", "interactions", "cart"]
Form = Literal["pmse", "ratio", "standardised"]
Floats = NDArray[np.float64]

# Records by indicator columns. A tree takes seconds beyond this, and its null needs
# one for each draw.
_TREE_ENTRIES = 5_000_000
_LOADING = 4.0


@dataclass(frozen=True)
class Propensity:
    """A propensity score with its mean and spread where the model were right."""

    pmse: float
    expected: float
    spread: float
    parameters: int

    @property
    def ratio(self) -> float:
        """The score by its expectation."""
        return self.pmse / self.expected if self.expected > 0 else 0.0

    @property
    def standardised(self) -> float:
        """The distance from the expectation in standard deviations."""
        return (self.pmse - self.expected) / self.spread if self.spread > 0 else 0.0


@dataclass(frozen=True)
class PropensityScore(Metric):
    """Mean squared error of the propensity score (pMSE), its ratio or standard form.

    Parameters
    ----------
    model
        "main": logistic, main effects; it sees the margins only. "interactions": also
        all products of two levels. "cart": a classification tree (scikit-learn).
    form
        "pmse": the plain score. "ratio": by its expectation, 1 for data from the right
        model. "standardised": less its expectation, in standard deviations.
    max_parameters
        A model with more parameters (a tree: with more columns) is not fitted.
    leaf
        Least number of records in a leaf of the tree.
    draws
        Permutations for the expectation of the tree's score.
    seed
        Seed of the permutations and of the tree.
    """

    model: Model = "main"
    form: Form = "pmse"
    max_parameters: int = 600
    leaf: int = 20
    draws: int = 10
    seed: int = 0

    kind = "utility"
    goal = "minimise"
    source = (
        "Woo et al. (2009), Journal of Privacy and Confidentiality 1(1); Snoke et al. "
        "(2018), Journal of the Royal Statistical Society A 181(3)"
    )

    @property
    def name(self) -> str:
        """The short name."""
        tail = "" if self.form == "pmse" else f"_{self.form}"
        return f"pmse_{self.model}{tail}"

    @property
    def title(self) -> str:
        """What is measured."""
        form = {"pmse": "", "ratio": " ratio", "standardised": ", standardised"}
        model = {
            "main": "main effects",
            "interactions": "two-way interactions",
            "cart": "classification tree",
        }
        return f"pMSE{form[self.form]} ({model[self.model]})"

    @property
    def range(self) -> tuple[float, float]:  # type: ignore[override]
        """The plain score is at most 1; the standard form may be below 0."""
        if self.form == "pmse":
            return (0.0, 1.0)
        return (0.0 if self.form == "ratio" else -float("inf"), float("inf"))

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """Some variable must vary, and the parameters must not be too many."""
        used = [size - 1 for size in levels_used(original, synthetic)]
        if not sum(used):
            return "no variable varies"
        entries = sum(used) * (original.rows + synthetic.rows)
        if self.model == "cart" and entries > _TREE_ENTRIES:
            return f"the tree has {entries:,} entries, more than {_TREE_ENTRIES:,}"
        count = 1 + sum(used)
        if self.model == "interactions":
            count += (sum(used) ** 2 - sum(u * u for u in used)) // 2
        if count > self.max_parameters:
            return f"the model has {count} parameters, more than {self.max_parameters}"
        return ""

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the score in the form asked for, then all three forms."""
        score = self.fit(original, synthetic)
        return float(getattr(score, self.form)), [
            ("pMSE", score.pmse),
            ("expected pMSE", score.expected),
            ("ratio", score.ratio),
            ("standardised", score.standardised),
            ("parameters", float(score.parameters)),
        ]

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return each model in each form."""
        del holdout
        return [
            cls(model, form, seed=seed)
            for model in get_args(Model)
            for form in get_args(Form)
        ]

    @property
    def slowness(self) -> int:
        """Main effects are quick to fit, interactions and trees slow."""
        return {"main": 2, "interactions": 5, "cart": 6}[self.model]

    @staticmethod
    def forget() -> None:
        """Drop the fits, and with them the files they came from."""
        _logistic_score.cache_clear()
        _tree_score.cache_clear()

    def fit(self, original: Categorical, synthetic: Categorical) -> Propensity:
        """Fit the model once for all forms."""
        if self.model == "cart":
            return _tree_score(original, synthetic, self.leaf, self.draws, self.seed)
        return _logistic_score(original, synthetic, self.model == "interactions")


# The three forms of one score share one fit; files compare by identity. The size holds
# a synthetic file and its four baselines.
@lru_cache(maxsize=5)
def _logistic_score(
    original: Categorical, synthetic: Categorical, interactions: bool
) -> Propensity:
    design, first, second = counted_rows(original, synthetic, interactions)
    trials = (first + second).astype(float)
    fit = fit_logistic(design, second.astype(float), trials)
    total = original.rows + synthetic.rows
    c = synthetic.rows / total
    score = _mean_square(expit(fit.logits(design)), trials, c)
    # Snoke et al. (2018): a scaled chi-square with rank - 1 degrees of freedom.
    unit = (1 - c) ** 2 * c / total
    free = fit.rank - 1
    return Propensity(score, free * unit, sqrt(2 * free) * unit, fit.rank)


def counted_rows(
    original: Categorical, synthetic: Categorical, interactions: bool
) -> tuple[Design, NDArray[np.int64], NDArray[np.int64]]:
    """Return the design of the distinct records and their counts in each file."""
    columns = range(original.columns)
    codes, places = distinct_rows((original, synthetic), columns)
    reference = [int(np.bincount(original.codes[:, j]).argmax()) for j in columns]
    design = build_design(
        codes, original.names, original.labels, reference, interactions=interactions
    )
    first, second = (np.bincount(place, minlength=len(codes)) for place in places)
    return design, first, second


def _mean_square(chance: Floats, trials: Floats, c: float) -> float:
    return float((trials * (chance - c) ** 2).sum() / trials.sum())


@lru_cache(maxsize=5)
def _tree_score(
    original: Categorical, synthetic: Categorical, leaf: int, draws: int, seed: int
) -> Propensity:
    design, first, second = counted_rows(original, synthetic, False)
    trials = first + second
    rng = np.random.default_rng(seed)
    score, leaves = _tree_pmse(design, second, trials, leaf, seed)
    # A tree adapts to noise, so its null is found by shuffling which file is which.
    # Shuffled files vary both; a synthetic file varies about a fixed original, which
    # leaves the share 1 - c of that (as for the logistic model above).
    fixed = original.rows / (original.rows + synthetic.rows)
    null = [
        _tree_pmse(
            design,
            rng.multivariate_hypergeometric(trials, synthetic.rows, method="marginals"),
            trials,
            leaf,
            seed,
        )[0]
        for _ in range(draws)
    ]
    expected, spread = fixed * np.mean(null), fixed * np.std(null, ddof=1)
    return Propensity(score, float(expected), float(spread), leaves)


def _tree_pmse(
    design: Design,
    successes: NDArray[np.int64],
    trials: NDArray[np.int64],
    leaf: int,
    seed: int,
) -> tuple[float, int]:
    # Loading the library on first use may take as long.
    check_time(0.0 if "sklearn.tree" in sys.modules else _LOADING)
    try:
        from sklearn.tree import DecisionTreeClassifier
    except ImportError as error:
        raise MissingExtraError("scikit-learn", "learn") from error
    # The first column is the intercept.
    rows = design.matrix[:, 1:].astype(np.float32).toarray()
    total = int(trials.sum())
    tree = DecisionTreeClassifier(
        min_weight_fraction_leaf=min(0.5, leaf / total), random_state=seed
    )
    weights = np.concatenate([trials - successes, successes])
    filled = weights > 0
    side = np.repeat([0, 1], len(trials))
    tree.fit(np.vstack([rows, rows])[filled], side[filled], weights[filled])
    chance = tree.predict_proba(rows)[:, 1]
    c = float(successes.sum()) / total
    return _mean_square(chance, trials.astype(float), c), int(tree.get_n_leaves())
