"""A suppression pattern: which cells are hidden, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Pattern:
    """Hidden cells (primaries included) and the cost of the secondaries among them.

    Attributes
    ----------
    hidden
        One entry a cell.
    cost
        What the secondaries cost.
    hints
        Deviations that the search relied on, as cells and steps, where it kept them:
        not evidence, but the judge may look there first.
    """

    hidden: NDArray[np.bool_]
    cost: float
    hints: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] = ()
