"""The second half of the checker: which levels do accepted witnesses cover?

Like `checker` it shares nothing with the code that finds witnesses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.clock import moment
from evosdc.results import Certificate
from evosdc.table import Table

_ZERO = Fraction(0)


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
class Levels:
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
    ) -> Levels:
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
        respondent: NDArray[np.int64],
        passed_over: set[int],
        deadline: float | None,
        room: Callable[[int], Mapping[int, float]] = lambda _: {},
    ) -> tuple[list[tuple[int, int]], list[int]]:
        """Pairs of a sensitive cell and a cell of whoever its witnesses fail against.

        Only who is moved by a witness of the cell can be moved by all that cover it.
        `room` says how far down each of them can be made to believe a total: see
        `evosdc.table.attackers.OwnShares`. The cells that time leaves out come next;
        nothing is known of them.
        """
        if not accepted.any():
            return [], []
        judged = [c for c in self.cells if self.sensitive[c] and c not in passed_over]
        if deadline is not None and moment() >= deadline:
            return [], judged
        late: list[int] = []
        touched = _touched(certificate, respondent)
        moves = self._moves(certificate, accepted)
        name: dict[int, int] = {}
        for cell, who in enumerate(respondent.tolist()):
            name.setdefault(who, cell)
        pairs = []
        for cell in judged:
            if deadline is not None and moment() >= deadline:
                late.append(cell)
                continue
            ratios = moves.get(cell, [])
            near = set().union(*(touched[w] for _, _, w in ratios))
            near.discard(int(respondent[cell]))
            if not near:
                continue
            # Furthest first, so that for most respondents one look is enough; over one
            # denominator, since whole numbers are sorted in no time.
            scale = lcm(*{den for _, den, _ in ratios})
            steps = [(num * (scale // den), w) for num, den, w in ratios]
            ups = sorted((s for s in steps if s[0] > 0), reverse=True)
            downs = sorted(s for s in steps if s[0] < 0)
            for who in sorted(near):
                up = Fraction(_first(ups, touched, who), scale)
                down = Fraction(-_first(downs, touched, who), scale)
                most = room(who).get(cell)
                least = None if most is None else Fraction(repr(most))
                if not self.covers(cell, up, down, least):
                    pairs.append((cell, name[who]))
        return pairs, late

    def _moves(
        self, c: Certificate, accepted: NDArray[np.bool_]
    ) -> dict[int, list[tuple[int, int, int]]]:
        """Moves of each sensitive cell as ratios, and the witness that makes each."""
        judged = np.zeros(len(self.sensitive), dtype=bool)
        judged[self.cells] = True
        owner = np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))
        moves: dict[int, list[tuple[int, int, int]]] = {}
        use = accepted[owner] & (judged & self.sensitive)[c.indices]
        for j in np.flatnonzero(use).tolist():
            w = int(owner[j])
            step = int(c.numerators[j]), int(c.denominators[w]), w
            moves.setdefault(int(c.indices[j]), []).append(step)
        return moves


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


def _touched(c: Certificate, respondent: NDArray[np.int64]) -> list[set[int]]:
    """The lone respondents whose cells each witness moves."""
    touched: list[set[int]] = [set() for _ in range(len(c.cells))]
    owner = np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))
    use = (respondent[c.indices] >= 0) & (c.numerators != 0)
    for j in np.flatnonzero(use).tolist():
        touched[owner[j]].add(int(respondent[c.indices[j]]))
    return touched


def _first(steps: Iterable[tuple[int, int]], touched: list[set[int]], who: int) -> int:
    """The first step whose witness leaves a respondent alone, else none."""
    return next((step for step, w in steps if who not in touched[w]), 0)
