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
    up, down = 10.0 ** np.maximum(place, 0), 10.0 ** np.clip(-place, 0, 300)
    # Dividing by a power of ten gives the nearest double to the decimal.
    return np.asarray(np.round(values / up * down, digits - 1) / down * up)
