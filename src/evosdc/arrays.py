"""Names for the kinds of arrays that everything here is made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Int = NDArray[np.int32]
Long = NDArray[np.int64]
Real = NDArray[np.float64]
Flags = NDArray[np.bool_]
