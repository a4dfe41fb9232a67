"""Operators of the genetic algorithm, as users name them."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.errors import InputError
from evosdc.evolution.rates import Rate
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import parse_selection
from evosdc.options import check_at_least, check_types
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
    "algorithm": ("nsga2", "npga"),
    "niche": ("points", "copies"),
}


@dataclass(frozen=True)
class Operators:
    """How candidates are selected, crossed, mutated and replaced.

    Rates are numbers, texts such as ``adaptive:0.75`` or rate objects. A memetic run
    uses the crossover alone, at a rate that is a number, and not for a Pareto front.

    Attributes
    ----------
    crossover, crossover_rate
        One of `evosdc.synth.search.breeding.CROSSOVERS`; without a rate the published
        one of each.
    mutation, mutation_rate
        "univariate" draws an element from the original's distribution, "uniform"
        uniformly from all levels; the rate is by element. "block" redraws a random part
        of a candidate; the rate is by candidate. "variable" redraws elements of some
        variables; the rate is by variable.
    selection
        One of `evosdc.evolution.selection.SELECTIONS`; ``exponential-rank:0.7`` sets
        the parameter of one.
    replacement, elitism
        "generational", which keeps the `elitism` best, or one of
        `evosdc.evolution.replacement.REPLACEMENTS`.
    algorithm
        "nsga2" or "npga", for the Pareto mode without the memetic step.
    niche
        What makes candidates of such a front neighbours: "points", their utility and
        risk, or "copies", the distance between the data sets themselves.
    """

    crossover: str = "whole-cpc"
    crossover_rate: float | str | Rate | None = None
    mutation: str = "univariate"
    mutation_rate: float | str | Rate = 0.0005
    selection: str = "tournament"
    replacement: str = "generational"
    elitism: int = 1
    algorithm: str = "nsga2"
    niche: str = "points"

    def __post_init__(self) -> None:
        check_types(self)
        check_at_least(self, elitism=0)
        for name, allowed in _CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(
                    f"unknown {name} {getattr(self, name)!r}",
                    expected=", ".join(allowed),
                )
        parse_selection(self.selection)
        parse_rate(self.mutation_rate)
        if self.crossover_rate is not None:
            parse_rate(self.crossover_rate)

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
