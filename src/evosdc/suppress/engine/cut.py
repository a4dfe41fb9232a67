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


def leaning_cut(cells: Long, terms: Real, primary: Flags, short: float) -> Cut | None:
    """Write that a level leans on cells, each with a share of it as its term.

    What sensitive cells lend is had for nothing, and no cell need lend more than what
    is left. None where nothing is left, up to `short`, or nothing to lend it.
    """
    rest = 1.0 - float(terms[primary].sum())
    lends = ~primary & (terms > 0)
    if not rest > short or not lends.any():
        return None
    return Cut(cells[lends], np.minimum(terms[lends] / rest, 1.0))
