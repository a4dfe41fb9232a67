"""The second part of the checker: which levels do accepted witnesses cover?

Like `checker` it shares no code with the search for witnesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.results import Certificate
from evosdc.table import Table
from evosdc.table.attackers import RespondentSums

ZERO = Fraction(0)
_MAX_INT64 = 2**62  # integers below this are added and multiplied in 64 bits


class Reach:
    """How far accepted witnesses move each cell, both ways."""

    def __init__(self) -> None:
        self.up: dict[int, Fraction] = {}
        self.down: dict[int, Fraction] = {}

    def take(self, at: NDArray[np.int64], num: Any, den: Any, good: Any) -> None:
        """Take some entries of witnesses: cell, numerator, denominator, accepted."""
        for best, use in ((self.up, num > 0), (self.down, num < 0)):
            chosen = np.flatnonzero(good & use)
            _furthest(best, at[chosen], num[chosen], den[chosen])


def _furthest(
    best: dict[int, Fraction], at: NDArray[np.int64], num: Any, den: Any
) -> None:
    """Keep the furthest move of each cell one way."""
    # Doubles only leave out what is clearly shorter; fractions decide.
    size = np.abs(num.astype(np.float64) / den.astype(np.float64))
    top = np.zeros(int(at.max(initial=0)) + 1)
    np.maximum.at(top, at, size)
    seen: set[tuple[int, int, int]] = set()
    for i in np.flatnonzero(size >= (1 - 1e-9) * top[at]).tolist():
        key = (int(at[i]), abs(int(num[i])), int(den[i]))
        if key not in seen:
            seen.add(key)
            move = Fraction(key[1], key[2])
            best[key[0]] = max(move, best.get(key[0], move))


@dataclass(frozen=True, eq=False)
class RequiredLevels:
    """The levels of each judged cell: up, down and width; None: not a point."""

    cells: list[int]
    sensitive: NDArray[np.bool_]
    needed: dict[int, tuple[Fraction, Fraction, Fraction] | None]
    whole: bool = False
    share: Fraction = Fraction(1)

    @classmethod
    def of(
        cls,
        table: Table,
        strict: bool,
        secondaries: bool,
        tolerance: float,
        among: NDArray[np.bool_] | None,
        whole: bool = False,
    ) -> RequiredLevels:
        """Read the levels of a table, strict margins included.

        Of tables of `whole` numbers they are rounded up, and moves are rounded down.
        """
        margin = _strict_margin(table)
        share = 1 - Fraction(tolerance)
        sensitive = np.asarray(table.status == "u", dtype=bool)
        judged = sensitive | (table.status == "m") if secondaries else sensitive
        judged = judged & table.shown
        cells = np.flatnonzero(judged if among is None else judged & among).tolist()
        needed: dict[int, tuple[Fraction, Fraction, Fraction] | None] = {}
        for cell in cells:
            levels = [float(a[cell]) for a in (table.upl, table.lpl, table.spl)]
            if not any(levels) and not (strict and sensitive[cell]):
                needed[cell] = None
                continue
            if strict:
                more = float(margin[cell])
                up, down, width = (
                    _with_margin(level, more, room)
                    for level, room in zip(levels, _rooms(table, cell), strict=True)
                )
            else:
                up, down, width = (decimal_of(level) for level in levels)
            if whole:
                up, down, width = (Fraction(ceil(x)) for x in (up, down, width))
            if tolerance:
                up, down, width = share * up, share * down, share * width
            needed[cell] = up, down, width
        return cls(cells, sensitive, needed, whole, share)

    def covers(
        self, cell: int, up: Fraction, down: Fraction, room: Fraction | None = None
    ) -> bool:
        """Whether moves this far up and down cover all levels of a cell.

        `room` is how far below its value an attacker who contributes to the cell
        believes it to be at most.
        """
        needed = self.needed[cell]
        if self.whole:
            # Rounded inwards: fractions are known to be impossible.
            up, down = (Fraction(floor(x / self.share)) for x in (up, down))
            room = None if room is None else Fraction(floor(room))
        if needed is None:
            return up + down > 0
        over, under, width = needed
        if room is not None:
            under = min(under, room)
        if not (over or under or width):
            return up + down > 0
        return up >= over and down >= under and up + down >= width

    def uncovered(self, reach: Reach, room: Mapping[int, float]) -> list[int]:
        """List the judged cells that no witness covers."""
        return [
            cell
            for cell in self.cells
            if not self.covers(
                cell,
                reach.up.get(cell, ZERO),
                reach.down.get(cell, ZERO),
                Fraction(repr(room[cell])) if cell in room else None,
            )
        ]


def sums_uncovered(
    table: Table,
    certificate: Certificate,
    accepted: NDArray[np.bool_],
    sums: RespondentSums,
    strict: bool,
    tolerance: float,
    whole: bool,
) -> list[int]:
    """List the sums of cells of one respondent that witnesses do not cover."""
    if not len(sums):
        return []
    number = np.repeat(np.arange(len(sums)), np.diff(sums.start))
    shape = (len(table), len(sums))
    part = sparse.csr_array(
        (np.ones(len(number), np.int64), (sums.cell, number)), shape
    )
    owner = owners(certificate)
    entry, in_sum = matches(part, certificate.indices, accepted[owner])
    moved: dict[tuple[int, int], int] = {}
    for j, s in zip(entry.tolist(), in_sum.tolist(), strict=True):
        key = s, int(owner[j])
        moved[key] = moved.get(key, 0) + int(certificate.numerators[j])
    best = [[ZERO, ZERO] for _ in range(len(sums))]
    for (s, w), move in moved.items():
        step = Fraction(move, int(certificate.denominators[w]))
        side = 0 if step > 0 else 1
        best[s][side] = max(best[s][side], abs(step))
    # A sum is judged like a cell with the levels and bounds of the sum.
    out = []
    for s in range(len(sums)):
        levels = _sum_levels(table, sums, s, strict, whole)
        share = 1 - Fraction(tolerance)
        needed = levels and (share * levels[0], share * levels[1], ZERO)
        alone = RequiredLevels([0], np.ones(1, dtype=bool), {0: needed}, whole, share)
        if not alone.covers(0, *best[s]):
            out.append(s)
    return out


def _sum_levels(
    table: Table, sums: RespondentSums, number: int, strict: bool, whole: bool
) -> tuple[Fraction, Fraction] | None:
    """Return the levels of a sum, up and down; None: not a point."""
    cells = sums.cells(number)
    up, down = decimal_of(float(sums.upl[number])), decimal_of(float(sums.lpl[number]))
    if strict:
        margin = float(_strict_margin(table)[cells].max())
        rooms = zip(*(_rooms(table, cell) for cell in cells.tolist()), strict=True)
        up, down = (
            _with_margin(float(level[number]), margin, _total(room))
            for level, room in zip((sums.upl, sums.lpl), rooms, strict=False)
        )
    if whole:
        up, down = Fraction(ceil(up)), Fraction(ceil(down))
    return (up, down) if up or down else None


def _strict_margin(table: Table) -> NDArray[np.float64]:
    if table.is_integer or table.origin.whole:
        return np.ones(len(table))
    size = np.abs(table.value)
    return 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))


def owners(c: Certificate) -> NDArray[np.int64]:
    """Return the witness of each entry."""
    return np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))


def matches(
    lists: Any, cells: NDArray[np.int64], use: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each used entry with all that a matrix (CSR) lists for its cell."""
    entry = np.flatnonzero(use)
    begin = lists.indptr[cells[entry]].astype(np.int64)
    many = lists.indptr[cells[entry] + 1] - begin
    ends = np.cumsum(many)
    place = np.repeat(begin - ends + many, many) + np.arange(int(many.sum()))
    return np.repeat(entry, many), lists.indices[place].astype(np.int64)


def largest(numbers: Any) -> int:
    """Return the largest size of some whole numbers."""
    if not len(numbers):
        return 0
    return max(abs(int(numbers.min())), abs(int(numbers.max())))


def exact_dtype(*sizes: int) -> type:
    """Return the dtype in which numbers of this size do not overflow."""
    return np.int64 if max(sizes) < _MAX_INT64 else object


def _total(rooms: Sequence[Fraction | None]) -> Fraction | None:
    """Add up distances to bounds; None where one has no bound."""
    bounded = [room for room in rooms if room is not None]
    return sum(bounded, ZERO) if len(bounded) == len(rooms) else None


def decimal_of(number: float) -> Fraction:
    """Read a double as the shortest decimal that reads back as the same."""
    whole = int(number)
    return Fraction(whole) if whole == number else Fraction(repr(number))


def _rooms(table: Table, cell: int) -> tuple[Fraction | None, ...]:
    """Return the distances to bounds up, down and both; None without a bound."""
    value = decimal_of(float(table.value[cell]))
    high, low = float(table.upper[cell]), float(table.lower[cell])
    up = None if high == np.inf else max(decimal_of(high) - value, ZERO)
    down = None if low == -np.inf else max(value - decimal_of(low), ZERO)
    return up, down, None if up is None or down is None else up + down


def _with_margin(level: float, margin: float, room: Fraction | None) -> Fraction:
    """Add a margin to a level, but not beyond a bound that the level itself keeps."""
    needed = decimal_of(level + margin)
    if room is None:
        return needed
    return min(needed, max(decimal_of(level), room))


def over_one_scale(*arrays: NDArray[np.float64]) -> tuple[int, list[Any]]:
    """Read doubles as shortest decimals: integers over one scale; infinities as 0."""
    finite = [np.where(np.isfinite(a), a, 0.0) for a in arrays]
    if all(np.all((a == np.rint(a)) & (np.abs(a) < 2.0**53)) for a in finite):
        return 1, [a.astype(np.int64) for a in finite]
    read = [[Decimal(repr(x)).as_integer_ratio() for x in a.tolist()] for a in finite]
    parts = {part for numbers in read for _, part in numbers}
    scale = 1
    while any(scale % part for part in parts):
        scale *= 10
    return scale, [
        np.array([*(n * (scale // part) for n, part in numbers), None], object)[:-1]
        for numbers in read
    ]
