"""A small random stream for kernels: SplitMix64 on one word of state.

Kernels must not touch NumPy's global generator. Each gets a state seeded from an
explicit Generator, so a candidate's moves do not depend on the thread that makes them.
"""

from __future__ import annotations

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel

# Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014).
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S30 = np.uint64(30)
_S27 = np.uint64(27)
_S31 = np.uint64(31)
_S11 = np.uint64(11)
_S32 = np.uint64(32)
_UNIT = 1.0 / 9007199254740992.0


def stream(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Draw the state of one kernel stream."""
    return rng.integers(0, 2**64, 1, dtype=np.uint64)


def streams(rng: np.random.Generator, count: int) -> NDArray[np.uint64]:
    """Draw the states of `count` kernel streams, one per row."""
    return rng.integers(0, 2**64, (count, 1), dtype=np.uint64)


@kernel(inner=True)
def word(state):  # type: ignore[no-untyped-def]
    """Advance the stream and return 64 random bits."""
    state[0] += _GOLDEN
    z = state[0]
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@kernel(inner=True)
def unit(state):  # type: ignore[no-untyped-def]
    """Return a number in [0, 1)."""
    return float(word(state) >> _S11) * _UNIT


@kernel(inner=True)
def below(state, bound):  # type: ignore[no-untyped-def]
    """Return an integer in [0, bound); bound under 2**32 (bias under 2**-32)."""
    return np.int64(((word(state) >> _S32) * uint64(bound)) >> _S32)
