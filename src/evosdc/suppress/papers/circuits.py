"""Patterns with circuits of protection: what HeurGene and GAPN cross.

An individual is a safe pattern and, for each sensitive cell that primaries alone do not
protect, the secondaries that protect it: its circuit (Herrington 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Int
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.mend import Mender
from evosdc.suppress.papers.rectangles import cheapest_corners

Cells = NDArray[np.int64]
# Hidden cells of a row or column that is not crowded.
_UNCROWDED = 2


@dataclass(eq=False)
class CircuitIndividual:
    """A safe pattern and its circuits.

    Attributes
    ----------
    state
        The pattern with its witnesses.
    circuits
        The circuit of each sensitive cell, sorted.
    shared
        In how many circuits each cell stands.
    cost
        What the secondaries cost.
    """

    state: PatternState
    circuits: dict[int, Cells]
    shared: Int
    cost: float

    @classmethod
    def of(cls, state: PatternState, circuits: dict[int, Cells]) -> CircuitIndividual:
        """Count the circuits of each cell and price the pattern."""
        shared = np.zeros(len(state.hidden), dtype=np.int32)
        for circuit in circuits.values():
            shared[circuit] += 1
        return cls(state, circuits, shared, state.cost)

    def swap(self, cell: int, circuit: Cells) -> tuple[Cells, Cells, float]:
        """Cells to publish, to hide, and the cost if a cell got another circuit.

        Cells of the old circuit that stand in others too are kept.
        """
        cost = self.state.network.problem.cost
        hidden = self.state.hidden
        old = np.setdiff1d(self.circuits[cell], circuit, assume_unique=True)
        gone = old[(self.shared[old] == 1) & hidden[old]]
        fresh = circuit[~hidden[circuit]]
        return gone, fresh, self.cost - cost[gone].sum() + cost[fresh].sum()

    def with_circuit(self, cell: int, circuit: Cells) -> CircuitIndividual | None:
        """Return a copy where a cell has another circuit; None if it is not safe."""
        gone, fresh, _ = self.swap(cell, circuit)
        state = self.state.copy()
        state.hide(fresh)
        if len(state.publish(gone)):
            return None
        return CircuitIndividual.of(state, self.circuits | {cell: circuit})

    def differing(self, other: CircuitIndividual) -> int:
        """How many sensitive cells have different circuits."""
        return sum(
            not np.array_equal(circuit, other.circuits[cell])
            for cell, circuit in self.circuits.items()
        )

    def distance(self, other: CircuitIndividual) -> int:
        """How many cells are hidden in one and published in the other."""
        return int(np.count_nonzero(self.state.hidden != other.state.hidden))


def rectangles(
    network: TableNetwork, order: Cells, how: str = "both"
) -> tuple[PatternState, dict[int, Cells]]:
    """Protect cells in order by cheapest rectangles, where they need any.

    Returns the pattern and the circuit of each cell: its rectangles, or what else
    covers it.

    Parameters
    ----------
    how
        both: one rectangle takes all levels of a cell that hidden cells do not take
        already; where none does, the cheapest paths do. each: the upper level gets the
        cheapest rectangle that takes it, then the lower one (Herrington 2015); where no
        rectangle could take both, the cheapest paths do: that of one level would run
        through the grand total. further: rectangles are used there too, as published,
        and where none takes a level the cheapest ones that hide something new are added
        until they do together; the source fails where they never do, the cheapest paths
        come last here.
    """
    state = PatternState(network)
    primary = network.problem.primary
    circuits: dict[int, Cells] = {}
    for cell in order.tolist():
        every = np.flatnonzero(network.demands.cell == cell)
        state.check(every)
        covered = state.live.length[every] >= 0
        parts = [state.witness(int(level))[0] for level in every[covered]]
        short = every[~covered]
        one_by_one = how == "further"
        if len(short) and not one_by_one:
            corners = cheapest_corners(state, cell, short)
            one_by_one = how == "each" and len(corners) > 0
            if not one_by_one:
                state.hide(corners)
                state.cover(short)
                if not len(corners):
                    parts += [state.witness(int(level))[0] for level in short]
                parts.append(corners)
        for level in short.tolist() if one_by_one else ():
            parts += _rectangles_of(state, level, how == "further")
        cells = np.unique(np.concatenate(parts))
        circuits[cell] = cells[~primary[cells]]
    return state, circuits


def _rectangles_of(state: PatternState, level: int, further: bool) -> list[Cells]:
    """Cover a level by its cheapest rectangle, further ones or paths."""
    only = np.array([level])
    cell = int(state.network.demands.cell[level])
    parts: list[Cells] = []
    state.check(only)
    if state.live.length[level] >= 0:
        return parts
    corners = cheapest_corners(state, cell, only)
    while state.live.length[level] < 0:
        if not len(corners) and further:
            corners = further_rectangle(state, level)
        if not len(corners):
            state.cover(only)
            return [*parts, state.witness(level)[0]]
        state.hide(corners)
        parts.append(corners)
        corners = corners[:0]
        state.check(only)
    return parts


def further_rectangle(state: PatternState, level: int) -> Cells:
    """Return the corners of the cheapest rectangle with room and a cell to hide."""
    network = state.network
    arcs, problem = network.arcs, network.problem
    cell = int(network.demands.cell[level])
    near, far = int(arcs.head[cell]), int(arcs.tail[cell])
    if network.demands.sign[level] < 0:
        near, far = far, near
    # Cells that leave the near node, and those that enter the far one, by other end.
    leaving = _beside(network, near, cell, outward=True)
    entering = _beside(network, far, cell, outward=False)
    price = np.where(state.hidden, 0.0, problem.cost)
    least, found = np.inf, np.zeros(0, dtype=np.int64)
    for begin, end, room in (
        (arcs.tail, arcs.head, arcs.up),
        (arcs.head, arcs.tail, arcs.down),
    ):
        first, last = leaving[begin], entering[end]
        across = np.flatnonzero((first >= 0) & (last >= 0) & (room > 0))
        corners = np.stack([first[across], across, last[across]])
        corners = corners[:, ~state.hidden[corners].all(axis=0)]
        if corners.shape[1]:
            total = price[corners].sum(axis=0)
            at = int(np.argmin(total))
            if total[at] < least:
                least, found = float(total[at]), corners[:, at]
    return found


def _beside(network: TableNetwork, node: int, cell: int, *, outward: bool) -> Cells:
    """Return, for each node, a cell that joins it to a node and has room that way."""
    arcs, hideable = network.arcs, network.problem.hideable
    joined = np.full(network.nodes, -1, dtype=np.int64)
    for begin, end, room in (
        (arcs.tail, arcs.head, arcs.up),
        (arcs.head, arcs.tail, arcs.down),
    ):
        here, there = (begin, end) if outward else (end, begin)
        some = np.flatnonzero((here == node) & (room > 0) & hideable)
        some = some[some != cell]
        joined[there[some]] = some
    return joined


def publish_crowded(
    state: PatternState, mender: Mender, circuits: dict[int, Cells] | None = None
) -> None:
    """Publish what is redundant in crowded rows and columns (Herrington 2015).

    Cells are looked at in the order of the table, and only where both their row and
    their column hide more than two cells at the time. With `circuits` one goes only
    where each of them protects its own cell without it; they are shortened by it.
    """
    arcs = state.network.arcs
    hidden = np.flatnonzero(state.hidden)
    ends = np.concatenate([arcs.tail[hidden], arcs.head[hidden]])
    crowd = np.bincount(ends, minlength=state.network.nodes)
    for cell in np.sort(state.secondaries).tolist():
        if min(crowd[arcs.tail[cell]], crowd[arcs.head[cell]]) <= _UNCROWDED:
            continue
        if circuits is None:
            mender.prune(state, np.array([cell]))
        else:
            _publish_spare(state, circuits, cell)
        if not state.hidden[cell]:
            crowd[arcs.tail[cell]] -= 1
            crowd[arcs.head[cell]] -= 1


def _publish_spare(state: PatternState, circuits: dict[int, Cells], cell: int) -> None:
    """Publish a cell where every circuit that it stands in does without it."""
    rest = {k: circuit[circuit != cell] for k, circuit in _standing(circuits, cell)}
    if all(protects(state.network, k, circuit) for k, circuit in rest.items()):
        state.publish([cell])
        circuits.update(rest)


def _standing(circuits: dict[int, Cells], cell: int) -> list[tuple[int, Cells]]:
    return [(k, circuit) for k, circuit in circuits.items() if cell in circuit]


def protects(network: TableNetwork, cell: int, circuit: Cells) -> bool:
    """Whether a circuit and the sensitive cells alone protect a cell."""
    levels = np.flatnonzero(network.demands.cell == cell)
    alone = PatternState(network)
    alone.hide(circuit)
    alone.check(levels)
    return bool((alone.live.length[levels] >= 0).all())


def renew(
    state: PatternState, circuits: dict[int, Cells], most: int
) -> dict[int, Cells]:
    """Replace circuits that lost a cell by what the witnesses use; cut long ones."""
    kept = {}
    for cell, circuit in circuits.items():
        if state.hidden[circuit].all():
            kept[cell] = circuit[:most]
        else:
            kept[cell] = witness_circuit(state, cell, most)
    return kept


def witness_circuit(state: PatternState, cell: int, most: int) -> Cells:
    """Return the secondaries that a cell's witnesses use, at most so many."""
    levels = np.flatnonzero(state.network.demands.cell == cell)
    cells = np.unique(np.concatenate([state.witness(int(k))[0] for k in levels]))
    return cells[~state.network.problem.primary[cells]][:most]


def simple_rectangles(state: PatternState) -> dict[int, Cells]:
    """Return, for each open cell, the secondaries of a hidden rectangle with it.

    Of several rectangles the one with the dearest secondaries; none where there is no
    rectangle of hidden cells.
    """
    network = state.network
    arcs, problem = network.arcs, network.problem
    lookup = {
        (int(arcs.tail[c]), int(arcs.head[c])): int(c)
        for c in np.flatnonzero(state.hidden)
    }
    rows: dict[int, list[int]] = {}
    columns: dict[int, list[int]] = {}
    for tail, head in lookup:
        rows.setdefault(tail, []).append(head)
        columns.setdefault(head, []).append(tail)
    circuits: dict[int, Cells] = {}
    for cell in np.unique(network.demands.cell).tolist():
        tail, head = int(arcs.tail[cell]), int(arcs.head[cell])
        best, worth = np.zeros(0, dtype=np.int64), -1.0
        for column in rows[tail]:
            for row in columns[head]:
                across = lookup.get((row, column))
                if across is None or row == tail or column == head:
                    continue
                corners = [lookup[tail, column], across, lookup[row, head]]
                own = np.array(sorted(c for c in corners if not problem.primary[c]))
                value = float(problem.cost[own].sum()) if len(own) else -1.0
                if value > worth:
                    best, worth = own.astype(np.int64), value
        circuits[int(cell)] = best
    return circuits


def publish_redundant(
    individual: CircuitIndividual,
    mender: Mender,
    cells: Cells,
    most: int,
    by_circuits: bool = False,
) -> bool:
    """Publish the first redundant cell; join the circuits that it stood in.

    `by_circuits` takes a cell for redundant where the joined circuit protects without
    it the cells of all that were joined. Returns whether there was one.
    """
    for cell in cells.tolist():
        if not individual.state.hidden[cell]:
            continue
        if not by_circuits:
            mender.prune(individual.state, np.array([cell], dtype=np.int64))
        elif _spare_when_joined(individual, cell, most):
            individual.state.publish([cell])
        if individual.state.hidden[cell]:
            continue
        _join(individual, cell, most)
        return True
    return False


def _spare_when_joined(individual: CircuitIndividual, cell: int, most: int) -> bool:
    """Whether the circuits that a cell stands in do without it once they are one."""
    touched = _standing(individual.circuits, cell)
    joined, network = _joined(touched, cell, most), individual.state.network
    return all(protects(network, k, joined) for k, _ in touched)


def _joined(touched: list[tuple[int, Cells]], cell: int, most: int) -> Cells:
    union = np.unique(np.concatenate([circuit for _, circuit in touched]))
    return union[union != cell][:most]


def _join(individual: CircuitIndividual, cell: int, most: int) -> None:
    """Merge the circuits that a published cell stood in, at most so many cells."""
    circuits = individual.circuits
    touched = _standing(circuits, cell)
    if touched:
        joined = _joined(touched, cell, most)
        merged = circuits | dict.fromkeys([k for k, _ in touched], joined)
    else:
        merged = circuits
    fresh = CircuitIndividual.of(individual.state, merged)
    individual.circuits, individual.shared = fresh.circuits, fresh.shared
    individual.cost = fresh.cost


def add_and_publish(
    individual: CircuitIndividual, mender: Mender, cell: int, tries: int, most: int
) -> bool:
    """Hide a cell that lets circuits combine, where more can be published for it.

    The cheapest candidates are tried first, at most so many. Returns whether one paid.
    """
    for added in _closing_cells(individual.state, individual.circuits[cell], tries):
        state = individual.state.copy()
        state.hide([added])
        mender.prune(state)
        if state.cost < individual.cost * (1 - 1e-12):
            fresh = CircuitIndividual.of(state, renew(state, individual.circuits, most))
            individual.state, individual.circuits = fresh.state, fresh.circuits
            individual.shared, individual.cost = fresh.shared, fresh.cost
            return True
    return False


def _closing_cells(state: PatternState, circuit: Cells, most: int) -> list[int]:
    """Return published cells cheaper than the dearest of a circuit that join its ends.

    A cell joins ends where both its nodes meet hidden cells, one of them of the
    circuit.
    """
    arcs, problem = state.network.arcs, state.network.problem
    own = circuit[state.hidden[circuit]]
    if not len(own):
        return []
    touched = np.zeros(state.network.nodes, dtype=np.bool_)
    touched[arcs.tail[own]] = touched[arcs.head[own]] = True
    hidden = np.flatnonzero(state.hidden)
    met = np.zeros(state.network.nodes, dtype=np.bool_)
    met[arcs.tail[hidden]] = met[arcs.head[hidden]] = True
    joins = (touched[arcs.tail] & met[arcs.head]) | (
        met[arcs.tail] & touched[arcs.head]
    )
    cells = np.flatnonzero(
        joins
        & ~state.hidden
        & problem.hideable
        & (problem.cost < problem.cost[own].max())
    )
    order = np.argsort(problem.cost[cells], kind="stable")[:most]
    return [int(cell) for cell in cells[order]]
