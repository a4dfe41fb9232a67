"""Replacement: who makes room for a newcomer.

Every function returns the number of the individual to replace, or -1 to turn the
newcomer away. The cheapest individual is never replaced by a dearer one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Real

Costs = NDArray[np.float64]


class Replacement(Protocol):
    """A way to choose whom a newcomer replaces.

    `distance` holds the newcomer's distance to each individual; only strategies that
    look at similarity use it.
    """

    def __call__(
        self, cost: Costs, newcomer: float, distance: Real, rng: np.random.Generator, /
    ) -> int: ...


def worst(cost: Costs, newcomer: float, *_: Any) -> int:
    """Replace the dearest, if the newcomer is cheaper (steady state)."""
    at = int(np.argmax(cost))
    return at if newcomer < cost[at] else -1


def elite(cost: Costs, newcomer: float, *_: Any) -> int:
    """Admit only a newcomer that beats the cheapest; it replaces the dearest."""
    return int(np.argmax(cost)) if newcomer < cost.min() else -1


def kill_tournament(
    cost: Costs, newcomer: float, _: Real, rng: np.random.Generator, size: int = 2
) -> int:
    """Replace the dearest of `size` drawn at random (Herrington 2015)."""
    drawn = rng.integers(0, len(cost), size)
    return _keep_best(cost, newcomer, int(drawn[np.argmax(cost[drawn])]))


def most_similar(cost: Costs, newcomer: float, distance: Real, *_: Any) -> int:
    """Replace the individual most like the newcomer, to keep the population diverse."""
    return _keep_best(cost, newcomer, int(np.argmin(distance)))


def _keep_best(cost: Costs, newcomer: float, at: int) -> int:
    if at == int(np.argmin(cost)) and newcomer >= cost[at]:
        return -1
    return at


REPLACEMENTS: dict[str, Replacement] = {
    "worst": worst,
    "elite": elite,
    "kill-tournament": kill_tournament,
    "most-similar": most_similar,
}
