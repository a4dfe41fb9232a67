"""One variable: values of a column grouped into levels, and drawn again from them.

A level is a set of values. Most levels hold one value; a bin holds a range of numbers,
a pooled level holds the rare values, and the level of missing values holds none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.synth.encoding import Ints

_DECIMALS = 6


def is_number(kind: pa.DataType) -> bool:
    """Say whether a type has an order and a distance."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_decimal(kind)
    )


def as_numbers(column: Any) -> NDArray[np.float64]:
    """Return a numeric or temporal column as floats; missing values as NaN."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64())
    out = column.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(out, float)


@dataclass(frozen=True, eq=False)
class Variable:
    """Levels of one column.

    Attributes
    ----------
    values, level
        The distinct values of the original and the level of each.
    weight
        How often each value occurs, for drawing one of a level's values.
    missing
        The level of missing values, or -1.
    edges
        Edges of the bins of a continuous column, else empty. Value `x` is in bin `b`
        where ``edges[b] <= x < edges[b + 1]``; values that stand out by frequency
        have levels of their own.
    categories
        All categories of a categorical column, used or not, in order.
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
        out[null] = self.missing
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

    def decode(self, codes: NDArray[np.int16], rng: np.random.Generator) -> pa.Array:
        """Draw a value for each code."""
        position = self._draw(codes, rng)
        indices = pa.array(position, mask=codes == self.missing)
        out = self.values.take(indices)
        if self.edges is not None and self.uniform:
            out = self._spread(codes, out, rng)
        if self.categories is not None:
            kind = self.type
            indices = pc.index_in(out, self.categories).cast(kind.index_type)
            return pa.DictionaryArray.from_arrays(
                indices, self.categories, ordered=kind.ordered
            )
        return out.cast(self.type)

    def _draw(self, codes: NDArray[np.int16], rng: np.random.Generator) -> Ints:
        """Draw one of the values of each code's level, by frequency."""
        order = np.argsort(self.level, kind="stable")
        heap = np.concatenate([[0.0], np.cumsum(self.weight[order])])
        start = np.searchsorted(self.level[order], np.arange(self.size))
        stop = np.searchsorted(self.level[order], np.arange(self.size), "right")
        low, high = heap[start][codes], heap[stop][codes]
        where = low + rng.random(len(codes)) * (high - low)
        at = np.searchsorted(heap, where, "right") - 1
        top = np.maximum(stop[codes] - 1, 0)
        at = np.clip(at, np.minimum(start[codes], top), top)
        return order[at] if len(order) else np.zeros(len(codes), np.int64)

    def _spread(
        self, codes: NDArray[np.int16], drawn: pa.Array, rng: np.random.Generator
    ) -> pa.Array:
        """Draw uniformly between the ends of each bin."""
        ends = np.array([self._number_ends(level) for level in range(self.size)])
        whole = not (pa.types.is_floating(self.type) or pa.types.is_decimal(self.type))
        low, high = ends[codes, 0], ends[codes, 1]
        u = rng.random(len(codes))
        digits = 0 if whole else self._decimals()
        # Every number of the grid is as likely, the two ends of a bin like the others.
        step = 10.0**-digits
        numbers = low + np.floor(u * (np.rint((high - low) / step) + 1.0)) * step
        numbers = np.clip(np.round(numbers, digits), low, high)
        mask = np.asarray(drawn.is_null().to_numpy(zero_copy_only=False), bool)
        numbers = np.where(mask, 0.0, numbers)
        if whole:
            plain = pa.array(numbers.astype(np.int64), mask=mask)
            if pa.types.is_date32(self.type) or pa.types.is_time32(self.type):
                plain = plain.cast(pa.int32())
            return plain.cast(self.type)
        return pa.array(numbers, mask=mask).cast(self.type)

    def _decimals(self) -> int:
        numbers = as_numbers(self.values)
        for digits in range(_DECIMALS):
            if np.allclose(numbers, np.round(numbers, digits), rtol=0, atol=1e-12):
                return digits
        return 15

    def _number_ends(self, level: int) -> tuple[float, float]:
        mine = as_numbers(self.values)[self.level == level]
        return (float(mine.min()), float(mine.max())) if len(mine) else (0.0, 0.0)

    def samples(self, level: int) -> list[Any]:
        """Return values that stand for a level in a rule; None for missing values.

        Those are all its values, but the two ends of a bin.
        """
        mine = self.values.filter(pa.array(self.level == level)).to_pylist()
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
) -> Variable:
    """Group the values of a column into levels."""
    plain = _plain(column)
    counts = plain.drop_null().value_counts()
    values, weight = counts.field("values"), counts.field("counts")
    order = _order(column, values)
    values = values.take(pa.array(order))
    weight = np.asarray(weight, float)[order]
    edges = None
    if bins is None or len(values) == 0:
        level = np.arange(len(values), dtype=np.int64)
    else:
        numbers = as_numbers(values)
        edges, level = _binned(name, numbers, weight, bins, binning, cuts)
    if pool > 0:
        level = _pooled(level, weight, pool)
    size = int(level.max()) + 1 if len(level) else 0
    missing = -1
    if plain.null_count:
        missing, size = size, size + 1
    return Variable(
        name,
        column.type,
        values,
        level,
        weight,
        size,
        missing,
        edges,
        restore == "uniform",
        _categories(column),
    )


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
) -> tuple[NDArray[np.float64], Ints]:
    """Return edges and the level of each distinct number.

    Numbers that fill a quantile bin alone (zeros, special codes) keep their own level,
    so that they come back exactly.
    """
    total = weight.sum()
    alone = np.zeros(len(numbers), bool)
    if not isinstance(bins, int):
        edges = np.unique(np.asarray(bins, float))
    elif bins < 1:
        raise InputError(f"column {name!r} has {bins} bins", expected="at least 1")
    elif binning == "width":
        edges = np.linspace(numbers.min(), numbers.max(), bins + 1)
    else:
        alone = weight >= total / bins
        rest = numbers[~alone]
        heap = np.cumsum(weight[~alone])
        quantiles = np.linspace(0, 1, bins + 1)[1:-1]
        at = np.searchsorted(heap, quantiles * heap[-1]) if len(rest) else []
        edges = np.unique(rest[at]) if len(rest) else np.zeros(0)
    edges = np.unique(np.concatenate([edges, np.asarray(cuts, float)]))
    if len(edges) < 1:
        edges = numbers[:1]
    raw = np.searchsorted(edges, numbers, "right")
    # A number of its own sorts after the bin it falls in and splits it: the two halves
    # stay apart, so that a uniform draw never jumps over a special code.
    bump = np.cumsum(alone) * 2
    raw = raw * (2 * len(numbers) + 2) + bump - alone
    _, level = np.unique(raw, return_inverse=True)
    return edges, level.astype(np.int64)


def _pooled(level: Ints, weight: NDArray[np.float64], pool: int) -> Ints:
    """Give all levels with fewer than `pool` records the same number."""
    total = np.bincount(level, weights=weight)
    rare = total < pool
    if rare.sum() < 2:
        return level
    new = np.where(rare, -1, np.cumsum(~rare) - 1)
    new[rare] = int((~rare).sum())
    return new[level]
