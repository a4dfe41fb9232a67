"""The ledger: which levels are still open, and the witnesses that closed the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, gcd

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import Witness
from evosdc.attack.model import AttackModel
from evosdc.compile.clock import moment

# A cell, the way it has to move, and by how much over the attacker's scale.
Level = tuple[int, int, int]

# Levels looked at before the first look at the clock, and seconds between two.
_FIRST_BATCH = 32
_BATCH_SECONDS = 0.2


class Unfinished(Exception):  # noqa: N818 - ends a search, not a mistake of the user
    """A program was stopped before its optimum: the level stays undecided."""


def in_time(deadline: float | None) -> None:
    """End the search for a witness after a moment of `evosdc.compile.clock.moment`."""
    if deadline is not None and moment() >= deadline:
        raise Unfinished("the time limit was reached")


@dataclass(frozen=True, eq=False)
class Found:
    """What was found of some levels."""

    witnesses: list[Witness]
    floating: list[Witness]
    fractional: list[Witness]
    refuted: dict[int, str]
    barred: dict[tuple[int, int], int]


class Ledger:
    """Keeps witnesses that hold exactly and the levels each of them closes.

    `only` are the levels that are open, where not all of the attacker's are.
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
        # Tables with fractions for want of whole ones, where these are asked for.
        self.fractional: list[Witness] = []
        self.proofs: Counter[str] = Counter()
        # Cells with a level that cannot be had, why where that needs saying, and moves
        # that no table of whole numbers makes although one with fractions would.
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
            # A sliding level is asked for upwards first.
            self.open_width &= {cell for cell, sign, _ in only if sign > 0}

    def is_open(self, cell: int, sign: int) -> bool:
        """Whether a level one way is still to be shown."""
        return cell in (self.open_up if sign > 0 else self.open_down)

    def reached(self, cell: int) -> tuple[Fraction, Fraction]:
        """How far a cell with a sliding level is known to move, over the scale."""
        up, down = self._reach[cell]
        return up, down

    def levels(self) -> list[tuple[int, int, int]]:
        """List the open levels as (cell, sign, amount), the largest first.

        A sliding level asks first for what the downward level leaves of it.
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
        """Give out the open levels for which cells have room of their own.

        All at once where there is time; else in parts, with a look at the clock between
        them, each without what the earlier ones closed.
        """
        levels = [level for level in self.levels() if self.attacker.has_room(*level)]
        many = len(levels) if deadline is None else _FIRST_BATCH
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
        way: str,
        fractions: bool = False,
    ) -> bool:
        """Take a witness if it holds exactly; numbers are over the attacker's scale.

        Where only whole numbers are possible one with `fractions` is not taken, unless
        that is said.
        """
        at = np.asarray(indices, dtype=np.int64)
        full = denominator * self.attacker.scale
        broken = self.attacker.whole and any(n % full for n in numerators)
        if broken and not fractions:
            return False
        if not self._holds(at.tolist(), numerators, denominator):
            return False
        if self.attacker.whole and not broken:
            # As plain whole numbers, which anyone can read.
            numerators = [n // denominator for n in numerators]
            denominator, full = 1, self.attacker.scale
        self.keep(Witness(cell, sign, at, numerators, full, way))
        return True

    def found(self) -> Found:
        """Return all that is in the ledger, for another one to take."""
        return Found(
            self.witnesses, self.floating, self.fractional, self.refuted, self.barred
        )

    def take(self, found: Found) -> None:
        """Take what was found of a part of the levels.

        Others may have closed the same levels: what closes none any more is dropped.
        Whether the rest holds is for the checker to say, who looks at every witness.
        """
        for witness in (*found.witnesses, *found.fractional):
            self.keep(witness, needed=True)
        self.floating += found.floating
        for cell, reason in found.refuted.items():
            self.refuted.setdefault(cell, reason)
        for (cell, sign), least in found.barred.items():
            self.bar(cell, sign, least)

    def keep(self, witness: Witness, needed: bool = False) -> None:
        """Close what a witness closes, and keep it unless it is not `needed`."""
        # Over the attacker's scale, which a witness of another pattern need not be.
        scale, denominator = self.attacker.scale, witness.denominator
        part = gcd(scale, denominator)
        times, denominator = scale // part, denominator // part
        broken = self.attacker.whole and any(
            move % witness.denominator for move in witness.numerators
        )
        # Others may have a table of whole numbers yet.
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
        own = next(
            (
                many
                for cell, (many, _) in zip(witness.indices.tolist(), news, strict=True)
                if cell == witness.cell
            ),
            0,
        )
        (self.fractional if broken else self.witnesses).append(witness)
        self.proofs[witness.way] += 1
        if closed > own:
            self.proofs["shared"] += closed - own

    def bar(self, cell: int, sign: int, least: int) -> None:
        """Note that no table of whole numbers moves a cell this far."""
        known = self.barred.get((cell, sign), least)
        self.barred[cell, sign] = min(least, known)

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
                # Rounded inwards: nobody believes in a fraction.
                step = Fraction(floor(step))
            further = step > best[side]
            best[side] = max(best[side], step)
            if cell in self.open_width and best[0] + best[1] >= need[2]:
                self.open_width.discard(cell)
                closed += 1
        return closed, further

    def _holds(self, at: list[int], numerators: list[int], denominator: int) -> bool:
        attacker = self.attacker
        indptr, rows, factors = attacker.coefficients
        sums: dict[int, int] = {}
        for cell, move in zip(at, numerators, strict=True):
            if not attacker.free[cell]:
                return False
            room = attacker.room(cell, 1 if move > 0 else -1)
            if room is not None and abs(move) > room * denominator:
                return False
            for i in range(indptr[cell], indptr[cell + 1]):
                sums[rows[i]] = sums.get(rows[i], 0) + move * factors[i]
        return not any(sums.values())
