"""The problem that bounds are computed on, where it is smaller than that of patterns.

Patterns live on the table as it is, with its codes: boxes need dimensions. Bounds and
integer programmes are quicker on classes of cells that move together.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.suppress.engine.cut import Cut, capacity_cut
from evosdc.suppress.methods.contracted import contraction_for
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem

# A cut of which less than this is missing says nothing.
_SHORT = 1e-6


class Relaxation:
    """A problem, and the one of its classes of cells where that is worth it.

    Attributes
    ----------
    problem
        The one to be relaxed: `whole`, or its contraction.
    base
        What the cells cost that every safe pattern hides: no part of that problem.
    """

    def __init__(self, whole: Problem) -> None:
        self._found = contraction_for(whole)
        self.problem = whole if self._found is None else self._found.small
        self.base = 0.0 if self._found is None else self._found.base
        # Cuts by identity, with what they say of classes.
        self._written: dict[int, tuple[Cut, Cut | None]] = {}

    def classes(self, hidden: Flags) -> Flags:
        """Return the classes that a pattern hides, all of whose cells it hides."""
        if self._found is None:
            return hidden
        return self._found.shrink(Pattern(hidden, 0.0)).hidden

    def cells(self, hidden: Flags) -> Flags:
        """Return the cells of hidden classes, and those that are hidden anyway."""
        if self._found is None:
            return hidden
        return self._found.expand(Pattern(hidden, 0.0)).hidden

    def spread(self, x: Real) -> Real:
        """Return how far cells are hidden where classes are to the extent `x`."""
        found = self._found
        if found is None:
            return x
        inside = found.group >= 0
        spread = found.forced.astype(np.float64)
        spread[inside] = np.maximum(spread[inside], x[found.group[inside]])
        return spread

    def cuts(self, cuts: Iterable[Cut]) -> list[Cut]:
        """Return what cuts of cells say of classes: those that say anything."""
        if self._found is None:
            return list(cuts)
        had = self._written
        self._written = {
            id(cut): had.get(id(cut)) or (cut, self._of_classes(cut)) for cut in cuts
        }
        return [cut for _, cut in self._written.values() if cut is not None]

    def _of_classes(self, cut: Cut) -> Cut | None:
        """Write a cut of cells in classes; cells that are in none are never of use."""
        assert self._found is not None
        group = self._found.group[cut.cells]
        inside = group >= 0
        classes, place = np.unique(group[inside], return_inverse=True)
        terms = np.bincount(place, weights=cut.coefficients[inside]) / cut.least
        return capacity_cut(classes, terms, self.problem.primary[classes], _SHORT)
