"""Significant digits, and rounding errors of bounds and levels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# A rule is violated when its measure passes the threshold by more than this share of
# the cell: sums of decimals in floating point miss exact ties by less.
ROUNDING = 1e-12
# Units in the last place by which value, bound and level together may be off, and the
# decimal digits that every double has.
_MAX_ULPS, _DOUBLE_DIGITS = 4, 15


def significant(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round to a number of significant digits."""
    size = np.abs(values)
    place = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    decimals = digits - 1 - place
    up, down = 10.0 ** np.clip(decimals, 0, 300), 10.0 ** np.clip(-decimals, 0, None)
    # A whole number over a power of ten is the nearest double to the decimal, and one
    # times a power of ten is exact: scaled the other way round, 109 is not 109 again.
    return np.asarray(np.rint(values * up / down) / up * down)


def at_the_bound(
    value: NDArray[np.float64], bound: NDArray[np.float64], level: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds and levels without rounding errors where a level ends at a bound.

    A tenth of 127.682 is 12.7682, and nine tenths as a double are 114.91380000000001:
    read to its last digit, that bound would exclude this level.
    """
    finite = np.isfinite(bound) & (level > 0)
    largest = np.where(finite, np.maximum(np.abs(value), np.abs(bound)), 1.0)
    room = np.abs(np.where(finite, bound, 0.0) - value)
    meet = finite & (np.abs(room - level) <= _MAX_ULPS * np.spacing(largest))
    bound, level = bound.copy(), level.copy()
    bound[meet] = significant(bound[meet], _DOUBLE_DIGITS)
    level[meet] = significant(level[meet], _DOUBLE_DIGITS)
    return bound, level
