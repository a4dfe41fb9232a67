"""The ledger: which levels are still open, and the witnesses that cover the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import Witness
from evosdc.attack.model import AttackModel
from evosdc.compile.clock import moment

# A cell, the direction in which it must move, and by how much over the scale.
Level = tuple[int, int, int]

# Levels of the first batch between two looks at the clock, and the seconds that a batch
# should take: the next ones are twice or half as large.
_FIRST_BATCH_LEVELS = 32
_BATCH_SECONDS = 0.2


class Unfinished(Exception):  # noqa: N818 - ends a search, not a mistake of the user
    """A program was stopped before its optimum: the level stays undecided."""


def is_over(deadline: float | None) -> bool:
    """Whether a moment of `evosdc.compile.clock.moment` has come."""
    return deadline is not None and moment() >= deadline


def in_time(deadline: float | None) -> None:
    """End the search for a witness where the deadline has come."""
    if is_over(deadline):
        raise Unfinished("the time limit was reached")


@dataclass(frozen=True, eq=False)
class FoundWitnesses:
    """The findings on some levels, for another ledger to merge."""

    witnesses: list[Witness]
    floating: list[Witness]
    fractional: list[Witness]
    refuted: dict[int, str]
    barred: dict[tuple[int, int], int]


class Ledger:
    """Keeps witnesses that hold exactly, and the levels that are still open.

    `only` are the open levels, where not all of the attacker's are.
    """

    def __init__(
        self, attacker: AttackModel, only: Iterable[Level] | None = None
    ) -> None:
        self.attacker = attacker
        needs = attacker.needs
        if only is not None:
            only = list(only)
            needs = {cell: needs[cell] for cell, _, _ in only}
        self.witnesses: list[Witness] = []
        self.floating: list[Witness] = []
        # Witnesses with fractions where no whole one was found but is wanted.
        self.fractional: list[Witness] = []
        self.proofs: Counter[str] = Counter()
        # Cells with a level that cannot be reached, with a reason where one is needed,
        # and moves that only tables with fractions make.
        self.refuted: dict[int, str] = {}
        self.barred: dict[tuple[int, int], int] = {}
        self.open_up = {c for c, (up, _, _) in needs.items() if up > 0}
        self.open_down = {c for c, (_, down, _) in needs.items() if down > 0}
        self._reach = {
            c: [Fraction(0), Fraction(0)]
            for c, (up, down, width) in needs.items()
            if width > up + down
        }
        self.open_width = set(self._reach)
        if only is not None:
            self.open_up &= {cell for cell, sign, _ in only if sign > 0}
            self.open_down &= {cell for cell, sign, _ in only if sign < 0}
            # A sliding level is first looked for upwards.
            self.open_width &= {cell for cell, sign, _ in only if sign > 0}

    def is_open(self, cell: int, sign: int) -> bool:
        """Whether the level of a cell in a direction is still to be covered."""
        return cell in (self.open_up if sign > 0 else self.open_down)

    def reached(self, cell: int) -> tuple[Fraction, Fraction]:
        """How far a cell with a sliding level is known to move, over the scale."""
        up, down = self._reach[cell]
        return up, down

    def levels(self) -> list[tuple[int, int, int]]:
        """List the open levels as (cell, sign, amount), the largest first.

        A sliding level first requires what the downward level leaves of it.
        """
        needs = self.attacker.needs
        found = {(c, 1): needs[c][0] for c in self.open_up}
        found |= {(c, -1): needs[c][1] for c in self.open_down}
        for c in self.open_width:
            up, down, width = needs[c]
            found[c, 1] = max(up, width - down)
        return sorted(
            ((c, sign, amount) for (c, sign), amount in found.items()),
            key=lambda level: (-level[2], level[0], -level[1]),
        )

    def batches(self, deadline: float | None) -> Iterator[list[tuple[int, int, int]]]:
        """Yield the open levels that the bounds of their own cells allow.

        All at once without a deadline; else in batches, with a look at the clock
        between them, each without the levels that earlier ones covered.
        """
        levels = [level for level in self.levels() if self.attacker.has_room(*level)]
        many = len(levels) if deadline is None else _FIRST_BATCH_LEVELS
        while levels:
            in_time(deadline)
            start = moment()
            part = [
                (cell, sign, amount)
                for cell, sign, amount in levels[:many]
                if self.is_open(cell, sign) or cell in self.open_width
            ]
            levels = levels[many:]
            if part:
                yield part
            many = many * 2 if moment() - start < _BATCH_SECONDS else many // 2
            many = max(1, many)

    def add(
        self,
        cell: int,
        sign: int,
        indices: NDArray[np.int64] | Sequence[int],
        numerators: list[int],
        denominator: int,
        method: str,
        fractions: bool = False,
    ) -> bool:
        """Add a witness if it holds exactly; numbers are over the attacker's scale.

        Where only whole numbers are possible, one with fractions is added only if
        `fractions` says so.
        """
        at = np.asarray(indices, dtype=np.int64)
        full = denominator * self.attacker.scale
        broken = self.attacker.whole and any(n % full for n in numerators)
        if broken and not fractions:
            return False
        if not self._holds(at.tolist(), numerators, denominator):
            return False
        if self.attacker.whole and not broken:
            # As plain whole numbers, which are easier to read.
            numerators = [n // denominator for n in numerators]
            denominator, full = 1, self.attacker.scale
        self.keep(Witness(cell, sign, at, numerators, full, method))
        return True

    def findings(self) -> FoundWitnesses:
        """Return all that is in the ledger, for another one to merge."""
        return FoundWitnesses(
            self.witnesses, self.floating, self.fractional, self.refuted, self.barred
        )

    def merge(self, found: FoundWitnesses) -> None:
        """Merge findings on some of the levels.

        Witnesses that cover no open level any more are dropped. The checker verifies
        all others.
        """
        for witness in (*found.witnesses, *found.fractional):
            self.keep(witness, needed=True)
        self.floating += found.floating
        for cell, reason in found.refuted.items():
            self.refuted.setdefault(cell, reason)
        for (cell, sign), least in found.barred.items():
            self.bar(cell, sign, least)

    def keep(self, witness: Witness, needed: bool = False) -> None:
        """Close what a witness covers, and keep it; if `needed`, only where it does."""
        # A witness of another pattern may have another scale.
        scale, denominator = self.attacker.scale, witness.denominator
        part = gcd(scale, denominator)
        times, denominator = scale // part, denominator // part
        broken = self.attacker.whole and any(
            move % witness.denominator for move in witness.numerators
        )
        # For other cells a table of whole numbers may still be found.
        news = [
            (0, False)
            if broken and other != witness.cell
            else self._close(other, times * move, denominator)
            for other, move in zip(
                witness.indices.tolist(), witness.numerators, strict=True
            )
        ]
        closed = sum(many for many, _ in news)
        if needed and not closed and not any(further for _, further in news):
            return
        cells = witness.indices.tolist()
        own = news[cells.index(witness.cell)][0] if witness.cell in cells else 0
        (self.fractional if broken else self.witnesses).append(witness)
        self.proofs[witness.method] += 1
        if closed > own:
            self.proofs["shared"] += closed - own

    def bar(self, cell: int, sign: int, least: int) -> None:
        """Note that no table of whole numbers moves a cell this far."""
        self.barred[cell, sign] = min(least, self.barred.get((cell, sign), least))

    def add_floating(self, witness: Witness) -> None:
        """Keep a witness that holds only to a tolerance; its levels stay open."""
        self.floating.append(witness)

    def _close(self, cell: int, move: int, denominator: int) -> tuple[int, bool]:
        """Close levels of a cell; return how many, and whether it went further."""
        need = self.attacker.needs.get(cell)
        if need is None:
            return 0, False
        closed, further = 0, False
        if move > 0 and cell in self.open_up and move >= need[0] * denominator:
            self.open_up.discard(cell)
            closed += 1
        if move < 0 and cell in self.open_down and -move >= need[1] * denominator:
            self.open_down.discard(cell)
            closed += 1
        if cell in self._reach:
            best = self._reach[cell]
            side = 0 if move > 0 else 1
            step = Fraction(abs(move), denominator)
            if self.attacker.whole:
                # Rounded inwards: fractions are known to be impossible.
                step = Fraction(floor(step))
            further = step > best[side]
            best[side] = max(best[side], step)
            if cell in self.open_width and best[0] + best[1] >= need[2]:
                self.open_width.discard(cell)
                closed += 1
        return closed, further

    def _holds(self, at: list[int], numerators: list[int], denominator: int) -> bool:
        attacker = self.attacker
        for cell, move in zip(at, numerators, strict=True):
            room = attacker.room(cell, 1 if move > 0 else -1)
            if not attacker.free[cell] or (
                room is not None and abs(move) > room * denominator
            ):
                return False
        return attacker.is_balanced(at, numerators)

    def attempt(
        self,
        finder: Any,
        cell: int,
        sign: int,
        amount: Fraction,
        deadline: float | None,
    ) -> bool | None:
        """Look for a witness of a move; None where time or the solver ran out."""
        if not self.attacker.free[cell]:
            return False
        try:
            in_time(deadline)
            return bool(finder.reach(self, cell, sign, amount))
        except Unfinished:
            return None

    def cover(self, finder: Any, deadline: float | None) -> None:
        """Cover open levels one by one, or find that they cannot be reached."""
        for cell, sign, _ in self.levels():
            if self.is_open(cell, sign):
                need = Fraction(self.attacker.needs[cell][0 if sign > 0 else 1])
                if self.attempt(finder, cell, sign, need, deadline) is False:
                    self._refute(cell, sign)

    def cover_widths(self, finder: Any, deadline: float | None) -> None:
        """Cover sliding levels: by one direction, by the other, then by both."""
        for cell in sorted(self.open_width):
            if cell not in self.open_width:
                continue
            width = self.attacker.needs[cell][2]
            up, down = self.reached(cell)
            above = self.attempt(finder, cell, 1, width - down, deadline)
            if above or above is None:
                continue
            below = self.attempt(finder, cell, -1, width - up, deadline)
            if below or below is None:
                continue
            # In whole numbers a cell that cannot move by one in either direction is
            # determined.
            one = self.attacker.whole and width == self.attacker.scale
            if one or self._both_ways(finder, cell, width, deadline) is False:
                self._refute(cell, 1, -1)

    def _both_ways(
        self, finder: Any, cell: int, width: int, deadline: float | None
    ) -> bool | None:
        """Cover a width by the furthest move up, and the rest by a move down."""
        try:
            in_time(deadline)
            finder.furthest(self, cell, 1, Fraction(width))
            up, _ = self.reached(cell)
            return up >= width or bool(finder.reach(self, cell, -1, width - up))
        except Unfinished:
            return None

    def _refute(self, cell: int, *signs: int) -> None:
        """Note that a level cannot be reached, and why where that is not plain."""
        reason = ""
        if any((cell, sign) in self.barred for sign in signs):
            of = " of a person" if self.attacker.table.origin.counts else ""
            reason = f"only tables with fractions{of} reach its level"
        self.refuted.setdefault(cell, reason)
