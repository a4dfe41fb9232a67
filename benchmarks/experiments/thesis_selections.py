"""Chapter 4 and section 5.1 of Chen (2020): selections; crossover or mutation alone.

Section 4.2.2 names what its GA is: matrix crossover at rate 1.0, no mutation, the mean
difference of Cramer's V as fitness, 100 cases of 4 variables, converged when the mean
fitness does not change for 20 generations. Section 5.1 has the figures of two of the
selections too, from a set of 32 records; blocks cross variable by variable, and the run
ends when a candidate is nearer than 0.02.
"""

from __future__ import annotations

from typing import Any

from benchmarks.experiments.thesis_pressure import PressureTrial
from benchmarks.experiments.thesis_trials import Trial

_ENDS = ("", "-made", "-other")
SIZES = (10, 50, 100)
_HELD = 20
_MOST = 1000
# As published: base 0.7, and merit left up to 1. The others are the package's own.
SELECTIONS = (
    "linear-rank",
    "exponential-rank:0.7",
    "tournament",
    "roulette:1",
    "roulette",
    "universal:1",
    "universal",
)
# What a selection does by itself. On a wheel of nearly equal merits whole candidates
# drift, and one of N is left after about 2 N generations.
ALONE = (
    "linear-rank no crossover",
    "exponential-rank:0.7 no crossover",
    "tournament no crossover",
    "roulette:1 no crossover",
)
# Merit up to about the worst of a first population, on the two sets that start near.
_NEAR = ("roulette:0.1",)
PROPERTIES = {
    "uniform": (
        "linear-rank:0",
        "linear-rank:0.3",
        "exponential-rank:0.5",
        "exponential-rank:0.7",
        "exponential-rank:0.9",
        "tournament:2",
        "tournament:3",
        "roulette:1",
        "roulette",
        "universal:1",
        "universal",
    ),
    "normal": (
        "linear-rank:0",
        "linear-rank:0.3",
        "exponential-rank:0.5",
        "exponential-rank:0.9",
        "tournament:2",
        "tournament:3",
    ),
}
_TOY: dict[str, Any] = {
    "memetic": False,
    "noise_floor": False,
    "time_limit": None,
    "elitism": 0,
    "objective": "cramer",
    "crossover_rate": 1.0,
    "mutation_rate": 0.0,
}


def pressures(seed: int) -> list[PressureTrial]:
    """Tables 4.2 (normal) and 4.3 (uniform)."""
    return [
        PressureTrial(f"pressure-{drawn}", method, seed)
        for drawn, methods in PROPERTIES.items()
        for method in methods
    ]


def selections(seed: int) -> list[Trial]:
    """Table 4.4, and table 1.2 of section 5.1."""
    out = []
    for end in _ENDS:
        for size in SIZES:
            for name in (*SELECTIONS, *ALONE, *(_NEAR if end else ())):
                select, _, alone = name.partition(" ")
                options = {**_TOY, "population": size, "selection": select}
                options |= {"crossover": "matrix", "generations": _MOST}
                if alone:
                    options["crossover_rate"] = 0.0
                family = f"selection-tiny{end}-{size}"
                out.append(
                    Trial(family, f"tiny{end}", name, seed, options, settled=_HELD)
                )
            for name in ("linear-rank", "universal:1", "universal"):
                options = {**_TOY, "population": size, "selection": name}
                options |= {"crossover": "variable", "generations": _MOST}
                options["stop_utility"] = 0.02
                family = f"selection-toy{end}-{size}"
                out.append(
                    Trial(family, f"toy{end}", name, seed, options, settled=_HELD)
                )
    return out


def toys(seed: int) -> list[Trial]:
    """Figures 2.2 to 2.7 of section 5.1: crossover, mutation, and both."""
    mutation = {"mutation": "variable", "mutation_rate": 0.1}
    ways: dict[str, dict[str, Any]] = {
        "crossover only": {},
        "mutation only": {**mutation, "crossover_rate": 0.0},
        "both": mutation,
    }
    return [
        Trial(
            f"toy-{data}{end}",
            f"{data}{end}",
            name,
            seed,
            {
                **_TOY,
                "population": 100,
                "selection": "linear-rank",
                "crossover": "variable",
                "generations": 200,
                **way,
            },
        )
        for data in ("toy", "four")
        for end in _ENDS
        for name, way in ways.items()
    ]
