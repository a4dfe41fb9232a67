"""The noise floor: how close a fresh sample of the same population would be.

Split halves of the original are two fresh samples of each other, of half the size. A
squared Jensen-Shannon distance falls with the number of records where cells hold many;
where most hold one or none, what falls is the share of records without a match. Both
are odds ``d^2 / (1 - d^2)`` that halve when the records double. Other distances fall
with the root of the number. A copy that is closer than that to the *joint* distribution
repeats records, not structure. Tables of one or two variables are published as they are
in most surveys and hold no record, so they have no floor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.data.shades import Exact, as_shades, by_levels
from evosdc.synth.objective.redrawn import redrawn_distance
from evosdc.synth.objective.risk import RiskIndex, build_risk, count_exact, risk_totals
from evosdc.synth.objective.tables import (
    CRAMER,
    JSD,
    Component,
    build_target,
    fill_weights,
    group_values,
    outside_zero,
    table_sums,
)
from evosdc.synth.objective.tally import count_all

_SPLITS = 4
# Splits differ: a copy that keeps to the floor may end a trifle below it.
_NEAR = 0.99


@dataclass(frozen=True)
class Floor:
    """What a fresh sample would score: each objective and the four risks."""

    objectives: NDArray[np.float64]
    risks: NDArray[np.float64]


def noise_floor(
    codes: Codes,
    sizes: Ints,
    components: tuple[Component, ...],
    key: tuple[int, ...] | None,
    target: int | None,
    rng: np.random.Generator,
    exact: Exact | None = None,
    redrawn: bool = False,
) -> Floor:
    """Estimate the floor of some objectives and risks by split halves.

    Risks are those of keys by their `exact` values, of levels where none are given.
    With `redrawn` the floor of a table of few variables is what a sample drawn anew
    from it would show, and halves are asked for the full table only.
    """
    exact = by_levels(codes, sizes) if exact is None else exact
    half = len(codes) // 2
    halved = tuple(c for c in components if not redrawn or c.order == 0)
    objectives = np.zeros(len(halved))
    risks = np.zeros(4)
    for _ in range(_SPLITS):
        order = rng.permutation(len(codes))
        one, two = codes[order[:half]], codes[order[half : 2 * half]]
        if halved:
            objectives += distances(one, two, sizes, halved)
        if key is not None and target is not None:
            mine, theirs = order[:half], order[half : 2 * half]
            index = build_risk(exact.codes[mine], exact.sizes, key, target)
            risks += _risks_of(exact.codes[theirs], index)
    kinds = np.array([c.kind for c in halved], np.int64)
    at_full = iter(_at_full_size(objectives / _SPLITS, kinds).tolist())
    floors = [
        next(at_full) if c in halved else redrawn_distance(codes, sizes, c)
        for c in components
    ]
    return Floor(np.array(floors), risks / _SPLITS)


def _at_full_size(halves: NDArray[np.float64], kinds: Ints) -> NDArray[np.float64]:
    """Return the distances of samples twice the size."""
    divisor = np.where(kinds == JSD, 2.0 - halves**2, 2.0)
    return np.asarray(halves / np.sqrt(divisor))


def bootstrap_risks(
    codes: NDArray[np.integer], index: RiskIndex, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the four risks of records drawn from the original with replacement.

    The original is given by exact values.
    """
    risks = np.zeros(4)
    for _ in range(_SPLITS):
        drawn = codes[rng.integers(0, len(codes), len(codes))]
        risks += _risks_of(drawn, index)
    return risks / _SPLITS


def _risks_of(records: NDArray[np.integer], index: RiskIndex) -> NDArray[np.float64]:
    """Return the four risks of records that are given by exact values."""
    codes, shades = as_shades(records)
    counts = np.zeros(len(index.original), np.int32)
    count_exact(index._replace(shades=shades), codes, counts)
    return np.asarray(risk_totals(index, counts) * index.scale)


def distances(
    original: Codes, synthetic: Codes, sizes: Ints, components: tuple[Component, ...]
) -> NDArray[np.float64]:
    """Return the objectives of one data set against another of the same size."""
    target = build_target(original, sizes, components)
    counts = np.zeros(len(target.original), np.int32)
    outside = outside_zero(target)
    count_all(target.cells, synthetic, counts, outside)
    weights = np.zeros(len(counts) if (target.kind == CRAMER).any() else 1)
    fill_weights(target, counts, weights)
    return group_values(target, table_sums(target, counts, outside, weights))


def deep(components: tuple[Component, ...]) -> NDArray[np.bool_]:
    """Say which objectives are of tables of three variables and more."""
    return np.array([c.order == 0 or c.order > 2 for c in components])


def floors_that_bind(
    floor: NDArray[np.float64], components: tuple[Component, ...]
) -> NDArray[np.float64]:
    """Keep the floors of tables of three variables and more."""
    return np.where(deep(components), floor, 0.0)


def closer_than(distance: float, fresh: float) -> bool:
    """Say whether a full table is nearer than that of a fresh sample would be."""
    return distance < _NEAR * fresh
