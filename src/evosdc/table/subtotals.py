"""Find codes whose rows are the sums of other codes' rows.

A sub-total among the codes of a flat dimension is an equation that the table lacks: a
hidden part of it follows by subtraction. Here a code is a row of numbers, one for each
combination of the codes of the other dimensions.

Small tables have such rows by chance. Each entry that agrees counts as evidence of the
logarithm of its size in bits, less the logarithm of the number of candidates tried; the
remainder says how unlikely chance is.
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

# Sums agree to this share of their terms, as totals do, so that one entry gives no more
# than this many bits of evidence.
_CLOSE = 1e-6
_MAX_BITS = 20.0
# Numbers of codes up to which all subsets of each half of them (2 * 4,096 sums), pairs
# and triples are tried, and up to which equations are solved.
_HALF_CODES = 12
_MAX_PAIR_CODES = 1500
_MAX_TRIPLE_CODES = 90
_MAX_SOLVED_CODES = 120
# Candidates that are verified, and neighbouring codes of a sum to within rounding.
_MAX_HITS = 200
_MAX_RUN = 60
# Bits beyond chance from which a sum counts as a sub-total, by whether its code is
# adjacent to its parts or a prefix of them, and whether it has a single entry.
_SURE = {
    (True, False): 3.0,
    (False, False): 5.0,
    (True, True): 8.0,
    (False, True): 12.0,
}
# The same for two equal rows, which are rarely a branch with one part, unless one code
# is a prefix of the other: A and A1.
_EQUAL_ROWS = 20.0
_EQUAL_ROWS_OF_PREFIX = 8.0


@dataclass(frozen=True)
class Sum:
    """A code and the codes it is the sum of, by number.

    `bits` is the evidence beyond chance, `sure` whether it suffices; `near` sums agree
    only to within the rounding of single numbers.
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
        One row per code, one column per entry (values, and counts where known), 0 where
        the table has no cell.
    given
        Which of them the table gives: sums are compared only there.
    group
        The group of each column: entries of different groups (inner cells, their
        totals) are not independent evidence.
    """

    names: Sequence[str]
    numbers: NDArray[np.float64]
    given: NDArray[np.bool_]
    group: NDArray[np.int64]

    def bits(self, code: int) -> tuple[float, int]:
        """Return the evidence in the entries of a code, and how many are not zero."""
        at = self.given[code] & (self.numbers[code] != 0)
        if not at.any():
            return 0.0, 0
        # Equal columns count once.
        _, first = np.unique(self._distinct[at], return_index=True)
        size = np.abs(self.numbers[code, at][first])
        each = np.minimum(np.log2(1.0 + size / self.unit), _MAX_BITS)
        kinds = self.group[at][first]
        worth = {int(g): float(each[kinds == g].sum()) for g in np.unique(kinds)}
        best = max(worth, key=lambda g: worth[g])
        return worth[best], int((kinds == best).sum())

    @cached_property
    def _distinct(self) -> NDArray[np.int64]:
        """A number for each column, the same for equal columns."""
        return np.unique(self.numbers, axis=1, return_inverse=True)[1].ravel()

    @cached_property
    def positive(self) -> bool:
        """Whether no number is negative, so that parts are no larger than sums."""
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
        """Return codes whose names start with a text, in the order of the file."""
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

    Parts of a sum that was found are removed, so that sums of sums are found as such.
    Codes of `leave_out`, the total, are ignored. With `trusting`, for tables that are
    known not to add up, sums that may be chance are returned as well.
    """
    found: list[Sum] = []
    left_out = set(leave_out)
    available = np.ones(len(rows.names), dtype=bool)
    available[list(left_out)] = False
    size = np.abs(np.where(rows.given, rows.numbers, 0.0)).sum(axis=1)
    for code in np.argsort(size, kind="stable").tolist():
        if size[code] == 0 or not available[code]:
            continue
        best = find_sum(rows, code, available)
        if best is not None:
            found.append(best)
            if best.sure or trusting:
                available[list(best.parts)] = False
    # Uncertain sums of parts that already have a sum are left out.
    owned = {p for s in found if s.sure for p in s.parts}
    return [s for s in found if s.sure or trusting or not owned & {s.code, *s.parts}]


def sums_of_all(rows: CodeRows) -> list[tuple[int, float, int]]:
    """Return codes that are sums of all others, with bits beyond chance and entries."""
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


def find_sum(rows: CodeRows, code: int, available: NDArray[np.bool_]) -> Sum | None:
    """Find the likeliest set of codes among `available` whose sum is a code."""
    bits, entries = rows.bits(code)
    best: Sum | None = None
    for parts, cost, adjacent in _ways(rows, code, available, bits):
        left = bits - cost
        several = len(parts) > 1
        equal = _EQUAL_ROWS_OF_PREFIX if adjacent else _EQUAL_ROWS
        enough = _SURE[adjacent, entries < 2] if several else equal
        sure = left >= enough and (several or entries > 1)
        if not sure and not (adjacent and several and left >= 0):
            continue
        if best is None or (sure, several, left) > (
            best.sure,
            len(best.parts) > 1,
            best.bits,
        ):
            best = Sum(code, tuple(parts), left, sure)
        if sure and adjacent:
            break
    if best is None or not best.sure:
        for parts, cost in _near(rows, code, available, entries):
            left = bits - cost
            if left >= _SURE[True, entries < 2]:
                return Sum(code, tuple(parts), left, sure=True, near=True)
    return best


def _near(
    rows: CodeRows, code: int, available: NDArray[np.bool_], entries: int
) -> Iterator[tuple[list[int], float]]:
    """Yield adjacent codes, or codes with the same prefix, with sums within rounding.

    Where each number is rounded by itself, a sum of k parts is off by up to half a unit
    for each part and for itself. The bits that the search costs come with each.
    """
    at = rows.given[code]
    mine = rows.numbers[code, at]
    others = np.flatnonzero(available)
    others = others[others != code]
    place, n = int(np.searchsorted(others, code)), len(others) + 1
    behind, before = (
        others[place : place + _MAX_RUN],
        others[:place][::-1][:_MAX_RUN],
    )
    for run in (behind, before):
        sums = np.cumsum(rows.numbers[np.ix_(run, np.flatnonzero(at))], axis=0)
        slack = rows.unit * (np.arange(len(run)) + 2.0) / 2 * (1 + 1e-9)
        for last in np.flatnonzero(np.all(np.abs(sums - mine) <= slack[:, None], 1)):
            k = int(last) + 1
            if k > 1:
                cost = log2((n - 1) * (n - 2)) + entries * log2(k + 2)
                yield sorted(run[:k].tolist()), cost
    below = [c for c in rows.starting(rows.names[code]) if available[c] and c != code]
    if len(below) > 1:
        off = np.abs(rows.numbers[below][:, at].sum(axis=0) - mine)
        if np.all(off <= rows.unit * (len(below) + 1) / 2 * (1 + 1e-9)):
            yield below, log2(n) + entries * log2(len(below) + 2)


def _ways(
    rows: CodeRows, code: int, available: NDArray[np.bool_], bits: float
) -> Iterator[tuple[list[int], float, bool]]:
    """Yield sets of codes that a code is the sum of, with the bits that finding costs.

    And whether they are adjacent to the code, or have it as a prefix.
    """
    others = np.flatnonzero(available)
    others = others[others != code]
    n = len(others) + 1
    below = [c for c in rows.starting(rows.names[code]) if available[c] and c != code]
    if below and rows.holds(code, below):
        yield below, log2(n), True
    at = rows.given[code]
    # One randomly weighted sum per row distinguishes rows by a single number.
    weights = np.random.default_rng(12345).uniform(1.0, 2.0, int(at.sum()))
    numbers = rows.numbers if at.all() else rows.numbers[:, at]
    mass = numbers @ weights
    slack = _CLOSE * float(np.abs(numbers[code]) @ weights)
    place = int(np.searchsorted(others, code))
    for start, end in _runs(mass[others], float(mass[code]), slack, place):
        run = others[start:end].tolist()
        parts = [c for c in run if np.any(numbers[c])]
        if len(parts) > 1 and rows.holds(code, parts):
            adjacent = place in (start, end)
            tries = (n - 1) * (n - 2) * (1 if adjacent else n / 2)
            yield run, log2(tries), adjacent
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
    """Return runs of two codes or more with a sum, those adjacent to `place` first."""
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
    return hits[:_MAX_HITS]


def _subsets(
    rows: CodeRows,
    code: int,
    fits: Sequence[int],
    mass: NDArray[np.float64],
    slack: float,
    bits: float,
) -> Iterator[list[int]]:
    """Yield sets of codes anywhere, as far as these can be enumerated."""
    if not fits:
        return
    target = float(mass[code])
    numbers = mass[np.asarray(fits)]
    if len(fits) <= 2 * _HALF_CODES:
        # With almost no evidence there are many sums by chance.
        if bits > 1:
            yield from _two_halves(rows, code, fits, numbers, target, slack)
        return
    yield from _solved(rows, code, fits)
    for c in np.flatnonzero(np.abs(numbers - target) <= slack).tolist():
        if rows.holds(code, [fits[c]]):
            yield [fits[c]]
    if len(fits) > _MAX_PAIR_CODES:
        return
    order = np.argsort(numbers, kind="stable")
    ranked = numbers[order]
    firsts = range(len(fits)) if len(fits) <= _MAX_TRIPLE_CODES else ()
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
    """Yield sets of codes, from sums of one half matched with those of the other."""
    cut = len(fits) // 2
    left, right = _all_sums(numbers[:cut]), _all_sums(numbers[cut:])
    order = np.argsort(right, kind="stable")
    ranked = right[order]
    low = np.searchsorted(ranked, target - left - slack)
    high = np.searchsorted(ranked, target - left + slack, side="right")
    hits = [
        (int(i), int(order[j]))
        for i in np.flatnonzero(high > low)[:_MAX_HITS]
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
    """Solve for the parts where there are more entries than codes."""
    at = rows.given[code]
    if len(fits) > min(int(at.sum()), _MAX_SOLVED_CODES):
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
