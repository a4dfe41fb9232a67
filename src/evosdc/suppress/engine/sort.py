"""Kernel: the order of numbers. NumPy's own takes seconds to compile."""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel

# Numbers that are sorted by insertion before runs of them are merged: at half or twice
# of it sorting takes a little longer.
_RUN = 16


@kernel(inner=True)
def order_of(key: np.ndarray) -> np.ndarray:
    """Return the places of the numbers from low to high, equal ones as they come."""
    size = len(key)
    order, other = np.arange(size), np.empty(size, dtype=np.int64)
    for start in range(0, size, _RUN):
        for i in range(start + 1, min(start + _RUN, size)):
            j = i
            while j > start and key[order[j - 1]] > key[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
    width = _RUN
    while width < size:
        for start in range(0, size, 2 * width):
            middle = min(start + width, size)
            end = min(start + 2 * width, size)
            i, j = start, middle
            for k in range(start, end):
                if j >= end or (i < middle and key[order[i]] <= key[order[j]]):
                    other[k] = order[i]
                    i += 1
                else:
                    other[k] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order
