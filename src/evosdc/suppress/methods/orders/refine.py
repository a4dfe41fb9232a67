"""Ruin and recreate between orders: the memetic step of ``order-ga`` on networks.

An order decides what is hidden through the programs alone, which price a cell by the
unit. What lies beyond is reached by changing the pattern itself: for every order
evaluated, the best pattern walks a few steps on (`suppress.methods.ruin`).
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.methods.ruin import RuinParameters, Walker, reporter
from evosdc.suppress.search import Search


class Refiner:
    """Walks on from the best pattern of a run, in step with its orders.

    Parameters
    ----------
    steps
        Steps for each order evaluated; fractions add up.
    """

    def __init__(self, network: TableNetwork, search: Search, steps: float) -> None:
        self._network, self._search, self._steps = network, search, steps
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
            walker.turn(self._search.stopped)
            self._report(walker)
            self._owed -= max(1, walker.steps - before)

    def _present(self) -> Walker | None:
        """The walker, begun anew where an order led to something better."""
        best = self._search.best
        if best is None:
            return None
        if self._walker is None or best.cost < self._walker.best_cost:
            problem = self._network.problem
            cells = np.flatnonzero(best.hidden & ~problem.primary)
            if not len(cells):
                return None
            state = PatternState(self._network)
            state.hide(cells)
            state.cover()
            self._walker = Walker(state, self._rng, RuinParameters())
            self._report = reporter(self._search, "ruin and recreate")
        return self._walker
