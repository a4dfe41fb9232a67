"""One variable: values of a column grouped into levels, and drawn again from them.

A level is a set of values. Most levels hold one value; a bin holds a range of numbers,
a pooled level holds the rare values, and the level of missing values holds none. With
a smallest group, values of fewer people are part of a level but never drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evosdc.arrays import Flags, Long, Real
from evosdc.errors import InputError
from evosdc.metrics.binning import as_numbers, is_number, quantile_cuts
from evosdc.options import copies
from evosdc.synth.data.bins import (
    BinParts,
    find_parts,
    merged_levels,
    plain_bins,
    safe_bins,
)
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.rare_levels import (
    GroupProtection,
    Pools,
    pool_others,
    pool_texts,
    round_numbers,
)

# Floats that need more decimals than this are written with 15.
_MAX_DECIMALS = 6
# A day in the units that times are stored in; dates are stored in days.
_UNITS_PER_DAY = {
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
}


@dataclass(frozen=True, eq=False)
class Variable:
    """Levels of one column.

    Attributes
    ----------
    values, level
        The distinct values of the original and the level of each; labels of pooled
        levels come last.
    weight
        How often each value occurs, for drawing one of a level's values; 0 for values
        that must not be drawn.
    missing
        The level of missing values, or -1.
    edges
        Edges of the bins of a continuous column, else empty. Value `x` is in bin `b`
        where ``edges[b] <= x < edges[b + 1]``; values that stand out by frequency
        have levels of their own.
    categories
        All categories of a categorical column, used or not, in order.
    parts
        The finer parts of the bins that numbers are drawn from.
    decimals
        How many decimals the numbers have.
    step
        What dates and times are multiples of, such as whole days; None for numbers.
    absent
        The level that a missing value is counted in where too few are missing.
    protection
        What was done about small groups.
    """

    name: str
    type: pa.DataType
    values: pa.Array
    level: Long
    weight: Real
    size: int
    missing: int = -1
    edges: Real | None = None
    uniform: bool = True
    categories: pa.Array | None = None
    parts: BinParts | None = None
    decimals: int = 0
    step: float | None = None
    absent: int = -1
    protection: GroupProtection = field(default_factory=GroupProtection)

    def encode(self, column: pa.ChunkedArray) -> Codes:
        """Return the level of each value of a column."""
        plain = plain_array(column)
        known = np.asarray(pc.fill_null(pc.index_in(plain, self.values), -1), np.int64)
        null = np.asarray(plain.is_null())
        # One more level at the end, -1, for values that are not known.
        out = np.append(self.level, -1)[known]
        out[null] = self.missing if self.missing >= 0 else self.absent
        unknown = np.flatnonzero(out < 0)
        if len(unknown) and self.edges is not None and not null[unknown].any():
            out[unknown] = self._nearest_bin(as_numbers(plain)[unknown])
        elif len(unknown):
            raise InputError(
                f"column {self.name!r} has values that the original does not have",
                expected="values among the original's levels",
            )
        return out.astype(np.int16)

    def _nearest_bin(self, numbers: Real) -> Long:
        known = as_numbers(self.values)
        order = np.argsort(known)
        at = np.searchsorted(known[order], numbers)
        return self.level[order[np.clip(at, 0, len(order) - 1)]]

    @property
    def ordered(self) -> bool:
        """Whether levels are numbers, in their order."""
        return is_number(self.type)

    def decode(
        self, codes: Codes, rng: np.random.Generator, rank: Real | None = None
    ) -> pa.Array:
        """Draw a value for each code; `rank` says where in its bin, from 0 to 1."""
        position = self._draw(codes, rng)
        out = self.values.take(pa.array(position, mask=codes == self.missing))
        if self.edges is not None and self.uniform:
            out = self._spread(codes, out, rng.random(len(codes)), rank)
        if self.categories is not None:
            kind = self.type
            indices = pc.index_in(out, self.categories).cast(kind.index_type)
            return pa.DictionaryArray.from_arrays(
                indices, self.categories, ordered=kind.ordered
            )
        return out.cast(self.type)

    def _draw(self, codes: Codes, rng: np.random.Generator) -> Long:
        """Draw one of the values of each code's level, by frequency."""
        # What must not be drawn comes first in its level, out of rounding's reach.
        order = np.lexsort((self.weight > 0, self.level))
        cumulative = np.concatenate([[0.0], np.cumsum(self.weight[order])])
        start = np.searchsorted(self.level[order], np.arange(self.size))
        stop = np.searchsorted(self.level[order], np.arange(self.size), "right")
        low, high = cumulative[start][codes], cumulative[stop][codes]
        where = low + rng.random(len(codes)) * (high - low)
        at = np.searchsorted(cumulative, where, "right") - 1
        top = np.maximum(stop[codes] - 1, 0)
        at = np.clip(at, np.minimum(start[codes], top), top)
        return order[at] if len(order) else np.zeros(len(codes), np.int64)

    def _spread(
        self, codes: Codes, drawn: pa.Array, chance: Real, rank: Real | None
    ) -> pa.Array:
        """Draw from the parts of each bin, by rank or by chance."""
        numbers = self.numbers(codes, chance if rank is None else rank)
        mask = np.asarray(drawn.is_null())
        numbers = np.where(mask, 0.0, numbers)
        if not (pa.types.is_floating(self.type) or pa.types.is_decimal(self.type)):
            plain = pa.array(numbers.astype(np.int64), mask=mask)
            if pa.types.is_date32(self.type) or pa.types.is_time32(self.type):
                plain = plain.cast(pa.int32())
            return plain.cast(self.type)
        return pa.array(numbers, mask=mask).cast(self.type)

    def read(self, column: pa.ChunkedArray) -> Real:
        """Return the numbers of a column of this kind; NaN where there is none."""
        return as_numbers(column)

    def with_coded_tails(self, numbers: Real) -> Real:
        """Return numbers of the original, none of them beyond what may be shown."""
        if self.parts is None:
            return numbers
        ends = self.parts.ends
        return np.asarray(np.clip(numbers, ends[:, 0].min(), ends[:, 1].max()))

    def level_means(self, column: pa.ChunkedArray, codes: Codes) -> Real:
        """Return the mean of the numbers that the copy shows of each level.

        It is NaN for codes and missing values. `codes` are those of the column.
        """
        if self.parts is None:
            # Rare numbers are shown as another one: their weight is 0.
            total = np.bincount(self.level, self.weight, self.size)
            values = np.where(self.weight > 0, as_numbers(self.values), 0.0)
            numbers = np.bincount(self.level, self.weight * values, self.size)
        else:
            mine = self.with_coded_tails(self.read(column))
            known = ~np.isnan(mine)
            total = np.bincount(codes[known], minlength=self.size)
            numbers = np.bincount(codes[known], mine[known], self.size)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.where(total > 0, numbers / total, np.nan))

    def numbers(self, codes: Codes, rank: Real) -> Real:
        """Return the number of each rank in the bin of its code."""
        assert self.parts is not None
        # The level of missing values is no bin.
        known = np.minimum(codes, len(self.parts.first) - 2).astype(np.int64)
        return self.parts.numbers(known, rank, self.decimals, self.step)

    def samples(self, level: int) -> list[Any]:
        """Return values that stand for a level in a rule; None for missing values.

        Those are all its values, but the two ends of a bin.
        """
        here = self.level == level
        # What is never drawn breaks no rule.
        shown = here & (self.weight > 0)
        mine = self.values.filter(pa.array(shown if shown.any() else here)).to_pylist()
        if not mine:
            return [None]
        return mine if self.edges is None else sorted({min(mine), max(mine)})


def make_variable(
    name: str,
    column: pa.ChunkedArray,
    coding: copies.Coding,
    bins: int | Sequence[float] | None,
    cuts: Sequence[float],
) -> Variable:
    """Group the values of a column into levels, numbers into `bins` if given."""
    min_group, pool = coding.least, coding.pool
    plain = plain_array(column)
    counts = plain.drop_null().value_counts()
    values = counts.field("values")
    order = _order(column, values)
    values = values.take(pa.array(order))
    weight = np.asarray(counts.field("counts"), float)[order]
    out = Variable(
        name,
        column.type,
        values,
        np.arange(len(values), dtype=np.int64),
        weight,
        len(values),
        uniform=coding.restore == "uniform",
        categories=_categories(column),
    )
    if bins is not None and len(values) > 0:
        out = _with_bins(out, bins, coding, cuts)
        # Bins of few records are merged with others, not pooled: they have parts.
        pool = 0
    elif min_group > 1 and len(values) > 0:
        out = _with_pools(out, _pools(values, weight, min_group))
    level = out.level
    if pool > 0:
        every = np.zeros(len(level))
        every[: len(weight)] = weight
        level = _pooled(level, every, pool)
    size = int(level.max()) + 1 if len(level) else 0
    gone = plain.null_count
    if 0 < gone < min_group and size > 0:
        usual = int(np.bincount(level, weights=out.weight).argmax())
        protection = replace(out.protection, missing=True)
        return replace(out, level=level, size=size, absent=usual, protection=protection)
    if gone:
        return replace(out, level=level, size=size + 1, missing=size)
    return replace(out, level=level, size=size)


def _pools(values: pa.Array, weight: Real, min_group: int) -> Pools:
    """Pool rare levels in the way of their type."""
    if is_number(values.type):
        whole = pa.types.is_integer(values.type)
        return round_numbers(as_numbers(values), weight, min_group, pool_tail=whole)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pool_texts(values.to_pylist(), weight, min_group)
    return pool_others(weight, min_group)


def _with_pools(variable: Variable, pools: Pools) -> Variable:
    labels = pa.array(pools.labels, variable.values.type)
    pooled = np.array(
        [variable.weight[pools.level == level].sum() for level in pools.label_level]
    )
    categories = variable.categories
    if categories is not None:
        # A list of categories would tell what no record shows.
        secret = variable.values.filter(pa.array(pools.hidden))
        categories = categories.filter(pc.invert(pc.is_in(categories, secret)))
        categories = pa.concat_arrays([categories, labels])
    return replace(
        variable,
        values=pa.concat_arrays([variable.values, labels]),
        level=np.concatenate([pools.level, pools.label_level]),
        weight=np.concatenate([np.where(pools.hidden, 0.0, variable.weight), pooled]),
        categories=categories,
        protection=pools.protection,
    )


def _with_bins(
    variable: Variable,
    bins: int | Sequence[float],
    coding: copies.Coding,
    cuts: Sequence[float],
) -> Variable:
    """Return a variable of sorted distinct numbers with bins for levels."""
    numbers, weight, min_group = (
        as_numbers(variable.values),
        variable.weight,
        coding.least,
    )
    edges, level, alone = _binned(variable.name, numbers, weight, bins, coding, cuts)
    if min_group > 1:
        found = safe_bins(numbers, weight, level, alone, min_group)
    elif coding.pool > 1:
        found = plain_bins(numbers, weight, merged_levels(level, weight, coding.pool))
    else:
        found = plain_bins(numbers, weight, level)
    return replace(
        variable,
        level=found.level,
        weight=np.where(found.hidden, 0.0, weight),
        edges=edges,
        protection=GroupProtection(tails=int(weight[found.hidden].sum())),
        parts=find_parts(numbers, weight, found, min_group),
        decimals=_decimals(variable.type, numbers),
        step=time_step(variable.type, numbers),
    )


def _decimals(kind: pa.DataType, numbers: Real) -> int:
    """Return with how many decimals numbers are written."""
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return 0
    for digits in range(_MAX_DECIMALS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=0, atol=1e-12):
            return digits
    return 15


def time_step(kind: pa.DataType, numbers: Real) -> float | None:
    """Return the part of a day that dates and times are multiples of, or a day."""
    if not pa.types.is_temporal(kind):
        return None
    unit = "ms" if pa.types.is_date64(kind) else getattr(kind, "unit", "")
    day = _UNITS_PER_DAY.get(unit, 1)
    gaps = np.diff(np.unique(numbers)).astype(np.int64)
    return float(np.gcd.reduce(gaps, initial=day))


def check_column(name: str, known: Sequence[str], what: str = "unknown column") -> None:
    """Refuse the name of a column that is not there."""
    if name not in known:
        names = ", ".join(map(repr, known))
        raise InputError(f"{what} {name!r}", expected=f"one of {names}")


def plain_array(column: Any) -> pa.Array:
    """Return a column as one array, the values of a categorical one written out."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = pa.concat_arrays(column.chunks)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def _categories(column: pa.ChunkedArray) -> pa.Array | None:
    """Return all categories of a categorical column, in order."""
    if not pa.types.is_dictionary(column.type):
        return None
    return column.unify_dictionaries().chunk(0).dictionary


def _order(column: pa.ChunkedArray, values: pa.Array) -> Long:
    """Order values as their categories are, else by size, as strings sort."""
    if len(values) == 0:
        return np.zeros(0, np.int64)
    categories = _categories(column)
    if categories is not None:
        place = pc.index_in(values, categories)
        return np.argsort(np.asarray(place), kind="stable")
    return np.asarray(pc.sort_indices(values), np.int64)


def _binned(
    name: str,
    numbers: Real,
    weight: Real,
    bins: int | Sequence[float],
    coding: copies.Coding,
    cuts: Sequence[float],
) -> tuple[Real, Long, Flags]:
    """Return edges, the level of each distinct number, and which stand alone.

    The bins are those of `evosdc.metrics.binning`, cut once more at `cuts`. Special
    numbers keep their own level, so that they come back exactly, if enough people have
    them.
    """
    alone = np.zeros(len(numbers), bool)
    if not isinstance(bins, int):
        edges = np.unique(np.asarray(bins, float))
    elif bins < 1:
        raise InputError(f"column {name!r} has {bins} bins", expected="at least 1")
    elif coding.binning == "width":
        edges = np.linspace(numbers.min(), numbers.max(), bins + 1)
    else:
        edges, special = quantile_cuts(numbers, weight, bins)
        alone = special & (weight >= coding.least)
    edges = np.unique(np.concatenate([edges, np.asarray(cuts, float)]))
    if len(edges) < 1:
        edges = numbers[:1]
    # What follows a number that stands alone is a bin of its own: a uniform draw never
    # jumps over a special code.
    after = np.nextafter(numbers[alone], np.inf)
    begins = np.unique(np.concatenate([edges, numbers[alone], after]))
    _, level = np.unique(np.searchsorted(begins, numbers, "right"), return_inverse=True)
    return edges, level.astype(np.int64), alone


def _pooled(level: Long, weight: Real, pool: int) -> Long:
    """Give all levels with fewer than `pool` records the same number."""
    total = np.bincount(level, weights=weight)
    rare = total < pool
    if rare.sum() < 2:
        return level
    new = np.where(rare, -1, np.cumsum(~rare) - 1)
    new[rare] = int((~rare).sum())
    return new[level]
