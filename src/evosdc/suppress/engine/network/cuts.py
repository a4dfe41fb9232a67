"""Cuts of network tables, by minimum cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.base import Cut
from evosdc.suppress.engine.network.arrays import Arcs, Net
from evosdc.suppress.engine.network.paths import hidden_network, minimum_cuts
from evosdc.suppress.problem.problem import Levels, Problem

# The connected pieces of a network, each with cells and nodes numbered by itself.

# Flows are compared with this share of the amount required.
EPSILON = 1e-7
# How much more of a cell than of the others that cross must be hidden.
_VIOLATED = 1e-4
_MIN_SHARE_HIDDEN = 1e-9
# More than any cell is hidden.
_WEIGHT_OF_PRIMARIES = 4.0
# Cells separated in one call of the kernel, between two looks at the clock.
_CELLS_PER_CALL = 256


class NetworkPiece(NamedTuple):
    """The cells of a piece that may be hidden, with what an attacker knows of them.

    `cells` are their numbers in the table, in ascending order.
    """

    cells: Long
    tail: Int
    head: Int
    nodes: int
    up: Real
    down: Real
    primary: Flags


def pieces(problem: Problem) -> Iterator[NetworkPiece]:
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
        yield NetworkPiece(
            part.astype(np.int64),
            ends_of[: len(part)].astype(np.int32),
            ends_of[len(part) :].astype(np.int32),
            len(nodes),
            problem.up[part],
            problem.down[part],
            problem.primary[part],
        )


# Capacity cuts of a network table, and the kernels that find them.
#
# Let level ``(k, sign, amount)`` require a flow of ``amount`` from one end of cell `k`
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


@kernel
def cut_of_nodes(
    piece: NetworkPiece, side: Flags, cell: int, amount: float
) -> tuple[float, Long, Real]:
    """Write the cut of a node set: its right-hand side, cells and coefficients."""
    tail, head = piece.tail, piece.head
    cells, room = np.empty(len(tail), np.int64), np.empty(len(tail))
    rest, count = amount, 0
    for i in range(len(tail)):
        if side[tail[i]] == side[head[i]] or i == cell:
            continue
        out = piece.up[i] if side[tail[i]] else piece.down[i]
        if piece.primary[i]:
            rest -= min(out, amount)
        elif out > 0:
            cells[count], room[count] = i, out
            count += 1
    return rest, cells[:count].copy(), np.minimum(room[:count], rest)


# Bridge cuts of a network table: a secondary lies on a cycle of hidden cells.
#
# A secondary that is a bridge among the hidden cells cannot move: whatever leaves a set
# of nodes through it finds no way back. It is of use to no level and may be
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


@kernel
def bridges(
    net: Net, up: Flags, down: Flags, asked: Long, least: float
) -> tuple[Long, Flags, Flags]:
    """Find cells of which more is hidden than of a set that cuts off their way back.

    The capacities of `net` are the shares of the cells hidden. Returns these cells and
    two node sets each, with the head of the cell inside and its tail outside: the one
    nearest the head and the one nearest the tail.
    """
    nodes = len(net.live.first)
    found = np.empty(len(asked), np.int64)
    near = np.zeros((len(asked), nodes), np.bool_)
    far = np.zeros((len(asked), nodes), np.bool_)
    count = 0
    arcs, share = net.arcs, net.arcs.up
    rising, falling = share * up, share * down
    for k in asked:
        # A cell that can go both ways is of use where there is a way back in either
        # direction, so a cell counts whichever way it has room. The way back of a cell
        # that goes up leads from its head to its tail; of one that goes down, the
        # other way, read backwards here.
        forward, backward = share, share
        if not down[k]:
            forward, backward = rising, falling
        elif not up[k]:
            forward, backward = falling, rising
        way = Arcs(
            arcs.tail,
            arcs.head,
            forward,
            backward,
            arcs.start,
            arcs.slot,
            arcs.price,
        )
        left, near[count], far[count] = minimum_cuts(
            Net(way, net.demands, net.live, net.work),
            arcs.head[k],
            arcs.tail[k],
            k,
            share[k],
            1e-12,
        )
        if left > least:
            found[count] = k
            count += 1
    return found[:count], near[:count], far[:count]


@kernel
def _way_back(piece: NetworkPiece, side: Flags, cell: int) -> Long:
    """List the cells that lead out of a node set on a cell's way back, and itself."""
    up, down = piece.up > 0, piece.down > 0
    both = up[cell] and down[cell]
    tail, head = piece.tail, piece.head
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

    Cells that no chain of equations joins do not affect each other: each connected
    piece of the network is searched by itself.
    """

    def __init__(self, problem: Problem) -> None:
        levels = problem.levels
        found = list(pieces(problem))
        piece = np.full(len(problem.cost), -1, dtype=np.int64)
        for number, part in enumerate(found):
            piece[part.cells] = number
        order = np.argsort(piece[levels.cell], kind="stable")
        begin = np.searchsorted(piece[levels.cell][order], np.arange(len(found) + 1))
        self._pieces = [
            _PieceCuts(part, levels, order[begin[number] : begin[number + 1]])
            for number, part in enumerate(found)
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
        fewer has tried every level.
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


class _PieceCuts:
    """The cuts of a connected piece of a network for the levels in it."""

    def __init__(self, piece: NetworkPiece, levels: Levels, here: Long) -> None:
        self._piece = piece
        # Raising a cell sends flow tail -> head; the way back leads from head to tail.
        cell = np.searchsorted(piece.cells, levels.cell[here]).astype(np.int64)
        up = levels.sign[here] > 0
        self._cell = cell
        self._source = np.where(up, piece.head[cell], piece.tail[cell]).astype(np.int64)
        self._sink = np.where(up, piece.tail[cell], piece.head[cell]).astype(np.int64)
        self._amount = levels.amount[here]
        # Levels that the primaries alone cover need no cut; a level is looked at when
        # it is tried for the first time, since in large tables most are covered.
        self._seen = np.zeros(len(here), dtype=np.bool_)
        self._open = np.ones(len(here), dtype=np.bool_)
        self._alone = _Flows(piece, piece.primary.astype(np.float64))
        self._next = 0

    def first(self) -> Iterator[Cut]:
        """Yield the cuts around the ends of every level's cell."""
        side = np.zeros(self._piece.nodes, dtype=bool)
        for row in range(len(self._cell)):
            if not self._is_open(row):
                continue
            for node, inside in ((self._source[row], True), (self._sink[row], False)):
                side[:] = not inside
                side[node] = inside
                yield from self._cut(row, side)

    def violated(
        self, x: Real, stopped: Callable[[], bool], most: float
    ) -> Iterator[Cut]:
        """Yield cuts of levels that cells hidden to the extent `x` do not cover.

        Two cuts for each level: the one nearest the source and the one nearest the
        sink. The second makes the loop converge in tens of rounds, not hundreds. Levels
        are tried from the one on at which the last round ended.
        """
        flows = _Flows(self._piece, x[self._piece.cells])
        found, count, begin = 0, len(self._cell), self._next
        for step in range(count):
            row = (begin + step) % count
            self._next = (row + 1) % count
            if not self._is_open(row):
                if stopped():
                    return
                continue
            for side in self._held_back(flows, row):
                for cut in self._cut(row, side):
                    found += 1
                    yield cut
                if found >= most or stopped():
                    return
        self._next = begin

    def bridges(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield the bridge cuts that cells hidden to the extent `x` violate."""
        piece = self._piece
        weight = np.where(piece.primary, _WEIGHT_OF_PRIMARIES, x[piece.cells])
        support = np.flatnonzero(
            (weight > _MIN_SHARE_HIDDEN) & ((piece.up > 0) | (piece.down > 0))
        )
        share = weight[support]
        net = _network_of(piece, support, share, share)
        up, down = piece.up[support] > 0, piece.down[support] > 0
        tried = np.flatnonzero(~piece.primary[support] & (share > _VIOLATED))
        for first in range(0, len(tried), _CELLS_PER_CALL):
            part = tried[first : first + _CELLS_PER_CALL]
            found, near, far = bridges(net, up, down, part, _VIOLATED)
            for at, cell in enumerate(support[found].tolist()):
                cut = self._bridge_cut(cell, near[at])
                yield cut
                if stopped():
                    return
                # The cut nearest the other end, where it is another one.
                other = self._bridge_cut(cell, far[at])
                if not np.array_equal(other.cells, cut.cells):
                    yield other
                    if stopped():
                        return

    def _is_open(self, row: int) -> bool:
        """Whether the primaries alone leave a level uncovered."""
        if not self._seen[row]:
            self._seen[row] = True
            self._open[row] = bool(self._held_back(self._alone, row))
        return bool(self._open[row])

    def _held_back(self, flows: _Flows, row: int) -> tuple[Flags, ...]:
        """Return node sets that hold a level back; none where it can be sent."""
        return flows.held_back(
            self._cell[row], self._source[row], self._sink[row], self._amount[row]
        )

    def _cut(self, row: int, side: Flags) -> Iterator[Cut]:
        """Yield the cut of a node set for a level, unless it says nothing."""
        rest, cells, coefficients = cut_of_nodes(
            self._piece, side, self._cell[row], self._amount[row]
        )
        # The margin keeps the cut valid where `rest` is only the noise of a sum.
        if rest > EPSILON * self._amount[row] and len(cells):
            yield Cut(self._piece.cells[cells], np.minimum(coefficients / rest, 1.0))

    def _bridge_cut(self, cell: int, side: Flags) -> Cut:
        """Write the cut of a cell for a set of nodes that holds its head."""
        cells = _way_back(self._piece, side, cell)
        coefficients = np.where(cells == cell, -1.0, 1.0)
        return Cut(self._piece.cells[cells], coefficients, 0.0)


class _Flows:
    """Flows through the cells of a piece, hidden to some extent."""

    def __init__(self, piece: NetworkPiece, x: Real) -> None:
        support = np.flatnonzero(x > 1e-9)
        self._position = np.full(len(x), -1, dtype=np.int64)
        self._position[support] = np.arange(len(support))
        self._share = x[support]
        self._net = _network_of(piece, support, piece.up[support], piece.down[support])

    def held_back(
        self, cell: int, source: int, sink: int, amount: float
    ) -> tuple[Flags, ...]:
        """Send an amount without a cell; return the cuts nearest the source and sink.

        None where it can be sent.
        """
        arcs = self._net.arcs
        arcs = arcs._replace(
            up=np.minimum(arcs.up, amount) * self._share,
            down=np.minimum(arcs.down, amount) * self._share,
        )
        net, banned = self._net._replace(arcs=arcs), self._position[cell]
        left, near, far = minimum_cuts(
            net, source, sink, banned, amount, amount * 1e-12
        )
        return (near, far) if left > amount * 1e-6 else ()


def _network_of(piece: NetworkPiece, support: Long, up: Real, down: Real) -> Net:
    """Return the network of some cells of a piece, with these capacities."""
    tail, head, all_of_them = piece.tail[support], piece.head[support], len(support)
    return hidden_network(tail, head, up, down, piece.nodes, np.arange(all_of_them))
