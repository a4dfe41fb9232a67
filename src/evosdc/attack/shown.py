"""What witnesses show of sensitive cells to each lone respondent.

A witness that leaves the cells of a respondent alone shows them as much as it shows
everyone else; one that moves them shows them nothing.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.demands import JudgedLevels
from evosdc.clock import moment
from evosdc.results import Certificate

# How far witnesses move a cell and which, in order, and what that is over.
_Moves = tuple[list[tuple[int, int]], int]


class Shown:
    """Which cells no witness protects from which respondent."""

    def __init__(
        self,
        demands: JudgedLevels,
        respondent: NDArray[np.int64],
        certificate: Certificate,
        whole: bool = False,
    ) -> None:
        self._whole = whole
        self._cells, self._respondent = demands.cells, respondent
        levels = (demands.up, demands.down, demands.width)
        up, down, width = ([Fraction(repr(x)) for x in a.tolist()] for a in levels)
        # By cell: up, down, width, and whether it must not be a point.
        self._asked = dict(
            zip(
                demands.cells.tolist(),
                zip(up, down, width, demands.apart.tolist(), strict=True),
                strict=True,
            )
        )
        self._touched: list[frozenset[int]] = []
        # By cell: numerator, denominator and witness.
        self._ratios: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        self._sorted: dict[int, _Moves] = {}
        self.take(certificate)

    def take(self, certificate: Certificate) -> None:
        """Look at more witnesses."""
        c, first = certificate, len(self._touched)
        ends = c.indptr.tolist()
        who = self._respondent[c.indices].tolist()
        self._touched += [
            frozenset(x for x in who[a:b] if x >= 0)
            for a, b in itertools.pairwise(ends)
        ]
        owner = np.repeat(np.arange(len(c.cells)), np.diff(c.indptr))
        for j in np.flatnonzero(np.isin(c.indices, self._cells)).tolist():
            w, cell = int(owner[j]), int(c.indices[j])
            ratio = int(c.numerators[j]), int(c.denominators[w]), first + w
            self._ratios[cell].append(ratio)
            self._sorted.pop(cell, None)

    def doubts(self, deadline: float | None) -> dict[int, list[int]]:
        """For each respondent the cells that no witness protects from it.

        As far as time allows: what is left out, the checker finds not covered.
        """
        found: dict[int, list[int]] = defaultdict(list)
        for cell in self._asked:
            if deadline is not None and moment() >= deadline:
                break
            # Only who is moved by some witness of it can be moved by all of them.
            near = {who for _, _, w in self._ratios[cell] for who in self._touched[w]}
            near.discard(int(self._respondent[cell]))
            for who in near:
                if self.doubtful(cell, who):
                    found[who].append(cell)
        return found

    def doubtful(self, cell: int, who: int) -> bool:
        """Whether no witness protects a cell from a respondent."""
        up, down, width, apart = self._asked[cell]
        moves, scale = self._moves(cell)
        over = max(self._furthest(reversed(moves), who), 0)
        under = max(-self._furthest(moves, who), 0)
        if self._whole:
            # Nobody believes in a fraction.
            over, under = over // scale * scale, under // scale * scale
        if over < up * scale or under < down * scale or over + under < width * scale:
            return True
        return bool(apart and not over + under)

    def _moves(self, cell: int) -> _Moves:
        """Moves of a cell over one denominator: quicker in order than fractions."""
        if cell not in self._sorted:
            ratios = self._ratios[cell]
            scale = lcm(*{den for _, den, _ in ratios})
            moves = sorted((num * (scale // den), w) for num, den, w in ratios)
            self._sorted[cell] = moves, scale
        return self._sorted[cell]

    def _furthest(self, moves: Iterable[tuple[int, int]], who: int) -> int:
        """The first move whose witness leaves a respondent alone."""
        return next((step for step, w in moves if who not in self._touched[w]), 0)
