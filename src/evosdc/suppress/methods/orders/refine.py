"""Ruin and recreate between orders: the memetic step of ``order-ga``.

An order decides what is hidden through the programs alone, which price a cell by the
unit. What lies beyond is reached by changing the pattern itself: for every order
evaluated, the best pattern walks a few steps on (`suppress.methods.walking`).
"""

from __future__ import annotations

from evosdc.suppress.engine.base import AnyEngine, Walker
from evosdc.suppress.methods.walking import reporter
from evosdc.suppress.search import Search

# The closing walk ends after so many steps without a better pattern.
_CLOSING = 15_000


class Refiner:
    """Walks on from the best pattern of a run, in step with its orders.

    Parameters
    ----------
    steps
        Steps for each order evaluated; fractions add up.
    """

    def __init__(self, engine: AnyEngine, search: Search, steps: float) -> None:
        self._engine, self._search, self._steps = engine, search, steps
        self._rng = search.rng(1)
        self._owed = 0.0
        self._walker: Walker | None = None

    def work(self, orders: int) -> None:
        """Make the steps that go with so many orders, in whole turns."""
        self._owed += self._steps * orders
        while self._owed > 0 and not self._search.stopped():
            walker = self._present()
            if walker is None:
                return
            before = walker.steps
            if not walker.turn(self._search.stopped):
                return
            self._report(walker)
            self._owed -= max(1, walker.steps - before)

    def close(self) -> None:
        """Walk on once the orders are done, until nothing better is met for long.

        A table with few sensitive cells has few orders, and the steps that go with
        them are soon made.
        """
        held = 0
        while held < _CLOSING and not self._search.stopped():
            walker = self._present()
            if walker is None:
                return
            before, cost = walker.steps, walker.best_cost
            if not walker.turn(self._search.stopped):
                return
            self._report(walker)
            better = walker.best_cost < cost
            held = 0 if better else held + max(1, walker.steps - before)

    def _present(self) -> Walker | None:
        """The walker, begun anew where an order led to something better."""
        best = self._search.best
        if best is None:
            return None
        if self._walker is None or best.cost < self._walker.best_cost:
            state = self._engine.start(best.hidden)
            state.cover(stopped=self._search.stopped)
            self._walker = self._engine.walker(state, self._rng)
            if self._walker is None:
                self._search.note("nothing to ruin: no secondaries, or no dimensions")
            self._report = reporter(self._search, "ruin and recreate")
        return self._walker
