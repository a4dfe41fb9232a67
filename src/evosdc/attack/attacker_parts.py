"""The judge's questions about one attacker each, which others may answer.

Most are answered around the cells that the attacker knows more of: a suggestion or a
small move that leaves them alone, or an equation that gives a cell away at once. Only
where neither is found is the whole table judged again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import Witness
from evosdc.attack.demands import judged_levels
from evosdc.attack.hints import Hint, Suggestion, take_suggestions
from evosdc.attack.judge import judge
from evosdc.attack.ledger import Ledger, Unfinished, in_time
from evosdc.attack.model import AttackModel, Beliefs
from evosdc.compile.clock import moment
from evosdc.results import Certificate, TableVerdict
from evosdc.table import Table

if TYPE_CHECKING:
    from evosdc.attack.general import GeneralFinder

Needs = dict[int, tuple[int, int, int]]


@dataclass(frozen=True)
class Doubt:
    """Cells that no witness is known to protect from an attacker.

    `own` are the cells that it knows, `believes` how far up and down it believes others
    at most, `room` how far down each cell can be asked to go at most, `seconds` what is
    left.
    """

    own: tuple[int, ...]
    believes: Beliefs
    cells: tuple[int, ...]
    room: dict[int, float]
    seconds: float | None

    @property
    def deadline(self) -> float | None:
        """The moment, on the clock of who asks, when time is up."""
        return None if self.seconds is None else moment() + self.seconds


@dataclass(frozen=True, eq=False)
class Around:
    """What was found around the cells of an attacker.

    `points` are cells that follow from the equations alone, `left` those of which
    nothing is known.
    """

    witnesses: list[Witness]
    points: list[int]
    left: list[int]


@dataclass(frozen=True, eq=False)
class Shared:
    """What all questions share."""

    table: Table
    strict: bool
    known: NDArray[np.bool_] | None
    whole: bool
    hints: Sequence[Hint]

    def __getstate__(self) -> dict[str, object]:
        # Solvers do not travel, and what was read is read again.
        names = ("table", "strict", "known", "whole", "hints")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def base(self) -> AttackModel:
        """The view of the public."""
        demands = judged_levels(self.table, self.strict, False, whole=self.whole)
        return AttackModel.of(
            self.table, demands, known=self.known, in_whole=self.whole
        )

    @cached_property
    def finder(self) -> GeneralFinder:
        """A finder that others are copies of; its solver is loaded only here."""
        from evosdc.attack.general import GeneralFinder

        return GeneralFinder(self.base)

    @cached_property
    def suggestions(self) -> list[Suggestion]:
        """The hints, read once for all attackers."""
        return [Suggestion(hint, self.base) for hint in self.hints]

    @cached_property
    def suggested(self) -> dict[int, list[int]]:
        """The hints that move each sensitive cell, by number."""
        out: dict[int, list[int]] = {}
        for number, (cells, _) in enumerate(self.hints):
            for cell in cells.tolist():
                if cell in self.base.needs:
                    out.setdefault(cell, []).append(number)
        return out

    def needs(self, doubt: Doubt) -> Needs | None:
        """What is asked of the cells of a doubt; None where it is no whole number."""
        out: Needs = {}
        for cell in doubt.cells:
            up, down, width = self.base.needs[cell]
            if cell in doubt.room:
                most = Fraction(repr(doubt.room[cell])) * self.base.scale
                if most < down:
                    if most.denominator != 1:
                        return None
                    down = int(most)
            if not (up or down or width):
                return None
            out[cell] = up, down, width
        return out


def look_around(case: Shared, doubt: Doubt) -> Around:
    """Look near the cells for witnesses that an attacker believes possible."""
    needs, deadline = case.needs(doubt), doubt.deadline
    if needs is None:
        return Around([], [], list(doubt.cells))
    attacker = case.base.knowing(doubt.own, needs, doubt.believes)
    points = [cell for cell in doubt.cells if not attacker.free[cell]]
    ledger = Ledger(attacker)
    numbers = sorted({n for cell in doubt.cells for n in case.suggested.get(cell, ())})
    mine = (case.suggestions[n].seen_by(attacker) for n in numbers)
    places = take_suggestions(ledger, mine)
    finder = case.finder.about(attacker, deadline, places)
    try:
        finder.cheap(ledger)
        for cell, sign, amount in ledger.levels():
            in_time(deadline)
            if ledger.is_open(cell, sign) and attacker.has_room(cell, sign, amount):
                finder.nearby(ledger, cell, sign, Fraction(amount))
    except Unfinished:
        pass
    open_still = ledger.open_up | ledger.open_down | ledger.open_width
    left = sorted(open_still - set(points))
    return Around(ledger.witnesses, points, left)


def judge_wholly(case: Shared, doubt: Doubt) -> tuple[TableVerdict, Certificate]:
    """Judge some cells again as an attacker sees the table."""
    own = np.zeros(len(case.table), dtype=bool)
    own[list(doubt.own)] = True
    among = np.zeros(len(case.table), dtype=bool)
    among[list(doubt.cells)] = True
    return judge(
        case.table,
        strict=case.strict,
        deadline=doubt.deadline,
        known=own if case.known is None else own | case.known,
        whole=case.whole,
        among=among,
        room=doubt.room,
        believes=doubt.believes,
    )
