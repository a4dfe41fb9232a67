"""From a pattern that passes the relaxed check to one that is safe.

What hidden cells do not cover is covered by cheapest deviations, then what is redundant
is published again. The run record tells the gap between the two checks.
"""

from __future__ import annotations

import math

import numpy as np

from evosdc.suppress.engine.base import Cells, Costs, Mask, State
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.finish import finish
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search

# Share of the seconds of a slow repair that the next one is expected to take. At half
# of it one slow repair is soon forgotten and a limit may be passed, near 1 it ends the
# run.
_EXPECTED_SHARE = 0.8
# Price of a cell that was published on purpose, times its cost. At half of it many are
# hidden again at once, at twice of it more other cells are hidden instead.
_SHUNNED_TIMES = 4.0


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
        self.engine = engine_for(problem)
        self._state: State | None = None

    def affordable(self) -> bool:
        """Whether there is time for another repair."""
        if self.search.stopped():
            return False
        left = self.search.seconds_left()
        return math.isinf(left) or left > 1.2 * self.takes

    def __call__(
        self,
        hidden: Mask,
        event: str,
        shunned: Cells | None = None,
        *,
        passed: bool = True,
    ) -> Pattern:
        """Make a pattern safe; the record names what the relaxed check had missed.

        Patterns that have not `passed` the relaxed check say nothing about it. Cells
        that are `shunned` cost more while levels are covered. With some, even none, the
        pattern is taken as a small change of the last one: where the engine goes on
        from that, only cells near the change are looked at for clean-up.
        """
        start = self.search.seconds
        relaxed = self.problem.pattern(hidden & self.problem.hideable)
        pattern, exposed = self._repaired(relaxed.hidden, event, shunned)
        self.takes = max(_EXPECTED_SHARE * self.takes, self.search.seconds - start)
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

    def _repaired(
        self, hidden: Mask, event: str, shunned: Cells | None
    ) -> tuple[Pattern, int]:
        """Return the pattern made safe, and how many levels were exposed."""
        last, stopped = self._state, self.search.stopped
        before = None if last is None else last.hidden.copy()
        state: State = self.engine.start(hidden, after=last)
        self._state = state
        price = self._prices(shunned) if shunned is not None and len(shunned) else None
        exposed = state.repair(price, stopped)
        if shunned is None or before is None or state is not last:
            return finish(state, self.search, True, event), exposed
        changed = np.union1d(np.flatnonzero(before != state.hidden), shunned)
        state.clean_up(self._near(changed, state.hidden), stopped)
        pattern = state.pattern()
        self.search.count()
        self.search.offer(pattern, event)
        return pattern, exposed

    def _prices(self, shunned: Cells) -> Costs:
        cost = self.problem.cost.copy()
        cost[shunned] *= _SHUNNED_TIMES
        return cost

    def _near(self, changed: Cells, hidden: Mask) -> Cells:
        """Secondaries in an equation with a cell that changed, by falling cost."""
        table = self.problem.table
        rows = np.unique(table.columns[:, changed].indices)
        cells = np.unique(table.matrix[rows].indices)
        cells = cells[hidden[cells] & ~self.problem.primary[cells]].astype(np.int64)
        return cells[np.argsort(-self.problem.cost[cells], kind="stable")]
