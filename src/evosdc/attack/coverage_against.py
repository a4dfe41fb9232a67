"""The third part of the checker: coverage against attackers who know more.

Against an attacker who knows more of some cells than everyone, only those witnesses
count that move none of these cells further than the attacker believes possible. Like
`checker`, it shares no code with the search for witnesses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.attack.coverage import (
    ZERO,
    RequiredLevels,
    exact_dtype,
    largest,
    matches,
    over_one_scale,
    owners,
)
from evosdc.compile.clock import moment
from evosdc.results import Certificate
from evosdc.table.attackers import AttackerKnowledge

# Pairs of a covering witness and an attacker who excludes it that are counted between
# two looks at the clock: about a second.
_PAIRS_PER_PART = 20_000_000
# Pairs that may fail between two looks at the clock: a tenth of a second.
_FAILING_PER_LOOK = 100
# The level that fails: one that is the same for all attackers, the lower one, which is
# less for some, or possibly the sliding one.
_ANY_ROOM, _LOWER, _SLIDING = range(3)


def uncovered_against(
    levels: RequiredLevels,
    certificate: Certificate,
    accepted: NDArray[np.bool_],
    attackers: AttackerKnowledge,
    left_out: set[int],
    deadline: float | None,
    room: Callable[[int], Mapping[int, float]] = lambda _: {},
) -> tuple[list[tuple[int, int]], list[int]]:
    """Return pairs of a sensitive cell and an attacker against whom a level fails.

    A level fails against an attacker who excludes all witnesses that cover it. `room`
    says how far below its value each attacker believes cells to be at most: see
    `evosdc.table.attackers.OwnShares`. The second list are cells for which time ran
    out; nothing is known of them.
    """
    if not accepted.any():
        return [], []
    judged = [c for c in levels.cells if levels.sensitive[c] and c not in left_out]
    if not judged or len(attackers) < 2:
        return [], []
    if _is_over(deadline):
        return [], judged
    moves = _Moves.of(certificate, accepted, judged)
    excluded = excluding(certificate, accepted, attackers)
    exact = np.stack([attackers.cell, attackers.owner], axis=1)[attackers.exact]
    knows = set(map(tuple, exact.tolist()))
    bounds = cache(room)
    pairs: list[tuple[int, int]] = []
    for first, last in _parts(moves, excluded):
        if _is_over(deadline):
            return pairs, judged[first:]
        failing = _failing(levels, moves, excluded, first, last)
        for number, (cell, who, level) in enumerate(failing):
            if (cell, who) in knows:
                continue
            if number % _FAILING_PER_LOOK == 0 and _is_over(deadline):
                return pairs, judged[first:]
            most = None if level == _ANY_ROOM else bounds(who).get(cell)
            if level == _ANY_ROOM or (level == _LOWER and most is None):
                pairs.append((cell, who))
                continue
            up, down = moves.furthest(cell, excluded.of(who))
            least = None if most is None else Fraction(repr(most))
            if not levels.covers(cell, up, down, least):
                pairs.append((cell, who))
    return sorted(pairs), []


def _failing(
    levels: RequiredLevels, moves: _Moves, excluded: Excluded, first: int, last: int
) -> Iterator[tuple[int, int, int]]:
    """Return cells and attackers that may fail, and which level fails.

    The lower level only may fail: the attacker may not believe that far down anyway.
    """
    cells = moves.cells[first:last]
    one = levels.share if levels.whole else ZERO
    sides: list[list[Fraction | None]] = [[], []]
    either: list[Fraction | None] = []
    wide = []
    for cell in cells:
        needed = levels.needed[cell]
        over, under, width = needed or (ZERO, ZERO, ZERO)
        either.append(None if over or under or width else one)
        for side, level in zip(sides, (over, under), strict=True):
            full = levels.share * ceil(level) if levels.whole else level
            side.append(full if level else None)
        wide.append(width > over + under)
    found: dict[tuple[int, int], int] = {}
    for side, way, failed in (
        (sides[1], -1, _LOWER),
        (sides[0], 1, _ANY_ROOM),
        (either, 0, _ANY_ROOM),
    ):
        for at, who in moves.failing(excluded, first, side, way):
            found[cells[at], who] = failed
    for at in np.flatnonzero(wide).tolist():
        for who in moves.near(excluded, first + at):
            found.setdefault((cells[at], who), _SLIDING)
    return ((cell, who, level) for (cell, who), level in found.items())


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
        """Return the witnesses that one attacker excludes."""
        start, end = self.by_attacker.indptr[attacker : attacker + 2]
        return set(self.by_attacker.indices[start:end].tolist())


def excluding(
    c: Certificate, accepted: NDArray[np.bool_], attackers: AttackerKnowledge
) -> Excluded:
    """Find the witnesses that move a cell further than an attacker believes."""
    many = int(c.indices.max(initial=-1)) + 1
    inside = np.flatnonzero(attackers.cell < many)
    shape = (many, len(attackers.cell))
    believes = sparse.csr_array(
        (np.ones(len(inside), np.int64), (attackers.cell[inside], inside)), shape=shape
    )
    owner = owners(c)
    entry, belief = matches(believes, c.indices, accepted[owner] & (c.numerators != 0))
    # Any move of a cell that is known exactly is beyond belief.
    beyond = attackers.exact[belief]
    rest = np.flatnonzero(~beyond)
    num, den = c.numerators[entry[rest]], c.denominators[owner[entry[rest]]]
    up, down = attackers.up[belief[rest]], attackers.down[belief[rest]]
    scale, (above, below) = over_one_scale(up, down)
    beyond[rest] = np.where(
        num > 0,
        _exceeds(num, den, above, scale) & ~np.isposinf(up),
        _exceeds(-num, den, below, scale) & ~np.isposinf(down),
    )
    shape = (len(c.cells), len(attackers))
    return Excluded.where(owner[entry[beyond]], attackers.owner[belief[beyond]], shape)


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
        owner = owners(c)
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

        Cells are numbered from `first`. A `way` of 0 stands for both directions.
        """
        last = first + len(levels)
        part = slice(int(self.start[first]), int(self.start[last]))
        size = np.diff(self.start[first : last + 1])
        at = np.repeat(np.arange(last - first), size)
        scale = lcm(*{level.denominator for level in levels if level is not None})
        needed = np.array(
            [0 if level is None else int(level * scale) for level in levels] + [None],
            dtype=object,
        )[:-1]
        num = np.abs(self.num[part]) if way == 0 else way * self.num[part]
        short = _exceeds(needed[at], np.full(len(at), scale), num, self.den[part])
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
        """How far up and down witnesses move a cell, without some of them."""
        at = bisect_left(self.cells, cell)
        up = down = ZERO
        for j in range(int(self.start[at]), int(self.start[at + 1])):
            if int(self.witness[j]) not in without:
                step = Fraction(int(self.num[j]), int(self.den[j]))
                up, down = max(up, step), max(down, -step)
        return up, down


def _parts(moves: _Moves, excluded: Excluded) -> Iterator[tuple[int, int]]:
    """Split the cells into parts with a limited number of pairs to count."""
    each = np.diff(excluded.by_witness.indptr)[moves.witness]
    total = np.concatenate([[0], np.cumsum(each)])[moves.start]
    first, count = 0, len(moves.cells)
    while first < count:
        last = int(np.searchsorted(total, total[first] + _PAIRS_PER_PART, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def _exceeds(num: Any, den: Any, other: Any, scale: Any) -> NDArray[np.bool_]:
    """Whether ``num / den > other / scale``, exactly."""
    if not len(num):
        return np.zeros(0, dtype=bool)
    wide = np.max(scale)
    size = max(largest(num) * int(wide), largest(other) * largest(den))
    form = exact_dtype(size)
    left: Any = np.asarray(num).astype(form) * np.asarray(scale).astype(form)
    right: Any = np.asarray(other).astype(form) * np.asarray(den).astype(form)
    return np.asarray(left > right, dtype=bool)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and moment() >= deadline
