"""The one rule for bins of numbers, of the metrics and of a synthesis.

Numbers of more than `MOST_DISTINCT` different values are cut at quantiles of the
original. A number that would fill a bin alone, such as zero or a special code, starts a
bin of its own, and the quantiles are those of the other numbers. Bins are closed on the
left: ``edge <= x < next edge``.

The metrics take the bins as they are. A synthesis refines them: it keeps special
numbers separate from the others of their bin, so that they come back exactly, and
bins are cut where a rule compares. And it coarsens them: bins of few people are merged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BINS = 20
MOST_DISTINCT = 40


class BinEdges(NamedTuple):
    """Where bins begin, and which of the distinct numbers are special."""

    edges: Floats
    special: NDArray[np.bool_]


def quantile_cuts(numbers: Floats, counts: Floats, bins: int) -> BinEdges:
    """Cut sorted distinct numbers, which occur `counts` times, into `bins` bins."""
    special = counts >= counts.sum() / bins
    rest = numbers[~special]
    if not len(rest):
        return BinEdges(numbers[special], special)
    reached = np.cumsum(counts[~special])
    shares = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    at = np.searchsorted(reached, shares * reached[-1])
    return BinEdges(np.unique(np.concatenate([rest[at], numbers[special]])), special)


def is_number(kind: pa.DataType) -> bool:
    """Say whether a type has an order and a distance."""
    return (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_temporal(kind)
        or pa.types.is_decimal(kind)
    )


def as_numbers(column: Any) -> Floats:
    """Return a numeric or temporal column as floats; missing values as NaN."""
    kind = column.type
    if pa.types.is_date32(kind) or pa.types.is_time32(kind):
        column = column.cast(pa.int32())
    elif pa.types.is_temporal(kind):
        column = column.cast(pa.int64())
    # Nanoseconds and long numbers may have more digits than a float.
    out = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return np.asarray(out, float)
