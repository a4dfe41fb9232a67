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
from evosdc.suppress.engine.network.pieces import Arcs, pieces
from evosdc.suppress.problem import Levels, Problem


class NetworkCuts:
    """Find the cuts that a fractional pattern of a network table violates.

    Cells that no chain of equations joins are nothing to each other: each connected
    piece of the network is asked by itself.
    """

    def __init__(self, problem: Problem) -> None:
        levels = problem.levels
        found = list(pieces(problem))
        piece = np.full(len(problem.cost), -1, dtype=np.int64)
        for number, arcs in enumerate(found):
            piece[arcs.cells] = number
        order = np.argsort(piece[levels.cell], kind="stable")
        begin = np.searchsorted(piece[levels.cell][order], np.arange(len(found) + 1))
        self._pieces = [
            _Piece(arcs, levels, order[begin[number] : begin[number + 1]])
            for number, arcs in enumerate(found)
        ]
        self._next = 0

    def first(self) -> Iterator[Cut]:
        """Yield the cuts around the ends of every level's cell."""
        for piece in self._pieces:
            yield from piece.first()

    def violated(
        self,
        x: NDArray[np.float64],
        stopped: Callable[[], bool],
        most: float = np.inf,
        *,
        bridges: bool = True,
    ) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round ends with `most` cuts, and the next one goes on from there; one with
        fewer has asked for every level.
        """
        found = 0
        for _ in range(len(self._pieces)):
            piece = self._pieces[self._next]
            for cut in piece.violated(x, stopped, most - found):
                found += 1
                yield cut
            if found >= most or stopped():
                return
            if bridges:
                yield from piece.bridges(x, stopped)
            self._next = (self._next + 1) % len(self._pieces)

    def bridges(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Yield the bridge cuts that `x` violates."""
        for piece in self._pieces:
            yield from piece.bridges(x, stopped)


class _Piece:
    """A connected piece of a network and the levels in it, cells by local numbers."""

    def __init__(self, arcs: Arcs, levels: Levels, here: NDArray[np.int64]) -> None:
        self._arcs = arcs
        self._state = np.where(arcs.hideable, 1, 0).astype(np.int8)
        self._state[arcs.primary] = 2
        self._bridges = BridgeCuts(arcs)
        # Raising a cell sends flow tail -> head; the way back leads from head to tail.
        cell = np.searchsorted(arcs.cells, levels.cell[here])
        up = levels.sign[here] > 0
        self._cell = cell.astype(np.int64)
        self._source = np.where(up, arcs.head[cell], arcs.tail[cell]).astype(np.int64)
        self._sink = np.where(up, arcs.tail[cell], arcs.head[cell]).astype(np.int64)
        self._amount = levels.amount[here]
        # Levels that the primaries alone cover need no cut; a level is looked at when
        # it is asked for the first time, since in large tables most are covered.
        self._seen = np.zeros(len(here), dtype=np.bool_)
        self._open = np.ones(len(here), dtype=np.bool_)
        self._alone = _Flows(arcs, arcs.primary.astype(np.float64))
        self._next = 0

    def first(self) -> Iterator[Cut]:
        side = np.zeros(self._arcs.nodes, dtype=bool)
        for row in range(len(self._cell)):
            if not self._is_open(row):
                continue
            for node, inside in ((self._source[row], True), (self._sink[row], False)):
                side[:] = not inside
                side[node] = inside
                cut = self._cut(row, side)
                if cut is not None:
                    yield self._arcs.abroad(cut)

    def violated(
        self, x: NDArray[np.float64], stopped: Callable[[], bool], most: float
    ) -> Iterator[Cut]:
        x = x[self._arcs.cells]
        found = 0
        for row, side in self._shortfalls(x, stopped):
            cut = self._cut(row, side)
            if cut is not None:
                found += 1
                yield self._arcs.abroad(cut)
            if found >= most or stopped():
                return

    def bridges(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        for cut in self._bridges.violated(x[self._arcs.cells]):
            yield self._arcs.abroad(cut)
            if stopped():
                return

    def _is_open(self, row: int) -> bool:
        """Whether the primaries alone leave a level uncovered."""
        if not self._seen[row]:
            self._seen[row] = True
            self._open[row] = self._send(self._alone, row) is not None
        return bool(self._open[row])

    def _send(self, flows: _Flows, row: int) -> _Sent | None:
        """Send what a level asks for; None where it can be sent."""
        return flows.send(
            int(self._cell[row]),
            int(self._source[row]),
            int(self._sink[row]),
            float(self._amount[row]),
        )

    def _shortfalls(
        self, x: NDArray[np.float64], stopped: Callable[[], bool]
    ) -> Iterator[tuple[int, NDArray[np.bool_]]]:
        """Yield levels that cells hidden to the extent `x` do not cover, with a cut.

        Two cuts a level: the one nearest the source and the one nearest the sink. The
        second makes the loop converge in tens of rounds, not hundreds. Levels are asked
        from the one on at which the last round ended.
        """
        flows = _Flows(self._arcs, x)
        count, begin = len(self._cell), self._next
        for step in range(count):
            row = (begin + step) % count
            self._next = (row + 1) % count
            if not self._is_open(row):
                if stopped():
                    return
                continue
            short = self._send(flows, row)
            if short is None:
                continue
            source, sink = int(self._source[row]), int(self._sink[row])
            yield row, flows.near(short, source)
            yield row, flows.far(short, sink)
        self._next = begin

    def _cut(self, row: int, side: NDArray[np.bool_]) -> Cut | None:
        """Write the cut of a node set for a level, unless it asks for nothing."""
        arcs = self._arcs
        rest, cells, coefficients = crossing(
            arcs.tail,
            arcs.head,
            arcs.up,
            arcs.down,
            self._state,
            side,
            self._cell[row],
            self._amount[row],
        )
        # The margin keeps the cut valid where `rest` is only the noise of a sum.
        if rest <= EPSILON * self._amount[row] or not len(cells):
            return None
        return Cut(cells, np.minimum(coefficients / rest, 1.0))


@dataclass(frozen=True, eq=False)
class _Sent:
    """A flow that falls short of what was asked for."""

    forward: NDArray[np.float64]
    backward: NDArray[np.float64]
    flow: NDArray[np.float64]
    tiny: float


class _Flows:
    """Flows through the cells of a piece, hidden to some extent."""

    def __init__(self, arcs: Arcs, x: NDArray[np.float64]) -> None:
        support = np.flatnonzero(x > 1e-9)
        self._position = np.full(len(x), -1, dtype=np.int64)
        self._position[support] = np.arange(len(support))
        everywhere = np.ones(len(support), dtype=bool)
        self._graph = graph_of(
            arcs.tail[support], arcs.head[support], everywhere, arcs.nodes
        )
        self._share = x[support]
        self._up, self._down = arcs.up[support], arcs.down[support]

    def send(self, cell: int, source: int, sink: int, amount: float) -> _Sent | None:
        """Send an amount without a cell; None where that can be done."""
        forward = np.minimum(self._up, amount) * self._share
        backward = np.minimum(self._down, amount) * self._share
        own = self._position[cell]
        if own >= 0:
            forward[own] = backward[own] = 0.0
        tiny = amount * 1e-12
        sent, flow = max_flow(
            self._graph, forward, backward, source, sink, amount, tiny
        )
        if sent >= amount * (1 - 1e-6):
            return None
        return _Sent(forward, backward, flow, tiny)

    def near(self, short: _Sent, source: int) -> NDArray[np.bool_]:
        """Return the cut nearest the source."""
        return min_cut(
            self._graph, short.forward, short.backward, short.flow, source, short.tiny
        )

    def far(self, short: _Sent, sink: int) -> NDArray[np.bool_]:
        """Return the cut nearest the sink, from where every arc and flow turn round."""
        return ~min_cut(
            self._graph, short.backward, short.forward, -short.flow, sink, short.tiny
        )
