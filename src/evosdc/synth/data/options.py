"""Options about columns: how they become levels, and what holds in every record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.metrics.binning import BINS, MOST_DISTINCT, is_number
from evosdc.metrics.coded_numbers import CodedNumbers, coded_numbers
from evosdc.options import copies

# Numbers are binned where a larger share of people than this has a rare one.
_RARE_SHARE = 0.1


@dataclass(frozen=True)
class Coding(copies.Coding):
    __doc__ = copies.Coding.__doc__

    @property
    def binned(self) -> list[str]:
        """The columns whose bins are given by name."""
        bins = self.bins if isinstance(self.bins, Mapping) else {}
        return [name for name in bins if name is not None]

    def bins_of(self, name: str) -> int | Sequence[float]:
        """Return the number of bins, or the edges, of a column."""
        if isinstance(self.bins, Mapping):
            return self.bins.get(name, self.bins.get(None, BINS))
        return self.bins

    @property
    def _max_levels(self) -> int:
        return MOST_DISTINCT if self.most_levels is None else self.most_levels

    def coded(self, name: str, column: pa.ChunkedArray) -> CodedNumbers | None:
        """Return a column of text as numbers and codes, if it is of that kind."""
        if name in self.categories:
            return None
        return coded_numbers(column, self._max_levels)

    def is_continuous(self, name: str, column: pa.ChunkedArray) -> bool:
        """Say whether a column is to be binned."""
        if not is_number(column.type) or name in self.categories:
            return False
        if name in self.binned:
            return True
        counts = np.asarray(column.drop_null().value_counts().field("counts"))
        # Numbers that mostly few people have are ranges, not levels.
        rare = counts[counts < self.least].sum() if self.least > 1 else 0
        ranges = len(counts) > 1 and rare > _RARE_SHARE * counts.sum()
        return bool(ranges) or len(counts) > self._max_levels


@dataclass(frozen=True)
class Logic(copies.Logic):
    __doc__ = copies.Logic.__doc__

    @property
    def not_derived(self) -> set[str]:
        """Columns that are not derived, whatever is found."""
        return {text.strip() for text in self.refuse if "," not in text}

    @property
    def possible(self) -> set[frozenset[str]]:
        """Pairs of columns of which no combination is impossible."""
        pairs = (text.split(",") for text in self.refuse if "," in text)
        return {frozenset(part.strip() for part in pair) for pair in pairs}
