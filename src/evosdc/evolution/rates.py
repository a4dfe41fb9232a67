"""Rates of crossover and mutation: fixed, or adapted during the run.

A rate is computed for each individual (or pair) from the costs of the population, which
are minimised; it keeps no state between runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evosdc.arrays import Real


@dataclass(frozen=True)
class Moment:
    """The state of a run that rates depend on: costs of the population and progress.

    `held` counts generations since the best cost last fell; `share` is the share of the
    budget that is spent.
    """

    cost: Real
    generation: int = 0
    held: int = 0
    share: float = 0.0


class Rate(Protocol):
    """A probability for each individual of a population."""

    def of(self, moment: Moment) -> Real: ...


@dataclass(frozen=True)
class FixedRate:
    """The same rate for all individuals throughout the run."""

    rate: float

    def of(self, moment: Moment) -> Real:
        return np.full(len(moment.cost), self.rate)


@dataclass(frozen=True)
class Proportional:
    """``p = k f(X)``: the worse an individual, the more it changes (Chen 2020, 5.3).

    `f` is the individual's own cost, which lies between 0 and 1 in synthesis.
    """

    k: float

    def of(self, moment: Moment) -> Real:
        return np.clip(self.k * moment.cost, 0.0, 1.0)


def _from_best(k: float, cost: Real) -> Real | None:
    """``k (d - d_min) / (mean - d_min)`` for each cost, None where all are equal."""
    best, mean = float(cost.min()), float(cost.mean())
    return None if mean <= best else k * (cost - best) / (mean - best)


@dataclass(frozen=True)
class SrinivasPatnaik:
    """Low rates for good individuals, high ones for others (Srinivas, Patnaik 1994).

    An individual better than the mean gets `k` scaled by its distance from the best,
    others get `k_worse`; `floor` keeps the best one moving.
    """

    k: float
    k_worse: float
    floor: float = 0.0

    def of(self, moment: Moment) -> Real:
        cost = moment.cost
        scaled = _from_best(self.k, cost)
        if scaled is None:
            return np.full(len(cost), self.k_worse)
        rate = np.where(cost <= cost.mean(), scaled, self.k_worse)
        return np.clip(rate, self.floor, 1.0)


@dataclass(frozen=True)
class Relative:
    """``p = k (d - d_min) / (mean - d_min)``, at most 1 (Chen 2020, section 4.6.1).

    The form that the thesis gives Srinivas and Patnaik's rate for costs: it goes on
    rising beyond the mean, and the best individual never changes.
    """

    k: float

    def of(self, moment: Moment) -> Real:
        scaled = _from_best(self.k, moment.cost)
        return np.zeros(len(moment.cost)) if scaled is None else np.clip(scaled, 0, 1)


@dataclass(frozen=True)
class WorseThanMean:
    """``p = l |mean - f|`` for those worse than the mean, else 0 (Thierens 2002).

    Chen (2020), section 4.6.2, the first of two approaches.
    """

    scale: float

    def of(self, moment: Moment) -> Real:
        excess = moment.cost - moment.cost.mean()
        return np.clip(self.scale * np.maximum(excess, 0.0), 0.0, 1.0)


@dataclass(frozen=True)
class Hyperbolic:
    """``p = 1 / (2 + (l - 2) t / (T - 1))``: from a half to ``1 / l`` along the run.

    Chen (2020), section 4.6.2, the second approach of Thierens (2002), who has it from
    Baeck and Schuetz (1996): `length` is the number of elements, T that of all
    generations. The thesis calls T those "run so far", by which the rate would be
    ``1 / l`` from the third generation on.
    """

    length: float

    def of(self, moment: Moment) -> Real:
        share = min(max(moment.share, 0.0), 1.0)
        return np.full(len(moment.cost), 1.0 / (2.0 + (self.length - 2.0) * share))


@dataclass(frozen=True)
class Decreasing:
    """From `start` to `end` along the run, linearly or by a constant factor."""

    start: float
    end: float
    geometric: bool = False

    def of(self, moment: Moment) -> Real:
        share = min(max(moment.share, 0.0), 1.0)
        if self.geometric and self.start > 0 and self.end > 0:
            rate = self.start * (self.end / self.start) ** share
        else:
            rate = self.start + (self.end - self.start) * share
        return np.full(len(moment.cost), rate)


@dataclass(frozen=True)
class Conditional:
    """Multiply a rate when the run meets a condition (Chen 2020, dynamic tuning).

    The conditions are: the best cost is at most `level`; the share of individuals
    within 1 % of the best is at least `dominance`; the best cost has not fallen for at
    least `held` generations. A condition that is None is ignored.
    """

    rate: float
    factor: float
    level: float | None = None
    dominance: float | None = None
    held: int | None = None

    def of(self, moment: Moment) -> Real:
        cost = moment.cost
        best = float(cost.min())
        met = (
            (self.level is not None and best <= self.level)
            or (
                self.dominance is not None
                and float(np.mean(cost <= best * 1.01)) >= self.dominance
            )
            or (self.held is not None and moment.held >= self.held)
        )
        rate = self.rate * (self.factor if met else 1.0)
        return np.full(len(cost), min(rate, 1.0))


def self_adapted(
    rate: Real,
    rng: np.random.Generator,
    *,
    low: float,
    high: float,
    change: float = 0.1,
) -> Real:
    """Draw each individual's own rate again with probability `change`.

    The rate is a gene, inherited with the individual (Smith et al. 2011).
    """
    changed = rng.random(len(rate)) < change
    return np.where(changed, rng.uniform(low, high, len(rate)), rate)
