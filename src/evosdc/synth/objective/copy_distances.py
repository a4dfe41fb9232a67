"""How far copies of the same file are apart: the mean over tables of a metric distance.

The square root of the Jensen-Shannon divergence is a metric (Endres and Schindelin
2003), and so is its mean over tables: what two copies are apart is never more than what
each is apart from a third. Numbers are compared in bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.metrics.data import bin_codes
from evosdc.synth.data.encoding import Codes, cell_numbers, strides


def copy_distances(copies: Sequence[Any], order: int = 2) -> Real:
    """Return the distances between copies, or a file and its copies, by pairs.

    Parameters
    ----------
    copies
        Frames with the same columns and as many records.
    order
        How many variables the compared tables have.
    """
    tables = [to_arrow(copy) for copy in copies]
    if len(tables) < 2:
        raise InputError(
            f"there are {len(tables)} copies", expected="two or more to compare"
        )
    names, rows = tables[0].column_names, tables[0].num_rows
    for number, table in enumerate(tables[1:], 2):
        if set(table.column_names) != set(names) or table.num_rows != rows:
            raise InputError(
                f"copy {number} has other columns, or another number of records",
                expected="the columns of the first copy, and as many records",
            )
    if not 1 <= order <= len(names):
        raise InputError(
            f"order is {order}", expected=f"a whole number from 1 to {len(names)}"
        )
    joined = np.column_stack(
        [bin_codes(n, [t.column(n) for t in tables]) for n in names]
    )
    sizes = joined.max(axis=0).astype(np.int64) + 1
    codes = [part.astype(np.int16) for part in np.split(joined, len(tables))]
    chosen = list(combinations(range(len(names)), order))
    return mean_distances(codes, sizes, chosen)


def mean_distances(
    copies: Sequence[Codes], sizes: Long, tables: Sequence[tuple[int, ...]]
) -> Real:
    """Return the mean distance over some tables of copies of as many records."""
    out = np.zeros((len(copies), len(copies)))
    for table in tables:
        stride, _ = strides(sizes, table)
        numbers = np.concatenate([cell_numbers(codes, stride) for codes in copies])
        cells, place = np.unique(numbers, return_inverse=True)
        parts = np.split(place.ravel(), len(copies))
        share = np.array([np.bincount(p, minlength=len(cells)) / len(p) for p in parts])
        bits = _bits(share).sum(axis=1)
        for a in range(len(copies)):
            middle = _bits(0.5 * (share[a] + share[a:])).sum(axis=1)
            divergence = 0.5 * (bits[a] + bits[a:]) - middle
            out[a, a:] += np.sqrt(np.maximum(0.0, divergence))
    out /= len(tables)
    return out + np.triu(out, 1).T


def _bits(share: Real) -> Real:
    return np.asarray(share * np.log2(np.where(share > 0.0, share, 1.0)))
