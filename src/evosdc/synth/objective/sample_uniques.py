"""People who are alone in five columns are there no more often than in a fresh sample.

Many files have the same tables of two and three variables. Of these a search finds one
whose records join them as the original's own records do, more often than another sample
of the same people would: people who are alone in five columns stand in the copy with
these five values, and predicates on a few columns single them out (Giomi et al. 2023).
So tables of five variables, in which only sample uniques have a counter, say how many
are found; those that have too many cost something, and the search takes another file
with the same tables. Columns of numbers in bins are left out: a copy has other numbers
than the people in a bin, and hardly singles them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.synth.data.encoding import Codes, cell_numbers, strides
from evosdc.synth.objective.split_halves import fresh_match_share
from evosdc.synth.objective.table_selection import Table, some_tables, worst_tables

# Predicates of three and four columns follow; tables of three alone left those of five.
ORDER = 5
# Of what split halves show: their people are half as many, and a little more is found
# in a sample of all. Trees find as many as such a sample.
MAX_SHARE_OF_FRESH = 0.85
# So many tables are followed at most, of twice as many that are looked at; fewer where
# there are many records, and none where there would be only a few.
_MAX_TABLES, _MAX_VISITS, _MIN_TABLES = 60, 1_000_000, 10


@dataclass(frozen=True, eq=False)
class SampleUniques:
    """The original, to see which tables of a candidate show too many of its uniques.

    `binned` says whose levels stand for many numbers.
    """

    codes: Codes
    sizes: Long
    binned: Flags
    seed: int
    _shares: dict[Table, float] = field(default_factory=dict)

    def share(self, table: Table) -> float:
        """Return the share of the people alone in a table who may be there."""
        if table not in self._shares:
            rng = np.random.default_rng([self.seed, 15, *table])
            members = list(table)
            fresh = fresh_match_share(self.codes[:, members], self.sizes[members], rng)
            self._shares[table] = MAX_SHARE_OF_FRESH * fresh
        return self._shares[table]

    def select(self, candidate: Codes, earlier: Sequence[Table]) -> tuple[Table, ...]:
        """Return tables with too many people, the worst first; earlier ones stay."""
        most, candidates = self._candidates
        seen = list(dict.fromkeys([*earlier, *candidates]))
        over = np.array([self._found(candidate, t) - self.share(t) for t in seen])
        return worst_tables(seen, over, len(earlier), most)

    @cached_property
    def _candidates(self) -> tuple[int, list[Table]]:
        """How many tables are followed, and of which; the same in every round."""
        # Those with most levels first, see `Component.tables`. The full table is looked
        # at elsewhere.
        order = np.argsort(-self.sizes, kind="stable")
        variables = [int(j) for j in order if self.sizes[j] > 1 and not self.binned[j]]
        most = min(_MAX_TABLES, _MAX_VISITS // max(1, len(self.codes)))
        if most < _MIN_TABLES or len(self.sizes) <= ORDER or len(variables) < ORDER:
            return 0, []
        rng = np.random.default_rng([self.seed, 15])
        return most, some_tables(variables, ORDER, 2 * most, rng)

    def _found(self, candidate: Codes, table: Table) -> float:
        """Return which part of the people alone in a table a candidate has."""
        stride, _ = strides(self.sizes, table)
        cells, count = np.unique(cell_numbers(self.codes, stride), return_counts=True)
        alone = cells[count == 1]
        there = np.isin(alone, cell_numbers(candidate, stride))
        return float(there.mean()) if len(alone) else 0.0
