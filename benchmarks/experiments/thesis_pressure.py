"""Properties of selections: theory and simulation (Chen 2020, tables 4.2 and 4.3).

Fitness is drawn, smaller is better, and a selection chooses as many as there are. Loss
of diversity is, in table 4.3, the share of candidates that are never chosen; Blickle
and Thiele (1995), whom table 4.2 repeats, mean what candidates chosen less than once on
average lose. Pressure is the fall of the mean in standard deviations, variance what is
left of it. Takeover is how many generations of selection alone pass until one candidate
has filled the population; Goldberg and Deb (1991) expect (ln N + ln ln N) / ln s of
tournaments of s, and linear ranking down to 0 is as strong as s = 2.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.experiments.store import Key, Row
from benchmarks.experiments.thesis_data import Material
from evosdc.evolution.selection import Selection, parse_selection

Floats = NDArray[np.float64]

POPULATIONS = 1000
SIZE = 100
_TAKEOVERS = 50
_MOST_GENERATIONS = 1000
_DRAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "uniform": lambda rng, n: rng.random(n),
    "normal": lambda rng, n: rng.standard_normal(n),
}


@dataclass(frozen=True)
class PressureTrial:
    """One selection on a thousand populations of drawn fitness."""

    family: str
    method: str
    seed: int

    @property
    def key(self) -> Key:
        """Family, method and seed."""
        return (self.family, self.method, self.seed)

    def run(self, material: Material, workers: int) -> Row:
        """Simulate; the data play no part."""
        del material, workers
        wall, cpu = time.perf_counter(), time.process_time()
        drawn = self.family.partition("-")[2]
        select = parse_selection(self.method)
        rng = np.random.default_rng([2020, self.seed])
        row: dict[str, object] = {
            "family": self.family,
            "method": self.method,
            "seed": self.seed,
            **properties(select, _DRAWS[drawn], rng),
        }
        if drawn == "uniform":
            row["takeover"] = takeover(select, rng)
            row.update(expected(self.method))
        row["seconds"] = round(time.perf_counter() - wall, 3)
        row["cpu_seconds"] = round(time.process_time() - cpu, 3)
        return row


def properties(
    select: Selection,
    draw: Callable[[np.random.Generator, int], Floats],
    rng: np.random.Generator,
) -> dict[str, float]:
    """Return loss of diversity both ways, pressure and variance, as means."""
    found = np.empty((POPULATIONS, 3))
    times = np.zeros(SIZE)
    for k in range(POPULATIONS):
        fitness = np.sort(draw(rng, SIZE))
        chosen = select(fitness, SIZE, rng)
        after = fitness[chosen]
        found[k] = (
            1 - len(np.unique(chosen)) / SIZE,
            (fitness.mean() - after.mean()) / fitness.std(),
            after.var() / fitness.var(),
        )
        times += np.bincount(chosen, minlength=SIZE)
    loss, pressure, variance = found.mean(axis=0)
    return {
        "loss": float(loss),
        "loss_expected": float(np.maximum(1 - times / POPULATIONS, 0).mean()),
        "pressure": float(pressure),
        "variance": float(variance),
    }


def takeover(select: Selection, rng: np.random.Generator) -> float:
    """Return the mean number of generations until one candidate is all there is.

    A thousand at most: nearly equal shares on a wheel of many pointers lose nobody.
    """
    found = []
    for _ in range(_TAKEOVERS):
        fitness, generation = rng.random(SIZE), 0
        while np.ptp(fitness) > 0 and generation < _MOST_GENERATIONS:
            fitness = fitness[select(fitness, SIZE, rng)]
            generation += 1
        found.append(generation)
    return float(np.mean(found))


def expected(method: str) -> dict[str, float]:
    """Return loss, pressure and variance of fitness drawn from U(0, 1), by theory.

    Candidate number i from the best on is at (i + 1) / (N + 1) on average.
    """
    name, _, word = method.partition(":")
    place = np.arange(SIZE)
    if name in ("roulette", "universal"):
        if not word:
            # What is left up to the worst depends on the worst: no closed form.
            return {}
        share = 1 - (place + 1) / (SIZE + 1)
    elif name == "linear-rank":
        low = float(word or 0)
        share = (2 - low) - (2 - 2 * low) * place / (SIZE - 1)
    elif name == "exponential-rank":
        share = float(word or 0.9) ** place.astype(np.float64)
    elif name == "tournament":
        rest = (SIZE - np.arange(SIZE + 1)) ** float(word or 2)
        share = rest[:-1] - rest[1:]
    else:
        raise ValueError(method)
    share = share / share.sum()
    first = (place + 1) / (SIZE + 1)
    second = first * (place + 2) / (SIZE + 2)
    mean = float(share @ first)
    spread = (float(share @ second) - mean**2) * 12
    out = {
        "loss_theory": float(((1 - share) ** SIZE).mean()),
        "pressure_theory": (0.5 - mean) * math.sqrt(12),
        "variance_theory": spread,
    }
    if name == "universal":
        out["loss_theory"] = float(np.maximum(1 - SIZE * share, 0).mean())
    strength = {"linear-rank:0": 2.0, "tournament:2": 2.0, "tournament:3": 3.0}
    if method in strength:
        logs = math.log(SIZE) + math.log(math.log(SIZE))
        out["takeover_theory"] = logs / math.log(strength[method])
    return out
