"""The size of a run: candidates, generations, record moves, and when it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evosdc.errors import InputError
from evosdc.options import check_at_least, check_types

_GENERATIONS = {True: 60, False: 1000}


@dataclass(frozen=True)
class Schedule:
    """How long a run is and how it moves.

    Attributes
    ----------
    population, generations, time_limit
        Size of the run. Without generations or moves the time limit is the budget of a
        memetic run: it cools by the clock, and ends early where the noise floor is
        reached. The result repeats with the seed where generations or moves are given
        and the run ends in time.
    patience
        Stop after so many generations without improvement.
    stop_utility
        Stop at this distance once every risk limit is met.
    memetic
        Improve candidates by record moves; without it the run is the genetic algorithm
        of Chen (2020).
    moves
        Record moves of each candidate in a whole memetic run.
    acceptance
        Which moves stand: those of simulated "annealing", or by "late" acceptance.
    softness
        Memetic runs round off Jensen-Shannon distances of tables of two variables at
        this many times their present mean, so that exact tables can still move; 0 for
        not at all.
    initial
        "univariate", "uniform", "trees", "network", "cart", "mutation",
        "mutation:RATE", "mutation:RATE:univariate", or frames to start from. "auto" is
        "network" for memetic runs on more than two million elements, else "trees" for a
        single answer and "univariate" for fronts and the genetic algorithm.
    """

    population: int | None = None
    generations: int | None = None
    time_limit: float | None = 60.0
    patience: int | None = None
    stop_utility: float | None = None
    memetic: bool = True
    moves: int | None = None
    acceptance: str = "annealing"
    softness: float = 1.0
    initial: Any = "auto"

    def __post_init__(self) -> None:
        check_types(self)
        check_at_least(self, population=1, generations=1, moves=1, patience=1)
        if self.time_limit is not None and not self.time_limit > 0:
            raise InputError(
                f"time_limit is {self.time_limit}", expected="a number above 0"
            )
        if self.acceptance not in ("annealing", "late"):
            raise InputError(
                f"unknown acceptance {self.acceptance!r}", expected="annealing, late"
            )
        if not 0.0 <= self.softness < np.inf:
            raise InputError(
                f"softness is {self.softness}",
                expected="a number from 0 (off) to 3 or so",
            )

    @property
    def by_clock(self) -> bool:
        """Whether the time limit alone says how long a memetic run is."""
        sized = self.generations is not None or self.moves is not None
        return self.memetic and self.time_limit is not None and not sized

    @property
    def most_generations(self) -> int:
        """The number of generations of a run that nothing ends earlier."""
        if self.generations is None:
            return _GENERATIONS[bool(self.memetic)]
        return self.generations
