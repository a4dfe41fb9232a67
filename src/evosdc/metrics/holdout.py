"""Tests against a hold-out: does the synthetic file know who was in the data?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.metrics.base import Breakdown, Metric
from evosdc.metrics.counts import distinct_rows
from evosdc.metrics.data import Categorical

Floats = NDArray[np.float64]
Distance = Literal["hamming", "gower"]


def distances(queries: Categorical, data: Categorical, kind: Distance) -> Floats:
    """Return the distance of each query to its nearest record, in variables.

    Hamming counts the variables that differ; Gower takes an ordered variable by its
    difference over its range.
    """
    step = _steps(data) if kind == "gower" else np.zeros(data.columns)
    asked, (places,) = distinct_rows((queries,), range(queries.columns))
    known, _ = distinct_rows((data,), range(data.columns))
    found = nearest_distance(
        _separate_missing(asked, data), _separate_missing(known, data), step
    )
    return np.asarray(found)[places]


@kernel
def nearest_distance(
    queries: NDArray[np.int32],
    data: NDArray[np.int32],
    step: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the distance of each query to its nearest record.

    A variable with `step` 0 adds 1 where the codes differ, any other adds `step` times
    their difference, at most 1.
    """
    number, width = queries.shape
    out = np.empty(number)
    for i in range(number):
        best = float(width) + 1.0
        for r in range(data.shape[0]):
            total = 0.0
            for j in range(width):
                gap = abs(queries[i, j] - data[r, j])
                if gap != 0:
                    total += 1.0 if step[j] == 0.0 else min(1.0, gap * step[j])
                    if total >= best:
                        break
            if total < best:
                best = total
                if best == 0.0:
                    break
        out[i] = best
    return out


def _steps(data: Categorical) -> Floats:
    """Return what one step of a code is worth; 0 where any difference counts 1."""
    known = np.array(data.levels) - np.array(data.missing)
    return np.array(
        [
            1 / (size - 1) if ordered and size > 1 else 0.0
            for size, ordered in zip(known, data.ordered, strict=True)
        ]
    )


def _separate_missing(codes: NDArray[np.int32], data: Categorical) -> NDArray[np.int32]:
    """Move the code of a missing value far from every known one."""
    for j, size in enumerate(data.levels):
        if data.missing[j]:
            codes[codes[:, j] == size - 1, j] = 2 * size
    return codes


def _middle_ranks(values: Floats) -> tuple[Floats, Floats]:
    """Return ranks from 1, tied values sharing their mean, and the sizes of ties."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[places], counts.astype(float)


def _area_error(first: int, second: int, ties: Floats) -> float:
    """Return the standard error by chance of an area under the curve.

    Tied distances, of which a file of few variables has many, lower it (Mann-Whitney
    with the correction for ties).
    """
    total = first + second
    lost = float((ties**3 - ties).sum()) / (total * max(total - 1, 1))
    return float(np.sqrt(max(total + 1 - lost, 0.0) / (12 * first * second)))


def sample(data: Categorical, size: int, rng: np.random.Generator) -> Categorical:
    """Return `size` records drawn without replacement, or all where there are fewer."""
    if data.rows <= size:
        return data
    return data.take(np.sort(rng.choice(data.rows, size, replace=False)))


@dataclass(frozen=True, eq=False)
class HoldoutMetric(Metric):
    """A test that compares the original with people who were not in it.

    Parameters
    ----------
    holdout
        Records of the same population that the synthesiser did not see, encoded
        together with the two files.
    distance
        "hamming" or "gower".
    max_records
        Larger samples are reduced to this many records.
    seed
        Seed of the samples: original and hold-out are made equally large.
    """

    holdout: Categorical
    distance: Distance = "hamming"
    max_records: int = 5000
    seed: int = 0

    kind = "risk"
    goal = "minimise"
    against_holdout = True

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return the test against the hold-out, if there is one."""
        return [] if holdout is None else [cls(holdout, seed=seed)]

    def references(
        self, original: Categorical, synthetic: Categorical
    ) -> dict[str, float]:
        """Return the value of a synthetic file that is independent of the original."""
        del original, synthetic
        return {"chance": 0.5}


@dataclass(frozen=True, eq=False)
class NearerShare(HoldoutMetric):
    """Share of synthetic records nearer to the original than to the hold-out.

    A tie counts a half. One half says that the original is no nearer than other people
    of the same population; more is memory.
    """

    source = (
        "Platzer and Reutterer (2021), Holdout-based empirical assessment of "
        "mixed-type synthetic data, Frontiers in Big Data 4; Gower (1971), Biometrics "
        "27(4)"
    )

    @classmethod
    def variants(cls, *, holdout: Categorical | None, seed: int) -> Sequence[Self]:
        """Return the test by either distance, if there is a hold-out."""
        if holdout is None:
            return []
        return [cls(holdout, distance, seed=seed) for distance in get_args(Distance)]

    @property
    def name(self) -> str:
        """The short name."""
        return f"nearer_share_{self.distance}"

    @property
    def title(self) -> str:
        """What is measured."""
        return f"Share nearer to the original than to the hold-out ({self.distance})"

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the share, its standard error and the mean distances."""
        rng = np.random.default_rng(self.seed)
        size = min(original.rows, self.holdout.rows)
        members, others = sample(original, size, rng), sample(self.holdout, size, rng)
        queries = sample(synthetic, self.max_records, rng)
        near = distances(queries, members, self.distance)
        far = distances(queries, others, self.distance)
        # Sums of fractions tie up to rounding.
        tied = np.abs(near - far) < 1e-9
        score = np.where(tied, 0.5, near < far)
        share = float(score.mean())
        return share, [
            ("share nearer", share),
            ("standard error", float(score.std() / np.sqrt(len(score)))),
            ("mean distance to the original", float(near.mean())),
            ("mean distance to the hold-out", float(far.mean())),
            ("share identical to an original record", float((near < 1e-9).mean())),
            ("share identical to a hold-out record", float((far < 1e-9).mean())),
        ]


@dataclass(frozen=True, eq=False)
class MembershipAuc(HoldoutMetric):
    """Membership test: can people in the data be recognised?

    The area under the curve of guessing membership by the distance to the nearest
    synthetic record: one half is chance, 1 certainty.
    """

    name = "membership_auc"
    title = "Membership test, area under the curve"
    source = (
        "Hayes et al. (2019), PoPETs 2019(1); van Breugel et al. (2023), AISTATS; Mann "
        "and Whitney (1947), Annals of Mathematical Statistics 18(1)"
    )

    def measure(
        self, original: Categorical, synthetic: Categorical
    ) -> tuple[float, Breakdown]:
        """Return the area, its standard error by chance and the mean distances."""
        rng = np.random.default_rng(self.seed)
        size = min(original.rows, self.holdout.rows, self.max_records)
        members, others = sample(original, size, rng), sample(self.holdout, size, rng)
        near = distances(members, synthetic, self.distance)
        far = distances(others, synthetic, self.distance)
        ranks, ties = _middle_ranks(-np.round(np.concatenate([near, far]), 9))
        a, b = len(near), len(far)
        area = (float(ranks[:a].sum()) - a * (a + 1) / 2) / (a * b)
        return area, [
            ("area under the curve", area),
            ("standard error", _area_error(a, b, ties)),
            ("mean distance of members", float(near.mean())),
            ("mean distance of others", float(far.mean())),
        ]
