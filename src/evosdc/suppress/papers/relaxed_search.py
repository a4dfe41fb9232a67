"""What the methods on the relaxed check share: build, descend, make safe."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.repair import Repair
from evosdc.suppress.papers.relaxed_check import (
    SECONDARIES,
    RelaxedArrays,
    make_frame,
    make_live,
    start_from,
)
from evosdc.suppress.papers.relaxed_moves import (
    RULES,
    Choice,
    construct,
    descend,
    make_choice,
    rows_of,
)
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.equations import single_totals
from evosdc.suppress.structure.order_groups import by_weight

# Cells a descent looks at between two looks at the clock.
_PIECE = 200


@dataclass(frozen=True)
class RelaxedOptions(MethodOptions):
    """Options of all methods on the relaxed check.

    Attributes
    ----------
    check
        The relaxed check: slack as published, or claims.
    """

    check: str = option("slack", known=("slack", "claims"))


class RelaxedSearch:
    """One problem laid out for the relaxed check, with the strict repair at hand."""

    def __init__(self, problem: Problem, search: Search, check: str) -> None:
        self.problem = problem
        self.search = search
        self.frame = make_frame(problem, claims=check == "claims")
        self.repair = Repair(problem, search)

    def choice(self, rule: str, size: int = 1, **more: Any) -> Choice:
        """Set up how cells are chosen; see `make_choice`."""
        return make_choice(self.frame, RULES.index(rule), size, **more)

    @cached_property
    def by_weight(self) -> Long:
        """Sensitive cells by falling weight."""
        return by_weight(self.problem, np.flatnonzero(self.problem.primary))

    @cached_property
    def depth(self) -> Long:
        """How deep in the hierarchy each equation stands."""
        return equation_depth(self.problem.table.matrix)

    def build(
        self, choice: Choice, cells: Long | None = None, *, by_level: bool = False
    ) -> RelaxedArrays:
        """Build a pattern for the sensitive cells in order, or from the top down."""
        live = make_live(self.frame)
        order = rows_of(self.frame, self.by_weight if cells is None else cells)
        if by_level:
            order = order[np.argsort(self.depth[order], kind="stable")]
        construct(self.frame, live, choice, order, by_level)
        return live

    def descend(
        self,
        live: RelaxedArrays,
        choice: Choice,
        *,
        swaps: bool = True,
        passes: int = 20,
    ) -> None:
        """Publish or swap secondaries, the most expensive first, while a pass helps."""
        cost = self.frame.cost
        for _ in range(passes):
            cells = np.sort(live.extra[: live.tally[SECONDARIES]])
            cells = cells[np.argsort(-cost[cells], kind="stable")]
            moved = 0
            for first in range(0, len(cells), _PIECE):
                if self.search.stopped():
                    return
                part = cells[first : first + _PIECE]
                moved += descend(self.frame, live, choice, part, swaps)
            if not moved:
                return

    def restart(self, live: RelaxedArrays, hidden: Flags, choice: Choice) -> None:
        """Go on from other hidden cells, and hide more where the check asks for it."""
        start_from(self.frame, live, hidden)
        construct(self.frame, live, choice, rows_of(self.frame, self.by_weight), False)

    @property
    def done(self) -> bool:
        """Whether nothing can be cheaper than the best pattern."""
        return self.search.best is not None and self.search.best.cost == 0

    def answer(self) -> Pattern:
        """Close the run and return its best pattern."""
        self.repair.close()
        assert self.search.best is not None
        return self.search.best


def equation_depth(matrix: Any) -> Long:
    """Count the totals above the total of each equation; labels are not needed.

    An equation of one total and its parts has all factors but one of the same sign.
    Others count as the top.
    """
    rows, n = matrix.shape
    row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    head, is_head = single_totals(matrix)
    parts = ~is_head & (head[row] >= 0)
    part, above = matrix.indices[parts], head[row[parts]]
    depth = np.zeros(n, dtype=np.int64)
    # Linked tables may go round in a circle: no hierarchy is deeper than its rows.
    for _ in range(min(rows, 64)):
        deeper = depth.copy()
        np.maximum.at(deeper, part, depth[above] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return np.where(head >= 0, depth[head], 0)
