"""Operators of the genetic algorithm, as users name them."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.errors import InputError
from evosdc.evolution.rates import Rate
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import parse_selection
from evosdc.options import copies, is_of
from evosdc.synth.search.breeding import CROSSOVERS, MUTATIONS
from evosdc.synth.search.rates import parse_rate

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
