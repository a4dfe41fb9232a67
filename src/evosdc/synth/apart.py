"""Numbers drawn again where a whole record would be that of a lone person.

The search holds whole records to a limit by levels; the numbers that are drawn inside
bins may still complete a lone person's record. Where more do so than half of what a
fresh sample shows, the numbers of the surplus are drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.metrics.data import exact_codes
from evosdc.synth.data.encoding import Ints
from evosdc.synth.objective.lone import fresh_matches
from evosdc.synth.objective.scenario import FRESH_SHARE

_ROUNDS = 6
# Larger files have too many values to number them all again and again.
_MOST = 5_000_000


@dataclass(frozen=True, eq=False)
class LonePeople:
    """The original, to find its lone people in a copy; at most `share` may be there."""

    table: pa.Table
    share: float

    def surplus(self, copy: pa.Table, rng: np.random.Generator) -> Ints:
        """Return the records of a copy to be drawn again, some of those found."""
        mine, theirs = _joint(self.table, copy.select(self.table.column_names))
        _, inverse, count = np.unique(mine, return_inverse=True, return_counts=True)
        alone = mine[count[inverse.ravel()] == 1]
        found = np.flatnonzero(np.isin(theirs, alone))
        allowed = self.share * len(alone)
        people = len(np.unique(theirs[found]))
        if people <= allowed:
            return np.zeros(0, np.int64)
        kept = rng.permutation(np.unique(theirs[found]))[: int(allowed)]
        return found[~np.isin(theirs[found], kept)]


def lone_people(table: pa.Table, rng: np.random.Generator) -> LonePeople | None:
    """Return what finds lone people; None where a file is too large."""
    if table.num_rows * table.num_columns > _MOST:
        return None
    columns = [exact_codes(name, [table.column(name)]) for name in table.column_names]
    codes = np.column_stack(columns)
    sizes = codes.max(axis=0).astype(np.int64) + 1
    return LonePeople(table, FRESH_SHARE * fresh_matches(codes, sizes, rng))


def rounds() -> range:
    """Return how often numbers are drawn again, at most."""
    return range(_ROUNDS)


def _joint(one: pa.Table, two: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Number the records of two tables: equal numbers, equal records."""
    numbers = np.zeros(one.num_rows + two.num_rows, np.int64)
    for name in one.column_names:
        codes = exact_codes(name, [one.column(name), two.column(name)])
        _, numbers = np.unique(
            numbers * (int(codes.max()) + 1) + codes, return_inverse=True
        )
    return numbers[: one.num_rows], numbers[one.num_rows :]
