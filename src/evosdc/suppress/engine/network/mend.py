"""Change whole patterns and make them safe again: what the genetic methods breed with.

A `NetworkMender` turns a pattern into another one by the short way: cells are hidden
and published, only the levels whose witness they touch are covered again along cheapest
paths, and what is then redundant is published.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Flags
from evosdc.errors import EvosdcError
from evosdc.suppress.engine.base import Cells
from evosdc.suppress.engine.network import mend_kernels as kernels
from evosdc.suppress.engine.network.cover import DONE, FAILED, change
from evosdc.suppress.engine.network.mend_kernels import make_log
from evosdc.suppress.engine.network.state import PatternState, TableNetwork


class NetworkMender:
    """Repair and mutation on the patterns of one table.

    Parameters
    ----------
    network
        The table; its costs steer the paths.
    rng
        Gives the order in which broken levels are covered.
    """

    def __init__(self, network: TableNetwork, rng: np.random.Generator) -> None:
        self._network = network
        self._cost = network.problem.cost
        self._state = rng.integers(0, 2**63, 1).astype(np.uint64)
        self._critic = np.zeros(len(network.problem.table), dtype=np.int32)
        self._levels = np.empty(len(network), dtype=np.int64)

    def child(self, parent: PatternState, hidden: Flags) -> PatternState:
        """Return a safe pattern that hides these cells, or as few more as it takes.

        It starts from a copy of `parent`, all of whose levels are covered; redundant
        cells are published.
        """
        state = parent.copy()
        arcs, live = self._network.arcs, state.live
        free = self._network.problem.hideable
        change(arcs, live, np.flatnonzero(hidden & free & ~live.hidden), True)
        change(arcs, live, np.flatnonzero(live.hidden & ~hidden), False)
        self.recover(state)
        self.prune(state)
        return state

    def recover(self, state: PatternState) -> None:
        """Cover the levels whose witness runs through published cells."""

        def run(_: int) -> int:
            log = make_log(state.live)
            result: int = kernels.recreate(
                state.net, log, self._state, self._cost, self._levels, np.inf
            )
            if result == FAILED:
                raise EvosdcError(
                    "a level that a pattern covered can be covered by none",
                    hint="report this with the table's shape: "
                    "it is a fault of the program",
                )
            return int(result == DONE)

        state.complete(run, 1)

    def prune(self, state: PatternState, order: Cells | None = None) -> None:
        """Publish every cell that no level needs, the most expensive first."""
        state.clean_up(order, critic=self._critic)

    def drop_in_turn(self, state: PatternState, order: Cells | None = None) -> None:
        """Drop each secondary in turn and keep what covers the levels at less cost."""
        cells = state.expensive_first() if order is None else order

        def run(at: int) -> int:
            log = make_log(state.live)
            end: int = kernels.drop_in_turn(
                state.net, log, self._cost, cells, at, self._state, self._critic
            )
            return end

        state.complete(run, len(cells))
