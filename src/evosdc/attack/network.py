"""Witnesses in networks: rectangles first, then a maximum flow for each open level.

A cell can be moved by as much as can flow through the other hidden cells from one of
its ends to the other (Almeida, Schuetz and Carvalho 2008). Integer flows are witnesses.
Where numbers do not fit into 64 bits, capacities are rounded down and levels up to a
grid far finer than the level; what fails by less than the rounding is decided in big
integers. Bounds and levels in whole numbers give flows in whole numbers, so that in
tables of counts, too, no level beyond the maximum flow can be reached.
"""

from __future__ import annotations

from collections import deque
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack import flow_kernels
from evosdc.attack.ledger import Ledger, in_time
from evosdc.attack.model import AttackModel
from evosdc.table import Network

_OPEN_CAPACITY = 2**59  # of an open bound; sums of two still fit into 64 bits
_GRID_UNITS = 10**12  # in a level that does not fit into 64 bits


class NetworkFinder:
    """Finds witnesses in a table that is a network."""

    def __init__(
        self, attacker: AttackModel, network: Network, deadline: float | None = None
    ) -> None:
        self.attacker = attacker
        self.deadline = deadline
        self.cells = np.flatnonzero(attacker.free)
        self.arc_of = np.full(len(attacker.free), -1, dtype=np.int64)
        self.arc_of[self.cells] = np.arange(len(self.cells))
        self.tail = network.tail[self.cells].astype(np.int64)
        self.head = network.head[self.cells].astype(np.int64)
        ends = np.concatenate([self.tail, self.head])
        order = np.argsort(ends, kind="stable")
        count = len(self.cells)
        self.start = np.searchsorted(ends[order], np.arange(network.nodes + 1))
        self.start = self.start.astype(np.int64)
        self.arc = (order % max(count, 1)).astype(np.int64)
        self.way = np.where(order < count, 1, -1).astype(np.int64)
        self.other = np.concatenate([self.head, self.tail])[order]
        self.origin = ends[order]
        self.largest = max(
            (max(attacker.up[c], attacker.down[c]) for c in self.cells.tolist()),
            default=0,
        )
        self._grids: dict[int, tuple[NDArray[np.int64], NDArray[np.int64]]] = {}

    def cheap(self, ledger: Ledger) -> None:
        """Cover what short cycles can cover."""
        for levels in ledger.batches(self.deadline):
            self._rectangles(ledger, levels)

    def _rectangles(self, ledger: Ledger, levels: list[tuple[int, int, int]]) -> None:
        a = self.attacker
        signs = np.array([s for _, s, _ in levels], dtype=np.int64)
        found, arcs, ways = flow_kernels.rectangles(
            self.arc_of[[c for c, _, _ in levels]],
            signs,
            np.array([amount / a.scale for _, _, amount in levels]),
            self.tail,
            self.head,
            self.start,
            self.arc,
            self.way,
            self.other,
            a.up_size[self.cells],
            a.down_size[self.cells],
        )
        for i in np.flatnonzero(found).tolist():
            cell, sign, amount = levels[i]
            used = arcs[i] >= 0
            at = [cell, *self.cells[arcs[i][used]].tolist()]
            steps = [amount * way for way in (sign, *ways[i][used].tolist())]
            ledger.add(cell, sign, at, steps, 1, "rectangle")

    def reach(self, ledger: Ledger, cell: int, sign: int, amount: Fraction) -> bool:
        """Move a cell by an amount, or find that it cannot be done."""
        wanted = -(-amount.numerator // amount.denominator)
        a = self.attacker
        if not a.has_room(cell, sign, wanted):
            if amount.denominator == 1 or not a.free[cell]:
                return False
            return self._exactly(ledger, cell, sign, amount)
        unit = self._unit(wanted)
        units = -(-wanted // unit)
        room = a.room(cell, sign)
        if room is not None and units * unit > room:
            return self._exactly(ledger, cell, sign, amount)
        sent, flow = self._flow(cell, sign, units, unit)
        if sent == units:
            at = np.flatnonzero(flow)
            steps = [int(x) * unit for x in flow[at].tolist()]
            return ledger.add(
                cell,
                sign,
                np.append(self.cells[at], cell),
                [*steps, sign * units * unit],
                1,
                "flow",
            )
        if unit == 1 or sent + len(self.cells) < units:
            return False
        return self._exactly(ledger, cell, sign, amount)

    def furthest(self, ledger: Ledger, cell: int, sign: int, limit: Fraction) -> None:
        """Move a cell as far as possible, up to a limit."""
        self._exactly(ledger, cell, sign, limit)

    def end(self, cell: int, sign: int) -> float:
        """How far, one way, a cell may be from its value for all the attacker knows."""
        a = self.attacker
        room = a.room(cell, sign)
        if not a.free[cell] or room == 0:
            return 0.0
        flow = self._max_flow(cell, sign)
        ends = [x for x in (room, flow) if x is not None]
        return float(Fraction(min(ends), a.scale)) if ends else np.inf

    def _max_flow(self, cell: int, sign: int) -> int | None:
        """Return the maximum flow past a cell on grids refined until fine enough."""
        k = int(self.arc_of[cell])
        if self.tail[k] == self.head[k]:
            return None
        a = self.attacker
        at = self.cells.tolist()
        total = sum(a.up[c] + a.down[c] for c in at)
        unit = max(1, -(-total // 2**57))
        most: int | None = None
        while True:
            up, down = self._grid(unit, most)
            sent, _ = self._run(k, sign, _OPEN_CAPACITY, up, down)
            if sent >= _OPEN_CAPACITY:
                return None
            if unit == 1 or sent > 10**10:
                return sent * unit
            most = (sent + len(at)) * unit
            unit = max(1, most // 2**50)

    def _unit(self, amount: int) -> int:
        """Return the grid unit of a level: 1 where all numbers fit, else larger."""
        if max(self.largest, amount) < 2**57:
            return 1
        return 10 ** (len(str(amount // _GRID_UNITS)) - 1)

    def _grid(
        self, unit: int, most: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if most is None and unit in self._grids:
            return self._grids[unit]
        a = self.attacker
        cap = _OPEN_CAPACITY if most is None else most // unit

        def rounded(room: list[int], is_open: NDArray[np.bool_]) -> NDArray[np.int64]:
            return np.array(
                [
                    cap if is_open[c] else min(room[c] // unit, cap)
                    for c in self.cells.tolist()
                ],
                dtype=np.int64,
            )

        grid = rounded(a.up, a.up_open), rounded(a.down, a.down_open)
        if most is None:
            self._grids[unit] = grid
        return grid

    def _flow(self, cell: int, sign: int, units: int, unit: int) -> tuple[int, Any]:
        return self._run(int(self.arc_of[cell]), sign, units, *self._grid(unit))

    def _run(
        self,
        k: int,
        sign: int,
        units: int,
        up: NDArray[np.int64],
        down: NDArray[np.int64],
    ) -> tuple[int, NDArray[np.int64]]:
        flow = np.zeros(len(self.cells), dtype=np.int64)
        source, target = self.head[k], self.tail[k]
        if sign < 0:
            source, target = target, source
        if source == target:
            return units, flow
        kept = up[k], down[k]
        up[k] = down[k] = 0
        sent = flow_kernels.max_flow(
            source,
            target,
            units,
            self.start,
            self.arc,
            self.way,
            self.other,
            self.origin,
            up,
            down,
            flow,
        )
        up[k], down[k] = kept
        return int(sent), flow

    def _exactly(self, ledger: Ledger, cell: int, sign: int, amount: Fraction) -> bool:
        """Send a maximum flow, up to an amount, in big integers.

        Shortest augmenting paths (Edmonds and Karp), over the amount's denominator.
        """
        a, den = self.attacker, amount.denominator
        k = int(self.arc_of[cell])
        room = a.room(cell, sign)
        left = amount.numerator if room is None else min(amount.numerator, room * den)
        flow: dict[int, int] = {}
        source, target = int(self.head[k]), int(self.tail[k])
        if sign < 0:
            source, target = target, source
        sent = left if source == target else 0
        while sent < left:
            in_time(self.deadline)
            path = self._augmenting(source, target, k, flow, den)
            if not path:
                break
            slacks = [self._left(e, flow, den) for e in path]
            push = min([left - sent, *(r for r in slacks if r is not None)])
            for e in path:
                arc = int(self.arc[e])
                flow[arc] = flow.get(arc, 0) + push * int(self.way[e])
            sent += push
        if not sent:
            return False
        moves = {arc: x for arc, x in flow.items() if x}
        at = [*self.cells[list(moves)].tolist(), cell]
        ledger.add(cell, sign, at, [*moves.values(), sign * sent], den, "flow")
        return sent == amount.numerator

    def _left(self, e: int, flow: dict[int, int], den: int) -> int | None:
        arc, way = int(self.arc[e]), int(self.way[e])
        room = self.attacker.room(int(self.cells[arc]), way)
        return None if room is None else room * den - way * flow.get(arc, 0)

    def _augmenting(
        self, source: int, target: int, skip: int, flow: dict[int, int], den: int
    ) -> list[int]:
        came: dict[int, int] = {source: -1}
        queue = deque([source])
        while queue and target not in came:
            u = queue.popleft()
            for e in range(int(self.start[u]), int(self.start[u + 1])):
                v = int(self.other[e])
                if v not in came and self.arc[e] != skip:
                    room = self._left(e, flow, den)
                    if room is None or room > 0:
                        came[v] = e
                        queue.append(v)
        path: list[int] = []
        node = target
        while node in came and came[node] >= 0:
            path.append(came[node])
            node = int(self.origin[came[node]])
        return path[::-1]
