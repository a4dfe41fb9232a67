"""Cuts of network tables, by minimum cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.network.bridge_cuts import BridgeCuts
from evosdc.suppress.engine.network.capacity_cuts import EPSILON, crossing
from evosdc.suppress.engine.network.flow import graph_of, max_flow, min_cut
from evosdc.suppress.problem import Problem
from evosdc.table import Network


@dataclass(frozen=True, eq=False)
class _Levels:
    cell: NDArray[np.int64]
    source: NDArray[np.int64]
    sink: NDArray[np.int64]
    amount: NDArray[np.float64]


class NetworkCuts:
    """Find the cuts that a fractional pattern of a network table violates."""

    def __init__(self, problem: Problem) -> None:
        network = problem.network
        assert network is not None
        self._problem = problem
        self._network: Network = network
        self._state = np.where(problem.hideable, 1, 0).astype(np.int8)
        self._state[problem.primary] = 2
        self._levels = self._open_levels()
        self._bridges = BridgeCuts(problem, network)

    def first(self) -> Iterator[Cut]:
        """Yield the cuts around the ends of every level's cell."""
        side = np.zeros(self._network.nodes, dtype=bool)
        for row in range(len(self._levels.cell)):
            for node, inside in (
                (self._levels.source[row], True),
                (self._levels.sink[row], False),
            ):
                side[:] = not inside
                side[node] = inside
                cut = self._cut(row, side)
                if cut is not None:
                    yield cut

    def violated(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate."""
        for row, side in self._shortfalls(self._levels, x):
            cut = self._cut(row, side)
            if cut is not None:
                yield cut
            if stopped():
                return
        for cut in self._bridges.violated(x):
            yield cut
            if stopped():
                return

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

    def _cut(self, row: int, side: NDArray[np.bool_]) -> Cut | None:
        """Write the cut of a node set for a level, unless it asks for nothing."""
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
            return None
        return Cut(cells, np.minimum(coefficients / rest, 1.0))
