"""Initial candidates: uniform, univariate, mutated original, CART, or given.

Chen (2020), section 4.1 and 5.5: freer models are more diverse, stricter ones fitter.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError, MissingExtraError
from evosdc.synth.encoding import Codes, Ints
from evosdc.synth.rules import RuleIndex, broken

_TRIES = 50
_ONE_HOT = 64

Model = Callable[[Codes, Ints, np.random.Generator, int], Codes]


def uniform(
    original: Codes, sizes: Ints, rng: np.random.Generator, count: int
) -> Codes:
    """Draw every level alike."""
    return rng.integers(0, sizes, (count, len(sizes))).astype(np.int16)


def univariate(
    original: Codes, sizes: Ints, rng: np.random.Generator, count: int
) -> Codes:
    """Draw each variable from its own distribution."""
    rows = rng.integers(0, len(original), (count, len(sizes)))
    return np.take_along_axis(original, rows, axis=0)


def mutated(rate: float) -> Model:
    """Keep the original but for a share `rate` of its elements, redrawn alike."""

    def draw(
        original: Codes, sizes: Ints, rng: np.random.Generator, count: int
    ) -> Codes:
        rows = np.arange(count) % len(original)
        fresh = uniform(original, sizes, rng, count)
        change = rng.random((count, len(sizes))) < rate
        return np.where(change, fresh, original[rows]).astype(np.int16)

    return draw


def cart(leaf: int = 5) -> Model:
    """Draw variables one after the other from classification trees (Reiter 2005)."""

    def draw(
        original: Codes, sizes: Ints, rng: np.random.Generator, count: int
    ) -> Codes:
        try:
            from sklearn.tree import DecisionTreeClassifier
        except ImportError:
            raise MissingExtraError("scikit-learn", "learn") from None
        out = np.empty((count, len(sizes)), np.int16)
        out[:, 0] = rng.choice(original[:, 0], count)
        for j in range(1, len(sizes)):
            seed = int(rng.integers(2**31))
            tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=seed)
            tree.fit(_features(original[:, :j], sizes), original[:, j])
            donors = tree.apply(_features(original[:, :j], sizes))
            leaves = tree.apply(_features(out[:, :j], sizes))
            order = np.argsort(donors, kind="stable")
            low = np.searchsorted(donors[order], leaves, "left")
            high = np.searchsorted(donors[order], leaves, "right")
            pick = low + (rng.random(count) * (high - low)).astype(np.int64)
            out[:, j] = original[order[pick], j]
        return out

    return draw


def _features(codes: Codes, sizes: Ints) -> NDArray[np.float32]:
    """One column a level, but for variables with very many levels."""
    parts = []
    for j in range(codes.shape[1]):
        if sizes[j] <= _ONE_HOT:
            parts.append(np.eye(sizes[j], dtype=np.float32)[codes[:, j]])
        else:
            parts.append(codes[:, j : j + 1].astype(np.float32))
    return np.hstack(parts)


def candidate(
    model: Model,
    original: Codes,
    sizes: Ints,
    rules: RuleIndex,
    free: Ints,
    rng: np.random.Generator,
) -> Codes:
    """Draw one candidate that breaks no rule and keeps what is not synthesised."""
    fixed = np.setdiff1d(np.arange(len(sizes)), free)

    def draw() -> Codes:
        out = model(original, sizes, rng, len(original))
        out[:, fixed] = original[:, fixed]
        return np.ascontiguousarray(out)

    out = draw()
    bad = broken(rules, out)
    for _ in range(_TRIES):
        if not bad.any():
            return out
        out[bad] = draw()[bad]
        bad = broken(rules, out)
    return _repaired(out, bad, original, rules, len(fixed) > 0, rng)


def _repaired(
    out: Codes,
    bad: NDArray[np.bool_],
    original: Codes,
    rules: RuleIndex,
    partial: bool,
    rng: np.random.Generator,
) -> Codes:
    """Replace records that no draw could mend by others that break no rule."""
    if partial:
        out[bad] = original[bad]
        if broken(rules, out).any():
            raise InputError(
                "the original has records that break a rule in columns that are kept",
                hint="synthesise those columns too, or drop the rule",
            )
        return out
    good = out[~bad]
    if not len(good):
        good = original[~broken(rules, original)]
    if not len(good):
        raise InputError(
            "the rules forbid every record",
            hint="drop a rule; each names what is forbidden, not what is allowed",
        )
    out[bad] = good[rng.integers(0, len(good), int(bad.sum()))]
    return out
