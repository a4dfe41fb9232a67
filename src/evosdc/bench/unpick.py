"""Unpicking: hidden cells that equations with one unknown give away (no solver)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.table import Table


@dataclass(frozen=True, eq=False)
class Unpicked:
    """Hidden cells that anyone can work out.

    `round` is when each cell falls: 1 right away, 2 with those of round 1 known, and so
    on; 0 for cells that stay hidden.
    """

    round: NDArray[np.int64]

    @property
    def found(self) -> NDArray[np.bool_]:
        """Which cells fall at all."""
        return self.round > 0


def unpick(table: Table) -> Unpicked:
    """Work out hidden cells from equations with one unknown, until there is none."""
    hidden = np.array(table.hidden)
    uses = table.matrix != 0
    rounds = np.zeros(len(table), dtype=np.int64)
    unknown = np.asarray(uses @ hidden.astype(np.int64))
    turn = 0
    while len(rows := np.flatnonzero(unknown == 1)):
        turn += 1
        touched = uses[rows].indices
        cells = np.unique(touched[hidden[touched]])
        rounds[cells] = turn
        hidden[cells] = False
        gone = np.zeros(len(table), dtype=np.int64)
        gone[cells] = 1
        unknown = unknown - uses @ gone
    return Unpicked(rounds)
