"""Random numbers inside kernels: a small generator whose state is an array."""

from __future__ import annotations

import numpy as np

from evosdc.compile.kernels import kernel


@kernel(inner=True)
def draw(state: np.ndarray, below: int) -> int:
    """Draw a whole number from 0 up to one below (linear congruential, high bits)."""
    state[0] = state[0] * np.uint64(6364136223846793005) + np.uint64(
        1442695040888963407
    )
    high = np.int64(state[0] >> np.uint64(33))
    return int((high * below) >> 31)
