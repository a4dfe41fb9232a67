"""Synthesisers to compare with: trees or logits one by one, margins, bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Long
from evosdc.errors import MissingExtraError
from evosdc.synth import Coding
from evosdc.synth.data.domain import make_domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.search.initial import Cart, univariate

Rival = Callable[[Any, int], Any]


def cart(table: Any, seed: int) -> Any:
    """Draw each variable from a classification tree on those before (Reiter 2005).

    Leaves hold five records or more, as in synthpop; needs scikit-learn.
    """
    return _drawn(table, Cart(leaf=5), seed)


def parametric(table: Any, seed: int) -> Any:
    """Draw each variable from a multinomial logit on those before.

    Main effects of all variables before it, fitted by maximum likelihood with next to
    no penalty: the parametric methods of synthpop for categories (Nowok, Raab and
    Dibben 2016); needs scikit-learn.
    """
    return _drawn(table, _logits, seed)


def _logits(
    original: Codes, sizes: Long, rng: np.random.Generator, count: int
) -> Codes:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("scikit-learn", "bench") from None
    out = np.empty((count, len(sizes)), np.int16)
    out[:, 0] = rng.choice(original[:, 0], count)
    for j in range(1, len(sizes)):
        # Equal records are one line with a weight; so are equal copies.
        lines, weight = np.unique(original[:, : j + 1], axis=0, return_counts=True)
        model = LogisticRegression(C=1e4, max_iter=500)
        model.fit(_dummies(lines[:, :j], sizes), lines[:, j], sample_weight=weight)
        known, place = np.unique(out[:, :j], axis=0, return_inverse=True)
        wheel = model.predict_proba(_dummies(known, sizes)).cumsum(axis=1)
        at = (rng.random(count)[:, None] > wheel[place.ravel()]).sum(axis=1)
        out[:, j] = model.classes_[np.minimum(at, len(model.classes_) - 1)]
    return out


def _dummies(codes: Codes, sizes: Long) -> NDArray[np.float64]:
    """One column for each level of a variable but its first."""
    parts = [np.eye(sizes[j])[codes[:, j], 1:] for j in range(codes.shape[1])]
    return np.hstack(parts)


def independent(table: Any, seed: int) -> Any:
    """Draw each variable from its own distribution."""
    return _drawn(table, univariate, seed)


def bootstrap(table: Any, seed: int) -> Any:
    """Draw records with replacement: no protection at all."""
    rng = np.random.default_rng(seed)
    return table.take(rng.integers(0, table.num_rows, table.num_rows))


RIVALS: dict[str, Rival] = {
    "cart": cart,
    "parametric": parametric,
    "independent": independent,
    "bootstrap": bootstrap,
}


def _drawn(table: Any, model: Callable[..., Any], seed: int) -> Any:
    rng = np.random.default_rng(seed)
    domain = make_domain(table, Coding(least=0))
    codes = domain.encode(table)
    return domain.decode(model(codes, domain.sizes, rng, len(codes)), rng)
