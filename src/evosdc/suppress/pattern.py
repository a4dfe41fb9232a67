"""A suppression pattern: which cells are hidden, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """Hidden cells (primaries included) and the cost of the secondaries among them."""

    hidden: NDArray[np.bool_]
    cost: float
