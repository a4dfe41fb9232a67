"""What the judge decides: which levels of a table, against which knowledge.

Levels are open where no witness is known to cover them. An attacker excludes a witness
that moves a cell further than it believes possible; in particular any that moves a cell
it knows. Against all other attackers the witness covers what it covers against the
public.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import Witness, witness_of
from evosdc.attack.checker import CheckReport, verify
from evosdc.attack.model import (
    AttackModel,
    Beliefs,
    JudgedLevels,
    counts_whole,
    judged_levels,
)
from evosdc.compile.clock import moment
from evosdc.results import Certificate
from evosdc.table import Table
from evosdc.table.attackers import AttackerKnowledge

# The final check may exceed the deadline by this much.
_CHECK_GRACE_SECONDS = 0.5
# A cell and the direction in which it must move; 0 stands for the sliding level.
_Key = tuple[int, int]


@dataclass(frozen=True, eq=False, kw_only=True)
class Question:
    """The cells of a table to judge, how levels are read, and what the attacker knows.

    Attributes
    ----------
    strict, secondaries, among, known
        As for `evosdc.attack.judge`.
    whole
        Whether only tables of whole numbers are possible.
    believes
        How far above and below its value the attacker believes some cells at most.
    room
        How far down cells must be movable at most, for an attacker who contributes to
        them: see `evosdc.table.attackers.OwnShares`.
    """

    table: Table
    strict: bool = False
    secondaries: bool = False
    whole: bool = False
    known: NDArray[np.bool_] | None = None
    among: NDArray[np.bool_] | None = None
    believes: Beliefs = field(default_factory=dict)
    room: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(cls, table: Table, *, whole: bool | None = None, **others: Any) -> Question:
        """Return a question; the origin of the table decides where `whole` is None."""
        return cls(table=table, whole=counts_whole(table, whole), **others)

    @cached_property
    def levels(self) -> JudgedLevels:
        """The levels that must be reached."""
        return judged_levels(
            self.table,
            self.strict,
            self.secondaries,
            whole=self.whole,
            among=self.among,
            room=self.room,
        )

    @cached_property
    def model(self) -> AttackModel:
        """The attacker's view of the table."""
        return AttackModel.of(
            self.table,
            self.levels,
            known=self.known,
            in_whole=self.whole,
            believes=self.believes,
        )

    def check(
        self, certificate: Certificate, *, until: float | None, **how: Any
    ) -> CheckReport:
        """Return the checker's report on a certificate; `how` are keywords of it."""
        return verify(
            self.table,
            certificate,
            strict=self.strict,
            secondaries=self.secondaries,
            known=self.known,
            whole=self.whole,
            among=self.among,
            room=self.room,
            deadline=until,
            **how,
        )


def end_of_check(deadline: float | None) -> float | None:
    """Return the moment by which a check that starts now must end."""
    return None if deadline is None else max(deadline, moment() + _CHECK_GRACE_SECONDS)


class OpenLevels:
    """The attackers against whom no witness is known to cover each level.

    Parameters
    ----------
    needs
        Upward, downward and sliding level of each judged cell over `scale`.
    pairs
        Cells and the attackers against whom a level of them is open.
    """

    def __init__(
        self,
        needs: Mapping[int, tuple[int, int, int]],
        scale: int,
        attackers: AttackerKnowledge,
        pairs: Iterable[tuple[int, int]],
    ) -> None:
        self._scale, self._needs = scale, needs
        self._open: dict[_Key, set[int]] = defaultdict(set)
        for cell, who in pairs:
            up, down, width = needs[cell]
            for way, amount in (
                (1, up),
                (-1, down),
                (0, width if width > up + down else 0),
            ):
                if amount:
                    self._open[cell, way].add(who)
        self._cells = sorted({cell for cell, _ in self._open})
        # By cell: who knows it, and who believes moves up to which size.
        self._knows: dict[int, set[int]] = defaultdict(set)
        self._believes: dict[int, list[tuple[int, float, float]]] = defaultdict(list)
        concerned = set().union(*self._open.values())
        for who, cell, up_to, down_to in zip(
            attackers.owner.tolist(),
            attackers.cell.tolist(),
            attackers.up.tolist(),
            attackers.down.tolist(),
            strict=True,
        ):
            if who not in concerned:
                continue
            if up_to == 0 and down_to == 0:
                self._knows[cell].add(who)
            else:
                self._believes[cell].append((who, up_to, down_to))

    def by_attacker(self) -> dict[int, list[int]]:
        """Return the cells with open levels by attacker, in order."""
        found: dict[int, set[int]] = defaultdict(set)
        for (cell, _), some in self._open.items():
            for who in some:
                found[who].add(cell)
        return {who: sorted(found[who]) for who in sorted(found)}

    def cells(self, who: int, among: Iterable[int]) -> list[int]:
        """Return those of some cells with open levels against an attacker."""
        return [
            cell
            for cell in among
            if any(who in self._open.get((cell, way), ()) for way in (1, -1, 0))
        ]

    def levels(self, cells: Iterable[int]) -> list[tuple[int, int, int]]:
        """List open levels that a move of these cells may cover.

        As cell, direction and amount over the scale.
        """
        moved = list(cells)
        at = [
            cell
            for cell in moved
            if (cell, 1) in self._open or (cell, -1) in self._open
        ]
        if not at:
            return []
        knowing = set().union(*(self._knows.get(cell, ()) for cell in moved))
        return [
            (cell, way, self._needs[cell][0 if way > 0 else 1])
            for cell in at
            for way in (1, -1)
            if not self._open.get((cell, way), knowing) <= knowing
        ]

    def cover(self, witness: Witness) -> bool:
        """Close the levels that a witness covers; false where it covers none."""
        moves = list(zip(witness.indices.tolist(), witness.numerators, strict=True))
        denominator = witness.denominator
        covered: list[_Key] = []
        for cell, move in moves:
            for way, at in ((1 if move > 0 else -1, 0 if move > 0 else 1), (0, 2)):
                if self._open.get((cell, way)):
                    amount = self._needs[cell][at] * denominator
                    if abs(move) * self._scale >= amount:
                        covered.append((cell, way))
        if not covered:
            return False
        excluding = self._excluding(moves, denominator)
        useful = False
        for key in covered:
            left = self._open[key] & excluding
            useful |= len(left) < len(self._open[key])
            self._open[key] = left
            if not left:
                del self._open[key]
        return useful

    def cover_by(self, certificate: Certificate) -> None:
        """Close the levels that the witnesses of a certificate cover."""
        c = certificate
        owner = np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))
        for w in np.unique(owner[np.isin(c.indices, self._cells)]).tolist():
            self.cover(witness_of(c, w))

    def _excluding(self, moves: list[tuple[int, int]], denominator: int) -> set[int]:
        """Return the attackers who exclude some moves."""
        found: set[int] = set()
        for cell, move in moves:
            if cell in self._knows:
                found |= self._knows[cell]
            for who, up, down in self._believes.get(cell, ()):
                most = up if move > 0 else down
                if most < np.inf and abs(move) > Fraction(repr(most)) * denominator:
                    found.add(who)
        return found
