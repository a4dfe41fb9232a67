"""Section 5.6 of Chen (2020): rates that follow fitness, and those of section 4.6.

The full table is the only objective; whole cases cross, elements mutate to a value of
their variable (see the `elitism` experiment for why not to any level alike), none
survives by itself. The source lists 0.0025 twice among its k_m; between 0.01 and 0.05
it must be 0.025.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments.thesis_trials import Trial

CROSSING = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)
MUTATING = (0.0, 0.001, 0.0025, 0.005, 0.0075, 0.01, 0.025, 0.05)
# One set to find the pair on and four others (figures 4.1 and 4.2).
SETS = ("mixed4", "mixed4-made", "pairs4", "binary4", "four")
_MIXED = ("mixed4", "mixed4-made", "mixed4-other")
_PLAIN: dict[str, Any] = {
    "memetic": False,
    "population": 100,
    "noise_floor": False,
    "time_limit": None,
    "elitism": 0,
    "mutation": "univariate",
    "crossover": "whole-cpc",
    "objective": "jsd:full",
}
_BEST = {"crossover_rate": "adaptive:0.75", "mutation_rate": "adaptive:0.005"}
# Algorithm 4.3 asks for f <= 0.25 first and for f <= 0.20 in its "elif", which nothing
# can reach: as it is printed, and as it must be meant.
_PRINTED = {
    "crossover_rate": "adaptive:0.75",
    "mutation_rate": "tuned:0.005:0.25=0.001",
}
_MEANT = {
    "crossover_rate": "tuned:0.75:0.25=0.75:0.2=0.5",
    "mutation_rate": "tuned:0.005:0.25=0.001:0.2=0.0005",
}


def pair(crossing: float, mutating: float) -> str:
    """Name a pair of the grid."""
    return f"adaptive {crossing:g} {mutating:g}"


def grid(seed: int) -> list[Trial]:
    """Figures 4.1 and 4.2: all 48 pairs, 200 generations."""
    return [
        Trial(
            f"adaptive-{data}",
            data,
            pair(c, m),
            seed,
            {
                **_PLAIN,
                "generations": 200,
                "crossover_rate": f"adaptive:{c}",
                "mutation_rate": f"adaptive:{m}",
            },
        )
        for data in SETS
        for c in CROSSING
        for m in MUTATING
    ]


def late(seed: int) -> list[Trial]:
    """Figure 4.4: the best pair and algorithm 4.3, generations 1,500 to 2,500."""
    ways: dict[str, dict[str, Any]] = {
        "adaptive": _BEST,
        "dynamic as printed": _PRINTED,
        "dynamic as meant": _MEANT,
    }
    return [
        Trial(
            f"late-{data}",
            data,
            name,
            seed,
            {**_PLAIN, "generations": 2500, **way},
        )
        for data in _MIXED
        for name, way in ways.items()
    ]


def formulas(seed: int) -> list[Trial]:
    """Section 4.6: the formulas that the source cites and does not try."""
    fixed = {"crossover_rate": 0.3505, "mutation_rate": 0.001}
    ways: dict[str, dict[str, Any]] = {
        "fixed": fixed,
        "adaptive": _BEST,
        "crossover relative": {**fixed, "crossover_rate": "relative:0.75"},
        "mutation worse-than-mean": {**fixed, "mutation_rate": "worse-than-mean:0.05"},
        "mutation hyperbolic": {**fixed, "mutation_rate": "hyperbolic:4000"},
    }
    return [
        Trial(
            f"rates-{data}",
            data,
            name,
            seed,
            {**_PLAIN, "generations": 200, **way},
        )
        for data in _MIXED
        for name, way in ways.items()
    ]
