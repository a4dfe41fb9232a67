"""A cut: an inequality that every safe pattern satisfies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Cut:
    """``sum of coefficients * x >= least``, scaled so that `least` is 1 or 0."""

    cells: NDArray[np.int64]
    coefficients: NDArray[np.float64]
    least: float = 1.0
