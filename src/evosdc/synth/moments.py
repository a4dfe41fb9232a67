"""Means and standard deviations of numbers, held by where they lie in their bins.

A search counts bins. What numbers lie on average, and how far apart, depends on the
places inside them too, and on the few records that a bin has too many or too few. So
ranks inside bins are tilted a little, up or down, and apart or together, until the mean
is within half a standard error and the standard deviation within two hundredths of the
original's with coded tails. Bins stay, and so does the order of the ranks in each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.variable import Variable

Floats = NDArray[np.float64]

# A mean is right within so many standard errors, a standard deviation within this part.
_ERRORS, _PART = 0.5, 0.02
# Ranks are raised to a power from 1 / _STEEPEST to _STEEPEST: no shape is bent further.
_STEEPEST = 3.0
_HALVINGS = 16
# So many records say what a tilt does.
_MOST = 20_000


@dataclass(frozen=True)
class Moments:
    """The mean and the standard deviation of a column with coded tails."""

    mean: float
    spread: float
    people: int

    def near_mean(self, found: float) -> float:
        """Return the mean to aim at: the nearest that is right."""
        off = _ERRORS * self.spread / np.sqrt(self.people)
        return float(np.clip(found, self.mean - off, self.mean + off))

    def near_spread(self, found: float) -> float:
        """Return the standard deviation to aim at: the nearest that is right."""
        return float(np.clip(found, *(self.spread * (1.0 + np.array([-_PART, _PART])))))


def find_moments(
    domain: Domain, table: pa.Table, columns: list[int]
) -> dict[int, Moments]:
    """Return the moments of some columns of the original, where they have any."""
    out = {}
    for j in columns:
        variable = domain.variables[j]
        numbers = variable.read(table.column(variable.name))
        numbers = _shown(variable, numbers[~np.isnan(numbers)])
        if len(numbers) > 1 and numbers.std() > 0.0:
            spread = float(numbers.std(ddof=1))
            out[j] = Moments(float(numbers.mean()), spread, len(numbers))
    return out


def _shown(variable: Variable, numbers: Floats) -> Floats:
    """Return numbers with their tails coded.

    The moments of these are aimed at: one huge number would move those of the others.
    """
    assert variable.inside is not None
    low, high = variable.inside.ends[:, 0].min(), variable.inside.ends[:, 1].max()
    return np.asarray(np.clip(numbers, low, high))


def hold_moments(
    domain: Domain,
    codes: Codes,
    ranks: Mapping[int, Floats],
    moments: Mapping[int, Moments],
    rng: np.random.Generator,
) -> dict[int, Floats]:
    """Return ranks whose numbers have the moments that are asked for, or nearly so."""
    out = dict(ranks)
    for j, wanted in moments.items():
        out[j] = _tilted(domain.variables[j], codes[:, j], ranks[j], wanted, rng)
    return out


def _tilted(
    variable: Variable,
    codes: NDArray[np.int16],
    rank: Floats,
    wanted: Moments,
    rng: np.random.Generator,
) -> Floats:
    assert variable.inside is not None
    known = np.flatnonzero(codes < len(variable.inside.first) - 1)
    if len(known) < 2:
        return rank
    some = known if len(known) <= _MOST else rng.choice(known, _MOST, replace=False)
    middle = variable.numbers(codes, np.full(len(codes), 0.5))
    # Which way a rank goes where numbers are to lie farther apart.
    side = np.where(middle > wanted.mean, 1.0, -1.0)

    def numbers(shift: float, apart: float) -> Floats:
        part = _bent(rank[some], side[some], shift, apart)
        return variable.numbers(codes[some], part)

    now = numbers(0.0, 0.0)
    mean, spread = float(now.mean()), float(now.std(ddof=1))
    aim, width = wanted.near_mean(mean), wanted.near_spread(spread)
    if (aim, width) == (mean, spread):
        return rank

    def shift_for(apart: float) -> float:
        return _root(lambda shift: float(numbers(shift, apart).mean()) - aim)

    def excess(apart: float) -> float:
        return float(numbers(shift_for(apart), apart).std(ddof=1)) - width

    apart = 0.0 if width == spread else _root(excess)
    out = rank.copy()
    out[known] = _bent(rank[known], side[known], shift_for(apart), apart)
    return out


def _bent(rank: Floats, side: Floats, shift: float, apart: float) -> Floats:
    """Return ranks raised to a power: up by `shift`, apart by `apart`."""
    power = np.clip(shift + apart * side, -1.0, 1.0)
    return np.asarray(rank ** (_STEEPEST**-power))


def _root(rising: Callable[[float], float]) -> float:
    """Return where a rising function of -1 to 1 is 0, or the nearer end."""
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if rising(middle) < 0.0:
            low = middle
        else:
            high = middle
    return (low + high) / 2.0
