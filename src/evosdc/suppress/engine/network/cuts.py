"""Cuts of network tables, by minimum cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.network.flow import Graph, graph_of, max_flow, min_cut
from evosdc.suppress.problem.problem import Levels, Problem

# The connected pieces of a network, each with cells and nodes numbered by itself.


class Arcs(NamedTuple):
    """Cells of a network as arcs, with what an attacker knows of them.

    `cells` are their numbers in the table, in ascending order.
    """

    cells: Long
    tail: Int
    head: Int
    nodes: int
    up: Real
    down: Real
    hideable: Flags
    primary: Flags

    def abroad(self, cut: Cut) -> Cut:
        """Write a cut in the numbers of the table."""
        return replace(cut, cells=self.cells[cut.cells])


def pieces(problem: Problem) -> Iterator[Arcs]:
    """Yield the pieces that have a sensitive cell or one that may be hidden."""
    network = problem.network
    assert network is not None
    # A cell that stands in no equation moves alone.
    moves = np.flatnonzero(problem.hideable & (network.tail != network.head))
    if not len(moves):
        return
    tail, head = network.tail[moves], network.head[moves]
    joined = sparse.coo_array(
        (np.ones(len(moves), np.int8), (tail, head)), (network.nodes, network.nodes)
    )
    _, label = connected_components(joined, directed=False)
    order = np.argsort(label[tail], kind="stable")
    ends = np.flatnonzero(np.diff(label[tail][order])) + 1
    for part in np.split(moves[order], ends):
        nodes, ends_of = np.unique(
            np.concatenate([network.tail[part], network.head[part]]),
            return_inverse=True,
        )
        yield Arcs(
            part.astype(np.int64),
            ends_of[: len(part)].astype(np.int32),
            ends_of[len(part) :].astype(np.int32),
            len(nodes),
            problem.up[part],
            problem.down[part],
            problem.hideable[part],
            problem.primary[part],
        )


# Capacity cuts of a network table, and the kernels that find them.
#
# Let level ``(k, sign, amount)`` ask for a flow of ``amount`` from one end of cell `k`
# to the other through hidden cells. For every set `S` of nodes with the source inside
# and the sink outside, the hidden cells that leave `S` must have room for the flow
# (Fischetti and Salazar 1999, capacity constraints)::
#
#     sum over cells i crossing S of min(room_i, rest) * x_i >= rest,
#
# where ``rest`` is the amount less the room of the primaries that cross, since those
# are hidden anyway, and ``x_i`` says whether cell `i` is hidden. Cutting the
# coefficients down to ``rest`` is valid because ``x`` is binary, and makes the cut
# stronger.

# Flows are compared with this share of the amount asked for.
EPSILON = 1e-7


@kernel
def crossing(
    arcs: Arcs, side: Flags, cell: int, amount: float
) -> tuple[float, Long, Real]:
    """Write the cut of a node set: its right-hand side, cells and coefficients."""
    tail, head = arcs.tail, arcs.head
    cells, room = np.empty(len(tail), np.int64), np.empty(len(tail))
    rest, count = amount, 0
    for i in range(len(tail)):
        if side[tail[i]] == side[head[i]] or i == cell:
            continue
        lends = arcs.up[i] if side[tail[i]] else arcs.down[i]
        if arcs.primary[i]:
            rest -= min(lends, amount)
        elif arcs.hideable[i] and lends > 0:
            cells[count], room[count] = i, lends
            count += 1
    return rest, cells[:count].copy(), np.minimum(room[:count], rest)


# Bridge cuts of a network table: a secondary lies on a cycle of hidden cells.
#
# A secondary that is a bridge among the hidden cells cannot move: whatever leaves a set
# of nodes through it finds no way back. It lends nothing to any level and may be
# published. So among the cheapest safe patterns there is one in which, for each free
# cell i and each set of nodes S that holds one end of it and is crossed by no sensitive
# cell,
#
#     x_i <= the sum of x over the other cells that cross S
#
# (the bridgeless inequalities of Fischetti and Salazar 1999). Only cells that can carry
# the way back count: where cell i can only go up, those that lead from its head to its
# tail. Violated ones are found by a maximum flow from one end of the cell to the other
# with x as capacities, in which sensitive cells take any amount.

# How much more of a cell than of the others that cross must be hidden.
_VIOLATED = 1e-4
_HIDDEN = 1e-9
# More than any cell is hidden.
_ANY = 4.0
# Cells asked for in one call of the kernel, between two looks at the clock.
_CELLS_A_CALL = 256


class BridgeCuts:
    """Find the bridge cuts that a fractional pattern violates."""

    def __init__(self, arcs: Arcs) -> None:
        self._arcs = arcs
        self._goes_up = arcs.hideable & (arcs.up > 0)
        self._goes_down = arcs.hideable & (arcs.down > 0)
        self._primary = arcs.primary
        self._free = arcs.hideable & ~arcs.primary & (arcs.tail != arcs.head)

    def violated(self, x: Real) -> Iterator[Cut]:
        """Yield the cuts that cells hidden to the extent `x` violate."""
        weight = np.where(self._primary, _ANY, x)
        support = np.flatnonzero((weight > _HIDDEN) & (self._goes_up | self._goes_down))
        graph = graph_of(
            self._arcs.tail[support],
            self._arcs.head[support],
            np.ones(len(support), dtype=bool),
            self._arcs.nodes,
        )
        share = weight[support]
        up, down = self._goes_up[support], self._goes_down[support]
        asked = np.flatnonzero(self._free[support] & (share > _VIOLATED))
        for first in range(0, len(asked), _CELLS_A_CALL):
            part = asked[first : first + _CELLS_A_CALL]
            found, near, far = bridges(graph, share, up, down, part, _VIOLATED)
            for at, cell in enumerate(support[found].tolist()):
                cut = self._cut(cell, near[at])
                yield cut
                # The cut nearest the other end, where it is another one.
                other = self._cut(cell, far[at])
                if not np.array_equal(other.cells, cut.cells):
                    yield other

    def _cut(self, cell: int, side: Flags) -> Cut:
        """Write the cut of a cell for a set of nodes that holds its head."""
        cells = _way_back(self._arcs, self._goes_up, self._goes_down, side, cell)
        coefficients = np.ones(len(cells))
        coefficients[cells == cell] = -1.0
        return Cut(cells, coefficients, 0.0)


@kernel
def bridges(
    graph: Graph, share: Real, up: Flags, down: Flags, asked: Long, least: float
) -> tuple[Long, Flags, Flags]:
    """Find cells of which more is hidden than of a set that cuts off their way back.

    Returns these cells and two node sets each, with the head of the cell inside and its
    tail outside: the one nearest the head and the one nearest the tail.
    """
    nodes = len(graph.start) - 1
    found = np.empty(len(asked), np.int64)
    near = np.zeros((len(asked), nodes), np.bool_)
    far = np.zeros((len(asked), nodes), np.bool_)
    count = 0
    forward = np.empty(len(share))
    backward = np.empty(len(share))
    for k in asked:
        both = up[k] and down[k]
        for i in range(len(share)):
            # A cell that can go both ways is of use where there is a way back in
            # either direction, so a cell counts whichever way it has room.
            if both:
                forward[i] = backward[i] = share[i]
            else:
                # The way back of a cell that goes up leads from its head to its
                # tail; of one that goes down, the other way, read backwards here.
                forward[i] = share[i] if (up[i] if up[k] else down[i]) else 0.0
                backward[i] = share[i] if (down[i] if up[k] else up[i]) else 0.0
        forward[k] = backward[k] = 0.0
        source, target = graph.head[k], graph.tail[k]
        wanted = share[k]
        sent, flow = max_flow(graph, forward, backward, source, target, wanted, 1e-12)
        if sent >= wanted - least:
            continue
        found[count] = k
        near[count] = min_cut(graph, forward, backward, flow, source, 1e-12)
        # Backwards from the target every arc and its flow turn round.
        far[count] = ~min_cut(graph, backward, forward, -flow, target, 1e-12)
        count += 1
    return found[:count], near[:count], far[:count]


@kernel
def _way_back(arcs: Arcs, up: Flags, down: Flags, side: Flags, cell: int) -> Long:
    """List the cells that lead out of a node set on a cell's way back, and itself."""
    both = up[cell] and down[cell]
    tail, head = arcs.tail, arcs.head
    cells = np.empty(len(tail), np.int64)
    count = 0
    for i in range(len(tail)):
        if side[tail[i]] == side[head[i]]:
            continue
        # A way back of a cell that goes down is followed backwards: see `bridges`.
        leaves = side[tail[i]] == up[cell]
        if (
            i == cell
            or (both and (up[i] or down[i]))
            or (not both and (up[i] if leaves else down[i]))
        ):
            cells[count] = i
            count += 1
    return cells[:count].copy()


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
        x: Real,
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

    def bridges(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield the bridge cuts that `x` violates."""
        for piece in self._pieces:
            yield from piece.bridges(x, stopped)


class _Piece:
    """A connected piece of a network and the levels in it, cells by local numbers."""

    def __init__(self, arcs: Arcs, levels: Levels, here: Long) -> None:
        self._arcs = arcs
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
        self, x: Real, stopped: Callable[[], bool], most: float
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

    def bridges(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
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
        self, x: Real, stopped: Callable[[], bool]
    ) -> Iterator[tuple[int, Flags]]:
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

    def _cut(self, row: int, side: Flags) -> Cut | None:
        """Write the cut of a node set for a level, unless it asks for nothing."""
        arcs = self._arcs
        rest, cells, coefficients = crossing(
            arcs, side, self._cell[row], self._amount[row]
        )
        # The margin keeps the cut valid where `rest` is only the noise of a sum.
        if rest <= EPSILON * self._amount[row] or not len(cells):
            return None
        return Cut(cells, np.minimum(coefficients / rest, 1.0))


@dataclass(frozen=True, eq=False)
class _Sent:
    """A flow that falls short of what was asked for."""

    forward: Real
    backward: Real
    flow: Real
    tiny: float


class _Flows:
    """Flows through the cells of a piece, hidden to some extent."""

    def __init__(self, arcs: Arcs, x: Real) -> None:
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

    def near(self, short: _Sent, source: int) -> Flags:
        """Return the cut nearest the source."""
        return min_cut(
            self._graph, short.forward, short.backward, short.flow, source, short.tiny
        )

    def far(self, short: _Sent, sink: int) -> Flags:
        """Return the cut nearest the sink, from where every arc and flow turn round."""
        return ~min_cut(
            self._graph, short.backward, short.forward, -short.flow, sink, short.tiny
        )
