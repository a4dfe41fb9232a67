"""A resample of the original, which tables are aimed at instead of it.

A floor on the distance of a whole table says nothing of where the distance lies: cells
of hundreds come out at a quarter of what another sample shows, and those of a few make
up for it. So records stand for others when tables are counted, but for the full one.
What is aimed at differs from the original as another sample does, in every cell, and a
copy cannot come closer than that however long it is searched for. Margins come closer
than those of another sample, so that shares and means are right within a standard
error: records are drawn again until they do.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes

# Shares of levels are off by so many standard errors at most, or hardly more; those of
# bins of numbers by less, since quantiles and means depend on them.
_MAX_ERRORS, _MAX_ERRORS_OF_NUMBERS = 1.0, 0.1
# So often another record is tried for each, at most so many in all.
_TRIES_PER_RECORD, _MAX_TRIES = 20, 4_000_000


def resample_records(
    codes: Codes, sizes: Long, numbers: Flags, rng: np.random.Generator
) -> Long:
    """Return for each record the one that stands in its place.

    `numbers` says whose levels are numbers.
    """
    records = len(codes)
    # Once said which records move. It is still drawn: a seed keeps its copies.
    rng.random(records)
    drawn = rng.integers(0, records, records)
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    tries = min(_MAX_TRIES, _TRIES_PER_RECORD * records)
    who, whom = (rng.integers(0, records, tries) for _ in range(2))
    errors = np.where(numbers, _MAX_ERRORS_OF_NUMBERS, _MAX_ERRORS)
    match_margins(codes, first, errors, drawn, who, whom)
    return drawn


@kernel
def match_margins(codes, first, errors, drawn, who, whom):  # type: ignore[no-untyped-def]
    """Let `whom` stand for `who`, in place, where that brings margins nearer.

    They come nearer to the original's. The margin of variable `j` begins at
    ``first[j]``, and may be off by ``errors[j]`` standard errors.
    """
    records, variables = codes.shape
    people = np.zeros(first[-1], np.int64)
    over = np.zeros(first[-1], np.int64)
    for i in range(records):
        for j in range(variables):
            people[first[j] + codes[i, j]] += 1
            over[first[j] + codes[i, j]] -= 1
            over[first[j] + codes[drawn[i], j]] += 1
    for turn in range(len(who)):
        i, k = who[turn], whom[turn]
        gain = 0.0
        for j in range(variables):
            old, new = first[j] + codes[drawn[i], j], first[j] + codes[k, j]
            if old != new:
                gain += _excess(over[old], people[old], errors[j])
                gain -= _excess(over[old] - 1, people[old], errors[j])
                gain += _excess(over[new], people[new], errors[j])
                gain -= _excess(over[new] + 1, people[new], errors[j])
        if gain > 0.0:
            for j in range(variables):
                over[first[j] + codes[drawn[i], j]] -= 1
                over[first[j] + codes[k, j]] += 1
            drawn[i] = k


@kernel(inner=True)
def _excess(over, people, errors):  # type: ignore[no-untyped-def]
    """Return how far a level is beyond what it may be off, squared, by its people."""
    beyond = max(0.0, abs(over) - errors * np.sqrt(people))
    return beyond * beyond / max(1, people)


def resampled_cells(numbers: Long, drawn: Long, min_group: int) -> Long:
    """Return the cells of resampled records, by those of the original.

    A cell of fewer than `min_group` people is one of as few at most: chance makes no
    group of them that is worth aiming at.
    """
    out = numbers[drawn]
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    few = count[place.ravel()] < min_group
    if few.all():
        return numbers.copy()
    if not few.any():
        return out
    mine = np.flatnonzero(few[drawn])
    # In the order of chance: those first in a file must not be shown more often.
    known = numbers[few][np.argsort(drawn[few], kind="stable")]
    many = min(len(mine), len(known))
    out[mine[:many]] = known[:many]
    out[mine[many:]] = numbers[~few][np.argmax(count[place.ravel()[~few]])]
    return out
