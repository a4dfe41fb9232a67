"""A sample drawn anew from the original, which tables are aimed at instead of it.

A floor on the distance of a whole table says nothing of where the distance lies: cells
of hundreds come out at a quarter of what another sample shows, and those of a few make
up for it. So records stand for others when tables are counted, but for the full one.
What is aimed at differs from the original as another sample does, in every
cell, and a copy cannot come closer than that however long it is searched for. Margins
come closer than those of another sample, so that shares and means are right within a
standard error: records are drawn again until they do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.synth.data.encoding import Codes, Ints

# So many records stand for another one: all of them make another sample.
_SHARE = 1.0
# Shares of levels are off by so many standard errors at most, or hardly more; those of
# bins of numbers by less, since quantiles and means hang on them.
_ROOM, _ROOM_OF_NUMBERS = 1.0, 0.1
# So often another record is tried for each, at most so many in all.
_TRIES, _MOST = 20, 4_000_000


def draw_anew(
    codes: Codes, sizes: Ints, numbers: NDArray[np.bool_], rng: np.random.Generator
) -> Ints:
    """Return for each record the one that stands in its place.

    `numbers` says whose levels are numbers.
    """
    records = len(codes)
    drawn = np.arange(records)
    moved = np.flatnonzero(rng.random(records) < _SHARE)
    drawn[moved] = rng.integers(0, records, len(moved))
    if len(moved):
        first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        tries = min(_MOST, _TRIES * len(moved))
        who = moved[rng.integers(0, len(moved), tries)]
        room = np.where(numbers, _ROOM_OF_NUMBERS, _ROOM)
        balance(codes, first, room, drawn, who, rng.integers(0, records, tries))
    return drawn


@kernel
def balance(codes, first, room, drawn, who, whom):  # type: ignore[no-untyped-def]
    """Let `whom` stand for `who`, in place, where margins come nearer to those wanted.

    Wanted are the original's; that of variable `j` begins at ``first[j]``, and may be
    off by ``room[j]`` standard errors.
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
                gain += _off(over[old], people[old], room[j])
                gain -= _off(over[old] - 1, people[old], room[j])
                gain += _off(over[new], people[new], room[j])
                gain -= _off(over[new] + 1, people[new], room[j])
        if gain > 0.0:
            for j in range(variables):
                over[first[j] + codes[drawn[i], j]] -= 1
                over[first[j] + codes[k, j]] += 1
            drawn[i] = k


@kernel(inner=True)
def _off(over, people, room):  # type: ignore[no-untyped-def]
    """Return how far a level is beyond what it may be off, squared, by its people."""
    beyond = max(0.0, abs(over) - room * np.sqrt(people))
    return beyond * beyond / max(1, people)


def cells_anew(numbers: Ints, drawn: Ints, least: int) -> Ints:
    """Return the cells of records drawn anew, by those of the original.

    A cell of fewer than `least` people is one of as few at most: chance makes no group
    of them that is worth aiming at.
    """
    out = numbers[drawn]
    _, place, count = np.unique(numbers, return_inverse=True, return_counts=True)
    few = count[place.ravel()] < least
    if not few.any() or few.all():
        return numbers.copy() if few.all() else out
    mine = np.flatnonzero(few[drawn])
    # In the order of chance: those first in a file must not be shown more often.
    known = numbers[few][np.argsort(drawn[few], kind="stable")]
    many = min(len(mine), len(known))
    out[mine[:many]] = known[:many]
    out[mine[many:]] = numbers[~few][np.argmax(count[place.ravel()[~few]])]
    return out
