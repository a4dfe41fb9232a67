"""The tables a synthetic copy should reproduce, with their per-cell terms.

Every utility objective is a sum of terms over cells, so that a move costs only the
cells it leaves and enters:

- Jensen-Shannon: ``L(a) + L(c) - L(a + c)`` with ``L(x) = x log2 x``, looked up;
- L1: ``|a - c|``;
- matches: 1 for a person of the original, alone in the full table, who is in the copy;
- Cramer's V: ``c**2 / (row * column)``, which is exact while margins do not change.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.errors import InputError
from evosdc.synth.data.encoding import (
    EVERY,
    SMALL,
    Codes,
    Support,
    TableIndex,
    build_index,
)
from evosdc.synth.objective.covariances import NONE, Covariances

JSD, L1, CRAMER, MATCH = 0, 1, 2, 3
_MAX_COMPLETE_CELLS = 1 << 24
# What a record where nobody is costs beside its divergence, in tables of three and more
# variables, else a search makes up for it by large cells that are too exact.
OUTSIDE_PRICE = 8.0
# It falls to 0 where this share of people is alone in a cell: in a sparse table much of
# another sample is where nobody was, and the price would outweigh margins and pairs.
MAX_UNIQUE_SHARE = 0.05


class Component(NamedTuple):
    """One objective: a kind of distance over all tables of some order (0 = full).

    Where `sets` are given it is over those tables only; None for all. An order that is
    to be `chosen` has its sets found by the search.
    """

    kind: int
    order: int
    chosen: bool = False
    sets: tuple[tuple[int, ...], ...] | None = None

    @property
    def name(self) -> str:
        """Its name, as users write it."""
        if self.kind == JSD:
            return f"jsd:{self.order or 'full'}"
        return "tables" if self.kind == L1 else "cramer"

    def tables(self, sizes: Long) -> list[tuple[int, ...]]:
        """Return the variables of its tables, those with most levels first.

        The last variable has the longest stride, so that a table is cheaply summed
        over the one with fewest levels.
        """
        if self.sets is not None:
            return list(self.sets)
        order = len(sizes) if self.order == 0 else min(self.order, len(sizes))
        return list(combinations(np.argsort(-sizes, kind="stable").tolist(), order))


class Target(NamedTuple):
    """What kernels need to price a candidate; plain arrays.

    `direct` marks the tables priced as soon as they are counted, and `words` has what
    that needs of a cell in one word: the original's count, then the cell number in 16
    bits each. `reference` and `noise` are what `table_value` needs: the divergence of a
    table below which closeness is not rewarded. `away` is what each record beyond those
    `allowed` adds to a table's sum where there is nobody in the original. Of tables
    whose small cells share a counter, `few` says how many cells hold 1, 2, ... people.
    Where there are `covariances`, they are the last group, which has no table.
    """

    cells: TableIndex
    original: Int
    kind: Long
    group: Long
    group_weight: Real
    floor: Real
    noise: Real
    reference: Real
    degree: Real
    logs: Real
    constant: Real
    touch_start: Long
    touch: Int
    touch_step: Long
    records: int
    direct: Flags
    words: NDArray[np.uint32]
    away: Real
    allowed: Real
    few: Long
    covariances: Covariances = NONE

    @property
    def small(self) -> Flags:
        """Which tables are compared by Jensen-Shannon and have one or two variables."""
        return (self.kind == JSD) & (self.cells.order <= 2)

    def softened(self, softness: float) -> Target:
        """Return it with softer distances of the small tables.

        What a distance is above a noise floor is nowhere steep: it stays as it is.
        """
        steep = self.small & (self.noise == 0.0)
        return self._replace(reference=np.where(steep, softness, self.reference))


def build_target(
    codes: Codes,
    sizes: Long,
    components: tuple[Component, ...],
    number: Callable[[Codes, tuple[int, ...], Long], Long] | None = None,
    min_group: int = 0,
) -> Target:
    """Tabulate the original for some objectives; see `build_index` for `number`.

    Cells of fewer than `min_group` records of a table of three and more variables, the
    full one aside, share one counter.
    """
    sets: list[tuple[int, ...]] = []
    kinds: list[int] = []
    groups: list[int] = []
    weights: list[float] = []
    for g, component in enumerate(components):
        chosen = component.tables(sizes)
        sets += chosen
        kinds += [component.kind] * len(chosen)
        groups += [g] * len(chosen)
        # L1 lies in [0, 2]; halved where it has to share a scale with others.
        scale = 0.5 if component.kind == L1 and len(components) > 1 else 1.0
        weights.append(scale / max(1, len(chosen)))
    complete = np.array([k == CRAMER for k in kinds])
    _refuse_huge(sizes, sets, complete)
    support = [
        _support(kind, s, min_group, len(sizes))
        for kind, s in zip(kinds, sets, strict=True)
    ]
    index, original, places = build_index(codes, sizes, sets, complete, number, support)
    rested = index.heads[:, 5] >= 0
    few = np.zeros((len(sets), max(2, min_group)), np.int64)
    for t in np.flatnonzero(rested):
        count = np.bincount(places[t])
        few[t] = np.bincount(count[count < min_group], minlength=few.shape[1])
    touch = [
        np.array([t for t, s in enumerate(sets) if j in s], np.int32)
        for j in range(codes.shape[1])
    ]
    touch_step = [
        index.steps[t, sets[t].index(j)] for j, ts in enumerate(touch) for t in ts
    ]
    logs = log_table(2 * len(codes) + 2)
    target = Target(
        index,
        original,
        np.array(kinds, np.int64),
        np.array(groups, np.int64),
        np.array(weights),
        np.zeros(len(components)),
        np.zeros(len(sets)),
        np.zeros(len(sets)),
        _degrees(codes, sets),
        logs,
        _sums(logs[original], index.first),
        np.concatenate([[0], np.cumsum([len(t) for t in touch])]),
        np.concatenate(touch),
        np.array(touch_step, np.int64),
        len(codes),
        np.array([k == JSD for k in kinds]) & _fit_words(index, original) & ~rested,
        (original.astype(np.uint32) << np.uint32(16)) | index.near,
        np.where(
            np.array(kinds) == L1,
            1.0,
            rested
            * OUTSIDE_PRICE
            * np.maximum(0.0, 1.0 - few[:, 1] / (MAX_UNIQUE_SHARE * len(codes))),
        ),
        np.zeros(len(sets)),
        few,
    )
    matches = target.kind == MATCH
    target.degree[matches] = np.maximum(1, np.diff(index.first))[matches]
    if complete.any():
        inverse = np.zeros(len(original))
        fill_weights(target, original, inverse)
        sums = table_sums(target, original, outside_zero(target), inverse)
        association = np.sqrt(np.maximum(sums - 1.0, 0.0) / target.degree)
        target.reference[complete] = association[complete]
    return target


def _support(
    kind: int, table: tuple[int, ...], min_group: int, variables: int
) -> Support:
    if kind == MATCH:
        return Support(1, 1, plain=True)
    if kind == JSD and min_group > 1 and 2 < len(table) < variables:
        return Support(min_group, rest=True)
    return EVERY


def log_table(size: int) -> Real:
    """Return x log2 x for x = 0 .. size - 1."""
    x = np.arange(size, dtype=float)
    x[1:] *= np.log2(x[1:])
    return x


def _sums(values: Real, first: Long) -> Real:
    """Return the sum of each table's cells; a table may have none."""
    begins = np.minimum(first[:-1], max(0, len(values) - 1))
    return np.where(first[1:] > first[:-1], np.add.reduceat(values, begins), 0.0)


def _fit_words(index: TableIndex, original: Int) -> Flags:
    begins = np.minimum(index.first[:-1], max(0, len(original) - 1))
    most = np.maximum.reduceat(original, begins)
    return (index.heads[:, 4] <= SMALL) & (most < 1 << 16)


def _refuse_huge(sizes: Long, sets: list[tuple[int, ...]], complete: NDArray) -> None:
    if complete.any() and len(sizes) < 2:
        raise InputError(
            "Cramer's V needs two columns; the data have one", hint="choose jsd:2"
        )
    cells = sum(
        int(np.prod(sizes[list(s)])) for s, c in zip(sets, complete, strict=True) if c
    )
    if cells > _MAX_COMPLETE_CELLS:
        raise InputError(
            f"Cramer's V needs every cell of its tables: {cells:,} here",
            expected=f"at most {_MAX_COMPLETE_CELLS:,} cells",
            hint="choose objective 'jsd:2', which needs only the cells that occur, "
            "or pool rare levels",
        )


def _degrees(codes: Codes, sets: list[tuple[int, ...]]) -> Real:
    seen = [len(np.unique(column)) for column in codes.T]
    return np.array([max(1, min(seen[j] for j in s) - 1) for s in sets], float)


def outside_zero(target: Target) -> Long:
    """Return an empty count of records outside each table's support."""
    return np.zeros(len(target.kind), np.int64)


@kernel
def fill_weights(target, counts, out):  # type: ignore[no-untyped-def]
    """Set 1 / (row * column) for each cell of the Cramer tables."""
    kinds, first, steps = target.kind, target.cells.first, target.cells.steps
    for t in range(len(kinds)):
        if kinds[t] != CRAMER:
            continue
        # The first variable has stride 1, so the second one's is the table's width.
        low = first[t]
        width = steps[t, 1]
        height = (first[t + 1] - low) // width
        rows = np.zeros(height)
        columns = np.zeros(width)
        for r in range(height):
            for c in range(width):
                rows[r] += counts[low + r * width + c]
                columns[c] += counts[low + r * width + c]
        for r in range(height):
            for c in range(width):
                both = rows[r] * columns[c]
                out[low + r * width + c] = 1.0 / both if both > 0 else 0.0


@kernel(inner=True)
def _entropy_terms(a, c, logs):  # type: ignore[no-untyped-def]
    """Return the sum of L(c) - L(a + c), two cells at a time to keep adders busy."""
    many = len(a)
    x, y, z, w = 0.0, 0.0, 0.0, 0.0
    for i in range(many // 2):
        x += logs[np.uint64(c[2 * i])]
        y += logs[np.uint64(a[2 * i] + c[2 * i])]
        z += logs[np.uint64(c[2 * i + 1])]
        w += logs[np.uint64(a[2 * i + 1] + c[2 * i + 1])]
    if many % 2 == 1:
        x += logs[np.uint64(c[many - 1])]
        y += logs[np.uint64(a[many - 1] + c[many - 1])]
    return (x - y) + (z - w)


@kernel(inner=True)
def table_sum(target, t, counts, outside, weights):  # type: ignore[no-untyped-def]
    """Return the sum of cell terms of a table."""
    low, high = target.cells.first[t], target.cells.first[t + 1]
    original, here = target.original[low:high], counts[low:high]
    total = target.away[t] * max(0.0, outside[t] - target.allowed[t])
    if target.kind[t] == JSD:
        terms = _entropy_terms(original, here, target.logs)
        return target.constant[t] + terms + total
    if target.kind[t] == L1:
        for cell in range(len(here)):
            total += abs(original[cell] - here[cell])
    elif target.kind[t] == MATCH:
        for cell in range(len(here)):
            total += 1.0 if here[cell] > 0 else 0.0
    else:
        scale = weights[low:high]
        for cell in range(len(here)):
            c = float(here[cell])
            total += c * c * scale[cell]
    return total


@kernel(nogil=True)
def table_sums(target, counts, outside, weights):  # type: ignore[no-untyped-def]
    """Return the sum of cell terms of each table."""
    out = np.zeros(len(target.kind))
    for t in range(len(out)):
        out[t] = table_sum(target, t, counts, outside, weights)
    return out


@kernel(inner=True)
def table_value(kind, total, records, degree, reference, noise):  # type: ignore[no-untyped-def]
    """Turn a sum of cell terms into the distance of a table.

    `reference` is the original's association for Cramer's V, and the share of matches
    that is allowed. A Jensen-Shannon distance is softened by it: ``sqrt(D + r**2) - r``
    is no steeper at 0 than the distance is at r, and the distance itself for r = 0. Of
    a table with `noise` it is what the distance is above that of so much divergence.
    """
    if kind == JSD:
        divergence = max(noise, 0.5 * total / records + 1.0)
        softened = reference * reference
        return np.sqrt(divergence + softened) - np.sqrt(noise + softened)
    if kind == L1:
        return total / records
    if kind == MATCH:
        return max(0.0, total / degree - reference)
    return abs(np.sqrt(max(0.0, total - 1.0) / degree) - reference)


@kernel(inline="always")
def value_of(target, t, total):  # type: ignore[no-untyped-def]
    """Return the distance of table `t` for a sum of its cell terms."""
    return table_value(
        target.kind[t],
        total,
        target.records,
        target.degree[t],
        target.reference[t],
        target.noise[t],
    )


@kernel(nogil=True)
def group_values(target, sums):  # type: ignore[no-untyped-def]
    """Return the mean distance of each objective."""
    out = np.zeros(len(target.group_weight))
    for t in range(len(sums)):
        g = target.group[t]
        out[g] += target.group_weight[g] * value_of(target, t, sums[t])
    return out


@kernel(inner=True)
def combine(values, floor):  # type: ignore[no-untyped-def]
    """Return the Euclidean combination of objectives, normalised (thesis, eq. 7).

    An objective below its floor counts as at it: nothing is gained by going further.
    """
    total = 0.0
    for g in range(len(values)):
        value = max(values[g], floor[g])
        total += value * value
    return np.sqrt(total / len(values))
