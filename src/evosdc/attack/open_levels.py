"""Levels that no witness is known to cover against attackers who know more.

An attacker excludes a witness that moves a cell further than it believes possible; in
particular any that moves a cell it knows. Against all other attackers the witness
covers what it covers against the public.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction

import numpy as np

from evosdc.attack.certificate import Witness, witness_of
from evosdc.results import Certificate
from evosdc.table.attackers import AttackerKnowledge

# A cell and the direction in which it must move; 0 stands for the sliding level.
_Key = tuple[int, int]


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
