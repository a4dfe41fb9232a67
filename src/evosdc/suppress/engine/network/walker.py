"""Ruin and recreate on networks: cheapest paths, late acceptance, in compiled steps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.base import Stopped, WalkOptions
from evosdc.suppress.engine.network.arrays import Net, PatternArrays
from evosdc.suppress.engine.network.cover import DONE, FULL
from evosdc.suppress.engine.network.mend_kernels import (
    Log,
    forget,
    gain_of,
    make_log,
    recreate,
    remove,
    tidy,
    undo,
)
from evosdc.suppress.engine.network.paths import degree, slot_end
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.problem.problem import Pattern
from evosdc.suppress.structure.primitives import draw

# Kernels of ruin and recreate: whole runs of steps on one state.
#
# A step publishes a few hidden cells, covers the levels that broke along cheapest
# paths, publishes what became redundant nearby, and is taken back unless accepted.

# How a step chooses the cells to publish; else at random.
_NEAR, _EXPENSIVE, _WITNESS = 1, 2, 3
DEFAULT = WalkOptions(most=3, blur=0.8, turn=40, memory=20, patience=400)
# Steps per secondary without a better pattern before the walk starts over, and shares
# of the secondaries that are published then.
_STEPS_PER_SECONDARY = 20
_SHARES = (0.3, 0.6, 1.0)
# Steps between two looks at the clock.
_STEPS_PER_CALL = 20
# A step that costs this share more than allowed is given up before it is tidied, since
# tidying rarely saves more.
_SLACK = 0.03


class WalkArrays(NamedTuple):
    """Where a run of steps stands.

    ``state`` is the state of the random numbers; ``cost`` the present and the best
    cost; ``history`` the costs that late acceptance compares with; ``best`` the
    secondaries of the best pattern, ``size`` how many they are; ``steps`` the number
    of steps made; ``slack`` how much more a step may cost before it is tidied;
    ``critic`` the level that last needed each cell.
    """

    state: np.ndarray
    cost: Real
    history: Real
    best: np.ndarray
    size: Long
    steps: Long
    slack: float
    critic: np.ndarray


@kernel(inner=True)
def _ruin_near(net: Net, log: Log, state: np.ndarray, many: int) -> None:
    """Publish cells met on a random walk along hidden cells."""
    arcs, live = net.arcs, net.live
    cell = live.extra[draw(state, live.tally[0])]
    node = arcs.tail[cell] if draw(state, 2) else arcs.head[cell]
    remove(net, log, cell)
    gone = 1
    for _ in range(4 * many):
        if gone == many:
            return
        meeting = degree(live, node)
        if meeting == 0:
            return
        slot = live.first[node]
        for _ in range(draw(state, meeting)):
            slot = live.following[slot]
        cell = slot >> 1
        node = slot_end(arcs, slot)
        if live.place[cell] >= 0:
            remove(net, log, cell)
            gone += 1


@kernel(inner=True)
def _ruin_witness(net: Net, log: Log, state: np.ndarray, level: int, many: int) -> None:
    """Publish secondaries that follow one another in a level's witness."""
    live = net.live
    size = live.length[level]
    if size <= 0:
        return
    start = draw(state, size)
    for i in range(size):
        cell = live.pool_cell[live.begin[level] + (start + i) % size]
        if live.place[cell] >= 0:
            remove(net, log, cell)
            many -= 1
            if many == 0:
                return


@kernel(inner=True)
def ruin(net: Net, log: Log, cost: Real, state: np.ndarray, most: int) -> None:
    """Publish a few hidden cells."""
    way = draw(state, 4)
    many = min(1 + draw(state, most), net.live.tally[0])
    if way == _NEAR:
        _ruin_near(net, log, state, many)
        return
    if way == _WITNESS:
        level = draw(state, len(net.demands.cell))
        _ruin_witness(net, log, state, level, many)
        return
    for _ in range(many):
        cell = net.live.extra[draw(state, net.live.tally[0])]
        if way == _EXPENSIVE:
            other = net.live.extra[draw(state, net.live.tally[0])]
            if cost[other] > cost[cell]:
                cell = other
        remove(net, log, cell)


@kernel
def _keep_best(live: PatternArrays, walk: WalkArrays) -> None:
    """Keep the present pattern as the best."""
    walk.cost[1] = walk.cost[0]
    walk.size[0] = live.tally[0]
    walk.best[: live.tally[0]] = live.extra[: live.tally[0]]


@kernel(inner=True)
def _step(
    net: Net, log: Log, walk: WalkArrays, cost: Real, most: int, levels: Long
) -> int:
    """Ruin, recreate and tidy up; say whether the step is worth looking at."""
    ruin(net, log, cost, walk.state, most)
    at = walk.steps[0] % len(walk.history)
    room = max(0.0, walk.history[at] - walk.cost[0])
    room += walk.slack - gain_of(net.live, log, cost)
    result = recreate(net, log, walk.state, cost, levels, room)
    if result != DONE:
        return result
    if not tidy(net, log, cost, levels, walk.critic):
        return FULL
    return DONE


@kernel
def walk_on(
    net: Net, log: Log, walk: WalkArrays, cost: Real, most: int, steps: int
) -> int:
    """Make steps of ruin and recreate; return how many were made.

    Fewer than asked for where the pool is full; the last step is then taken back. Late
    acceptance (Burke & Bykov 2017): a step stands if its cost is no more than the
    present one or than the one `len(history)` steps ago.
    """
    levels = np.empty(len(net.demands.cell), dtype=np.int64)
    for step in range(steps):
        if net.live.tally[0] == 0:
            # Nothing to ruin: the steps count, or callers would repeat them for ever.
            walk.steps[0] += steps - step
            return steps
        result = _step(net, log, walk, cost, most, levels)
        if result == FULL:
            undo(net, log)
            return step
        now = walk.cost[0] + gain_of(net.live, log, cost)
        at = walk.steps[0] % len(walk.history)
        if result == DONE and (now <= walk.cost[0] or now <= walk.history[at]):
            walk.cost[0] = now
            forget(log)
            if now < walk.cost[1] * (1 - 1e-12):
                _keep_best(net.live, walk)
        else:
            undo(net, log)
        walk.history[at] = walk.cost[0]
        walk.steps[0] += 1
    return steps


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
            self._start_over(stopped)
        arcs = self._blurred().arcs
        turn = self._options.turn
        end = self.steps + (turn if most is None else min(turn, most))
        while self.steps < end and not stopped():
            wanted = min(_STEPS_PER_CALL, end - self.steps)
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

    def _start_over(self, stopped: Stopped) -> None:
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
            _keep_best(state.live, walk)
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
    walk = WalkArrays(
        state=rng.integers(0, 2**63, 1).astype(np.uint64),
        cost=np.array([cost, cost]),
        history=np.full(memory, cost),
        best=np.zeros(cells, dtype=np.int32),
        size=np.zeros(1, dtype=np.int64),
        steps=np.zeros(1, dtype=np.int64),
        slack=_SLACK * cost,
        critic=np.zeros(cells, dtype=np.int32),
    )
    _keep_best(state.live, walk)
    return walk
