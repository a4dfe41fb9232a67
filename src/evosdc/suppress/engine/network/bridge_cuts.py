"""Bridge cuts of a network table: a secondary lies on a cycle of hidden cells.

A secondary that is a bridge among the hidden cells cannot move: whatever leaves a set
of nodes through it finds no way back. It lends nothing to any level and may be
published.
So among the cheapest safe patterns there is one in which, for each free cell i and each
set of nodes S that holds one end of it and is crossed by no sensitive cell,

    x_i <= the sum of x over the other cells that cross S

(the bridgeless inequalities of Fischetti and Salazar 1999). Only cells that can carry
the way back count: where cell i can only go up, those that lead from its head to its
tail. Violated ones are found by a maximum flow from one end of the cell to the other
with x as capacities, in which sensitive cells take any amount.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.network.flow import Graph, graph_of, max_flow, min_cut
from evosdc.suppress.engine.network.pieces import Arcs

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
        self._tail, self._head, self._nodes = arcs.tail, arcs.head, arcs.nodes
        self._goes_up = arcs.hideable & (arcs.up > 0)
        self._goes_down = arcs.hideable & (arcs.down > 0)
        self._primary = arcs.primary
        self._free = arcs.hideable & ~arcs.primary & (arcs.tail != arcs.head)

    def violated(self, x: NDArray[np.float64]) -> Iterator[Cut]:
        """Yield the cuts that cells hidden to the extent `x` violate."""
        weight = np.where(self._primary, _ANY, x)
        support = np.flatnonzero((weight > _HIDDEN) & (self._goes_up | self._goes_down))
        graph = graph_of(
            self._tail[support],
            self._head[support],
            np.ones(len(support), dtype=bool),
            self._nodes,
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

    def _cut(self, cell: int, side: NDArray[np.bool_]) -> Cut:
        """Write the cut of a cell for a set of nodes that holds its head."""
        cells = _way_back(
            self._tail, self._head, self._goes_up, self._goes_down, side, cell
        )
        coefficients = np.ones(len(cells))
        coefficients[cells == cell] = -1.0
        return Cut(cells, coefficients, 0.0)


@kernel
def bridges(
    graph: Graph,
    share: NDArray[np.float64],
    up: NDArray[np.bool_],
    down: NDArray[np.bool_],
    asked: NDArray[np.int64],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
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
def _way_back(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    up: NDArray[np.bool_],
    down: NDArray[np.bool_],
    side: NDArray[np.bool_],
    cell: int,
) -> NDArray[np.int64]:
    """List the cells that lead out of a node set on a cell's way back, and itself."""
    both = up[cell] and down[cell]
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
