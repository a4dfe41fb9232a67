"""A cut: an inequality that every safe pattern satisfies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass
class Cut:
    """``sum of coefficients * x >= 1``, scaled so that the right-hand side is 1."""

    cells: NDArray[np.int64]
    coefficients: NDArray[np.float64]
