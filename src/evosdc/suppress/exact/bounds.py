"""Lower bounds on the cost of any safe pattern of a network table.

`node_bound` uses the cuts around single nodes only: the row and column model of
Carvalho and Almeida. `cut_bound` goes on to separate capacity cuts by minimum cuts
until none is violated. Both bounds are computed from the duals by weak duality, so they
hold whatever the tolerances of the LP solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.exact.cuts import EPSILON, crossing
from evosdc.suppress.exact.master import Cut, Master
from evosdc.suppress.network.flow import graph_of, max_flow, min_cut
from evosdc.suppress.problem import Problem
from evosdc.table import Network

# Columns given to a new cut, and brought in by one round of pricing.
_SEEDS = 12
_PRICED = 2000


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound, and the fractional pattern that attains it in the relaxation."""

    value: float
    method: str
    fractions: NDArray[np.float64]
    reduced: NDArray[np.float64]
    cuts: int
    rounds: int
    complete: bool


@dataclass(frozen=True, eq=False)
class _Levels:
    cell: NDArray[np.int64]
    source: NDArray[np.int64]
    sink: NDArray[np.int64]
    amount: NDArray[np.float64]


class CutLoop:
    """Solve, separate, price, again; its bound may be asked for at any time."""

    def __init__(self, problem: Problem, network: Network) -> None:
        self._problem = problem
        self._network = network
        self._state = np.where(problem.hideable, 1, 0).astype(np.int8)
        self._state[problem.primary] = 2
        self._levels = self._open_levels()
        self.master = Master(problem.cost)
        self._seen: set[bytes] = set()
        self.value = 0.0
        self.rounds = 0
        self.reduced = problem.cost.copy()
        self.fractions = np.zeros(len(problem.cost))
        # Costs that are all whole numbers make every pattern's cost a whole number.
        self._whole = bool(np.all(problem.cost == np.rint(problem.cost)))

    def run_nodes(self) -> None:
        """Add the cuts around the ends of every level's cell."""
        side = np.zeros(self._network.nodes, dtype=bool)
        for row in range(len(self._levels.cell)):
            for node, inside in (
                (self._levels.source[row], True),
                (self._levels.sink[row], False),
            ):
                side[:] = not inside
                side[node] = inside
                self._add(row, side)
        self._solve()

    def run_cuts(
        self,
        stopped: Callable[[], bool],
        improved: Callable[[float], None] = lambda _: None,
        target: float = np.inf,
        stall: int = 30,
    ) -> bool:
        """Separate until no cut is violated (True) or the run is stopped (False)."""
        history = [self.value]
        while not stopped() and self.value < target:
            found = self.separate(self.fractions, stopped)
            if not found:
                return True
            self._solve()
            improved(self.value)
            history.append(self.value)
            if len(history) > stall and self.value < history[-stall] * (1 + 1e-5):
                return False
        return False

    def bound(self, method: str, complete: bool) -> Bound:
        """Return what is known now."""
        return Bound(
            self.value,
            method,
            self.fractions,
            self.reduced,
            len(self.master.cuts),
            self.rounds,
            complete,
        )

    def _open_levels(self) -> _Levels:
        """Levels that the primaries alone do not cover."""
        problem, network = self._problem, self._network
        levels = problem.levels
        up = levels.sign > 0
        # Raising a cell sends flow tail -> head; the way back leads from head to tail.
        source = np.where(up, network.head[levels.cell], network.tail[levels.cell])
        sink = np.where(up, network.tail[levels.cell], network.head[levels.cell])
        # A cell that stands in no equation moves alone.
        bound = np.flatnonzero(source != sink)
        every = _Levels(
            levels.cell[bound].astype(np.int64),
            source[bound].astype(np.int64),
            sink[bound].astype(np.int64),
            levels.amount[bound],
        )
        x = problem.primary.astype(np.float64)
        open_rows = [row for row, _ in self._shortfalls(every, x, both=False)]
        keep = np.array(open_rows, dtype=np.int64)
        return _Levels(
            every.cell[keep], every.source[keep], every.sink[keep], every.amount[keep]
        )

    def _shortfalls(
        self, levels: _Levels, x: NDArray[np.float64], both: bool = True
    ) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield levels that cells hidden to the extent `x` do not cover, with a cut.

        Two cuts a level: the one nearest the source and, if asked for, the one nearest
        the sink. The second makes the loop converge in tens of rounds, not hundreds.
        """
        problem, network = self._problem, self._network
        support = np.flatnonzero(x > 1e-9)
        position = np.full(len(x), -1, dtype=np.int64)
        position[support] = np.arange(len(support))
        everywhere = np.ones(len(support), dtype=bool)
        graph = graph_of(
            network.tail[support], network.head[support], everywhere, network.nodes
        )
        share, up, down = x[support], problem.up[support], problem.down[support]
        for row in range(len(levels.cell)):
            source, sink = int(levels.source[row]), int(levels.sink[row])
            amount = float(levels.amount[row])
            forward = np.minimum(up, amount) * share
            backward = np.minimum(down, amount) * share
            own = position[levels.cell[row]]
            if own >= 0:
                forward[own] = backward[own] = 0.0
            tiny = amount * 1e-12
            sent, flow = max_flow(graph, forward, backward, source, sink, amount, tiny)
            if sent >= amount * (1 - 1e-6):
                continue
            yield row, min_cut(graph, forward, backward, flow, source, tiny)
            if both:
                # Backwards from the sink every arc and its flow turn round.
                yield row, ~min_cut(graph, backward, forward, -flow, sink, tiny)

    def _add(self, row: int, side: NDArray[np.bool_]) -> bool:
        """Add the cut of a node set for a level, unless it is known or empty."""
        problem, network = self._problem, self._network
        rest, cells, coefficients = crossing(
            network.tail,
            network.head,
            problem.up,
            problem.down,
            self._state,
            side,
            self._levels.cell[row],
            self._levels.amount[row],
        )
        # The margin keeps the cut valid where `rest` is only the noise of a sum.
        if rest <= EPSILON * self._levels.amount[row] or not len(cells):
            return False
        scaled = np.minimum(coefficients / rest, 1.0)
        key = cells.tobytes() + scaled.tobytes()
        if key in self._seen:
            return False
        self._seen.add(key)
        self.master.add_cut(Cut(cells, scaled), _SEEDS)
        return True

    def separate(
        self, x: NDArray[np.float64], stopped: Callable[[], bool] = lambda: False
    ) -> int:
        """Add the cuts that a pattern, fractional or not, violates; count them."""
        found = 0
        hidden = x.copy()
        hidden[self._problem.primary] = 1.0
        for row, side in self._shortfalls(self._levels, hidden):
            found += self._add(row, side)
            if stopped():
                break
        return found

    def _solve(self) -> None:
        """Solve the master over all cells by pricing, and keep the best bound."""
        self.rounds += 1
        while self.master.solve():
            reduced = self.master.reduced_costs()
            value = self.master.dual_bound(reduced)
            if self._whole:
                value = np.ceil(value - 1e-6 * max(1.0, abs(value)))
            if value >= self.value:
                self.value, self.reduced = float(value), reduced
            if not self.master.price(reduced, _PRICED):
                self.fractions = self.master.fractions()
                self.master.drop_idle(10)
                return
        self.fractions = self.master.fractions()


def node_bound(problem: Problem) -> Bound:
    """Row and column bound of Carvalho and Almeida."""
    loop = CutLoop(problem, _network(problem))
    loop.run_nodes()
    return loop.bound("node", True)


def cut_bound(problem: Problem, stopped: Callable[[], bool] = lambda: False) -> Bound:
    """Bound of all capacity cuts, or of those found until `stopped` says so."""
    loop = CutLoop(problem, _network(problem))
    loop.run_nodes()
    complete = loop.run_cuts(stopped)
    return loop.bound("cut", complete)


def _network(problem: Problem) -> Network:
    if problem.network is None:
        raise ValueError("the cut bounds need a network table")
    return problem.network
