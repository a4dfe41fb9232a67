"""Find codes whose rows are the sums of other codes' rows.

A sub-total among the codes of a flat dimension is one more equation that the table does
not know: a hidden part of it follows by subtraction. A code is a row of numbers here,
one for each combination of the codes of the other dimensions.

Small tables have such rows by chance. Each entry that agrees is worth the logarithm of
its size in bits, each row that was tried costs some, and what is left says how unlikely
chance is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from math import comb, log2

import numpy as np
from numpy.typing import NDArray

# Sums agree to this share of their terms, as totals do: more bits an entry has not.
_CLOSE = 1e-6
_MOST_BITS = 20.0
# Halves of so many codes are listed in full: 2 * 4,096 sums.
_HALF = 12
_MOST_PAIRS = 1500
_MOST_TRIPLES = 90
_MOST_SOLVED = 120
_MOST_HITS = 200
_LONGEST = 60
# Bits beyond chance that make a sub-total, for codes that stand beside their parts or
# begin like them, and for others; one entry alone proves less than several.
_SURE = {
    (True, False): 3.0,
    (False, False): 5.0,
    (True, True): 8.0,
    (False, True): 12.0,
}
# Two rows that are the same are more often chance than a branch with one part.
_SAME = 20.0
# But not where one code begins as the other: A and A1.
_SAME_BEGINNING = 8.0


@dataclass(frozen=True)
class Sum:
    """A code and the codes it is the sum of, by number.

    `bits` is the evidence beyond chance, `sure` whether it suffices; `near` sums agree
    as far as numbers do that were rounded one by one.
    """

    code: int
    parts: tuple[int, ...]
    bits: float
    sure: bool
    near: bool = False


@dataclass(frozen=True, eq=False)
class CodeRows:
    """Codes as rows of numbers.

    Attributes
    ----------
    names
        The codes, in the order of the file.
    numbers
        A row a code, a column an entry (values, and counts where known), 0 where the
        table has no cell.
    given
        Which of them the table gives: a sum is looked at where it is given.
    group
        The kind of each column: entries of different kinds (inner cells, their totals)
        are no independent evidence.
    """

    names: Sequence[str]
    numbers: NDArray[np.float64]
    given: NDArray[np.bool_]
    group: NDArray[np.int64]

    def bits(self, code: int) -> tuple[float, int]:
        """Evidence in the entries of a code, and how many are not zero."""
        at = self.given[code] & (self.numbers[code] != 0)
        if not at.any():
            return 0.0, 0
        # Columns that are alike say the same thing once.
        _, first = np.unique(self._alike[at], return_index=True)
        size = np.abs(self.numbers[code, at][first])
        each = np.minimum(np.log2(1.0 + size / self.unit), _MOST_BITS)
        kinds = self.group[at][first]
        worth = {int(g): float(each[kinds == g].sum()) for g in np.unique(kinds)}
        best = max(worth, key=lambda g: worth[g])
        return worth[best], int((kinds == best).sum())

    @cached_property
    def _alike(self) -> NDArray[np.int64]:
        """A number for each column, the same for columns that are alike."""
        return np.unique(self.numbers, axis=1, return_inverse=True)[1].ravel()

    @cached_property
    def positive(self) -> bool:
        """Whether no number is negative, so that parts are smaller than sums."""
        return bool(np.all(self.numbers >= 0))

    @cached_property
    def unit(self) -> float:
        """The last decimal of the numbers."""
        flat = np.abs(self.numbers[self.numbers != 0])
        for decimals in range(7):
            scaled = flat * 10.0**decimals
            if np.all(np.abs(scaled - np.rint(scaled)) <= 1e-9 * np.maximum(1, scaled)):
                return 10.0**-decimals
        return float(flat.max()) * _CLOSE

    @cached_property
    def _sorted(self) -> list[tuple[str, int]]:
        return sorted((name, code) for code, name in enumerate(self.names))

    def starting(self, text: str) -> list[int]:
        """Codes whose names start with a text, in the order of the file."""
        first = bisect_left(self._sorted, (text, -1))
        found: list[int] = []
        for name, code in islice(self._sorted, first, None):
            if not name.startswith(text):
                break
            found.append(code)
        return sorted(found)

    def holds(self, code: int, parts: Sequence[int]) -> bool:
        """Whether a code is the sum of others wherever it is given."""
        at = self.given[code]
        mine = self.numbers[code, at]
        others = self.numbers[np.asarray(parts, dtype=np.int64)][:, at]
        size = np.abs(mine) + np.abs(others).sum(axis=0)
        return bool(np.all(np.abs(mine - others.sum(axis=0)) <= _CLOSE * size))


def find_sums(
    rows: CodeRows, leave_out: Sequence[int] = (), *, trusting: bool = False
) -> list[Sum]:
    """Find codes that are sums of others, small ones first.

    Parts that have found their sum are put away, so that the sums of sums are found as
    such. Codes of `leave_out`, the total, take no part. With `trusting`, which is for
    tables that are known not to add up, sums that may be chance are believed as well.
    """
    found: list[Sum] = []
    left_out = set(leave_out)
    alive = np.ones(len(rows.names), dtype=bool)
    alive[list(left_out)] = False
    size = np.abs(np.where(rows.given, rows.numbers, 0.0)).sum(axis=1)
    for code in np.argsort(size, kind="stable").tolist():
        if size[code] == 0 or not alive[code]:
            continue
        best = find_sum(rows, code, alive)
        if best is not None:
            found.append(best)
            if best.sure or trusting:
                alive[list(best.parts)] = False
    # A sum that is not sure of parts that have one already is no news.
    owned = {p for s in found if s.sure for p in s.parts}
    return [s for s in found if s.sure or trusting or not owned & {s.code, *s.parts}]


def sums_of_all(rows: CodeRows) -> list[tuple[int, float, int]]:
    """Codes that are the sum of all others, with bits beyond chance and entries."""
    n = len(rows.names)
    if n < 3:
        return []
    every, size = rows.numbers.sum(axis=0), np.abs(rows.numbers).sum(axis=0)
    off = np.abs(every - 2 * rows.numbers) > _CLOSE * size
    found: list[tuple[int, float, int]] = []
    for code in np.flatnonzero(~np.any(off & rows.given, axis=1)).tolist():
        bits, entries = rows.bits(code)
        if entries:
            found.append((code, bits - log2(n), entries))
    return found


def find_sum(rows: CodeRows, code: int, alive: NDArray[np.bool_]) -> Sum | None:
    """Find the likeliest way in which a code is a sum of others that are `alive`."""
    bits, entries = rows.bits(code)
    best: Sum | None = None
    for parts, price, beside in _ways(rows, code, alive, bits):
        left = bits - price
        several = len(parts) > 1
        alike = _SAME_BEGINNING if beside else _SAME
        enough = _SURE[beside, entries < 2] if several else alike
        sure = left >= enough and (several or entries > 1)
        if not sure and not (beside and several and left >= 0):
            continue
        if best is None or (sure, several, left) > (
            best.sure,
            len(best.parts) > 1,
            best.bits,
        ):
            best = Sum(code, tuple(parts), left, sure)
        if sure and beside:
            break
    if best is None or not best.sure:
        for parts, price in _near(rows, code, alive, entries):
            left = bits - price
            if left >= _SURE[True, entries < 2]:
                return Sum(code, tuple(parts), left, sure=True, near=True)
    return best


def _near(
    rows: CodeRows, code: int, alive: NDArray[np.bool_], entries: int
) -> Iterator[tuple[list[int], float]]:
    """Codes beside a code, or that begin as it does, with sums to within rounding.

    Where each number is rounded by itself, a sum of k parts is off by up to half a unit
    for each part and for itself. With the bits that finding them costs.
    """
    at = rows.given[code]
    mine = rows.numbers[code, at]
    others = np.flatnonzero(alive)
    others = others[others != code]
    place, n = int(np.searchsorted(others, code)), len(others) + 1
    behind, before = others[place : place + _LONGEST], others[:place][::-1][:_LONGEST]
    for run in (behind, before):
        sums = np.cumsum(rows.numbers[np.ix_(run, np.flatnonzero(at))], axis=0)
        slack = rows.unit * (np.arange(len(run)) + 2.0) / 2 * (1 + 1e-9)
        for last in np.flatnonzero(np.all(np.abs(sums - mine) <= slack[:, None], 1)):
            k = int(last) + 1
            if k > 1:
                price = log2((n - 1) * (n - 2)) + entries * log2(k + 2)
                yield sorted(run[:k].tolist()), price
    below = [c for c in rows.starting(rows.names[code]) if alive[c] and c != code]
    if len(below) > 1:
        off = np.abs(rows.numbers[below][:, at].sum(axis=0) - mine)
        if np.all(off <= rows.unit * (len(below) + 1) / 2 * (1 + 1e-9)):
            yield below, log2(n) + entries * log2(len(below) + 2)


def _ways(
    rows: CodeRows, code: int, alive: NDArray[np.bool_], bits: float
) -> Iterator[tuple[list[int], float, bool]]:
    """Sets of codes that a code is the sum of, with the bits that finding them costs.

    And whether they stand beside the code, or begin as it does.
    """
    others = np.flatnonzero(alive)
    others = others[others != code]
    n = len(others) + 1
    below = [c for c in rows.starting(rows.names[code]) if alive[c] and c != code]
    if below and rows.holds(code, below):
        yield below, log2(n), True
    at = rows.given[code]
    # A row with its own weights tells sums apart: one number stands for many.
    weights = np.random.default_rng(12345).uniform(1.0, 2.0, int(at.sum()))
    numbers = rows.numbers if at.all() else rows.numbers[:, at]
    mass = numbers @ weights
    slack = _CLOSE * float(np.abs(numbers[code]) @ weights)
    place = int(np.searchsorted(others, code))
    for start, end in _runs(mass[others], float(mass[code]), slack, place):
        run = others[start:end].tolist()
        parts = [c for c in run if np.any(numbers[c])]
        if len(parts) > 1 and rows.holds(code, parts):
            beside = place in (start, end)
            tries = (n - 1) * (n - 2) * (1 if beside else n / 2)
            yield run, log2(tries), beside
    if rows.positive:
        others = others[(mass[others] > 0) & (mass[others] <= mass[code] + slack)]
        room = numbers[code] * (1 + _CLOSE)
        useful = np.all(numbers[others] <= room, axis=1)
    else:
        useful = np.any(numbers[others] != 0, axis=1)
    for parts in _subsets(rows, code, others[useful].tolist(), mass, slack, bits):
        yield parts, log2(n) + log2(comb(n - 1, len(parts))), False


def _runs(
    mass: NDArray[np.float64], target: float, slack: float, place: int
) -> list[tuple[int, int]]:
    """Runs of two neighbours or more with a sum, those beside `place` first."""
    ends = np.concatenate([[0.0], np.cumsum(mass)])
    order = np.argsort(ends, kind="stable")
    low = np.searchsorted(ends[order], ends + target - slack)
    high = np.searchsorted(ends[order], ends + target + slack, side="right")
    hits: list[tuple[int, int]] = []
    for start in np.flatnonzero(high > low).tolist():
        for end in order[low[start] : high[start]].tolist():
            if end > start + 1:
                hits.append((start, end))
    hits.sort(key=lambda h: (place not in h, h[1] - h[0]))
    return hits[:_MOST_HITS]


def _subsets(
    rows: CodeRows,
    code: int,
    fits: Sequence[int],
    mass: NDArray[np.float64],
    slack: float,
    bits: float,
) -> Iterator[list[int]]:
    """Any sets of codes, as far as they can be looked through."""
    if not fits:
        return
    target = float(mass[code])
    numbers = mass[np.asarray(fits)]
    if len(fits) <= 2 * _HALF:
        # With next to no evidence, chance gives any number of sums.
        if bits > 1:
            yield from _two_halves(rows, code, fits, numbers, target, slack)
        return
    yield from _solved(rows, code, fits)
    for c in np.flatnonzero(np.abs(numbers - target) <= slack).tolist():
        if rows.holds(code, [fits[c]]):
            yield [fits[c]]
    if len(fits) > _MOST_PAIRS:
        return
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    firsts = range(len(fits)) if len(fits) <= _MOST_TRIPLES else ()
    for third in (None, *firsts):
        rest = target - (0.0 if third is None else numbers[third])
        low = np.searchsorted(ranked, rest - ranked - slack)
        high = np.searchsorted(ranked, rest - ranked + slack, side="right")
        for i in np.flatnonzero(high > low):
            for j in range(int(low[i]), int(high[i])):
                chosen = {int(order[i]), int(order[j])}
                chosen |= set() if third is None else {third}
                if len(chosen) != (2 if third is None else 3):
                    continue
                parts = [fits[c] for c in sorted(chosen)]
                if rows.holds(code, parts):
                    yield parts
                    return


def _two_halves(
    rows: CodeRows,
    code: int,
    fits: Sequence[int],
    numbers: NDArray[np.float64],
    target: float,
    slack: float,
) -> Iterator[list[int]]:
    """All sets of few codes: the sums of one half against those of the other."""
    cut = len(fits) // 2
    left, right = _all_sums(numbers[:cut]), _all_sums(numbers[cut:])
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    low = np.searchsorted(ranked, target - left - slack)
    high = np.searchsorted(ranked, target - left + slack, side="right")
    hits = [
        (int(i), int(order[j]))
        for i in np.flatnonzero(high > low)[:_MOST_HITS]
        for j in range(int(low[i]), int(high[i]))
    ]
    alone = False
    for i, j in sorted(hits, key=lambda h: h[0].bit_count() + h[1].bit_count()):
        mask = i | (j << cut)
        parts = [c for k, c in enumerate(fits) if mask >> k & 1]
        if (len(parts) > 1 or not alone) and parts and rows.holds(code, parts):
            yield parts
            if len(parts) > 1:
                return
            alone = True


def _all_sums(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums, sums + number])
    return sums


def _solved(rows: CodeRows, code: int, fits: Sequence[int]) -> Iterator[list[int]]:
    """Where there are more entries than codes, the equations have one solution."""
    at = rows.given[code]
    if len(fits) > min(int(at.sum()), _MOST_SOLVED):
        return
    matrix = rows.numbers[np.asarray(fits)][:, at].T
    scale = np.abs(matrix).max(axis=0)
    solution, _, rank, _ = np.linalg.lstsq(matrix / scale, rows.numbers[code, at])
    share = solution / scale
    if rank < len(fits) or np.any(np.abs(share - np.rint(share)) > 1e-3):
        return
    parts = [c for c, x in zip(fits, np.rint(share), strict=True) if x == 1]
    if parts and rows.holds(code, parts):
        yield parts
