"""From codes to records: values with the original's types, computed and fresh columns.

Somebody at the upper end of a bin of heights is rather at the upper end of a bin of
weights. So the rank of each number in its bin, by tenths, is drawn from a tree on the
levels of all variables and on the ranks that are drawn already. A leaf holds so many
people that it is nobody's rank. Then moments and covariances are held.

The search holds whole records to a limit by levels; the numbers that are drawn within
bins may still complete a unique record of the original. Where more do so than half of
what a fresh sample shows, the numbers of the surplus are drawn again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long, Real
from evosdc.metrics.data import exact_codes
from evosdc.synth.data.bins import ranks_within_bins
from evosdc.synth.data.derived import Derived, with_derived
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.exact_values import with_drawn_values
from evosdc.synth.data.identifiers import fresh_column
from evosdc.synth.dependence import Dependence, hold_dependence
from evosdc.synth.moments import Moments, hold_moments
from evosdc.synth.objective.risk_limits import FRESH_SHARE
from evosdc.synth.objective.split_halves import fresh_match_share
from evosdc.synth.search.trees import Tree, draw, grow

_TENTHS = 10
_MIN_LEAF = 10
# How often numbers are drawn again.
_MAX_REDRAWS = 6
# Larger files have too many values to number them all again and again.
_MAX_VALUES = 5_000_000


class RankModel:
    """Trees of ranks, one for each variable of numbers that is not left out.

    The numbers of the variables at positions `without` are drawn otherwise.
    """

    def __init__(
        self,
        domain: Domain,
        table: pa.Table,
        codes: Codes,
        without: Sequence[int],
        rng: np.random.Generator,
    ) -> None:
        self.columns = [
            j
            for j, v in enumerate(domain.variables)
            if v.parts is not None and v.uniform and j not in without
        ]
        tenths = []
        for j in self.columns:
            variable = domain.variables[j]
            numbers = np.nan_to_num(variable.read(table.column(variable.name)))
            ranks = ranks_within_bins(numbers, codes[:, j], rng)
            tenths.append(np.asarray(_TENTHS * ranks, np.int16))
        self._known = np.ascontiguousarray(np.vstack([codes.T, *tenths]), np.int16)
        many = [_TENTHS] * len(self.columns)
        sizes = np.concatenate([domain.sizes, many]).astype(np.int64)
        self._ordered = np.concatenate([domain.ordered, np.ones(len(many), bool)])
        self._trees: list[Tree] = []
        for at in range(len(domain.variables), len(sizes)):
            before = np.arange(at, dtype=np.int64)
            found = grow(self._known, at, before, self._ordered, sizes, _MIN_LEAF)
            self._trees.append(Tree(*found))

    def draw(self, codes: Codes, rng: np.random.Generator) -> dict[int, Real]:
        """Draw the ranks of records by column."""
        blank = np.zeros((len(self.columns), len(codes)), np.int16)
        known = np.ascontiguousarray(np.vstack([codes.T, blank]), np.int16)
        out: dict[int, Real] = {}
        for k, (j, tree) in enumerate(zip(self.columns, self._trees, strict=True)):
            at = codes.shape[1] + k
            chance = rng.random(len(codes))
            known[at] = draw(tree, self._known[at], known, self._ordered, chance)
            out[j] = (known[at] + rng.random(len(codes))) / _TENTHS
        return out


@dataclass(frozen=True, eq=False)
class UniqueRecords:
    """Unique records of an original, of which at most a `share` may be in a copy."""

    table: pa.Table
    share: float

    @classmethod
    def of(cls, table: pa.Table, rng: np.random.Generator) -> UniqueRecords | None:
        """Return those of a table; None where a file is too large."""
        if table.num_rows * table.num_columns > _MAX_VALUES:
            return None
        columns = [exact_codes(name, [table[name]]) for name in table.column_names]
        codes = np.column_stack(columns)
        sizes = codes.max(axis=0).astype(np.int64) + 1
        return cls(table, FRESH_SHARE * fresh_match_share(codes, sizes, rng))

    def surplus(self, copy: pa.Table, rng: np.random.Generator) -> Long:
        """Return the records of a copy to be drawn again, some of those found."""
        original, made = _record_numbers(self.table, copy)
        _, inverse, count = np.unique(original, return_inverse=True, return_counts=True)
        unique = original[count[inverse.ravel()] == 1]
        found = np.flatnonzero(np.isin(made, unique))
        allowed = self.share * len(unique)
        people = np.unique(made[found])
        if len(people) <= allowed:
            return np.zeros(0, np.int64)
        kept = rng.permutation(people)[: int(allowed)]
        return found[~np.isin(made[found], kept)]


def _record_numbers(one: pa.Table, two: pa.Table) -> tuple[Long, Long]:
    """Number the records of two tables: equal numbers, equal records."""
    numbers = np.zeros(one.num_rows + two.num_rows, np.int64)
    for name in one.column_names:
        codes = exact_codes(name, [one.column(name), two.column(name)])
        mixed = numbers * (int(codes.max()) + 1) + codes
        _, numbers = np.unique(mixed, return_inverse=True)
    return numbers[: one.num_rows], numbers[one.num_rows :]


@dataclass(frozen=True, eq=False)
class ValueModel:
    """What turns the codes of a candidate into records.

    Attributes
    ----------
    roles
        The positions of key and target, whose values are drawn before the search.
    moments, dependence, uniques
        What is held of numbers, and of unique records; none or None for nothing.
    fresh
        The original's columns that get fresh values.
    order
        The names of all columns, as the original has them.
    """

    domain: Domain
    seed: int
    roles: list[int]
    ranks: RankModel
    moments: Mapping[int, Moments]
    dependence: Dependence | None
    uniques: UniqueRecords | None
    derived: Sequence[Derived]
    fresh: Mapping[str, pa.ChunkedArray]
    order: Sequence[str]

    def records(self, codes: Codes, rng: np.random.Generator, whole: bool) -> pa.Table:
        """Return records of a candidate, or of a part of one if it is not `whole`."""
        table = with_derived(self._drawn(codes, rng, whole), self.derived, self.order)
        for name, column in self.fresh.items():
            values = fresh_column(column, table.num_rows, rng)
            table = table.append_column(name, values)
        return table.select([n for n in self.order if n in table.column_names])

    def _drawn(self, codes: Codes, rng: np.random.Generator, whole: bool) -> pa.Table:
        """Draw values, and numbers again that complete a unique record."""
        domain = self.domain
        ranks = self.ranks.draw(codes, rng)
        state = int(rng.integers(2**62))
        if whole:
            # A part of the records has moments of its own.
            ranks = hold_moments(domain, codes, ranks, self.moments)
            if self.dependence is not None:
                other = np.random.default_rng([state, 13])
                ranks = hold_dependence(domain, codes, ranks, self.dependence, other)
        for turn in range(_MAX_REDRAWS):
            # Other draws stay what they are.
            table = domain.decode(codes, np.random.default_rng(state), ranks)
            if whole:
                # Key and target as the search saw them: its risks are of this file.
                table = with_drawn_values(table, domain, codes, self.seed, self.roles)
            if self.uniques is None or not ranks:
                break
            chance = np.random.default_rng([state, 12, turn])
            again = self.uniques.surplus(table, chance)
            if not len(again):
                break
            for rank in ranks.values():
                rank[again] = rng.random(len(again))
        return table
