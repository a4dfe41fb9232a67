"""Selection: which individuals become parents.

Every function takes the costs of a population (smaller is better), how many to choose
and a generator, and returns their numbers. Ties are broken by position, so that the
same seed always chooses the same parents.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Protocol

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.errors import InputError


class Selection(Protocol):
    """A way to choose `n` of a population by cost."""

    def __call__(self, cost: Real, n: int, rng: np.random.Generator) -> Long: ...


def elite(cost: Real, n: int, rng: np.random.Generator | None = None) -> Long:
    """Choose the `n` cheapest, in order; needs no randomness."""
    del rng
    return np.argsort(cost, kind="stable")[:n]


def random_choice(cost: Real, n: int, rng: np.random.Generator) -> Long:
    """Choose uniformly, whatever the costs."""
    return rng.integers(0, len(cost), n)


def fitness_shares(cost: Real, most: float | None = None) -> Real:
    """Turn costs into probabilities: the worst gets 0, unless all are equal.

    With `most`, an upper bound on all costs, fitness is the difference to it (Chen
    2020, equation 4.4, where it is 1): all probabilities are positive, and late in a
    run nearly equal.
    """
    merit = np.max(cost) - cost if most is None else np.maximum(most - cost, 0.0)
    total = merit.sum()
    if not np.isfinite(total) or total <= 0:
        return np.full(len(cost), 1.0 / len(cost))
    return merit / total


def roulette(
    cost: Real, n: int, rng: np.random.Generator, most: float | None = None
) -> Long:
    """Choose in proportion to fitness by independent draws (Holland 1975)."""
    return _spin(fitness_shares(cost, most), rng.random(n))


def stochastic_universal(
    cost: Real, n: int, rng: np.random.Generator, most: float | None = None
) -> Long:
    """Choose in proportion to fitness with one spin of `n` pointers (Baker 1987)."""
    return _spin(fitness_shares(cost, most), (rng.random() + np.arange(n)) / n)


def linear_rank(
    cost: Real, n: int, rng: np.random.Generator, eta_minus: float = 0.0
) -> Long:
    """Choose by rank, linearly: the worst expects `eta_minus` copies.

    Baker (1985); ``eta_minus + eta_plus = 2``.
    """
    size = len(cost)
    if size == 1:
        return np.zeros(n, dtype=np.int64)
    place = _places(cost)
    expected = (2.0 - eta_minus) - (2.0 - 2.0 * eta_minus) * place / (size - 1)
    return _spin(expected / expected.sum(), rng.random(n))


def exponential_rank(
    cost: Real, n: int, rng: np.random.Generator, base: float = 0.9
) -> Long:
    """Choose by rank, each rank `base` times as likely as the one before it."""
    weight = base ** _places(cost).astype(np.float64)
    return _spin(weight / weight.sum(), rng.random(n))


def tournament(cost: Real, n: int, rng: np.random.Generator, size: int = 2) -> Long:
    """Choose the best of `size` drawn at random, `n` times."""
    drawn = rng.integers(0, len(cost), (n, size))
    return drawn[np.arange(n), np.argmin(cost[drawn], axis=1)]


def truncation(
    cost: Real, n: int, rng: np.random.Generator, share: float = 0.5
) -> Long:
    """Choose uniformly among the best `share` of the population."""
    kept = elite(cost, max(1, int(np.ceil(share * len(cost)))))
    return kept[rng.integers(0, len(kept), n)]


def _places(cost: Real) -> Long:
    """Rank of each individual, 0 for the best."""
    place = np.empty(len(cost), dtype=np.int64)
    place[np.argsort(cost, kind="stable")] = np.arange(len(cost))
    return place


def _spin(shares: Real, where: Real) -> Long:
    wheel = np.cumsum(shares)
    at = np.searchsorted(wheel / wheel[-1], where, side="right")
    return np.minimum(at, len(shares) - 1).astype(np.int64)


SELECTIONS: dict[str, Selection] = {
    "elite": elite,
    "random": random_choice,
    "roulette": roulette,
    "universal": stochastic_universal,
    "linear-rank": linear_rank,
    "exponential-rank": exponential_rank,
    "tournament": tournament,
    "truncation": truncation,
}
# The parameter that a text such as ``exponential-rank:0.7`` sets, and its range.
_PARAMETERS = {
    "roulette": ("most", 0.0, np.inf),
    "universal": ("most", 0.0, np.inf),
    "linear-rank": ("eta_minus", 0.0, 1.0),
    "exponential-rank": ("base", 0.0, 1.0),
    "tournament": ("size", 1.0, np.inf),
    "truncation": ("share", 0.0, 1.0),
}


def parse_selection(text: str) -> Selection:
    """Read a selection: a name, or ``name:value`` with its one parameter.

    ``roulette:1`` and ``universal:1`` set the upper bound on costs, ``linear-rank:0.3``
    the expected copies of the worst, ``exponential-rank:0.7`` the base,
    ``tournament:3`` the number of contestants and ``truncation:0.3`` the share.
    """
    name, colon, word = text.partition(":")
    known = ", ".join(SELECTIONS)
    if name not in SELECTIONS or (colon and name not in _PARAMETERS):
        raise InputError(f"unknown selection {text!r}", expected=known)
    if not colon:
        return SELECTIONS[name]
    parameter, low, high = _PARAMETERS[name]
    try:
        value = float(word)
    except ValueError:
        value = np.nan
    whole = parameter == "size"
    if not low <= value <= high or (whole and value != int(value)):
        raise InputError(
            f"cannot read the selection {text!r}",
            expected=f"{name}:NUMBER with {'a whole ' * whole}number from {low:g} to "
            f"{high:g}",
        )
    select: Callable[..., Long] = SELECTIONS[name]
    return partial(select, **{parameter: int(value) if whole else value})
