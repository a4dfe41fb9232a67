"""Ruin and recreate on networks: cheapest paths, late acceptance, in compiled steps."""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Stopped, WalkOptions
from evosdc.suppress.engine.network.changes import make_log
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.ruin_kernels import WalkArrays, walk_on
from evosdc.suppress.pattern import Pattern

DEFAULT = WalkOptions(most=3, blur=0.8, turn=40, memory=20, patience=400)
# Steps per secondary without a better pattern before the walk begins anew, and shares
# of the secondaries that are published then.
_STEPS_PER_SECONDARY = 20
_SHARES = (0.3, 0.6, 1.0)
# Steps between two looks at the clock.
_PIECE = 20
# A step this share dearer than allowed is given up before it is tidied, since tidying
# rarely saves more.
_SLACK = 0.03


class NetworkWalker:
    """One pattern on its walk through ruin and recreate.

    Parameters
    ----------
    state
        Where to start; every level covered. It is changed.
    rng
        All randomness of the walk.
    """

    def __init__(
        self, state: PatternState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        self._state = state
        self._options = options
        self._network = state.network
        self._rng = rng
        self._walk = _make_walk(state, rng, options.memory)
        self._log = make_log(state.live)
        self._lowest, self._since = self.best_cost, 0

    @property
    def steps(self) -> int:
        return int(self._walk.steps[0])

    @property
    def best_cost(self) -> float:
        return float(self._walk.cost[1])

    def best(self) -> Pattern:
        problem = self._network.problem
        hidden = problem.primary.copy()
        hidden[self._walk.best[: self._walk.size[0]]] = True
        return problem.pattern(hidden)

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        cost = self._network.problem.cost
        if self._is_stuck():
            self._begin_anew(stopped)
        arcs = self._blurred().arcs
        turn = self._options.turn
        end = self.steps + (turn if most is None else min(turn, most))
        while self.steps < end and not stopped():
            wanted = min(_PIECE, end - self.steps)
            made = walk_on(
                self._state.net._replace(arcs=arcs),
                self._log,
                self._walk,
                cost,
                self._options.most,
                wanted,
            )
            if made < wanted:
                self._state.make_room()
                self._log = make_log(self._state.live)
        return True

    def _is_stuck(self) -> bool:
        """Whether nothing better has been met for a long time."""
        if self.best_cost < self._lowest:
            self._lowest, self._since = self.best_cost, self.steps
        patience = self._options.patience
        if patience == 0:
            return False
        patience = max(patience, _STEPS_PER_SECONDARY * int(self._walk.size[0]))
        return self.steps - self._since >= patience

    def _begin_anew(self, stopped: Stopped) -> None:
        """Publish a large share of the cells and rebuild under blurred costs.

        Steps of a few cells end in patterns that no few cells improve, on the smallest
        tables too.
        """
        self._since = self.steps
        state, rng = self._state, self._rng
        cells = state.secondaries
        state.publish(cells[rng.random(len(cells)) < rng.choice(_SHARES)])
        state.cover(rng.permutation(len(self._network)), price=self._blurred().cost)
        state.clean_up(rng.permutation(state.secondaries), stopped)
        walk, cost = self._walk, state.cost
        walk.cost[0] = cost
        walk.history[:] = cost
        if cost < walk.cost[1]:
            found = state.secondaries
            walk.cost[1] = cost
            walk.size[0] = len(found)
            walk.best[: len(found)] = found
        self._log = make_log(state.live)

    def _blurred(self) -> TableNetwork:
        cost = self._network.problem.cost
        noise = np.exp(self._rng.normal(0.0, self._options.blur, len(cost)))
        return self._network.with_cost(cost * noise)


def _make_walk(
    state: PatternState, rng: np.random.Generator, memory: int
) -> WalkArrays:
    cost = state.cost
    cells = len(state.network.problem.table)
    best = np.zeros(cells, dtype=np.int32)
    secondaries = state.secondaries
    best[: len(secondaries)] = secondaries
    return WalkArrays(
        state=rng.integers(0, 2**63, 1).astype(np.uint64),
        cost=np.array([cost, cost]),
        history=np.full(memory, cost),
        best=best,
        size=np.array([len(secondaries)], dtype=np.int64),
        steps=np.zeros(1, dtype=np.int64),
        slack=np.array([_SLACK * cost]),
        critic=np.zeros(cells, dtype=np.int32),
    )
