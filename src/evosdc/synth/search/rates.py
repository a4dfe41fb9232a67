"""Rates as users write them, and the thesis's tuning by level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.evolution.rates import (
    Conditional,
    Decreasing,
    FixedRate,
    Hyperbolic,
    Moment,
    Proportional,
    Rate,
    Relative,
    SrinivasPatnaik,
    WorseThanMean,
)

_EXPECTED = (
    "a number, fixed:P, adaptive:K, srinivas-patnaik:K, relative:K, "
    "worse-than-mean:SCALE, hyperbolic:LENGTH, decreasing:START:END, "
    "tuned:K:LEVEL=K:..., dominance:P:FACTOR:SHARE, held:P:FACTOR:GENERATIONS "
    "or self:LOW:HIGH"
)


@dataclass(frozen=True)
class Tuned:
    """``p = k f(X)`` with `k` by the fitness of each individual (Chen 2020, 4.3).

    `levels` are pairs of a fitness and the `k` to use at or below it, lowest first.
    """

    k: float
    levels: tuple[tuple[float, float], ...]

    def of(self, moment: Moment) -> NDArray[np.float64]:
        k = np.full(len(moment.cost), self.k)
        for level, better in sorted(self.levels, reverse=True):
            k[moment.cost <= level] = better
        return np.clip(k * moment.cost, 0.0, 1.0)


@dataclass(frozen=True)
class SelfAdaptive:
    """The rate is a gene between `low` and `high`, inherited and redrawn."""

    low: float
    high: float

    def of(self, moment: Moment) -> NDArray[np.float64]:
        return np.full(len(moment.cost), (self.low + self.high) / 2)


def parse_rate(rate: float | str | Rate) -> Rate:
    """Read a rate: a number, a rate object or a short text."""
    if isinstance(rate, int | float):
        return _checked(float(rate))
    if not isinstance(rate, str):
        return rate
    name, *parts = rate.split(":")
    try:
        return _named(name, parts)
    except (ValueError, TypeError, IndexError):
        raise InputError(f"cannot read the rate {rate!r}", expected=_EXPECTED) from None


def _checked(rate: float) -> Rate:
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"a rate is {rate}", expected="a probability from 0 to 1")
    return FixedRate(rate)


def _named(name: str, parts: list[str]) -> Rate:
    if name == "tuned":
        levels = tuple(
            (float(a), float(b)) for a, b in (p.split("=") for p in parts[1:])
        )
        return Tuned(float(parts[0]), levels)
    numbers = [float(p) for p in parts]
    if name == "fixed" and len(numbers) == 1:
        return _checked(numbers[0])
    if name == "adaptive":
        return Proportional(*numbers)
    if name == "srinivas-patnaik":
        return SrinivasPatnaik(numbers[0], numbers[-1])
    if name == "relative":
        return Relative(*numbers)
    if name == "worse-than-mean":
        return WorseThanMean(*numbers)
    if name == "hyperbolic" and numbers[0] >= 2:
        return Hyperbolic(*numbers)
    if name == "decreasing":
        return Decreasing(numbers[0], numbers[1])
    if name == "dominance":
        return Conditional(numbers[0], numbers[1], dominance=numbers[2])
    if name == "held":
        return Conditional(numbers[0], numbers[1], held=int(numbers[2]))
    if name == "self":
        return SelfAdaptive(*numbers)
    raise ValueError(name)
