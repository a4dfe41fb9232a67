"""Bins of numbers that show nobody: enough respondents in each, and coded tails.

One huge income would stretch its bin, and every number drawn from it. So the outermost
bins end at values that at least `least` respondents reach (top and bottom coding), and
numbers are drawn from an exponential density between the ends of a bin, which has the
mean of the respondents in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Ints

Floats = NDArray[np.float64]

_STEEPEST = 500.0
_HALVINGS = 60


class Bins(NamedTuple):
    """Levels of sorted numbers, with the low end, high end and mean of each.

    Numbers that are `hidden` are never shown as they are: they lie beyond an end.
    """

    level: Ints
    ends: Floats
    hidden: NDArray[np.bool_]


def plain_bins(numbers: Floats, weight: Floats, level: Ints) -> Bins:
    """Return bins that end at the least and the greatest number in them."""
    return _described(weight, level, numbers, np.zeros(len(numbers), bool))


def safe_bins(
    numbers: Floats, weight: Floats, level: Ints, alone: NDArray[np.bool_], least: int
) -> Bins:
    """Merge bins of few respondents and code both tails.

    Numbers that stand `alone`, as special codes do, split the others into stretches;
    each stretch has tails of its own, so that a single number between zero and a
    special code is one, too.
    """
    level = level.copy()
    shown = numbers.copy()
    hidden = np.zeros(len(numbers), bool)
    spikes = np.flatnonzero(alone)
    stretch = np.cumsum(alone) * 2 + np.where(alone, -1, 0)
    for s in np.unique(stretch[~alone]):
        mine = np.flatnonzero(stretch == s)
        respondents = weight[mine]
        if respondents.sum() < least and len(spikes):
            apart = np.abs(numbers[spikes][None, :] - numbers[mine][:, None])
            nearest = spikes[apart.argmin(axis=1)]
            level[mine], shown[mine] = level[nearest], numbers[nearest]
            hidden[mine] = True
            continue
        level[mine] = _merged(level[mine], respondents, least)
        low, high = _cuts(numbers[mine], respondents, least)
        shown[mine] = np.clip(numbers[mine], low, high)
        hidden[mine] = (numbers[mine] < low) | (numbers[mine] > high)
    return _described(weight, level, shown, hidden)


def _merged(level: Ints, respondents: Floats, least: int) -> Ints:
    """Join a level of few respondents to the next one, the last to the one before."""
    names, place = np.unique(level, return_inverse=True)
    total = np.bincount(place, weights=respondents)
    group = np.zeros(len(names), np.int64)
    held, now = 0.0, 0
    for k, many in enumerate(total):
        group[k] = now
        held += many
        if held >= least:
            held, now = 0.0, now + 1
    # The remainder is too small for a group of its own.
    group = np.minimum(group, max(0, now - 1))
    first = np.array([names[group == g][0] for g in range(int(group.max()) + 1)])
    return np.asarray(first[group][place], np.int64)


def _cuts(numbers: Floats, respondents: Floats, least: int) -> tuple[float, float]:
    """Return the values that `least` respondents reach from below and from above."""
    up, down = np.cumsum(respondents), np.cumsum(respondents[::-1])
    low = float(numbers[np.searchsorted(up, least)])
    high = float(numbers[::-1][np.searchsorted(down, least)])
    if low <= high:
        return low, high
    middle = float(numbers[np.searchsorted(up, up[-1] / 2.0)])
    return middle, middle


def _described(
    weight: Floats,
    level: Ints,
    shown: Floats,
    hidden: NDArray[np.bool_],
) -> Bins:
    _, level = np.unique(level, return_inverse=True)
    size = int(level.max()) + 1 if len(level) else 0
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, level, shown)
    np.maximum.at(high, level, shown)
    total = np.bincount(level, weights=weight, minlength=size)
    mean = np.bincount(level, weights=weight * shown, minlength=size) / total
    return Bins(level.astype(np.int64), np.column_stack([low, high, mean]), hidden)


def draw(ends: Floats, step: float, u: Floats, codes: Ints) -> Floats:
    """Draw a number of the grid of `step` between the ends of each code's bin."""
    low, high, mean = ends.T
    steps = np.rint((high - low) / step)
    wide = np.maximum(high - low, 1e-300)
    place = np.clip((mean - low) / wide, 0.0, 1.0)
    # Rounding down to the grid takes half a step off the mean.
    tilt = steepness((steps * place + 0.5) / (steps + 1.0))
    share = _quantile(tilt[codes], u)
    out = low[codes] + np.floor(share * (steps[codes] + 1.0)) * step
    return np.clip(out, low[codes], high[codes])


def steepness(mean: Floats) -> Floats:
    """Return the slope `t` for which ``exp(t x)`` on [0, 1] has this mean."""
    low = np.full(len(mean), -_STEEPEST)
    high = np.full(len(mean), _STEEPEST)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = _mean(middle) < mean
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2.0


def _mean(t: Floats) -> Floats:
    flat = np.abs(t) < 1e-4
    safe = np.where(flat, 1.0, t)
    return np.where(flat, 0.5 + t / 12.0, -1.0 / np.expm1(-safe) - 1.0 / safe)


def _quantile(t: Floats, u: Floats) -> Floats:
    flat = np.abs(t) < 1e-6
    safe = np.where(flat, 1.0, t)
    # From the steep end, so that nothing overflows.
    fall = np.abs(safe)
    back = np.where(safe > 0.0, 1.0 - u, u)
    share = -np.log1p(back * np.expm1(-fall)) / fall
    share = np.where(safe > 0.0, 1.0 - share, share)
    return np.where(flat, u, np.clip(share, 0.0, np.nextafter(1.0, 0.0)))
