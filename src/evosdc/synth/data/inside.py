"""Numbers inside a bin: where they pile up, and what lies between.

A bin of a search is wide, and its numbers are not spread evenly: round incomes pile up,
and whole numbers leave gaps. So each bin is made of finer parts. A number that enough
people have is a part of its own; what lies between is a part where enough people share
it, and is else shown as the nearest such number. A number is drawn by its rank in the
bin, from 0 to 1: the rank says in which part, and where in that part.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Ints
from evosdc.synth.data.tails import Bins, draw, plain_bins

Floats = NDArray[np.float64]

# A stretch of numbers that few people have each is shown in parts of so many times the
# smallest group, so that its ends say little about who they are.
_WIDE = 4
# Where hardly anybody has a number of his own, numbers are codes, or heaped: those in
# between are shown as the nearest that enough people have.
_HARDLY_ANY = 0.1
# Without a guard a bin has so many parts.
_PARTS = 10


class Inside(NamedTuple):
    """The parts of all bins, bin by bin in ascending order.

    Attributes
    ----------
    first
        Where the parts of each bin begin, and the end of the last.
    reached
        The share of a bin's people in its parts up to this one.
    ends
        The low end, the high end and the mean of each part.
    """

    first: Ints
    reached: Floats
    ends: Floats

    def numbers(
        self, levels: Ints, rank: Floats, decimals: int, step: float | None = None
    ) -> Floats:
        """Return the number of each rank in the bin of its level.

        Numbers are multiples of a `step` apart, by default one in the last decimal.
        """
        first, last = self.first[levels], self.first[levels + 1] - 1
        # Bins lie end to end on one line, each as long as 1.
        line = self.reached + np.repeat(
            np.arange(len(self.first) - 1), np.diff(self.first)
        )
        part = np.searchsorted(line, levels + rank, "right")
        part = np.clip(part, first, last)
        before = np.where(part > first, self.reached[np.maximum(part - 1, 0)], 0.0)
        share = (rank - before) / np.maximum(self.reached[part] - before, 1e-300)
        share = np.clip(share, 0.0, np.nextafter(1.0, 0.0))
        step = 10.0**-decimals if step is None else step
        out = np.round(draw(self.ends, step, share, part), decimals)
        return np.clip(out, self.ends[part, 0], self.ends[part, 1])


def make_inside(numbers: Floats, weight: Floats, bins: Bins, least: int) -> Inside:
    """Find the parts of bins of sorted distinct numbers."""
    many = weight >= max(least, 2)
    coded = weight[~many].sum() <= _HARDLY_ANY * weight.sum()
    shown = np.clip(numbers, *bins.ends[bins.level, :2].T)
    sizes, reached, ends = [0], [], []
    for b in range(len(bins.ends)):
        mine = np.flatnonzero(bins.level == b)
        values, people = shown[mine], weight[mine]
        order = np.argsort(values, kind="stable")
        values, people, stands = values[order], people[order], many[mine][order]
        if least > 1:
            part = _safe_parts(values, people, stands, coded, least)
        else:
            part = _stretches(people, stands, max(1, int(people.sum()) // _PARTS))
        # Who is counted at a number that stands alone is shown as having it.
        alone = np.full(int(part.max()) + 1, np.nan)
        alone[part[stands]] = values[stands]
        values = np.where(np.isnan(alone[part]), values, alone[part])
        _, place = np.unique(part, return_inverse=True)
        found = plain_bins(values, people, place)
        part_people = np.bincount(found.level, weights=people)
        sizes.append(len(part_people))
        reached.append(np.cumsum(part_people) / part_people.sum())
        ends.append(found.ends)
    first = np.cumsum(sizes).astype(np.int64)
    return Inside(first, np.concatenate(reached), np.concatenate(ends))


def _safe_parts(
    values: Floats, people: Floats, stands: NDArray[np.bool_], coded: bool, least: int
) -> Ints:
    """Number parts, each of enough people; few between two numbers go to the nearer."""
    part = _stretches(people, stands, _WIDE * least)
    held = np.bincount(part, weights=people)
    if not stands.any():
        return part if held.min() >= least else np.zeros(len(part), np.int64)
    lost = ~stands & (coded | (held[part] < least))
    known = np.flatnonzero(stands)
    after = np.searchsorted(values[known], values[lost])
    low = known[np.maximum(after - 1, 0)]
    high = known[np.minimum(after, len(known) - 1)]
    nearer = np.abs(values[lost] - values[low]) <= np.abs(values[high] - values[lost])
    out = part.copy()
    out[lost] = part[np.where(nearer, low, high)]
    return out


def _stretches(people: Floats, stands: NDArray[np.bool_], wide: int) -> Ints:
    """Number numbers that stand alone, and stretches of about `wide` people between."""
    out = np.zeros(len(people), np.int64)
    now, held, left = -1, 0.0, 0.0
    for k in range(len(people)):
        fresh = k == 0 or stands[k] or stands[k - 1]
        if fresh:
            left = 0.0
            for more in range(k, len(people)):
                if stands[more]:
                    break
                left += people[more]
        # A remainder too small for a part of its own stays with the one before.
        if fresh or (held >= wide and left >= wide):
            now, held = now + 1, 0.0
        out[k] = now
        held += people[k]
        left -= people[k]
    return out


def ranks_inside(
    numbers: Floats, levels: NDArray[np.integer], rng: np.random.Generator
) -> Floats:
    """Return the rank of each number in its bin, from 0 to 1; ties by chance."""
    order = np.lexsort((rng.random(len(numbers)), numbers, levels))
    ordered = levels[order]
    starts = np.r_[True, ordered[1:] != ordered[:-1]]
    group = np.cumsum(starts) - 1
    begin, many = np.flatnonzero(starts), np.bincount(group)
    out = np.empty(len(numbers))
    out[order] = (np.arange(len(order)) - begin[group] + 0.5) / many[group]
    return out
