"""From a pattern that passes the relaxed check to one that is safe.

What hidden cells do not cover is covered by cheapest deviations, then what is redundant
is published again. Two-dimensional tables go through the network engine, others through
the incremental attacker. The run record tells the gap between the two checks.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.state import Builder
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

# Deviations that are remembered from one repair to the next.
_REMEMBERED = 5000
# How much of a slow repair the next one is expected to take.
_FADING = 0.8
# How many times dearer a cell is that was published on purpose.
_SHUNNED = 4.0


class Repair:
    """Makes patterns of one problem safe, and offers them to the search.

    Attributes
    ----------
    count
        Patterns repaired that had passed the relaxed check.
    exposed
        Levels that needed more cells than these patterns had, over all of them.
    takes
        Seconds to expect of a repair: what the slowest one took, fading.
    """

    def __init__(self, problem: Problem, search: Search) -> None:
        self.problem = problem
        self.search = search
        self.count = 0
        self.exposed = 0
        self.takes = 0.0
        self._relaxed = 0.0
        self._strict = 0.0
        self._state: PatternState | None = None
        self._first: Builder | None = None
        self._known: list[Move] = []
        if problem.network is not None:
            self._state = PatternState(TableNetwork(problem))

    @property
    def cheap(self) -> bool:
        """Whether a repair costs little beside a construction."""
        return self._state is not None

    def affordable(self) -> bool:
        """Whether there is time for another repair."""
        if self.search.stopped():
            return False
        left = self.search.seconds_left()
        return math.isinf(left) or left > 1.2 * self.takes

    def __call__(
        self,
        hidden: NDArray[np.bool_],
        event: str,
        shunned: NDArray[np.int64] | None = None,
        *,
        passed: bool = True,
    ) -> Pattern:
        """Make a pattern safe; the record names what the relaxed check had missed.

        Patterns that have not `passed` the relaxed check say nothing about it. Cells
        that are `shunned` cost more while levels are covered. With some, even none, the
        pattern is taken as a small change of the last one: on networks only cells near
        the change are then looked at for clean-up.
        """
        start = self.search.seconds
        relaxed = self.problem.pattern(hidden & self.problem.hideable)
        if self._state is not None:
            pattern, exposed = self._by_paths(relaxed.hidden, event, shunned)
        else:
            pattern, exposed = self._by_programs(relaxed.hidden, event, shunned)
        self.takes = max(_FADING * self.takes, self.search.seconds - start)
        if passed:
            self.count += 1
            self.exposed += exposed
            self._relaxed += relaxed.cost
            self._strict += pattern.cost
        if passed and shunned is None:
            self.search.note(
                f"{event}: relaxed cost {relaxed.cost:.6g}, {exposed} levels exposed, "
                f"safe cost {pattern.cost:.6g}"
            )
        return pattern

    def close(self) -> None:
        """Write the gap between the two checks over the whole run to the record."""
        if not self.count:
            return
        gap = self._strict / self._relaxed - 1 if self._relaxed > 0 else 0.0
        self.search.note(
            f"relaxed against strict: {self.count} patterns repaired, "
            f"{self.exposed} levels exposed, cost {100 * gap:+.1f} %"
        )

    def _by_paths(
        self,
        hidden: NDArray[np.bool_],
        event: str,
        shunned: NDArray[np.int64] | None,
    ) -> tuple[Pattern, int]:
        assert self._state is not None
        state = self._state
        before = state.hidden.copy()
        state.become(hidden)
        exposed = len(state.check())
        if shunned is None:
            state.cover()
            return finish(state, self.search, True, event), exposed
        network = state.network
        if len(shunned) and exposed:
            self._state = state = state.with_network(
                network.with_cost(self._prices(shunned))
            )
        state.cover()
        self._state = state = state.with_network(network)
        changed = np.union1d(np.flatnonzero(before != state.hidden), shunned)
        state.clean_up(self._near(changed, state.hidden), self.search.stopped)
        pattern = state.pattern()
        self.search.count()
        self.search.offer(pattern, event)
        return pattern, exposed

    def _prices(self, shunned: NDArray[np.int64]) -> NDArray[np.float64]:
        cost = self.problem.cost.copy()
        cost[shunned] *= _SHUNNED
        return cost

    def _near(
        self, changed: NDArray[np.int64], hidden: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Secondaries in an equation with a cell that changed, dearest first."""
        table = self.problem.table
        rows = np.unique(table.columns[:, changed].indices)
        cells = np.unique(table.matrix[rows].indices)
        cells = cells[hidden[cells] & ~self.problem.primary[cells]].astype(np.int64)
        return cells[np.argsort(-self.problem.cost[cells], kind="stable")]

    def _by_programs(
        self,
        hidden: NDArray[np.bool_],
        event: str,
        shunned: NDArray[np.int64] | None,
    ) -> tuple[Pattern, int]:
        builder = Builder(
            self.problem,
            self.search,
            like=self._first,
            start=hidden,
            cost=None if shunned is None else self._prices(shunned),
        )
        if self._first is None:
            self._first = builder
        self._recall(builder)
        builder.cover_free()
        if builder.by_boxes:
            exposed = len(builder.open_rows())
            return builder.finish(event), exposed
        # Deviations of hidden cells, cheap ones first: clean-up spares the dear ones.
        ask = builder.engine.among(builder.hidden)
        within = np.where(builder.hidden, self.problem.cost, np.inf)
        exposed = 0

        def cover(
            cell: int, sign: int, amount: float, price: NDArray[np.float64]
        ) -> Move | None:
            nonlocal exposed
            move = ask(cell, sign, amount, within)
            if move is None:
                exposed += 1
                move = builder.engine.cheapest(cell, sign, amount, price)
            if move is not None:
                self._known.append(move)
            return move

        builder.cover_all(cover)
        return builder.finish(event), exposed

    def _recall(self, builder: Builder) -> None:
        """Take the deviations of earlier repairs whose cells are all hidden again."""
        self._known = self._known[-_REMEMBERED:]
        for move in reversed(self._known):
            if builder.witnesses.covered.all():
                return
            if builder.hidden[move.cells].all():
                builder.witnesses.add(move)
