"""A cut: an inequality that every safe pattern satisfies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long, Real


@dataclass
class Cut:
    """``sum of coefficients * x >= least``, scaled so that `least` is 1 or 0."""

    cells: Long
    coefficients: Real
    least: float = 1.0

    def missing(self, x: Real) -> float:
        """By how much a pattern violates the cut; negative where it has slack."""
        return self.least - float(self.coefficients @ x[self.cells])

    def distance(self, x: Real) -> float:
        """How far a pattern is from satisfying the cut, negative where it does."""
        return self.missing(x) / float(np.linalg.norm(self.coefficients))


# Multipliers of tables are halves, thirds and the like; this grid holds them exactly.
MULTIPLIER_GRID = 720720


def capacity_cut(cells: Long, terms: Real, primary: Flags, short: float) -> Cut | None:
    """Write that a level needs cells, each of which can give a share of it (its term).

    What sensitive cells can give is free, and no other need give more than what is left
    to be found. None where that is no more than `short`, or no cell can give any.
    """
    rest = 1.0 - float(terms[primary].sum())
    needed = ~primary & (terms > 0)
    if not rest > short or not needed.any():
        return None
    return Cut(cells[needed], np.minimum(terms[needed] / rest, 1.0))
