"""People who are alone in five columns are there no more often than in a fresh sample.

Many files have the same tables of two and three variables. Of these a search finds one
whose records join them as the original's own records do, more often than another sample
of the same people would: people who are alone in five columns stand in the copy with
these five values, and predicates on a few columns single them out (Giomi et al. 2023).
So tables of five variables, in which only lone people have a counter, say how many are
found; those that have too many cost something, and the search takes another file with
the same tables. Columns of numbers in bins are left out: a copy has other numbers than
the people in a bin, and hardly singles them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints, cell_numbers, strides

Table = tuple[int, ...]

# Predicates of three and four columns follow; tables of three alone left those of five.
ORDER = 5
# Of what split halves show: their people are half as many, and a little more is found
# in a sample of all. Trees find as many as such a sample.
SHARE = 0.85
# So many tables are followed at most, of twice as many that are looked at; less where
# there are many records, and none where there would be only a few.
_BUDGET, _VISITS, _FEWEST = 60, 1_000_000, 10
_SPLITS = 4


@dataclass(frozen=True, eq=False)
class Lone:
    """The original, to see which tables of a candidate show too many lone people.

    `binned` says whose levels stand for many numbers.
    """

    codes: Codes
    sizes: Ints
    binned: NDArray[np.bool_]
    seed: int
    _shares: dict[Table, float] = field(default_factory=dict)

    @property
    def _variables(self) -> list[int]:
        """The variables of tables, those with most levels first."""
        # See `Component.tables`.
        order = np.argsort(-self.sizes, kind="stable")
        return [int(j) for j in order if self.sizes[j] > 1 and not self.binned[j]]

    @property
    def _budget(self) -> int:
        """How many tables are followed; the full one is looked at elsewhere."""
        many = min(_BUDGET, _VISITS // max(1, len(self.codes)))
        enough = many >= _FEWEST and len(self.sizes) > ORDER
        return many if enough and len(self._variables) >= ORDER else 0

    def share(self, table: Table) -> float:
        """Return which part of the people alone in a table may be there."""
        if table not in self._shares:
            rng = np.random.default_rng([self.seed, 15, *table])
            members = list(table)
            found = fresh_matches(self.codes[:, members], self.sizes[members], rng)
            self._shares[table] = SHARE * found
        return self._shares[table]

    def choose(self, candidate: Codes, earlier: Sequence[Table]) -> tuple[Table, ...]:
        """Return tables with too many people, the worst first; earlier ones stay."""
        budget = self._budget
        seen = list(dict.fromkeys([*earlier, *self._looked_at]))
        over = np.array([self._found(candidate, t) - self.share(t) for t in seen])
        kept = [
            k
            for k in np.argsort(-over, kind="stable")
            if over[k] > 0.0 or k < len(earlier)
        ]
        return tuple(seen[k] for k in kept[:budget])

    @cached_property
    def _looked_at(self) -> list[Table]:
        """All tables, or twice as many as are followed; the same in every round."""
        variables, many = self._variables, 2 * self._budget
        if many and comb(len(variables), ORDER) <= many:
            return list(combinations(variables, ORDER))
        rng = np.random.default_rng([self.seed, 15])
        out: dict[Table, None] = {}
        while len(out) < many:
            drawn = np.sort(rng.permutation(len(variables))[:ORDER])
            out[tuple(variables[k] for k in drawn)] = None
        return list(out)

    def _found(self, candidate: Codes, table: Table) -> float:
        """Return which part of the people alone in a table a candidate has."""
        stride, _ = strides(self.sizes, table)
        cells, count = np.unique(cell_numbers(self.codes, stride), return_counts=True)
        alone = cells[count == 1]
        there = np.isin(alone, cell_numbers(candidate, stride))
        return float(there.mean()) if len(alone) else 0.0


def fresh_matches(
    codes: NDArray[np.integer], sizes: Ints, rng: np.random.Generator
) -> float:
    """Return which share of lone people a fresh sample has whole, by split halves."""
    stride, _ = strides(sizes, tuple(range(len(sizes))))
    cells, place = np.unique(cell_numbers(codes, stride), return_inverse=True)
    half = len(codes) // 2
    found = 0.0
    for _ in range(_SPLITS):
        order = rng.permutation(len(codes))
        one, two = (
            np.bincount(place[part], minlength=len(cells))
            for part in (order[:half], order[half : 2 * half])
        )
        found += float((two[one == 1] > 0).mean()) if (one == 1).any() else 0.0
    return found / _SPLITS
