"""Synthesisers to compare with: trees one after the other, margins, bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evosdc.synth.data.domain import Coding, make_domain
from evosdc.synth.search.initial import Cart, univariate

Rival = Callable[[Any, int], Any]


def cart(table: Any, seed: int) -> Any:
    """Draw each variable from a classification tree on those before (Reiter 2005).

    Leaves hold five records or more, as in synthpop; needs scikit-learn.
    """
    return _drawn(table, Cart(leaf=5), seed)


def independent(table: Any, seed: int) -> Any:
    """Draw each variable from its own distribution."""
    return _drawn(table, univariate, seed)


def bootstrap(table: Any, seed: int) -> Any:
    """Draw records with replacement: no protection at all."""
    rng = np.random.default_rng(seed)
    return table.take(rng.integers(0, table.num_rows, table.num_rows))


RIVALS: dict[str, Rival] = {
    "cart": cart,
    "independent": independent,
    "bootstrap": bootstrap,
}


def _drawn(table: Any, model: Callable[..., Any], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    domain = make_domain(table, Coding(least=0))
    codes = domain.encode(table)
    return domain.decode(model(codes, domain.sizes, rng, len(codes)), rng)
