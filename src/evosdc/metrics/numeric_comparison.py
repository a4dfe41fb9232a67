"""Numeric columns compared: moments, quantiles, distances, correlations.

Metrics on tables see numbers in bins; a copy may be right in every bin and wrong in
every mean. These figures look at the values themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.frames import to_arrow
from evosdc.metrics.binning import as_numbers, is_number
from evosdc.metrics.coded_numbers import as_coded, coded_numbers

Floats = NDArray[np.float64]

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
_MIN_VALUES = 3


@dataclass(frozen=True)
class NumberGap:
    """One column of numbers in both files.

    Attributes
    ----------
    original, synthetic
        Mean, standard deviation and quantiles, by name.
    errors
        The difference of the means, in standard errors of the original's.
    spread
        The standard deviation of the copy as a multiple of the original's.
    ks
        The Kolmogorov-Smirnov distance: the largest gap between shares up to a value.
    wasserstein
        How far values have to move on average, in standard deviations.
    """

    name: str
    original: Mapping[str, float]
    synthetic: Mapping[str, float]
    errors: float
    spread: float
    ks: float
    wasserstein: float


@dataclass(frozen=True)
class AssociationGap:
    """A correlation of two columns, or a coefficient of one on another, in both."""

    first: str
    second: str
    original: float
    synthetic: float

    @property
    def gap(self) -> float:
        """The absolute difference."""
        return abs(self.original - self.synthetic)


@dataclass(frozen=True)
class NumberComparison:
    """All columns of numbers, their correlations, and regressions on each other.

    Coefficients are of standardised columns: each column on all others.
    """

    columns: tuple[NumberGap, ...] = ()
    correlations: tuple[AssociationGap, ...] = ()
    coefficients: tuple[AssociationGap, ...] = ()

    def worst(self) -> dict[str, float]:
        """Return the largest gap of each kind."""
        return {
            "mean_in_standard_errors": _largest(abs(c.errors) for c in self.columns),
            "sd_ratio_off": _largest(abs(c.spread - 1.0) for c in self.columns),
            "kolmogorov_smirnov": _largest(c.ks for c in self.columns),
            "wasserstein": _largest(c.wasserstein for c in self.columns),
            "correlation": _largest(c.gap for c in self.correlations),
            "coefficient": _largest(c.gap for c in self.coefficients),
        }

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "worst": self.worst(),
            "columns": [
                {
                    **vars(c),
                    "original": dict(c.original),
                    "synthetic": dict(c.synthetic),
                }
                for c in self.columns
            ],
            "correlations": [vars(c) for c in self.correlations],
            "coefficients": [vars(c) for c in self.coefficients],
        }


def compare_numbers(original: Any, synthetic: Any) -> NumberComparison:
    """Compare the columns of numbers of two frames by their values."""
    one, two = to_arrow(original), to_arrow(synthetic)
    mine: dict[str, Floats] = {}
    theirs: dict[str, Floats] = {}
    for name in one.column_names:
        if name not in two.column_names:
            continue
        pair = _numbers(one.column(name), two.column(name))
        if pair is not None:
            mine[name], theirs[name] = pair
    columns = [_gap(name, mine[name], theirs[name]) for name in mine]
    return NumberComparison(
        tuple(c for c in columns if c is not None),
        _correlations(mine, theirs),
        _coefficients(mine, theirs),
    )


def _numbers(
    one: pa.ChunkedArray, two: pa.ChunkedArray
) -> tuple[Floats, Floats] | None:
    if pa.types.is_temporal(one.type) or pa.types.is_temporal(two.type):
        return None
    if is_number(one.type) and is_number(two.type):
        return as_numbers(one), as_numbers(two)
    coded = coded_numbers(one)
    if coded is None:
        return None
    return coded.numbers, as_coded(two, coded.labels).numbers


def _gap(name: str, one: Floats, two: Floats) -> NumberGap | None:
    a, b = (x[np.isfinite(x)] for x in (one, two))
    if len(a) < _MIN_VALUES or len(b) < _MIN_VALUES:
        return None
    sd = float(a.std())
    error = sd / np.sqrt(len(a))
    difference = float(b.mean() - a.mean())
    # A column that never changes has no spread to measure by.
    ratio = float(b.std()) / sd if sd > 0 else 1.0 + float(b.std() > 0)
    grid = np.sort(np.concatenate([a, b]))
    below = [np.searchsorted(np.sort(x), grid, "right") / len(x) for x in (a, b)]
    gaps = np.abs(below[0] - below[1])
    moved = float((gaps[:-1] * np.diff(grid)).sum())
    return NumberGap(
        name,
        _moments(a),
        _moments(b),
        difference / error if error > 0 else (0.0 if difference == 0 else float("inf")),
        ratio,
        float(gaps.max()),
        moved / sd if sd > 0 else moved,
    )


def _moments(x: Floats) -> dict[str, float]:
    out = {"mean": float(x.mean()), "sd": float(x.std())}
    for q, value in zip(QUANTILES, np.quantile(x, QUANTILES), strict=True):
        out[f"q{round(100 * q)}"] = float(value)
    return out


def _correlations(
    mine: Mapping[str, Floats], theirs: Mapping[str, Floats]
) -> tuple[AssociationGap, ...]:
    names = list(mine)
    out = []
    for j, first in enumerate(names):
        for second in names[j + 1 :]:
            pair = [_correlation(x[first], x[second]) for x in (mine, theirs)]
            if not np.isnan(pair).any():
                out.append(AssociationGap(first, second, *pair))
    return tuple(out)


def _correlation(x: Floats, y: Floats) -> float:
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < _MIN_VALUES or x.std() == 0 or y.std() == 0:
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def _coefficients(
    mine: Mapping[str, Floats], theirs: Mapping[str, Floats]
) -> tuple[AssociationGap, ...]:
    """Regress each column on all others, where enough records have all of them."""
    files = []
    for columns in (mine, theirs):
        array = np.column_stack(list(columns.values())) if columns else np.zeros((0, 0))
        array = array[np.isfinite(array).all(axis=1)]
        many = array.shape[1]
        if many < 2 or len(array) <= 10 * many or (array.std(axis=0) == 0).any():
            return ()
        files.append((array - array.mean(axis=0)) / array.std(axis=0))
    names = list(mine)
    out = []
    for j, first in enumerate(names):
        others = [k for k in range(len(names)) if k != j]
        pair = [np.linalg.lstsq(x[:, others], x[:, j], rcond=1e-8)[0] for x in files]
        out += [
            AssociationGap(first, names[k], float(a), float(b))
            for k, a, b in zip(others, *pair, strict=True)
        ]
    return tuple(out)


def _largest(values: Any) -> float:
    return max(values, default=0.0)
