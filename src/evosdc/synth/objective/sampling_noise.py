"""The noise of sampling: how far from a table one of a fresh sample is expected.

A second sample of as many people does not repeat the first: each cell of `a` people has
a Poisson number with mean `a`. The divergence that this makes is known cell by cell, so
that every table has a floor of its own. A copy that comes closer repeats the chance of
one sample, and with it people. In cells of many people it is 1 / (8 ln 2) bits per
cell.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.tables import JSD, Component, Target, build_target

# Another sample has as many people in cells that nobody was in as there are people
# alone in theirs (Good 1953). Sequential trees put a third of that there, and so may a
# copy.
UNSEEN_SHARE = 1.0 / 3.0
# A resample of the data is closer to them than another sample of the people they are
# from, and tables that nobody follows come closer along with the others. So a fifth is
# added to what it shows.
_FRESH_FACTOR = 1.2
# Cells of few people, which nobody aims at, come out about twice as far as a resample
# has them. The large ones of their table may make up for some of it, but stay this many
# times as far as in a resample: with half of that, copies of NIST's excerpts scored 9
# to 12 points above a bootstrap, closer than any sample is.
_SMALL_CELL_FACTOR, _LARGE_CELL_FACTOR = 2.2, 1.1
# Near enough to a resample that is aimed at: this share of its divergence from the
# original.
NEAR_SHARE = 0.1
# Of larger cells the limit of many people is exact enough.
_MAX_TABULATED = 400
_LIMIT = 1.0 / (4.0 * np.log(2.0))


@cache
def noise_terms() -> Real:
    """Return the expected term of a cell by its count, in bits, twice the divergence.

    With the term comes what keeps a sum of cells at 0 where both counts are equal.
    """
    out = np.zeros(_MAX_TABULATED + 1)
    for a in range(1, _MAX_TABULATED + 1):
        c = np.arange(0, a + 12 * int(np.sqrt(a)) + 20)
        steps = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(c[1:], 1)))])
        chance = np.exp(c * np.log(a) - a - steps)
        term = a * np.log2(a) + _bits(c) - _bits(a + c) + (a + c)
        out[a] = float(chance @ term)
    return out


def _bits(x: Long) -> Real:
    return np.asarray(x * np.log2(np.maximum(x, 1)), float)


def sampling_distance(codes: Codes, sizes: Long, component: Component) -> float:
    """Return the mean distance of a component that a resample would show."""
    target = build_target(codes, sizes, (component,))
    return float(np.sqrt(sampling_noise(target)).mean())


def sampling_noise(target: Target) -> Real:
    """Return the divergence that each table of a resample would show.

    It is 0 for tables that are not compared by Jensen-Shannon.
    """
    known = noise_terms()
    original = target.original
    term = np.where(
        original <= _MAX_TABULATED, known[np.minimum(original, _MAX_TABULATED)], _LIMIT
    )
    begins = np.minimum(target.cells.first[:-1], max(0, len(term) - 1))
    total = np.add.reduceat(term, begins)
    # All cells together hold as many people as before: one of them is not free.
    cells = np.maximum(1, np.add.reduceat((original > 0).astype(np.int64), begins))
    total *= (cells - 1) / cells
    return np.where(target.kind == JSD, 0.5 * total / target.records, 0.0)


def few_noise(target: Target) -> Real:
    """Return the divergence of the small cells of a resample that share a counter."""
    terms = target.few @ noise_terms()[: target.few.shape[1]]
    return 0.5 * terms / target.records


def deep_floor(
    large: Real, few: Real, unseen: Real, *, resampled: bool = False
) -> Real:
    """Return the floors of tables of three and more variables, as divergences.

    `large` and `few` are the noise of cells with a counter of their own, and of those
    that share one; `unseen` is the share of people who may be where nobody is. Where a
    resample is aimed at, the distance from it comes on top.
    """
    fresh = _FRESH_FACTOR * (large + few) - _SMALL_CELL_FACTOR * few
    floor = np.maximum(_LARGE_CELL_FACTOR * large, fresh)
    return (NEAR_SHARE * large if resampled else floor) + 0.5 * unseen
