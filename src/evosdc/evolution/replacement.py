"""Replacement: which individual of a population a new one replaces.

Every function returns its number, or -1 to reject the new one. The best individual is
never replaced by a worse one.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from evosdc.arrays import Real


class Replacement(Protocol):
    """A strategy to choose the individual that a new one replaces.

    `distance` holds the distance of the new one to each individual; only strategies
    based on similarity use it.
    """

    def __call__(
        self, cost: Real, newcomer: float, distance: Real, rng: np.random.Generator, /
    ) -> int: ...


def worst(cost: Real, newcomer: float, *_: Any) -> int:
    """Replace the worst, if the new one is better (steady state)."""
    at = int(np.argmax(cost))
    return at if newcomer < cost[at] else -1


def elite(cost: Real, newcomer: float, *_: Any) -> int:
    """Replace the worst, if the new one is better than the best."""
    return int(np.argmax(cost)) if newcomer < cost.min() else -1


def kill_tournament(
    cost: Real, newcomer: float, _: Real, rng: np.random.Generator, size: int = 2
) -> int:
    """Replace the worst of `size` drawn at random (Herrington 2015)."""
    drawn = rng.integers(0, len(cost), size)
    return _keep_best(cost, newcomer, int(drawn[np.argmax(cost[drawn])]))


def most_similar(cost: Real, newcomer: float, distance: Real, *_: Any) -> int:
    """Replace the most similar individual, to keep the population diverse."""
    return _keep_best(cost, newcomer, int(np.argmin(distance)))


def _keep_best(cost: Real, newcomer: float, at: int) -> int:
    if at == int(np.argmin(cost)) and newcomer >= cost[at]:
        return -1
    return at


REPLACEMENTS: dict[str, Replacement] = {
    "worst": worst,
    "elite": elite,
    "kill-tournament": kill_tournament,
    "most-similar": most_similar,
}
