"""No more records with a match in the original than a fresh sample has.

Where tables have many cells and the file has few records, following them closely leads
to the records themselves, although nothing asked for these. So a finished candidate is
attacked as its evaluation will be, on other halves, and records beyond chance trade one
value with another record: margins stay, the pairs of one variable move a little, and
the records are nobody's.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.arrays import Int, Long
from evosdc.metrics.counts import joint_keys
from evosdc.metrics.data import Categorical, bin_codes, from_codes
from evosdc.metrics.memorisation_tests import Coded, FreshTest, fresh_tests
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.data.rules import broken
from evosdc.synth.search.population import SynthesisProblem

_MAX_ROUNDS = 40
# A copy is changed only where it is about to fail, and no further than needed: each
# exchange spoils tables. Shares of the way from what is usual to what is allowed.
_CHANGE_FROM, _CHANGE_TO = 0.8, 0.6


class RecordMatchLimiter:
    """Tests candidates as an evaluation does, and changes records beyond chance."""

    def __init__(
        self,
        table: pa.Table,
        domain: Domain,
        problem: SynthesisProblem,
        roles: list[int],
        seed: int,
    ) -> None:
        self._problem = problem
        self._seed = seed
        free = [int(j) for j in problem.free]
        # Values that no risk looks at are traded where there are such.
        self._columns = [j for j in free if j not in roles] or free
        rng = np.random.default_rng([seed, 4])
        self._bins: list[Int] = []
        self._sizes: list[int] = []
        columns = []
        for variable in domain.variables:
            levels = variable.decode(np.arange(variable.size, dtype=np.int16), rng)
            column = table.column(variable.name)
            binned = bin_codes(variable.name, [column, pa.chunked_array([levels])])
            columns.append(binned[: len(column)])
            # How an evaluation bins the values of each level.
            self._bins.append(binned[len(column) :])
            self._sizes.append(int(binned.max()) + 1)
        self._original = self._file(np.column_stack(columns))

    def limit(self, codes: Codes, left: Callable[[], float] = lambda: np.inf) -> Codes:
        """Return a candidate that is no closer than a fresh sample would be.

        It is given back as it is where that is so already, and as far as it got where
        no time is `left`.
        """
        test = self._test(codes)
        if test is None or test.value <= _part(test, _CHANGE_FROM):
            return codes
        rng = np.random.default_rng([self._seed, 4, 1])
        codes = codes.copy()
        for _ in range(_MAX_ROUNDS):
            if left() <= 0:
                break
            matched = self._matched(codes)
            wanted = _part(test, _CHANGE_TO)
            share = 1.0 - wanted / test.value
            many = max(1, int(np.ceil(share * len(matched))))
            self._trade(codes, rng.permutation(matched)[:many], rng)
            found = self._test(codes)
            if found is None or found.value <= _part(found, _CHANGE_TO):
                break
            test = found
        return codes

    def _file(self, codes: NDArray[np.integer]) -> Categorical:
        last = codes.shape[1] - 1
        return from_codes(codes, key=range(last), target=last, levels=self._sizes)

    def _binned(self, codes: Codes) -> Categorical:
        return self._file(
            np.column_stack([bins[codes[:, j]] for j, bins in enumerate(self._bins)])
        )

    def _test(self, codes: Codes) -> FreshTest | None:
        original, made = self._original, self._binned(codes)
        tests = fresh_tests(
            Coded(original, original),
            Coded(made, made),
            # Splits of its own: those of the evaluation are for the evaluation.
            seed=(self._seed, 4, 2),
            attacks=("matched_records",),
        )
        return tests[0] if tests else None

    def _matched(self, codes: Codes) -> Long:
        """Return the records that have a partner in the original, one for one."""
        made = self._binned(codes)
        (first, second), _ = joint_keys((self._original, made), range(made.columns))
        cells, count = np.unique(first, return_counts=True)
        at = np.minimum(np.searchsorted(cells, second), len(cells) - 1)
        there = np.where(cells[at] == second, count[at], 0)
        # The how-many-th of its cell each record is.
        order = np.argsort(second, kind="stable")
        ordered = second[order]
        starts = np.r_[True, ordered[1:] != ordered[:-1]]
        begin = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - begin
        return np.flatnonzero(rank < there)

    def _trade(self, codes: Codes, rows: Long, rng: np.random.Generator) -> None:
        """Trade one value of each of some records with any other record."""
        columns = rng.choice(self._columns, len(rows))
        others = rng.integers(0, len(codes), len(rows))
        ruled = len(self._problem.rules.touch) > 0
        for i, j, k in zip(rows, columns, others, strict=True):
            codes[i, j], codes[k, j] = codes[k, j], codes[i, j]
            if ruled and broken(self._problem.rules, codes[[i, k]]).any():
                codes[i, j], codes[k, j] = codes[k, j], codes[i, j]


def _part(test: FreshTest, part: float) -> float:
    """Return a value a part of the way from what is usual to what is allowed."""
    return test.usual + part * (test.bound - test.usual)
