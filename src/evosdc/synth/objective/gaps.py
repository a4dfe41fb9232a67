"""How far copies are apart: the mean over tables of a metric distance.

The square root of the Jensen-Shannon divergence is a metric (Endres and Schindelin
2003), and so is its mean over tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, strides

Floats = NDArray[np.float64]


def copy_gaps(
    copies: Sequence[Codes], sizes: Ints, tables: Sequence[tuple[int, ...]]
) -> Floats:
    """Return the mean distance over some tables of copies of as many records."""
    out = np.zeros((len(copies), len(copies)))
    for table in tables:
        stride, _ = strides(sizes, table)
        numbers = np.concatenate([cell_numbers(codes, stride) for codes in copies])
        cells, place = np.unique(numbers, return_inverse=True)
        share = np.array(
            [
                np.bincount(mine, minlength=len(cells)) / len(mine)
                for mine in np.split(place.ravel(), len(copies))
            ]
        )
        bits = _bits(share).sum(axis=1)
        for a in range(len(copies)):
            middle = _bits(0.5 * (share[a] + share[a:])).sum(axis=1)
            divergence = 0.5 * (bits[a] + bits[a:]) - middle
            out[a, a:] += np.sqrt(np.maximum(0.0, divergence))
    out /= len(tables)
    return out + np.triu(out, 1).T


def _bits(share: Floats) -> Floats:
    return np.asarray(share * np.log2(np.where(share > 0.0, share, 1.0)))
