"""What a JJ file holds, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# The numbers of a cell line in order, without its index and its status.
NUMBERS = (
    "value",
    "weight",
    "lower bound",
    "upper bound",
    "lower level",
    "upper level",
    "sliding level",
)


@dataclass(frozen=True, eq=False)
class Content:
    """Cells (a row each, a column each of `NUMBERS`), statuses and equations."""

    numbers: NDArray[np.float64]
    status: NDArray[np.str_]
    rhs: NDArray[np.float64]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    data: NDArray[np.float64]
