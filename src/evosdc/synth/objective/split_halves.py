"""What a fresh sample of the same population would show, measured on split halves.

Split halves of the original are two fresh samples of each other, of half the size. A
squared Jensen-Shannon distance falls with the number of records where cells hold many;
where most hold one or none, what falls is the share of records without a match. Both
are odds ``d^2 / (1 - d^2)`` that halve when the records double. Other distances fall
with the root of the number. A copy that is closer than that to the *joint* distribution
repeats records, not structure: this is the noise floor. Tables of one or two variables
are published as they are in most surveys and hold no record, so they have no floor.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Long, Real
from evosdc.synth.data.encoding import Codes, cell_numbers, strides
from evosdc.synth.data.exact_values import ExactCodes, as_level_values, by_levels
from evosdc.synth.objective.risk import RiskIndex, build_risk, count_exact, risk_totals
from evosdc.synth.objective.sampling_noise import sampling_distance
from evosdc.synth.objective.swapped_pairs import swap_small_cells
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

_SPLITS, _SWAPPED_SPLITS = 4, 2
# Splits differ: a copy that keeps to the floor may end slightly below it.
_CLOSER = 0.99


@dataclass(frozen=True)
class Floor:
    """What a fresh sample would score: each objective and the four risks."""

    objectives: Real
    risks: Real


def halves(
    records: int, splits: int, rng: np.random.Generator
) -> Iterator[tuple[Long, Long]]:
    """Split records at random into halves of equal size, so many times."""
    half = records // 2
    for _ in range(splits):
        order = rng.permutation(records)
        yield order[:half], order[half : 2 * half]


def noise_floor(
    codes: Codes,
    sizes: Long,
    components: tuple[Component, ...],
    key: tuple[int, ...] | None,
    target: int | None,
    rng: np.random.Generator,
    exact: ExactCodes | None = None,
    expected: bool = False,
) -> Floor:
    """Estimate the floor of some objectives and risks by split halves.

    Risks are those of keys by their `exact` values, of levels where none are given.
    With `expected` the floor of a table of few variables is the noise that is expected
    of a sample, and only the full table is measured on halves.
    """
    exact = by_levels(codes, sizes) if exact is None else exact
    halved = tuple(c for c in components if not expected or c.order == 0)
    objectives, risks = np.zeros(len(halved)), np.zeros(4)
    for one, two in halves(len(codes), _SPLITS, rng):
        if halved:
            objectives += distances(codes[one], codes[two], sizes, halved)
        if key is not None and target is not None:
            index = build_risk(exact.codes[one], exact.sizes, key, target)
            risks += _risks_of(exact.codes[two], index)
    # Samples of twice the size are closer.
    mean = objectives / _SPLITS
    jsd = np.array([c.kind == JSD for c in halved], bool)
    at_full = iter((mean / np.sqrt(np.where(jsd, 2.0 - mean**2, 2.0))).tolist())
    floors = [
        next(at_full) if c in halved else sampling_distance(codes, sizes, c)
        for c in components
    ]
    return Floor(np.array(floors), risks / _SPLITS)


def floor_of_swapped(
    fresh: Real,
    codes: Codes,
    sizes: Long,
    components: tuple[Component, ...],
    free: Long,
    ordered: Flags,
    min_group: int,
    rng: np.random.Generator,
) -> Real:
    """Return the floors of a search that aims at records with swapped values.

    A fresh sample is further from those than from the original. A search that came as
    near to them as a fresh sample is to the original would be nearer to the original
    than that. So the floors of tables of three and more variables, which are counted
    from those, are raised by as much as swapping drives a fresh sample away.
    """
    if min_group < 2 or not deep(components).any():
        return fresh
    plain, moved = np.zeros(len(components)), np.zeros(len(components))
    for first, second in halves(len(codes), _SWAPPED_SPLITS, rng):
        one, two = codes[first], codes[second]
        swapped = swap_small_cells(one, sizes, free, ordered, min_group, rng).records
        plain += distances(two, one, sizes, components)
        moved += distances(two, swapped, sizes, components)
    factor = np.maximum(1.0, moved / np.maximum(plain, 1e-12))
    return np.where(deep(components), np.minimum(fresh * factor, 1.0), fresh)


def fresh_match_share(
    codes: NDArray[np.integer], sizes: Long, rng: np.random.Generator
) -> float:
    """Return the share of unique records that a fresh sample has as well."""
    stride, _ = strides(sizes, tuple(range(len(sizes))))
    cells, place = np.unique(cell_numbers(codes, stride), return_inverse=True)
    found = 0.0
    for halved in halves(len(codes), _SPLITS, rng):
        one, two = (np.bincount(place[part], minlength=len(cells)) for part in halved)
        found += float((two[one == 1] > 0).mean()) if (one == 1).any() else 0.0
    return found / _SPLITS


def bootstrap_risks(
    codes: NDArray[np.integer], index: RiskIndex, rng: np.random.Generator
) -> Real:
    """Return the four risks of records drawn from the original with replacement.

    The original is given by exact values.
    """
    risks = np.zeros(4)
    for _ in range(_SPLITS):
        risks += _risks_of(codes[rng.integers(0, len(codes), len(codes))], index)
    return risks / _SPLITS


def _risks_of(records: NDArray[np.integer], index: RiskIndex) -> Real:
    """Return the four risks of records that are given by exact values."""
    codes, values = as_level_values(records)
    counts = np.zeros(len(index.original), np.int32)
    count_exact(index._replace(values=values), codes, counts)
    return np.asarray(risk_totals(index, counts) * index.scale)


def distances(
    original: Codes, synthetic: Codes, sizes: Long, components: tuple[Component, ...]
) -> Real:
    """Return the objectives of one data set against another of the same size."""
    target = build_target(original, sizes, components)
    counts = np.zeros(len(target.original), np.int32)
    outside = outside_zero(target)
    count_all(target.cells, synthetic, counts, outside)
    weights = np.zeros(len(counts) if (target.kind == CRAMER).any() else 1)
    fill_weights(target, counts, weights)
    return group_values(target, table_sums(target, counts, outside, weights))


def deep(components: tuple[Component, ...]) -> Flags:
    """Say which objectives are of tables of three variables and more."""
    return np.array([c.order == 0 or c.order > 2 for c in components])


def floors_that_bind(floor: Real, components: tuple[Component, ...]) -> Real:
    """Keep the floors of tables of three variables and more."""
    return np.where(deep(components), floor, 0.0)


def closer_than(distance: float, fresh: float) -> bool:
    """Say whether a full table is nearer than that of a fresh sample would be."""
    return distance < _CLOSER * fresh
