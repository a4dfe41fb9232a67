"""Nearest records: the kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel


@kernel
def nearest_distance(
    queries: NDArray[np.int32],
    data: NDArray[np.int32],
    step: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the distance of each query to its nearest record.

    A variable with `step` 0 adds 1 where the codes differ, any other adds `step` times
    their difference, at most 1.
    """
    number, width = queries.shape
    out = np.empty(number)
    for i in range(number):
        best = float(width) + 1.0
        for r in range(data.shape[0]):
            total = 0.0
            for j in range(width):
                gap = abs(queries[i, j] - data[r, j])
                if gap != 0:
                    total += 1.0 if step[j] == 0.0 else min(1.0, gap * step[j])
                    if total >= best:
                        break
            if total < best:
                best = total
                if best == 0.0:
                    break
        out[i] = best
    return out
