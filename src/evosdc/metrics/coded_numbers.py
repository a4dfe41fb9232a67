"""Columns of numbers that are text, because a few values are codes.

``N`` for "not applicable" or ``.`` for "refused" makes a column of incomes a column of
text. Its numbers are still read as numbers, and each code is a level of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from evosdc.metrics.binning import MOST_DISTINCT

Floats = NDArray[np.float64]

_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?")
_MAX_CODES = 5


@dataclass(frozen=True, eq=False)
class CodedNumbers:
    """A column of numbers and codes.

    Attributes
    ----------
    numbers
        The numbers; NaN where there is none.
    codes
        The place among `labels` of each code, -1 where there is none.
    labels
        The codes.
    decimals
        How many decimals every number has; -1 where that differs.
    """

    numbers: Floats
    codes: NDArray[np.int64]
    labels: tuple[str, ...]
    decimals: int

    @property
    def absent(self) -> NDArray[np.bool_]:
        """Where there is neither a number nor a code."""
        return np.isnan(self.numbers) & (self.codes < 0)


def is_text(kind: pa.DataType) -> bool:
    """Say whether a type is text; categories are not, whatever they are of."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def coded_numbers(
    column: Any, most_distinct: int = MOST_DISTINCT
) -> CodedNumbers | None:
    """Return a column of text as numbers and codes; None where it is something else.

    Numbers are those that a program writes: no leading zeros, which codes of places and
    products have, and more than `most_distinct` different ones.
    """
    if not is_text(column.type):
        return None
    encoded, found = _encoded(column)
    numeric = [bool(_NUMBER.fullmatch(text)) for text in found]
    labels = tuple(sorted(t for t, ok in zip(found, numeric, strict=True) if not ok))
    if sum(numeric) <= most_distinct or len(labels) > _MAX_CODES:
        return None
    return _split(encoded, found, labels)


def as_coded(column: Any, labels: tuple[str, ...]) -> CodedNumbers:
    """Return another column of the same kind; codes it does not share come last."""
    encoded, found = _encoded(pc.cast(column, pa.string()))
    other = {t for t in found if not _NUMBER.fullmatch(t)} - set(labels)
    return _split(encoded, found, (*labels, *sorted(other)))


def _encoded(column: Any) -> tuple[Any, list[str]]:
    """Return a column of text as a dictionary array, and its dictionary."""
    encoded = one_array(column).dictionary_encode()
    return encoded, encoded.dictionary.to_pylist()


def one_array(column: Any) -> Any:
    """Return a column without chunks."""
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    # Of large text there may still be several.
    return (
        pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole
    )


def _split(encoded: Any, found: list[str], labels: tuple[str, ...]) -> CodedNumbers:
    place = {label: k for k, label in enumerate(labels)}
    # One more entry at the end for missing values.
    values = [np.nan if t in place else float(t) for t in found]
    numbers = np.array([*values, np.nan])
    codes = np.array([*(place.get(t, -1) for t in found), -1], np.int64)
    at = np.asarray(pc.fill_null(encoded.indices, len(found)), np.int64)
    lengths = {len(t.partition(".")[2]) for t in found if t not in place}
    decimals = lengths.pop() if len(lengths) == 1 else -1
    return CodedNumbers(numbers[at], codes[at], labels, decimals)


def written(numbers: Floats, decimals: int) -> list[str]:
    """Write numbers as a file does: with so many decimals, or as few as they need."""
    if decimals >= 0:
        return [f"{x:.{decimals}f}" for x in numbers]
    return [f"{x:.15g}" for x in numbers]
