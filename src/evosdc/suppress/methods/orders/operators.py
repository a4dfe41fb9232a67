"""Operators on orders: Davis's crossover, three mutations, and genes that steer them.

As in Smith, Clark, Staggemeier and Serpell (2011); the self-adaptation of operator and
rate is that of Serpell and Smith (2010).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Order = NDArray[np.int64]
Operator = Callable[[Order, int, int], Order]
# A fresh rate lies between 1 / length and this.
_HIGHEST_RATE = 0.5


@dataclass(frozen=True)
class Genes:
    """Which mutation an individual undergoes, and how often at each place."""

    operator: str
    rate: float


def swap(order: Order, a: int, b: int) -> Order:
    """Let the elements at two places change places."""
    child = order.copy()
    child[a], child[b] = order[b], order[a]
    return child


def insert(order: Order, a: int, b: int) -> Order:
    """Move the element at place `b` to just behind the one at place `a`."""
    if a == b:
        return order.copy()
    rest = np.delete(order, b)
    return np.insert(rest, a + 1 if a < b else a, order[b])


def invert(order: Order, a: int, b: int) -> Order:
    """Reverse what stands from one place to the other."""
    low, high = min(a, b), max(a, b)
    child = order.copy()
    child[low : high + 1] = order[low : high + 1][::-1]
    return child


OPERATORS: dict[str, Operator] = {"swap": swap, "insert": insert, "invert": invert}


def davis(one: Order, other: Order, start: int, end: int) -> Order:
    """Keep ``one[start:end]``; the rest comes from the other parent, in its order.

    Both the filling and the reading begin at `end` and wrap round (Davis 1991).
    """
    child = one.copy()
    used = np.zeros(len(one), dtype=bool)
    used[one[start:end]] = True
    donor = np.roll(other, -end)
    places = np.roll(np.arange(len(one)), -end)[: len(one) - (end - start)]
    child[places] = donor[~used[donor]]
    return child


def mutate(order: Order, genes: Genes, rng: np.random.Generator) -> Order:
    """Apply the operator at each place with the individual's rate."""
    if len(order) < 2:
        return order
    operator = OPERATORS[genes.operator]
    for _ in range(int(rng.binomial(len(order), genes.rate))):
        a, b = rng.choice(len(order), 2, replace=False).tolist()
        order = operator(order, a, b)
    return order


def cross(one: Order, other: Order, rng: np.random.Generator) -> Order:
    """Davis's crossover between two random points."""
    if len(one) < 2:
        return one
    start, end = np.sort(rng.choice(len(one) + 1, 2, replace=False)).tolist()
    return davis(one, other, start, end)


def fresh_genes(length: int, operator: str, rng: np.random.Generator) -> Genes:
    """Genes of the first generation; `operator` names a fixed one, or ``adapt``."""
    if operator != "adapt":
        return Genes(operator, 1.0 / max(1, length))
    return Genes(_any_operator(rng), _any_rate(length, rng))


def adapt(genes: Genes, length: int, change: float, rng: np.random.Generator) -> Genes:
    """Redraw each of the two genes with probability `change`."""
    operator, rate = genes.operator, genes.rate
    if rng.random() < change:
        operator = _any_operator(rng)
    if rng.random() < change:
        rate = _any_rate(length, rng)
    return Genes(operator, rate)


def _any_operator(rng: np.random.Generator) -> str:
    return list(OPERATORS)[int(rng.integers(len(OPERATORS)))]


def _any_rate(length: int, rng: np.random.Generator) -> float:
    """A rate whose logarithm is uniform: one change in a sequence up to many."""
    low = min(_HIGHEST_RATE, 1.0 / max(1, length))
    return float(low * (_HIGHEST_RATE / low) ** rng.random())
