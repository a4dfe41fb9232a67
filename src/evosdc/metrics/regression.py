"""An analyst's model: a logistic regression fitted to both files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.base import Breakdown, MeanOfParts
from evosdc.metrics.counts import distinct_rows, levels_used
from evosdc.metrics.data import Categorical
from evosdc.metrics.logistic import build_design, fit_logistic

Floats = NDArray[np.float64]

# A coefficient with a larger standard error is one the data do not determine.
_UNDETERMINED = 10.0
# Of larger files a seeded sample is modelled; the metrics' titles say so.
_MAX_RECORDS = 100_000
_SAMPLED = f"(at most {_MAX_RECORDS:,} records of each file)"


@dataclass(frozen=True, eq=False)
class ModelPair:
    """The model of one level of the target, fitted to either file.

    `logits` are the predictions for the original's records, by distinct record with
    `weights`; coefficients are given for the columns both files determine.
    """

    outcome: str
    names: tuple[str, ...]
    original: Floats
    original_errors: Floats
    synthetic: Floats
    synthetic_errors: Floats
    original_logits: Floats
    synthetic_logits: Floats
    weights: Floats


@dataclass(frozen=True)
class ModelMetric(MeanOfParts):
    """Logistic regression of the target on all other variables, main effects.

    A target of more than two levels is taken one level against the rest.

    Parameters
    ----------
    min_count
        A level of the target (and its complement) needs so many records in each file.
    max_outcomes
        The most frequent levels of the target that are modelled.
    max_parameters
        A model with more parameters is not fitted.
    """

    min_count: int = 10
    max_outcomes: int = 10
    max_parameters: int = 600

    def models(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[ModelPair, ...]:
        """Fit the models, once for all metrics that look at them."""
        return _models(original, synthetic, self.min_count, self.max_outcomes)

    def why_not(self, original: Categorical, synthetic: Categorical) -> str:
        """There must be predictors, not too many, and a level to predict."""
        used = [size - 1 for size in levels_used(original, synthetic)]
        del used[original.target]
        if not sum(used):
            return "there is nothing to predict the target from"
        if 1 + sum(used) > self.max_parameters:
            return (
                f"the model has {1 + sum(used)} parameters, "
                f"more than {self.max_parameters}"
            )
        if not _outcomes(original, synthetic, self.min_count, self.max_outcomes):
            return (
                f"no level of the target has {self.min_count} records on either side "
                "in both files"
            )
        return ""

    @property
    def slowness(self) -> int:
        """Models take longer than tables."""
        return 4

    @staticmethod
    def forget() -> None:
        """Drop the fits, and with them the files they came from."""
        _models.cache_clear()


@dataclass(frozen=True)
class CiOverlap(ModelMetric):
    """Mean overlap of the 95 % confidence intervals of the coefficients.

    The overlap of two intervals is the mean of its share of either; intervals that do
    not meet count 0.
    """

    name = "ci_overlap"
    title = f"Confidence interval overlap of a logistic model {_SAMPLED}"
    title = f"Confidence interval overlap of a logistic model {_SAMPLED}"
    goal = "maximise"
    source = "Karr et al. (2006), The American Statistician 60(3)"

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the overlap of each coefficient."""
        return [
            (f"{model.outcome}: {name}", value)
            for model in self.models(original, synthetic)
            for name, value in zip(model.names, _overlaps(model), strict=True)
        ]


def _overlaps(model: ModelPair) -> list[float]:
    half_a, half_b = 1.959964 * model.original_errors, 1.959964 * model.synthetic_errors
    low = np.maximum(model.original - half_a, model.synthetic - half_b)
    high = np.minimum(model.original + half_a, model.synthetic + half_b)
    common = np.maximum(0.0, high - low)
    return [float(v) for v in (common / (2 * half_a) + common / (2 * half_b)) / 2]


@dataclass(frozen=True)
class CoefficientDifference(ModelMetric):
    """Mean absolute difference of the coefficients that both files determine."""

    name = "coefficients"
    title = f"Mean absolute difference of logistic coefficients {_SAMPLED}"
    title = f"Mean absolute difference of logistic coefficients {_SAMPLED}"
    range = (0.0, float("inf"))
    source = "Snoke et al. (2018), JRSS A 181(3), section 3"

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the absolute difference of each coefficient."""
        return [
            (f"{model.outcome}: {name}", abs(float(a - b)))
            for model in self.models(original, synthetic)
            for name, a, b in zip(
                model.names, model.original, model.synthetic, strict=True
            )
        ]


@dataclass(frozen=True)
class LogitCorrelation(ModelMetric):
    """Correlation of the logits both models predict for the original's records."""

    name = "logit_correlation"
    title = f"Correlation of predicted logits {_SAMPLED}"
    title = f"Correlation of predicted logits {_SAMPLED}"
    goal = "maximise"
    range = (-1.0, 1.0)
    source = "Chen (2020), section 4.7.3"

    def parts(self, original: Categorical, synthetic: Categorical) -> Breakdown:
        """Return the correlation of each model."""
        return [
            (model.outcome, _correlation(model))
            for model in self.models(original, synthetic)
        ]


def _correlation(model: ModelPair) -> float:
    weights = model.weights / model.weights.sum()
    a = model.original_logits - weights @ model.original_logits
    b = model.synthetic_logits - weights @ model.synthetic_logits
    scale = np.sqrt((weights @ a**2) * (weights @ b**2))
    # A model that predicts one value for all says nothing about the other.
    return float((weights @ (a * b)) / scale) if scale > 0 else 0.0


def _outcomes(
    original: Categorical, synthetic: Categorical, min_count: int, limit: int
) -> list[int]:
    size = original.levels[original.target]
    a = np.bincount(original.codes[:, original.target], minlength=size)
    b = np.bincount(synthetic.codes[:, original.target], minlength=size)
    smallest = np.minimum(
        np.minimum(a, original.rows - a), np.minimum(b, synthetic.rows - b)
    )
    usable = [int(v) for v in np.argsort(-a, kind="stable") if smallest[v] >= min_count]
    # Two levels that are each other's complement give one model.
    return (
        usable[:1] if len(usable) == 2 and np.count_nonzero(a) == 2 else usable[:limit]
    )


def _sampled(data: Categorical) -> Categorical:
    if data.rows <= _MAX_RECORDS:
        return data
    rows = np.random.default_rng(0).permutation(data.rows)[:_MAX_RECORDS]
    return data.take(rows)


def _hits(places: NDArray[np.intp], correct: NDArray[np.bool_], number: int) -> Floats:
    return np.bincount(places[correct], minlength=number).astype(float)


# Three metrics look at the same models of a synthetic file and its four baselines.
@lru_cache(maxsize=5)
def _models(
    original: Categorical, synthetic: Categorical, min_count: int, limit: int
) -> tuple[ModelPair, ...]:
    original, synthetic = _sampled(original), _sampled(synthetic)
    target = original.target
    predictors = [j for j in range(original.columns) if j != target]
    codes, sides = distinct_rows((original, synthetic), predictors)
    design = build_design(
        codes,
        [original.names[j] for j in predictors],
        [original.labels[j] for j in predictors],
        [int(np.bincount(original.codes[:, j]).argmax()) for j in predictors],
    )
    trials = [np.bincount(s, minlength=len(codes)).astype(float) for s in sides]
    pairs = []
    for outcome in _outcomes(original, synthetic, min_count, limit):
        fits = [
            fit_logistic(
                design,
                _hits(side, data.codes[:, target] == outcome, len(codes)),
                tried,
            )
            for side, data, tried in zip(
                sides, (original, synthetic), trials, strict=True
            )
        ]
        first, second = fits
        known = np.flatnonzero(
            (first.errors < _UNDETERMINED) & (second.errors < _UNDETERMINED)
        )
        seen = trials[0] > 0
        label = original.labels[target][outcome]
        pairs.append(
            ModelPair(
                outcome=f"{original.names[target]}={label}",
                names=tuple(design.names[j] for j in known),
                original=first.coefficients[known],
                original_errors=first.errors[known],
                synthetic=second.coefficients[known],
                synthetic_errors=second.errors[known],
                original_logits=first.logits(design)[seen],
                synthetic_logits=second.logits(design)[seen],
                weights=trials[0][seen],
            )
        )
    return tuple(pairs)
