"""Bins of numbers: enough people in each, coded tails, and parts to draw from.

One huge income would stretch its bin, and every number drawn from it. So the outermost
bins end at values that at least `min_group` people reach (top and bottom coding).

The numbers of a bin are not spread evenly: round incomes pile up, and whole numbers
leave gaps. So each bin is made of finer parts. A number that enough people have is a
part of its own; what lies between is a part where enough people share it, and is else
shown as the nearest such number. A number is drawn by its rank in the bin, from 0 to 1:
the rank says in which part, and where in that part. Within a part the density is
exponential, with the mean of the people in it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Long, Real

# The largest slope of the density within a part; the mean is then at its very end.
_MAX_SLOPE = 500.0
_HALVINGS = 60
# Numbers that few people have each are shown in parts of so many times the smallest
# group, so that the ends of a part say little about who they are.
_GROUPS_PER_PART = 4
# Where no larger share of people has a rare number, numbers are codes, or heaped: those
# in between are shown as the nearest that enough people have.
_RARE_SHARE_OF_CODES = 0.1
# Parts of a bin without a smallest group.
_PARTS_PER_BIN = 10


class Bins(NamedTuple):
    """Levels of sorted numbers, with the low end, high end and mean of each.

    Numbers that are `hidden` are never shown as they are: they lie beyond an end.
    """

    level: Long
    ends: Real
    hidden: Flags


def plain_bins(numbers: Real, weight: Real, level: Long) -> Bins:
    """Return bins that end at the smallest and the largest number in them."""
    return _described(weight, level, numbers, np.zeros(len(numbers), bool))


def safe_bins(
    numbers: Real, weight: Real, level: Long, alone: Flags, min_group: int
) -> Bins:
    """Merge bins of few people and code both tails.

    Numbers that stand `alone`, as special codes do, split the others into ranges; each
    range has tails of its own: so has a single number between zero and a special code.
    """
    level, shown = level.copy(), numbers.copy()
    hidden = np.zeros(len(numbers), bool)
    special = np.flatnonzero(alone)
    ranges = np.cumsum(alone) * 2 + np.where(alone, -1, 0)
    for s in np.unique(ranges[~alone]):
        mine = np.flatnonzero(ranges == s)
        people = weight[mine]
        if people.sum() < min_group and len(special):
            distance = np.abs(numbers[special][None, :] - numbers[mine][:, None])
            nearest = special[distance.argmin(axis=1)]
            level[mine], shown[mine] = level[nearest], numbers[nearest]
            hidden[mine] = True
            continue
        level[mine] = merged_levels(level[mine], people, min_group)
        low, high = _cuts(numbers[mine], people, min_group)
        shown[mine] = np.clip(numbers[mine], low, high)
        hidden[mine] = (numbers[mine] < low) | (numbers[mine] > high)
    return _described(weight, level, shown, hidden)


def merged_levels(level: Long, people: Real, min_group: int) -> Long:
    """Join a level of few people to the next one, the last to the one before."""
    names, place = np.unique(level, return_inverse=True)
    group = np.zeros(len(names), np.int64)
    held, now = 0.0, 0
    for k, many in enumerate(np.bincount(place, weights=people)):
        group[k] = now
        held += many
        if held >= min_group:
            held, now = 0.0, now + 1
    # The remainder is too small for a group of its own.
    group = np.minimum(group, max(0, now - 1))
    first = np.array([names[group == g][0] for g in range(int(group.max()) + 1)])
    return np.asarray(first[group][place], np.int64)


def _cuts(numbers: Real, people: Real, min_group: int) -> tuple[float, float]:
    """Return the values that `min_group` people reach from below and from above."""
    up, down = np.cumsum(people), np.cumsum(people[::-1])
    low = float(numbers[np.searchsorted(up, min_group)])
    high = float(numbers[::-1][np.searchsorted(down, min_group)])
    if low <= high:
        return low, high
    middle = float(numbers[np.searchsorted(up, up[-1] / 2.0)])
    return middle, middle


def _described(weight: Real, level: Long, shown: Real, hidden: Flags) -> Bins:
    _, level = np.unique(level, return_inverse=True)
    size = int(level.max()) + 1 if len(level) else 0
    low, high = np.full(size, np.inf), np.full(size, -np.inf)
    np.minimum.at(low, level, shown)
    np.maximum.at(high, level, shown)
    total = np.bincount(level, weights=weight, minlength=size)
    mean = np.bincount(level, weights=weight * shown, minlength=size) / total
    return Bins(level.astype(np.int64), np.column_stack([low, high, mean]), hidden)


class BinParts(NamedTuple):
    """The parts of all bins, bin by bin in ascending order.

    `first` says where the parts of each bin begin, and the end of the last; `reached`
    is the share of a bin's people in its parts up to this one; `ends` are the low end,
    the high end and the mean of each part.
    """

    first: Long
    reached: Real
    ends: Real

    def numbers(
        self, levels: Long, rank: Real, decimals: int, step: float | None = None
    ) -> Real:
        """Return the number of each rank in the bin of its level.

        Numbers are multiples of a `step` apart, by default one in the last decimal.
        """
        first, last = self.first[levels], self.first[levels + 1] - 1
        # Bins lie end to end on one line, each as long as 1.
        line = self.reached + np.repeat(
            np.arange(len(self.first) - 1), np.diff(self.first)
        )
        part = np.clip(np.searchsorted(line, levels + rank, "right"), first, last)
        before = np.where(part > first, self.reached[np.maximum(part - 1, 0)], 0.0)
        share = (rank - before) / np.maximum(self.reached[part] - before, 1e-300)
        share = np.clip(share, 0.0, np.nextafter(1.0, 0.0))
        step = 10.0**-decimals if step is None else step
        out = np.round(draw(self.ends, step, share, part), decimals)
        return np.clip(out, self.ends[part, 0], self.ends[part, 1])


def find_parts(numbers: Real, weight: Real, bins: Bins, min_group: int) -> BinParts:
    """Find the parts of bins of sorted distinct numbers."""
    common = weight >= max(min_group, 2)
    coded = weight[~common].sum() <= _RARE_SHARE_OF_CODES * weight.sum()
    shown = np.clip(numbers, *bins.ends[bins.level, :2].T)
    sizes, reached, ends = [0], [], []
    for b in range(len(bins.ends)):
        mine = np.flatnonzero(bins.level == b)
        mine = mine[np.argsort(shown[mine], kind="stable")]
        values, people, stands = shown[mine], weight[mine], common[mine]
        if min_group > 1:
            part = _safe_parts(values, people, stands, coded, min_group)
        else:
            part = _ranges(people, stands, max(1, int(people.sum()) // _PARTS_PER_BIN))
        # Who is counted at a number that stands alone is shown as having it.
        alone = np.full(int(part.max()) + 1, np.nan)
        alone[part[stands]] = values[stands]
        values = np.where(np.isnan(alone[part]), values, alone[part])
        found = plain_bins(values, people, np.unique(part, return_inverse=True)[1])
        part_people = np.bincount(found.level, weights=people)
        sizes.append(len(part_people))
        reached.append(np.cumsum(part_people) / part_people.sum())
        ends.append(found.ends)
    first = np.cumsum(sizes).astype(np.int64)
    return BinParts(first, np.concatenate(reached), np.concatenate(ends))


def _safe_parts(
    values: Real, people: Real, stands: Flags, coded: bool, min_group: int
) -> Long:
    """Number parts, each of enough people; few between two numbers go to the nearer."""
    part = _ranges(people, stands, _GROUPS_PER_PART * min_group)
    held = np.bincount(part, weights=people)
    if not stands.any():
        return part if held.min() >= min_group else np.zeros(len(part), np.int64)
    lost = ~stands & (coded | (held[part] < min_group))
    known = np.flatnonzero(stands)
    after = np.searchsorted(values[known], values[lost])
    low = known[np.maximum(after - 1, 0)]
    high = known[np.minimum(after, len(known) - 1)]
    nearer = np.abs(values[lost] - values[low]) <= np.abs(values[high] - values[lost])
    out = part.copy()
    out[lost] = part[np.where(nearer, low, high)]
    return out


def _ranges(people: Real, stands: Flags, wide: int) -> Long:
    """Number numbers that stand alone, and ranges of about `wide` people between."""
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


def ranks_within_bins(
    numbers: Real, levels: NDArray[np.integer], rng: np.random.Generator
) -> Real:
    """Return the rank of each number in its bin, from 0 to 1; ties by chance."""
    order = np.lexsort((rng.random(len(numbers)), numbers, levels))
    ordered = levels[order]
    starts = np.r_[True, ordered[1:] != ordered[:-1]]
    group = np.cumsum(starts) - 1
    begin, many = np.flatnonzero(starts), np.bincount(group)
    out = np.empty(len(numbers))
    out[order] = (np.arange(len(order)) - begin[group] + 0.5) / many[group]
    return out


def draw(ends: Real, step: float, u: Real, codes: Long) -> Real:
    """Draw a number of the grid of `step` between the ends of each code's bin."""
    low, high, mean = ends.T
    steps = np.rint((high - low) / step)
    place = np.clip((mean - low) / np.maximum(high - low, 1e-300), 0.0, 1.0)
    # Rounding down to the grid takes half a step off the mean.
    slope = slope_for((steps * place + 0.5) / (steps + 1.0))
    share = _quantile(slope[codes], u)
    out = low[codes] + np.floor(share * (steps[codes] + 1.0)) * step
    return np.clip(out, low[codes], high[codes])


def slope_for(mean: Real) -> Real:
    """Return the slope `t` for which the density ``exp(t x)`` on [0, 1] has a mean."""
    low, high = np.full(len(mean), -_MAX_SLOPE), np.full(len(mean), _MAX_SLOPE)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        below = _mean(middle) < mean
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2.0


def _mean(t: Real) -> Real:
    flat = np.abs(t) < 1e-4
    safe = np.where(flat, 1.0, t)
    return np.where(flat, 0.5 + t / 12.0, -1.0 / np.expm1(-safe) - 1.0 / safe)


def _quantile(t: Real, u: Real) -> Real:
    flat = np.abs(t) < 1e-6
    safe = np.where(flat, 1.0, t)
    # From the steep end, so that nothing overflows.
    fall = np.abs(safe)
    back = np.where(safe > 0.0, 1.0 - u, u)
    share = -np.log1p(back * np.expm1(-fall)) / fall
    share = np.where(safe > 0.0, 1.0 - share, share)
    return np.where(flat, u, np.clip(share, 0.0, np.nextafter(1.0, 0.0)))
