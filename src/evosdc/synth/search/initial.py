"""Initial candidates: uniform, univariate, mutated original, CART, or given.

Chen (2020), section 4.1 and 5.5: freer models are more diverse, stricter ones fitter.
Trees and the network for large files have modules of their own.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Long
from evosdc.errors import InputError, MissingExtraError
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.rules import broken
from evosdc.synth.search.population import SynthesisProblem

_MAX_DRAWS = 50
# Variables with more levels are numbers to a tree of scikit-learn, others indicators.
_MAX_INDICATORS = 64

Model = Callable[[Codes, Long, np.random.Generator, int], Codes]


def uniform(
    original: Codes, sizes: Long, rng: np.random.Generator, count: int
) -> Codes:
    """Draw uniformly from all levels."""
    del original
    return rng.integers(0, sizes, (count, len(sizes))).astype(np.int16)


def univariate(
    original: Codes, sizes: Long, rng: np.random.Generator, count: int
) -> Codes:
    """Draw each variable from its own distribution."""
    rows = rng.integers(0, len(original), (count, len(sizes)))
    return np.take_along_axis(original, rows, axis=0)


def mutated(rate: float, source: Model = uniform) -> Model:
    """Keep the original but for a share `rate` of its elements, drawn from `source`."""

    def draw(
        original: Codes, sizes: Long, rng: np.random.Generator, count: int
    ) -> Codes:
        rows = np.arange(count) % len(original)
        fresh = source(original, sizes, rng, count)
        change = rng.random((count, len(sizes))) < rate
        return np.where(change, fresh, original[rows]).astype(np.int16)

    return draw


class Cart:
    """Draw variables one after the other from classification trees (Reiter 2005).

    The trees are grown once, at the first draw.
    """

    def __init__(self, leaf: int = 5) -> None:
        self.leaf = leaf
        self._grown: list[tuple[Any, Long, Long]] = []

    def __call__(
        self, original: Codes, sizes: Long, rng: np.random.Generator, count: int
    ) -> Codes:
        if not self._grown:
            self._grow(original, sizes, rng)
        out = np.empty((count, len(sizes)), np.int16)
        out[:, 0] = rng.choice(original[:, 0], count)
        for j, (tree, donors, order) in enumerate(self._grown, start=1):
            leaves = tree.apply(_features(out[:, :j], sizes))
            low = np.searchsorted(donors, leaves, "left")
            high = np.searchsorted(donors, leaves, "right")
            pick = low + (rng.random(count) * (high - low)).astype(np.int64)
            out[:, j] = original[order[pick], j]
        return out

    def _grow(self, original: Codes, sizes: Long, rng: np.random.Generator) -> None:
        try:
            from sklearn.tree import DecisionTreeClassifier
        except ImportError:
            raise MissingExtraError("scikit-learn", "learn") from None
        for j in range(1, len(sizes)):
            seed = int(rng.integers(2**31))
            tree = DecisionTreeClassifier(min_samples_leaf=self.leaf, random_state=seed)
            known = _features(original[:, :j], sizes)
            donors = tree.fit(known, original[:, j]).apply(known)
            order = np.argsort(donors, kind="stable")
            self._grown.append((tree, donors[order], order))


def given(candidates: list[Codes]) -> Model:
    """Take candidates from a list in turn."""
    turn = itertools.cycle(candidates)
    return lambda *_: next(turn).copy()


def _features(codes: Codes, sizes: Long) -> NDArray[np.float32]:
    """One column per level, but for variables with very many levels."""
    parts = []
    for j in range(codes.shape[1]):
        if sizes[j] <= _MAX_INDICATORS:
            parts.append(np.eye(sizes[j], dtype=np.float32)[codes[:, j]])
        else:
            parts.append(codes[:, j : j + 1].astype(np.float32))
    return np.hstack(parts)


def candidate(
    model: Model, problem: SynthesisProblem, rng: np.random.Generator
) -> Codes:
    """Draw one candidate that breaks no rule and keeps what is not synthesised."""
    original, sizes, rules = problem.original, problem.sizes, problem.rules
    fixed = np.setdiff1d(np.arange(len(sizes)), problem.free)

    def draw() -> Codes:
        out = model(original, sizes, rng, len(original))
        out[:, fixed] = original[:, fixed]
        return np.ascontiguousarray(out)

    out = draw()
    bad = broken(rules, out)
    for _ in range(_MAX_DRAWS):
        if not bad.any():
            return out
        out[bad] = draw()[bad]
        bad = broken(rules, out)
    # Records that no draw could mend become others that break no rule.
    if len(fixed):
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
            expected="some record of the original that breaks none",
            hint="drop a rule; --rule says what holds in every record, rules= in "
            "Python what is forbidden",
        )
    out[bad] = good[rng.integers(0, len(good), int(bad.sum()))]
    return out
