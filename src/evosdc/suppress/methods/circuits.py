"""Patterns with circuits of protection: what HeurGene and GAPN cross.

An individual is a safe pattern and, for each sensitive cell that primaries alone do not
protect, the secondaries that protect it: its circuit (Herrington 2015).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.mend import Mender
from evosdc.suppress.engine.network.rectangle import cheapest_rectangle

Cells = NDArray[np.int64]


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
    shared: NDArray[np.int32]
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
    network: TableNetwork, order: Cells
) -> tuple[PatternState, dict[int, Cells]]:
    """Protect cells in order by cheapest rectangles, where they need any.

    Where no rectangle takes a cell's levels, the cheapest paths do. Returns the
    pattern and the circuit of each cell: its rectangle, or what else covers it.
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
        if len(short):
            corners = _rectangle(state, cell, short)
            state.hide(corners)
            state.cover(short)
            if not len(corners):
                parts += [state.witness(int(level))[0] for level in short]
            parts.append(corners)
        cells = np.unique(np.concatenate(parts))
        circuits[cell] = cells[~primary[cells]]
    return state, circuits


def _rectangle(state: PatternState, cell: int, levels: Cells) -> Cells:
    """Return the corners of the cheapest rectangle for some levels, if there is one."""
    network, demands = state.network, state.network.demands
    sign, amount = demands.sign[levels], demands.amount[levels]
    cost, corners = cheapest_rectangle(
        network.graph,
        network.arcs.up,
        network.arcs.down,
        network.problem.cost,
        state.hidden,
        cell,
        int(amount[sign > 0].sum()),
        int(amount[sign < 0].sum()),
    )
    return corners if np.isfinite(cost) else corners[:0]


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
    individual: CircuitIndividual, mender: Mender, cells: Cells, most: int
) -> bool:
    """Publish the first redundant cell; join the circuits that it stood in.

    Returns whether there was one.
    """
    for cell in cells.tolist():
        if not individual.state.hidden[cell]:
            continue
        mender.prune(individual.state, np.array([cell], dtype=np.int64))
        if individual.state.hidden[cell]:
            continue
        _join(individual, cell, most)
        return True
    return False


def _join(individual: CircuitIndividual, cell: int, most: int) -> None:
    """Merge the circuits that a published cell stood in, at most so many cells."""
    circuits = individual.circuits
    touched = [k for k, circuit in circuits.items() if cell in circuit]
    if touched:
        union = np.unique(np.concatenate([circuits[k] for k in touched]))
        joined = union[union != cell][:most]
        merged = circuits | dict.fromkeys(touched, joined)
    else:
        merged = circuits
    fresh = CircuitIndividual.of(individual.state, merged)
    individual.circuits, individual.shared = fresh.circuits, fresh.shared
    individual.cost = fresh.cost
