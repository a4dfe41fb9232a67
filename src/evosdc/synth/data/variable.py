"""One variable: values of a column grouped into levels, and drawn again from them.

A level is a set of values. Most levels hold one value; a bin holds a range of numbers,
a pooled level holds the rare values, and the level of missing values holds none. With
`least`, values of fewer people are part of a level but never drawn from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.metrics.binning import as_numbers, is_number, quantile_cuts
from evosdc.synth.data.encoding import Ints
from evosdc.synth.data.inside import Inside, make_inside
from evosdc.synth.data.least import Care, Pools, pool_others, pool_texts, round_numbers
from evosdc.synth.data.tails import Bins, plain_bins, safe_bins

_DECIMALS = 6
# A day in the units that times are stored in; dates are stored in days.
_DAY = {"s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}


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
    inside
        The finer parts of the bins that numbers are drawn from.
    decimals
        How many decimals the numbers have.
    step
        What dates and times are multiples of, such as whole days; None for numbers.
    absent
        The level that a missing value is counted in where too few are missing.
    care
        What was done about small groups.
    """

    name: str
    type: pa.DataType
    values: pa.Array
    level: Ints
    weight: NDArray[np.float64]
    size: int
    missing: int = -1
    edges: NDArray[np.float64] | None = None
    uniform: bool = True
    categories: pa.Array | None = None
    inside: Inside | None = None
    decimals: int = 0
    step: float | None = None
    absent: int = -1
    care: Care = field(default_factory=Care)

    def encode(self, column: pa.ChunkedArray) -> NDArray[np.int16]:
        """Return the level of each value of a column."""
        plain = _plain(column)
        position = pc.index_in(plain, self.values)
        known = np.asarray(
            pc.fill_null(position, -1).to_numpy(zero_copy_only=False), np.int64
        )
        null = np.asarray(plain.is_null().to_numpy(zero_copy_only=False), bool)
        # One more level at the end, -1, for values that are not known.
        out = np.append(self.level, -1)[known]
        out[null] = self.missing if self.missing >= 0 else self.absent
        strange = np.flatnonzero(out < 0)
        if len(strange) and self.edges is not None and not null[strange].any():
            numbers = as_numbers(plain)[strange]
            out[strange] = self._nearest_bin(numbers)
        elif len(strange):
            raise InputError(
                f"column {self.name!r} has values that the original does not have",
                expected="values among the original's levels",
            )
        return out.astype(np.int16)

    def _nearest_bin(self, numbers: NDArray[np.float64]) -> Ints:
        known = as_numbers(self.values)
        order = np.argsort(known)
        at = np.searchsorted(known[order], numbers)
        return self.level[order[np.clip(at, 0, len(order) - 1)]]

    @property
    def ordered(self) -> bool:
        """Whether levels are numbers, in their order."""
        return is_number(self.type)

    def decode(
        self,
        codes: NDArray[np.int16],
        rng: np.random.Generator,
        rank: NDArray[np.float64] | None = None,
    ) -> pa.Array:
        """Draw a value for each code; `rank` says where in its bin, from 0 to 1."""
        position = self._draw(codes, rng)
        indices = pa.array(position, mask=codes == self.missing)
        out = self.values.take(indices)
        if self.edges is not None and self.uniform:
            out = self._spread(codes, out, rng.random(len(codes)), rank)
        if self.categories is not None:
            kind = self.type
            indices = pc.index_in(out, self.categories).cast(kind.index_type)
            return pa.DictionaryArray.from_arrays(
                indices, self.categories, ordered=kind.ordered
            )
        return out.cast(self.type)

    def _draw(self, codes: NDArray[np.int16], rng: np.random.Generator) -> Ints:
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
        self,
        codes: NDArray[np.int16],
        drawn: pa.Array,
        chance: NDArray[np.float64],
        rank: NDArray[np.float64] | None,
    ) -> pa.Array:
        """Draw from the parts of each bin, by rank or by chance."""
        numbers = self.numbers(codes, chance if rank is None else rank)
        mask = np.asarray(drawn.is_null().to_numpy(zero_copy_only=False), bool)
        numbers = np.where(mask, 0.0, numbers)
        if not (pa.types.is_floating(self.type) or pa.types.is_decimal(self.type)):
            plain = pa.array(numbers.astype(np.int64), mask=mask)
            if pa.types.is_date32(self.type) or pa.types.is_time32(self.type):
                plain = plain.cast(pa.int32())
            return plain.cast(self.type)
        return pa.array(numbers, mask=mask).cast(self.type)

    def read(self, column: pa.ChunkedArray) -> NDArray[np.float64]:
        """Return the numbers of a column of this kind; NaN where there is none."""
        return as_numbers(column)

    def with_coded_tails(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return numbers of the original, none of them beyond what may be shown."""
        if self.inside is None:
            return numbers
        ends = self.inside.ends
        return np.asarray(np.clip(numbers, ends[:, 0].min(), ends[:, 1].max()))

    def level_means(
        self, column: pa.ChunkedArray, codes: NDArray[np.int16]
    ) -> NDArray[np.float64]:
        """Return the mean of the numbers that the copy shows of each level.

        It is NaN for codes and missing values. `codes` are those of the column.
        """
        if self.inside is None:
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

    def numbers(
        self, codes: NDArray[np.int16], rank: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the number of each rank in the bin of its code."""
        assert self.inside is not None
        # The level of missing values is no bin.
        known = np.minimum(codes, len(self.inside.first) - 2).astype(np.int64)
        return self.inside.numbers(known, rank, self.decimals, self.step)

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
    bins: int | Sequence[float] | None,
    *,
    binning: str,
    restore: str,
    pool: int,
    cuts: Sequence[float],
    least: int = 0,
) -> Variable:
    """Group the values of a column into levels."""
    plain = _plain(column)
    counts = plain.drop_null().value_counts()
    values, weight = counts.field("values"), counts.field("counts")
    order = _order(column, values)
    values = values.take(pa.array(order))
    weight = np.asarray(weight, float)[order]
    out = Variable(
        name,
        column.type,
        values,
        np.arange(len(values), dtype=np.int64),
        weight,
        len(values),
        uniform=restore == "uniform",
        categories=_categories(column),
    )
    if bins is not None and len(values) > 0:
        numbers = as_numbers(values)
        edges, level, alone = _binned(name, numbers, weight, bins, binning, cuts, least)
        found = plain_bins(numbers, weight, level)
        if least > 1:
            found = safe_bins(numbers, weight, level, alone, least)
        inside = make_inside(numbers, weight, found, least)
        out = replace(
            _with_bins(out, edges, found),
            inside=inside,
            decimals=_decimals(column.type, numbers),
            step=time_step(column.type, numbers),
        )
    elif least > 1 and len(values) > 0:
        out = _with_pools(out, _pools(values, weight, least))
    level = out.level
    if pool > 0:
        every = np.zeros(len(level))
        every[: len(weight)] = weight
        level = _pooled(level, every, pool)
    size = int(level.max()) + 1 if len(level) else 0
    gone = plain.null_count
    if 0 < gone < least and size > 0:
        usual = int(np.bincount(level, weights=out.weight).argmax())
        care = replace(out.care, missing=True)
        return replace(out, level=level, size=size, absent=usual, care=care)
    if gone:
        return replace(out, level=level, size=size + 1, missing=size)
    return replace(out, level=level, size=size)


def _pools(values: pa.Array, weight: NDArray[np.float64], least: int) -> Pools:
    """Pool rare levels in the way of their type."""
    if is_number(values.type):
        whole = pa.types.is_integer(values.type)
        return round_numbers(as_numbers(values), weight, least, pool_tail=whole)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return pool_texts(values.to_pylist(), weight, least)
    return pool_others(weight, least)


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
        care=pools.care,
    )


def _with_bins(variable: Variable, edges: NDArray[np.float64], found: Bins) -> Variable:
    beyond = int(variable.weight[found.hidden].sum())
    return replace(
        variable,
        level=found.level,
        weight=np.where(found.hidden, 0.0, variable.weight),
        edges=edges,
        care=Care(tails=beyond),
    )


def _decimals(kind: pa.DataType, numbers: NDArray[np.float64]) -> int:
    """Return with how many decimals numbers are written."""
    if not (pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return 0
    for digits in range(_DECIMALS):
        if np.allclose(numbers, np.round(numbers, digits), rtol=0, atol=1e-12):
            return digits
    return 15


def time_step(kind: pa.DataType, numbers: NDArray[np.float64]) -> float | None:
    """Return the part of a day that dates and times are multiples of, or a day."""
    if not pa.types.is_temporal(kind):
        return None
    unit = "ms" if pa.types.is_date64(kind) else getattr(kind, "unit", "")
    day = _DAY.get(unit, 1)
    apart = np.diff(np.unique(numbers)).astype(np.int64)
    return float(np.gcd.reduce(apart, initial=day))


def _plain(column: Any) -> pa.Array:
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


def _order(column: pa.ChunkedArray, values: pa.Array) -> Ints:
    """Order values as their categories are, else by size, as strings sort."""
    if len(values) == 0:
        return np.zeros(0, np.int64)
    categories = _categories(column)
    if categories is not None:
        place = pc.index_in(values, categories)
        return np.argsort(place.to_numpy(zero_copy_only=False), kind="stable")
    return np.asarray(pc.sort_indices(values), np.int64)


def _binned(
    name: str,
    numbers: NDArray[np.float64],
    weight: NDArray[np.float64],
    bins: int | Sequence[float],
    binning: str,
    cuts: Sequence[float],
    least: int,
) -> tuple[NDArray[np.float64], Ints, NDArray[np.bool_]]:
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
    elif binning == "width":
        edges = np.linspace(numbers.min(), numbers.max(), bins + 1)
    else:
        edges, special = quantile_cuts(numbers, weight, bins)
        alone = special & (weight >= least)
    edges = np.unique(np.concatenate([edges, np.asarray(cuts, float)]))
    if len(edges) < 1:
        edges = numbers[:1]
    # What follows a number that stands alone is a bin of its own: a uniform draw never
    # jumps over a special code.
    after = np.nextafter(numbers[alone], np.inf)
    begins = np.unique(np.concatenate([edges, numbers[alone], after]))
    _, level = np.unique(np.searchsorted(begins, numbers, "right"), return_inverse=True)
    return edges, level.astype(np.int64), alone


def _pooled(level: Ints, weight: NDArray[np.float64], pool: int) -> Ints:
    """Give all levels with fewer than `pool` records the same number."""
    total = np.bincount(level, weights=weight)
    rare = total < pool
    if rare.sum() < 2:
        return level
    new = np.where(rare, -1, np.cumsum(~rare) - 1)
    new[rare] = int((~rare).sum())
    return new[level]
