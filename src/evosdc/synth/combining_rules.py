"""Several copies: estimates combined so that their uncertainty is honest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evosdc.errors import InputError


@dataclass(frozen=True)
class Combined:
    """A combined estimate, its variance and its degrees of freedom."""

    estimate: float
    variance: float
    degrees: float


def combine_estimates(
    estimates: ArrayLike, variances: ArrayLike, kind: str = "complete"
) -> Combined:
    """Combine the estimates of one quantity from several synthetic copies.

    Parameters
    ----------
    estimates, variances
        One estimate and its variance from each copy.
    kind
        "partial" for partially synthetic data (Reiter 2003), "full" for fully
        synthetic data (Raghunathan, Reiter and Rubin 2003), "complete" where all
        records were replaced by as many synthetic ones (Raab, Nowok and Dibben 2016),
        the only rule that works for one copy.
    """
    q = np.asarray(estimates, float)
    v = np.asarray(variances, float)
    m = len(q)
    if m == 0 or len(v) != m:
        raise InputError(
            f"there are {m} estimates and {len(v)} variances",
            expected="one of each from every copy",
        )
    if kind not in ("partial", "full", "complete"):
        raise InputError(
            f"unknown combining rule {kind!r}", expected="partial, full or complete"
        )
    if m == 1 and kind != "complete":
        raise InputError(
            f"the {kind!r} rule needs several copies; there is one",
            hint="ask for more copies or use the rule 'complete'",
        )
    inner = float(v.mean())
    if kind == "complete":
        return Combined(float(q.mean()), inner * (1.0 + 1.0 / m), np.inf)
    between = float(q.var(ddof=1))
    if kind == "partial":
        total = inner + between / m
        ratio = inner / (between / m) if between > 0 else np.inf
        return Combined(float(q.mean()), total, float((m - 1) * (1 + ratio) ** 2))
    total = (1.0 + 1.0 / m) * between - inner
    if total <= 0:
        # The estimator may be negative by chance; Reiter (2002) puts a positive one
        # in its place: the variance within copies.
        return Combined(float(q.mean()), inner, np.inf)
    ratio = inner / ((1.0 + 1.0 / m) * between)
    return Combined(float(q.mean()), total, float((m - 1) * (1 - ratio) ** 2))
