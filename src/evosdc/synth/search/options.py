"""Options of the search: operators and their rates, the size of a run and its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Real
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
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import parse_selection
from evosdc.options import copies, is_of
from evosdc.synth.search.breeding import CROSSOVERS, MUTATIONS

_EXPECTED_RATE = (
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

    def of(self, moment: Moment) -> Real:
        k = np.full(len(moment.cost), self.k)
        for level, better in sorted(self.levels, reverse=True):
            k[moment.cost <= level] = better
        return np.clip(k * moment.cost, 0.0, 1.0)


@dataclass(frozen=True)
class SelfAdaptive:
    """The rate is a gene between `low` and `high`, inherited and resampled."""

    low: float
    high: float

    def of(self, moment: Moment) -> Real:
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
        raise InputError(
            f"cannot read the rate {rate!r}", expected=_EXPECTED_RATE
        ) from None


def _checked(rate: float) -> Rate:
    if not 0.0 <= rate <= 1.0:
        raise InputError(f"a rate is {rate}", expected="a probability from 0 to 1")
    return FixedRate(rate)


def _named(name: str, parts: list[str]) -> Rate:
    if name == "tuned":
        pairs = (part.split("=") for part in parts[1:])
        return Tuned(float(parts[0]), tuple((float(a), float(b)) for a, b in pairs))
    numbers = [float(p) for p in parts]
    if name == "fixed" and len(numbers) == 1:
        return _checked(numbers[0])
    if name == "srinivas-patnaik":
        return SrinivasPatnaik(numbers[0], numbers[-1])
    if name == "hyperbolic" and numbers[0] < 2:
        raise ValueError(name)
    if name == "decreasing":
        return Decreasing(numbers[0], numbers[1])
    if name == "dominance":
        return Conditional(numbers[0], numbers[1], dominance=numbers[2])
    if name == "held":
        return Conditional(numbers[0], numbers[1], held=int(numbers[2]))
    if name not in _BY_NAME:
        raise ValueError(name)
    return _BY_NAME[name](*numbers)


_BY_NAME: dict[str, Callable[..., Rate]] = {
    "adaptive": Proportional,
    "relative": Relative,
    "worse-than-mean": WorseThanMean,
    "hyperbolic": Hyperbolic,
    "self": SelfAdaptive,
}


# Published rates: Chen (2020), 5.2 and 5.3, table 2; they move as many elements each.
_RATES = {
    "matrix": 1.0,
    "variable": 0.5455,
    "cpc": 0.5005,
    "round-cpc": 0.5005,
    "whole-cpc": 0.3505,
    "puc": 0.3818,
}
# Hot candidates of a memetic run exchange this share of their records.
_MEMETIC_RATE = 0.1
_CHOICES = {
    "crossover": CROSSOVERS,
    "mutation": MUTATIONS,
    "replacement": ("generational", *REPLACEMENTS),
}


@dataclass(frozen=True)
class Operators(copies.Operators):
    __doc__ = copies.Operators.__doc__

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"unknown {name} {getattr(self, name)!r}",
                    expected=", ".join(allowed),
                )
        parse_selection(self.selection)
        for name in ("crossover_rate", "mutation_rate"):
            rate = getattr(self, name)
            if not is_of(rate, float | str | Rate | None):
                raise InputError(
                    f"{name.replace('_', ' ')} is {rate!r}",
                    expected="a number, a text such as adaptive:0.75 or a rate object",
                )
            if rate is not None:
                parse_rate(rate)

    @property
    def crossing(self) -> Rate:
        """The rate of crossover of the genetic algorithm."""
        rate = self.crossover_rate
        return parse_rate(_RATES[self.crossover] if rate is None else rate)

    @property
    def memetic_crossing(self) -> float:
        """The rate of crossover of a memetic run."""
        rate = self.crossover_rate
        if rate is None:
            return _MEMETIC_RATE
        if not isinstance(rate, int | float):
            raise InputError(
                f"the crossover rate of a memetic run is {rate!r}",
                expected="a number from 0 to 1",
                hint="give a number, or switch the memetic step off (memetic=False)",
            )
        return float(rate)


_GENERATIONS = {True: 60, False: 1000}


@dataclass(frozen=True)
class Schedule(copies.Schedule):
    __doc__ = copies.Schedule.__doc__

    @property
    def by_clock(self) -> bool:
        """Whether the time limit alone says how long a memetic run is."""
        sized = self.generations is not None or self.moves is not None
        return self.memetic and self.seconds is not None and not sized

    @property
    def most_generations(self) -> int:
        """The number of generations of a run that nothing ends earlier."""
        if self.generations is None:
            return _GENERATIONS[bool(self.memetic)]
        return self.generations
