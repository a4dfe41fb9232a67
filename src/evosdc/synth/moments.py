"""Means and standard deviations of numbers, held by where they lie in their bins.

A search counts bins. What numbers lie on average, and how far apart, depends on the
places inside them too, and on the few records that a bin has too many or too few. So
ranks inside bins are tilted a little, up or down, and apart or together, until the mean
is within half a standard error and the standard deviation within two hundredths of the
original's. Bins stay, and so does the order of the ranks in each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.arrays import Real
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.variable import Variable

# A mean is right within so many standard errors, a deviation within this share of it.
_MAX_ERRORS, _MAX_DEVIATION = 0.5, 0.02
# Ranks are raised to a power from 1 / _MAX_POWER to _MAX_POWER.
_MAX_POWER = 3.0
# The share of a spread shift by which ranks of outer bins are also moved up, or down.
_OUTWARD_SHARE = 0.3
_HALVINGS = 16
# Ranks are counted in so many places of a level, and its numbers known at so many.
_PLACES, _FINE = 100, 500
# Where coding the tails leaves this share of a standard deviation, no few people make
# most of it, and that of the original is aimed at.
_MIN_SPREAD_LEFT = 0.75


@dataclass(frozen=True)
class Moments:
    """The mean and the standard deviation of a column that are aimed at."""

    mean: float
    spread: float
    people: int

    def near_mean(self, found: float) -> float:
        """Return the mean to aim at: the nearest that is right."""
        off = _MAX_ERRORS * self.spread / np.sqrt(self.people)
        return float(np.clip(found, self.mean - off, self.mean + off))

    def near_spread(self, found: float) -> float:
        """Return the standard deviation to aim at: the nearest that is right."""
        return float(
            np.clip(
                found,
                *(self.spread * (1.0 + np.array([-_MAX_DEVIATION, _MAX_DEVIATION]))),
            )
        )


def find_moments(
    domain: Domain, table: pa.Table, columns: list[int]
) -> dict[int, Moments]:
    """Return the moments of some columns of the original, where they have any."""
    out = {}
    for j in columns:
        variable = domain.variables[j]
        numbers = numbers_aimed_at(variable, table.column(variable.name))
        numbers = numbers[~np.isnan(numbers)]
        if len(numbers) > 1 and numbers.std() > 0.0:
            spread = float(numbers.std(ddof=1))
            out[j] = Moments(float(numbers.mean()), spread, len(numbers))
    return out


def numbers_aimed_at(variable: Variable, column: pa.ChunkedArray) -> Real:
    """Return the numbers of a column whose moments are aimed at; NaN where unknown.

    Where a few people's numbers make most of a standard deviation, those are coded
    first: one huge number would move the moments of all others.
    """
    numbers = variable.read(column)
    coded = variable.with_coded_tails(numbers)
    few = (
        np.nanstd(coded) < _MIN_SPREAD_LEFT * np.nanstd(numbers)
        if len(numbers)
        else False
    )
    return coded if few else numbers


def hold_moments(
    domain: Domain,
    codes: Codes,
    ranks: Mapping[int, Real],
    moments: Mapping[int, Moments],
) -> dict[int, Real]:
    """Return ranks whose numbers have the moments that are asked for, or nearly so."""
    out = dict(ranks)
    for j, wanted in moments.items():
        out[j] = _tilted(domain.variables[j], codes[:, j], ranks[j], wanted)
    return out


def _tilted(variable: Variable, codes: Codes, rank: Real, wanted: Moments) -> Real:
    assert variable.parts is not None
    known = np.flatnonzero(codes < len(variable.parts.first) - 1)
    if len(known) < 2:
        return rank
    # Records are counted by level and rank: a tilt is tried on some thousand places,
    # however many there are.
    levels = len(variable.parts.first) - 1
    place = np.minimum((_PLACES * rank[known]).astype(np.int64), _PLACES - 1)
    place += _PLACES * codes[known].astype(np.int64)
    people = np.bincount(place, minlength=levels * _PLACES)
    seen = np.flatnonzero(people)
    level, middle = seen // _PLACES, (seen % _PLACES + 0.5) / _PLACES
    people = people[seen].astype(float)
    fine = _numbers(variable, levels)
    # Numbers far out change most of the spread, so their ranks go farthest.
    away = fine.mean(axis=1) - wanted.mean
    away /= np.abs(away).max() if away.any() else 1.0

    def moments(shift: float, widening: float) -> tuple[float, float]:
        part = _bent(middle, away[level], shift, widening)
        numbers = fine[level, np.minimum((_FINE * part).astype(np.int64), _FINE - 1)]
        mean = float(people @ numbers) / len(known)
        square = float(people @ (numbers - mean) ** 2) / (len(known) - 1)
        return mean, float(np.sqrt(square))

    mean, spread = moments(0.0, 0.0)
    aim, width = wanted.near_mean(mean), wanted.near_spread(spread)
    if (aim, width) == (mean, spread):
        return rank

    def shift_for(widening: float) -> float:
        return _root(lambda shift: moments(shift, widening)[0] - aim)

    def excess(widening: float) -> float:
        return moments(shift_for(widening), widening)[1] - width

    widening = 0.0 if width == spread else _root(excess)
    out = rank.copy()
    out[known] = _bent(rank[known], away[codes[known]], shift_for(widening), widening)
    return out


def _numbers(variable: Variable, levels: int) -> Real:
    """Return the numbers of each level by rank."""
    rank = np.tile((np.arange(_FINE) + 0.5) / _FINE, levels)
    level = np.repeat(np.arange(levels), _FINE).astype(np.int16)
    return variable.numbers(level, rank).reshape(levels, _FINE)


def _bent(rank: Real, away: Real, shift: float, widening: float) -> Real:
    """Return ranks moved up by `shift`, and farther out by `widening`.

    Moved up they are raised to a power; moved out, so are their odds: both ends of a
    bin gain, its middle stays. Of a bin with a long tail that leaves the mean alone.
    """
    power = np.clip(shift + _OUTWARD_SHARE * widening * away, -1.0, 1.0)
    moved = rank ** (_MAX_POWER**-power)
    steep = _MAX_POWER ** (widening * np.abs(away))
    return np.asarray(moved**steep / (moved**steep + (1.0 - moved) ** steep))


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
