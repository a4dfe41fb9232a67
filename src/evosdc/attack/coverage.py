"""The second half of the checker: which levels do accepted witnesses cover?

Against an attacker who knows more of some cells than everyone only those witnesses
count that move none of these cells further than the attacker believes possible. Like
`checker` it shares nothing with the code that finds witnesses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.compile.clock import moment
from evosdc.results import Certificate
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge, RespondentSums

_ZERO = Fraction(0)
_FITS = 2**62  # whole numbers below this are added and multiplied in 64 bits
# Pairs of a covering witness and an attacker who excludes it that are counted between
# two looks at the clock: about a second.
_PAIRS = 20_000_000
# Pairs that may fail between two looks at the clock: a tenth of a second.
_LOOKS = 100
# What fails: a level that is the same for all attackers, the lower one, which is less
# for some, or perhaps the sliding one.
_ANY_ROOM, _LOWER, _SLIDING = range(3)


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
    """What is asked of each judged cell: up, down and width; None: not a point."""

    cells: list[int]
    sensitive: NDArray[np.bool_]
    asked: dict[int, tuple[Fraction, Fraction, Fraction] | None]
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
        size = np.abs(table.value)
        margin = np.zeros(len(table))
        if strict and (table.is_integer or table.origin.whole):
            margin += 1.0
        elif strict:
            margin += 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))
        share = 1 - Fraction(tolerance)
        sensitive = np.asarray(table.status == "u", dtype=bool)
        judged = sensitive | (table.status == "m") if secondaries else sensitive
        judged = judged & table.shown
        cells = np.flatnonzero(judged if among is None else judged & among).tolist()
        asked: dict[int, tuple[Fraction, Fraction, Fraction] | None] = {}
        for cell in cells:
            levels = [float(a[cell]) for a in (table.upl, table.lpl, table.spl)]
            if not any(levels) and not (strict and sensitive[cell]):
                asked[cell] = None
                continue
            if strict:
                more = float(margin[cell])
                up, down, width = (
                    _with_margin(level, more, room)
                    for level, room in zip(levels, _rooms(table, cell), strict=True)
                )
            else:
                up, down, width = (_decimal(level) for level in levels)
            if whole:
                up, down, width = (Fraction(ceil(x)) for x in (up, down, width))
            if tolerance:
                up, down, width = share * up, share * down, share * width
            asked[cell] = up, down, width
        return cls(cells, sensitive, asked, whole, share)

    def covers(
        self, cell: int, up: Fraction, down: Fraction, room: Fraction | None = None
    ) -> bool:
        """Whether moves this far up and down are all that is asked of a cell.

        `room` is how far down an attacker who knows parts of the cell can be made to
        believe at most.
        """
        asked = self.asked[cell]
        if self.whole:
            # Rounded inwards: nobody believes in a fraction.
            up, down = (Fraction(floor(x / self.share)) for x in (up, down))
            room = None if room is None else Fraction(floor(room))
        if asked is None:
            return up + down > 0
        over, under, width = asked
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
                reach.up.get(cell, _ZERO),
                reach.down.get(cell, _ZERO),
                Fraction(repr(room[cell])) if cell in room else None,
            )
        ]

    def against(
        self,
        certificate: Certificate,
        accepted: NDArray[np.bool_],
        attackers: AttackerKnowledge,
        passed_over: set[int],
        deadline: float | None,
        room: Callable[[int], Mapping[int, float]] = lambda _: {},
    ) -> tuple[list[tuple[int, int]], list[int]]:
        """Pairs of a sensitive cell and an attacker against whom witnesses fail.

        A level fails against whoever excludes as many of the witnesses that cover it as
        there are. `room` says how far down each attacker can be made to believe a cell:
        see `evosdc.table.attackers.OwnShares`. The cells that time leaves out come
        next; nothing is known of them.
        """
        if not accepted.any():
            return [], []
        judged = [c for c in self.cells if self.sensitive[c] and c not in passed_over]
        if not judged or len(attackers) < 2:
            return [], []
        if _late(deadline):
            return [], judged
        moves = _Moves.of(certificate, accepted, judged)
        excluded = excluding(certificate, accepted, attackers)
        knows = _known_exactly(attackers)
        bounds = cache(room)
        pairs: list[tuple[int, int]] = []
        for first, last in _portions(moves, excluded):
            if _late(deadline):
                return pairs, judged[first:]
            failing = self._failing(moves, excluded, first, last)
            for number, (cell, who, level) in enumerate(failing):
                if (cell, who) in knows:
                    continue
                if number % _LOOKS == 0 and _late(deadline):
                    return pairs, judged[first:]
                most = None if level == _ANY_ROOM else bounds(who).get(cell)
                if level == _ANY_ROOM or (level == _LOWER and most is None):
                    pairs.append((cell, who))
                    continue
                up, down = moves.furthest(cell, excluded.of(who))
                least = None if most is None else Fraction(repr(most))
                if not self.covers(cell, up, down, least):
                    pairs.append((cell, who))
        return sorted(pairs), []

    def _failing(
        self, moves: _Moves, excluded: Excluded, first: int, last: int
    ) -> Iterator[tuple[int, int, int]]:
        """Pairs of a cell and an attacker that may fail, and what of them fails.

        The lower level may fail only because nobody can be asked to believe it.
        """
        cells = moves.cells[first:last]
        one = self.share if self.whole else _ZERO
        sides: list[list[Fraction | None]] = [[], []]
        either: list[Fraction | None] = []
        wide = []
        for cell in cells:
            asked = self.asked[cell]
            over, under, width = asked or (_ZERO, _ZERO, _ZERO)
            nothing = not (over or under or width)
            either.append(one if nothing else None)
            for side, level in zip(sides, (over, under), strict=True):
                full = self.share * ceil(level) if self.whole else level
                side.append(full if level else None)
            wide.append(width > over + under)
        found: dict[tuple[int, int], int] = {}
        for levels, way, kind_of in (
            (sides[1], -1, _LOWER),
            (sides[0], 1, _ANY_ROOM),
            (either, 0, _ANY_ROOM),
        ):
            for at, who in moves.failing(excluded, first, levels, way):
                found[cells[at], who] = kind_of
        for at in np.flatnonzero(wide).tolist():
            for who in moves.near(excluded, first + at):
                found.setdefault((cells[at], who), _SLIDING)
        return ((cell, who, level) for (cell, who), level in found.items())


def sums_uncovered(
    table: Table,
    certificate: Certificate,
    accepted: NDArray[np.bool_],
    sums: RespondentSums,
    strict: bool,
    tolerance: float,
    whole: bool,
) -> list[int]:
    """List the sums of cells of one respondent that no witness moves far enough."""
    if not len(sums):
        return []
    number = np.repeat(np.arange(len(sums)), np.diff(sums.start))
    shape = (len(table), len(sums))
    part = sparse.csr_array(
        (np.ones(len(number), np.int64), (sums.cell, number)), shape
    )
    owner = _owners(certificate)
    entry, in_sum = _joined(part, certificate.indices, accepted[owner])
    moved: dict[tuple[int, int], int] = {}
    for j, s in zip(entry.tolist(), in_sum.tolist(), strict=True):
        key = s, int(owner[j])
        moved[key] = moved.get(key, 0) + int(certificate.numerators[j])
    best = [[_ZERO, _ZERO] for _ in range(len(sums))]
    for (s, w), move in moved.items():
        step = Fraction(move, int(certificate.denominators[w]))
        side = 0 if step > 0 else 1
        best[s][side] = max(best[s][side], abs(step))
    # The same question as of a cell whose levels and bounds are those of the sum.
    out = []
    for s in range(len(sums)):
        levels = _sum_levels(table, sums, s, strict, whole)
        share = 1 - Fraction(tolerance)
        asked = levels and (share * levels[0], share * levels[1], _ZERO)
        alone = RequiredLevels([0], np.ones(1, dtype=bool), {0: asked}, whole, share)
        if not alone.covers(0, *best[s]):
            out.append(s)
    return out


def _sum_levels(
    table: Table, sums: RespondentSums, number: int, strict: bool, whole: bool
) -> tuple[Fraction, Fraction] | None:
    """What is asked of a sum, up and down; None: that it is not a point."""
    cells = sums.cells(number)
    up, down = _decimal(float(sums.upl[number])), _decimal(float(sums.lpl[number]))
    if strict:
        size = np.abs(table.value)
        margin = 2e-6 * max(1.0, float(size[cells].max()))
        margin += 2e-10 * max(1.0, float(size.max()))
        if table.is_integer or table.origin.whole:
            margin = 1.0
        rooms = [_rooms(table, cell) for cell in cells.tolist()]
        up = _with_margin(
            float(sums.upl[number]), margin, _total([r[0] for r in rooms])
        )
        down = _with_margin(
            float(sums.lpl[number]), margin, _total([r[1] for r in rooms])
        )
    if whole:
        up, down = Fraction(ceil(up)), Fraction(ceil(down))
    return (up, down) if up or down else None


@dataclass(frozen=True, eq=False)
class Excluded:
    """Which witnesses each attacker excludes: a row per witness, one per attacker."""

    by_witness: Any
    by_attacker: Any

    @classmethod
    def where(cls, witness: Any, attacker: Any, shape: tuple[int, int]) -> Excluded:
        """Return pairs as a matrix of ones."""
        ones = np.ones(len(witness), dtype=np.int32)
        pairs = sparse.csr_array((ones, (witness, attacker)), shape=shape)
        pairs.sum_duplicates()
        pairs.data[:] = 1
        return cls(pairs, sparse.csc_array(pairs))

    def of(self, attacker: int) -> set[int]:
        """Return the witnesses that an attacker excludes."""
        start, end = self.by_attacker.indptr[attacker : attacker + 2]
        return set(self.by_attacker.indices[start:end].tolist())


def excluding(
    c: Certificate, accepted: NDArray[np.bool_], attackers: AttackerKnowledge
) -> Excluded:
    """Find the witnesses that move a cell further than an attacker believes."""
    many = int(c.indices.max(initial=-1)) + 1
    inside = np.flatnonzero(attackers.cell < many)
    number = np.repeat(np.arange(len(attackers)), np.diff(attackers.start))
    shape = (many, len(attackers.cell))
    believes = sparse.csr_array(
        (np.ones(len(inside), np.int64), (attackers.cell[inside], inside)), shape=shape
    )
    owner = _owners(c)
    entry, belief = _joined(believes, c.indices, accepted[owner] & (c.numerators != 0))
    # Any move is beyond what is known exactly.
    beyond = (attackers.up[belief] == 0) & (attackers.down[belief] == 0)
    rest = np.flatnonzero(~beyond)
    num, den = c.numerators[entry[rest]], c.denominators[owner[entry[rest]]]
    up, down = attackers.up[belief[rest]], attackers.down[belief[rest]]
    scale, (above, below) = _over_one_scale(up, down)
    beyond[rest] = np.where(
        num > 0,
        _exceeds(num, den, above, scale) & ~np.isposinf(up),
        _exceeds(-num, den, below, scale) & ~np.isposinf(down),
    )
    shape = (len(c.cells), len(attackers))
    return Excluded.where(owner[entry[beyond]], number[belief[beyond]], shape)


@dataclass(frozen=True, eq=False)
class _Moves:
    """How far accepted witnesses move the judged cells, in the order of the cells."""

    cells: list[int]
    start: NDArray[np.int64]
    witness: NDArray[np.int64]
    num: Any
    den: Any

    @classmethod
    def of(
        cls, c: Certificate, accepted: NDArray[np.bool_], cells: list[int]
    ) -> _Moves:
        """Collect the moves of some cells."""
        owner = _owners(c)
        place = np.full(max(int(c.indices.max(initial=-1)), cells[-1]) + 1, -1)
        place[cells] = np.arange(len(cells))
        use = np.flatnonzero(
            accepted[owner] & (place[c.indices] >= 0) & (c.numerators != 0)
        )
        use = use[np.argsort(place[c.indices[use]], kind="stable")]
        start = np.searchsorted(place[c.indices[use]], np.arange(len(cells) + 1))
        witness = owner[use]
        return cls(cells, start, witness, c.numerators[use], c.denominators[witness])

    def failing(
        self, excluded: Excluded, first: int, levels: list[Fraction | None], way: int
    ) -> Iterator[tuple[int, int]]:
        """Yield cells with the attackers who exclude all witnesses that cover a level.

        The cells are numbered from the first one. A `way` of 0 asks for either.
        """
        last = first + len(levels)
        part = slice(int(self.start[first]), int(self.start[last]))
        size = np.diff(self.start[first : last + 1])
        at = np.repeat(np.arange(last - first), size)
        scale = lcm(*{level.denominator for level in levels if level is not None})
        asked = np.array(
            [0 if level is None else int(level * scale) for level in levels] + [None],
            dtype=object,
        )[:-1]
        num = np.abs(self.num[part]) if way == 0 else way * self.num[part]
        short = _exceeds(asked[at], np.full(len(at), scale), num, self.den[part])
        use = np.array([level is not None for level in levels], dtype=bool)[at]
        use &= (num > 0) & ~short
        witness = self.witness[part][use]
        shape = (last - first, excluded.by_witness.shape[0])
        covering = sparse.csr_array(
            (np.ones(len(witness), np.int32), (at[use], witness)), shape=shape
        )
        counts = sparse.coo_array(covering @ excluded.by_witness)
        row, who = counts.coords
        many = np.bincount(at[use], minlength=last - first)
        all_of_them = counts.data == many[row]
        yield from zip(
            row[all_of_them].tolist(), who[all_of_them].tolist(), strict=True
        )

    def near(self, excluded: Excluded, at: int) -> list[int]:
        """Return the attackers who exclude a witness that moves a cell."""
        part = slice(int(self.start[at]), int(self.start[at + 1]))
        rows = excluded.by_witness[np.unique(self.witness[part])]
        return np.unique(rows.indices).tolist()

    def furthest(self, cell: int, without: set[int]) -> tuple[Fraction, Fraction]:
        """How far up and down witnesses move a cell, some of them left out."""
        at = bisect_left(self.cells, cell)
        up = down = _ZERO
        for j in range(int(self.start[at]), int(self.start[at + 1])):
            if int(self.witness[j]) not in without:
                step = Fraction(int(self.num[j]), int(self.den[j]))
                up, down = max(up, step), max(down, -step)
        return up, down


def _late(deadline: float | None) -> bool:
    return deadline is not None and moment() >= deadline


def _portions(moves: _Moves, excluded: Excluded) -> Iterator[tuple[int, int]]:
    """Part the cells so that each part counts a limited number of pairs."""
    each = np.diff(excluded.by_witness.indptr)[moves.witness]
    total = np.concatenate([[0], np.cumsum(each)])[moves.start]
    first, count = 0, len(moves.cells)
    while first < count:
        last = int(np.searchsorted(total, total[first] + _PAIRS, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def _known_exactly(attackers: AttackerKnowledge) -> set[tuple[int, int]]:
    """Pairs of a cell and an attacker who knows it: it is not judged against it."""
    number = np.repeat(np.arange(len(attackers)), np.diff(attackers.start))
    exact = (attackers.up == 0) & (attackers.down == 0)
    cells, who = attackers.cell[exact].tolist(), number[exact].tolist()
    return set(zip(cells, who, strict=True))


def _owners(c: Certificate) -> NDArray[np.int64]:
    """The witness of each entry."""
    return np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))


def _joined(
    lists: Any, cells: NDArray[np.int64], use: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pair each used entry with everything that a matrix lists for its cell."""
    entry = np.flatnonzero(use)
    begin = lists.indptr[cells[entry]].astype(np.int64)
    many = lists.indptr[cells[entry] + 1] - begin
    ends = np.cumsum(many)
    place = np.repeat(begin - ends + many, many) + np.arange(int(many.sum()))
    return np.repeat(entry, many), lists.indices[place].astype(np.int64)


def _exceeds(num: Any, den: Any, other: Any, scale: Any) -> NDArray[np.bool_]:
    """Whether ``num / den > other / scale``, exactly."""
    if not len(num):
        return np.zeros(0, dtype=bool)
    wide = np.max(scale)
    size = max(largest(num) * int(wide), largest(other) * largest(den))
    form = kind(size)
    left: Any = np.asarray(num).astype(form) * np.asarray(scale).astype(form)
    right: Any = np.asarray(other).astype(form) * np.asarray(den).astype(form)
    return np.asarray(left > right, dtype=bool)


def _over_one_scale(*arrays: NDArray[np.float64]) -> tuple[int, list[Any]]:
    """Read doubles as shortest decimals over one scale; infinite ones as 0."""
    read = [
        [_decimal(x) if np.isfinite(x) else _ZERO for x in array.tolist()]
        for array in arrays
    ]
    scale = lcm(*{x.denominator for numbers in read for x in numbers})
    return scale, [
        np.array([*(int(x * scale) for x in numbers), None], dtype=object)[:-1]
        for numbers in read
    ]


def largest(numbers: Any) -> int:
    """Return the largest size of some whole numbers."""
    if not len(numbers):
        return 0
    return max(abs(int(numbers.min())), abs(int(numbers.max())))


def kind(*sizes: int) -> type:
    """Return the dtype in which numbers of this size do not overflow."""
    return np.int64 if max(sizes) < _FITS else object


def _total(rooms: list[Fraction | None]) -> Fraction | None:
    """Add up rooms; None where one of them has no bound."""
    bounded = [room for room in rooms if room is not None]
    return sum(bounded, _ZERO) if len(bounded) == len(rooms) else None


def _decimal(number: float) -> Fraction:
    """Read a double as the shortest decimal that reads back as the same."""
    whole = int(number)
    return Fraction(whole) if whole == number else Fraction(repr(number))


def _rooms(table: Table, cell: int) -> tuple[Fraction | None, ...]:
    """How far bounds let a cell go up, down and both ways; None without a bound."""
    value = _decimal(float(table.value[cell]))
    high, low = float(table.upper[cell]), float(table.lower[cell])
    up = None if high == np.inf else max(_decimal(high) - value, _ZERO)
    down = None if low == -np.inf else max(value - _decimal(low), _ZERO)
    return up, down, None if up is None or down is None else up + down


def _with_margin(level: float, margin: float, room: Fraction | None) -> Fraction:
    """A level with its margin, no further than its bound if the level keeps to it."""
    asked = _decimal(level + margin)
    if room is None:
        return asked
    return min(asked, max(_decimal(level), room))
