"""The noise floor of a table: how far a sample drawn anew from it would be.

A second sample of as many people does not repeat the first: each cell of `a` people has
a Poisson number with mean `a`. The divergence that this makes is known cell by cell, so
that every table has a floor of its own. A copy that comes closer repeats the chance of
one sample, and with it people. In cells of many people it is 1 / (8 ln 2) bits per
cell.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.objective.tables import JSD, Component, Target, build_target

Floats = NDArray[np.float64]

# Another sample has as many people in cells that nobody was in as there are people
# alone in theirs (Good 1953). Sequential trees put a third of that there, and so may a
# copy.
UNSEEN = 1.0 / 3.0
# A sample drawn anew from the data is closer to them than another one of the people
# they are from, and tables that nobody follows come closer along with the others. So a
# fifth is added to what it shows.
FRESH = 1.2
# Cells of few people, which nobody aims at, come out about twice as far as such a
# sample has them. The large ones of their table may make up for some of it, but stay
# this many times as far as in such a sample: with half of that, copies of NIST's
# excerpts scored 9 to 12 points above a bootstrap, closer than any sample is.
_LOST, _LARGE = 2.2, 1.1
# Near enough to a sample drawn anew that is aimed at: so much of what it is from the
# original.
NEAR = 0.1
# Of larger cells the limit of many people is exact enough.
_MANY = 400
_LIMIT = 1.0 / (4.0 * np.log(2.0))


@cache
def noise_terms() -> Floats:
    """Return the expected term of a cell by its count, in bits, twice the divergence.

    With the term comes what keeps a sum of cells at 0 where both counts are equal.
    """
    out = np.zeros(_MANY + 1)
    for a in range(1, _MANY + 1):
        c = np.arange(0, a + 12 * int(np.sqrt(a)) + 20)
        steps = np.concatenate([[0.0], np.cumsum(np.log(np.maximum(c[1:], 1)))])
        chance = np.exp(c * np.log(a) - a - steps)
        term = a * np.log2(a) + _bits(c) - _bits(a + c) + (a + c)
        out[a] = float(chance @ term)
    return out


def _bits(x: NDArray[np.int64]) -> Floats:
    return np.asarray(x * np.log2(np.maximum(x, 1)), float)


def redrawn_distance(codes: Codes, sizes: Ints, component: Component) -> float:
    """Return the mean distance of a component that a sample drawn anew would show."""
    target = build_target(codes, sizes, (component,))
    return float(np.sqrt(redrawn_noise(target)).mean())


def redrawn_noise(target: Target) -> Floats:
    """Return the divergence that each table would show of a sample drawn anew.

    It is 0 for tables that are not compared by Jensen-Shannon.
    """
    known = noise_terms()
    original = target.original
    term = np.where(original <= _MANY, known[np.minimum(original, _MANY)], _LIMIT)
    begins = np.minimum(target.cells.first[:-1], max(0, len(term) - 1))
    total = np.add.reduceat(term, begins)
    # All cells together hold as many people as before: one of them is not free.
    cells = np.maximum(1, np.add.reduceat((original > 0).astype(np.int64), begins))
    total *= (cells - 1) / cells
    return np.where(target.kind == JSD, 0.5 * total / target.records, 0.0)


def few_noise(target: Target) -> Floats:
    """Return the divergence of the small cells that share a counter, drawn anew."""
    terms = target.few @ noise_terms()[: target.few.shape[1]]
    return 0.5 * terms / target.records


def deep_floor(
    large: Floats, few: Floats, unseen: Floats, *, anew: bool = False
) -> Floats:
    """Return the floors of tables of three and more variables, as divergences.

    Parameters
    ----------
    large, few
        What a sample drawn anew would show in cells with a counter of their own, and in
        those that share one.
    unseen
        The share of people who may be where nobody is.
    anew
        Whether such a sample is aimed at, so that the distance from it comes on top.
    """
    inside = np.maximum(_LARGE * large, FRESH * (large + few) - _LOST * few)
    return (NEAR * large if anew else inside) + 0.5 * unseen
