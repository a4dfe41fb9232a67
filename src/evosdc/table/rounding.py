"""Digits that mean something and digits that floating point made up."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# A rule is violated when its measure passes the threshold by more than this share of
# the cell: sums of decimals in floating point miss exact ties by less.
ROUNDING = 1e-12


def significant(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Round to so many significant digits."""
    size = np.abs(values)
    place = np.floor(np.log10(np.where(size > 0, size, 1.0)))
    decimals = digits - 1 - place
    up, down = 10.0 ** np.clip(decimals, 0, 300), 10.0 ** np.clip(-decimals, 0, None)
    # A whole number over a power of ten is the nearest double to the decimal, and one
    # times a power of ten is exact: scaled the other way round, 109 is not 109 again.
    return np.asarray(np.rint(values * up / down) / up * down)
