"""Sparse counts: only the cells that occur are ever written down."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from evosdc.metrics.data import Categorical

Counts = NDArray[np.int64]

# A key must leave one bit for the file it comes from and one for the sign.
_KEY_SPAN = 2**61
_DENSE_SPAN = 2**14


def joint_keys(
    files: Sequence[Categorical], columns: Sequence[int]
) -> tuple[list[Counts], int]:
    """Return one integer per record, equal where records agree on `columns`.

    The second value is an exclusive bound of the keys. The mixed-radix number is
    renumbered by the values that occur whenever it would leave 61 bits, so a table of
    any size can be counted.
    """
    keys = [np.zeros(f.rows, dtype=np.int64) for f in files]
    span = 1
    for j in columns:
        size = max(1, max(f.levels[j] for f in files))
        if span * size > _KEY_SPAN:
            keys, span = _renumber(keys)
        keys = [key * size + f.codes[:, j] for key, f in zip(keys, files, strict=True)]
        span *= size
    return keys, span


def _renumber(keys: list[Counts]) -> tuple[list[Counts], int]:
    distinct, codes = np.unique(np.concatenate(keys), return_inverse=True)
    ends = np.cumsum([len(key) for key in keys])[:-1]
    return np.split(codes.astype(np.int64), ends), len(distinct)


def classes(
    original: Categorical, synthetic: Categorical, columns: Sequence[int]
) -> tuple[Counts, Counts, int]:
    """Return the class of each record by its values of `columns`, and their number."""
    keys, _ = joint_keys((original, synthetic), columns)
    (first, second), number = _renumber(keys)
    return first, second, number


def distinct_rows(
    files: Sequence[Categorical], columns: Sequence[int]
) -> tuple[NDArray[np.int32], list[NDArray[np.intp]]]:
    """Return the distinct records on `columns`, and which of them each record is."""
    keys, _ = joint_keys(files, columns)
    _, where, places = np.unique(
        np.concatenate(keys), return_index=True, return_inverse=True
    )
    ends = np.cumsum([f.rows for f in files])
    source = np.searchsorted(ends, where, side="right")
    starts = ends - [f.rows for f in files]
    rows = np.empty((len(where), len(columns)), dtype=np.int32)
    for i, data in enumerate(files):
        mine = np.flatnonzero(source == i)
        rows[mine] = data.codes[where[mine] - starts[i]][:, list(columns)]
    return rows, np.split(places, ends[:-1])


def levels_used(original: Categorical, synthetic: Categorical) -> list[int]:
    """Return how many levels of each variable occur in either file."""
    used = []
    for j, size in enumerate(original.levels):
        a, b = (
            np.bincount(data.codes[:, j], minlength=size)
            for data in (original, synthetic)
        )
        used.append(int(np.count_nonzero(a + b)))
    return used


def cell_counts(
    original: Categorical, synthetic: Categorical, columns: Sequence[int]
) -> tuple[Counts, Counts]:
    """Return the counts of both files in the cells that occur in either."""
    (first, second), span = joint_keys((original, synthetic), columns)
    if span <= max(_DENSE_SPAN, len(first)):
        a = np.bincount(first, minlength=span)
        b = np.bincount(second, minlength=span)
        occupied = np.flatnonzero(a + b)
        return a[occupied], b[occupied]
    # The file is the last bit, so one sort counts both.
    tagged = np.concatenate([first << 1, (second << 1) | 1])
    tagged.sort()
    cells = tagged >> 1
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    totals = np.diff(np.r_[starts, len(cells)])
    seconds = np.add.reduceat(tagged & 1, starts)
    return totals - seconds, seconds


def shares(
    original: Categorical, synthetic: Categorical, columns: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return `cell_counts` as shares of each file."""
    a, b = cell_counts(original, synthetic, columns)
    return a / original.rows, b / synthetic.rows


def pair_cells(
    data: Categorical, first: int, second: int
) -> tuple[Counts, Counts, Counts]:
    """Return the occupied cells of a two-way table: row, column, count."""
    width = data.levels[second]
    keys = data.codes[:, first].astype(np.int64) * width + data.codes[:, second]
    if data.levels[first] * width <= max(_DENSE_SPAN, data.rows):
        counts = np.bincount(keys)
        cells = np.flatnonzero(counts)
        return cells // width, cells % width, counts[cells]
    cells, counts = np.unique(keys, return_counts=True)
    return cells // width, cells % width, counts


def tables(columns: int, ways: int, limit: int, seed: int) -> list[tuple[int, ...]]:
    """Return the variables of all `ways`-way tables, or of a seeded `limit` of them."""
    if comb(columns, ways) <= limit:
        return list(combinations(range(columns), ways))
    rng = np.random.default_rng(seed)
    chosen: set[tuple[int, ...]] = set()
    while len(chosen) < limit:
        draw = rng.choice(columns, ways, replace=False)
        chosen.add(tuple(sorted(int(j) for j in draw)))
    return sorted(chosen)
