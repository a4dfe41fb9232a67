"""Patterns with circuits of protection: what HeurGene and GAPN cross.

An individual is a safe pattern and, for each sensitive cell that primaries alone do not
protect, the secondaries that protect it: its circuit (Herrington 2015).
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.network.engine import NetworkMender
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.papers.once_through import cheapest_corners, levels_of

Circuits = dict[int, Long]
# Hidden cells of a row or column that is not crowded, as published. With one, cells are
# looked at that cannot be published; with four, most redundant cells are passed over.
_UNCROWDED_CELLS = 2


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

    def __init__(self, state: PatternState, circuits: Circuits) -> None:
        self.update(state, circuits)

    def update(self, state: PatternState, circuits: Circuits) -> None:
        """Take over another pattern and its circuits."""
        self.state, self.circuits, self.cost = state, circuits, state.cost
        self.shared = np.zeros(len(state.hidden), dtype=np.int32)
        for circuit in circuits.values():
            self.shared[circuit] += 1

    def swap(self, cell: int, circuit: Long) -> tuple[Long, Long, float]:
        """Cells to publish, to hide, and the cost if a cell got another circuit.

        Cells of the old circuit that stand in others too are kept.
        """
        cost = self.state.network.problem.cost
        hidden = self.state.hidden
        old = np.setdiff1d(self.circuits[cell], circuit, assume_unique=True)
        gone = old[(self.shared[old] == 1) & hidden[old]]
        added = circuit[~hidden[circuit]]
        return gone, added, self.cost - cost[gone].sum() + cost[added].sum()

    def with_circuit(self, cell: int, circuit: Long) -> CircuitIndividual | None:
        """Return a copy where a cell has another circuit; None if it is not safe."""
        gone, added, _ = self.swap(cell, circuit)
        state = self.state.copy()
        state.hide(added)
        if len(state.publish(gone)):
            return None
        return CircuitIndividual(state, self.circuits | {cell: circuit})

    def differing(self, other: CircuitIndividual) -> int:
        """How many sensitive cells have different circuits."""
        return sum(
            not np.array_equal(circuit, other.circuits[cell])
            for cell, circuit in self.circuits.items()
        )

    def distance(self, other: CircuitIndividual) -> int:
        """How many cells are hidden in one and published in the other."""
        return int(np.count_nonzero(self.state.hidden != other.state.hidden))


def exchanged(
    one: CircuitIndividual, two: CircuitIndividual, cell: int
) -> list[CircuitIndividual]:
    """Return the safe children of two that exchange their circuits of a cell."""
    mine, theirs = one.circuits[cell], two.circuits[cell]
    both = one.with_circuit(cell, theirs), two.with_circuit(cell, mine)
    return [child for child in both if child is not None]


def costs_of(population: list[CircuitIndividual]) -> Real:
    """Cost of each individual."""
    return np.array([individual.cost for individual in population])


def met_at(network: TableNetwork, cells: Long) -> Long:
    """How many of some cells meet at each node: in each row and column."""
    ends = np.concatenate([network.arcs.tail[cells], network.arcs.head[cells]])
    return np.bincount(ends, minlength=network.nodes)


def rectangles(
    network: TableNetwork, order: Long, how: str = "both"
) -> tuple[PatternState, Circuits]:
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
    circuits: Circuits = {}
    for cell in order.tolist():
        every = levels_of(network, cell)
        state.check(every)
        covered = state.live.length[every] >= 0
        parts = _witnesses(state, every[covered])
        parts += _cover_by_rectangles(state, cell, every[~covered], how)
        circuits[cell] = _secondaries_among(network, parts)
    return state, circuits


def _cover_by_rectangles(
    state: PatternState, cell: int, levels: Long, how: str
) -> list[Long]:
    """Cover levels of a cell; return the cells of the rectangles, or of the paths."""
    if how != "further" and len(levels):
        corners = cheapest_corners(state, cell, levels)
        if how == "both" or not len(corners):
            state.hide(corners)
            state.cover(levels)
            return [corners] if len(corners) else _witnesses(state, levels)
    parts: list[Long] = []
    for only in levels[:, None]:
        state.check(only)
        while state.live.length[only[0]] < 0:
            corners = cheapest_corners(state, cell, only)
            if not len(corners) and how == "further":
                corners = cheapest_corners(state, cell, only, adding=True)
            if not len(corners):
                state.cover(only)
                corners = _witnesses(state, only)[0]
            state.hide(corners)
            parts.append(corners)
            state.check(only)
    return parts


def _witnesses(state: PatternState, levels: Long) -> list[Long]:
    return [state.witness(level)[0] for level in levels.tolist()]


def _secondaries_among(network: TableNetwork, parts: list[Long]) -> Long:
    cells = np.unique(np.concatenate(parts))
    return cells[~network.problem.primary[cells]]


def publish_crowded(
    state: PatternState, mender: NetworkMender, circuits: Circuits | None = None
) -> None:
    """Publish what is redundant in crowded rows and columns (Herrington 2015).

    Cells are looked at in the order of the table, and only where both their row and
    their column hide more than two cells at the time. With `circuits` one goes only
    where each of them protects its own cell without it; they are shortened by it.
    """
    arcs = state.network.arcs
    crowd = met_at(state.network, np.flatnonzero(state.hidden))
    for cell in np.sort(state.secondaries).tolist():
        if min(crowd[arcs.tail[cell]], crowd[arcs.head[cell]]) <= _UNCROWDED_CELLS:
            continue
        shortened = None if circuits is None else _without(circuits, cell)
        if _publish_if_redundant(state, mender, cell, shortened):
            if circuits is not None and shortened is not None:
                circuits.update(shortened)
            crowd[arcs.tail[cell]] -= 1
            crowd[arcs.head[cell]] -= 1


def _publish_if_redundant(
    state: PatternState, mender: NetworkMender, cell: int, circuits: Circuits | None
) -> bool:
    """Publish a cell that no level needs, or none of some circuits without it."""
    if circuits is None:
        mender.prune(state, np.array([cell]))
    elif all_protect(state.network, circuits):
        state.publish([cell])
    return not state.hidden[cell]


def _without(circuits: Circuits, cell: int) -> Circuits:
    """Return the circuits that a cell stands in, each without it."""
    return {k: c[c != cell] for k, c in circuits.items() if cell in c}


def all_protect(network: TableNetwork, circuits: Circuits) -> bool:
    """Whether each circuit protects its own cell with the sensitive cells alone."""
    for cell, circuit in circuits.items():
        levels = levels_of(network, cell)
        alone = PatternState(network)
        alone.hide(circuit)
        alone.check(levels)
        if (alone.live.length[levels] < 0).any():
            return False
    return True


def renew(state: PatternState, circuits: Circuits, most: int) -> Circuits:
    """Replace circuits that lost a cell by what the witnesses use; cut long ones."""
    return {
        cell: circuit[:most]
        if state.hidden[circuit].all()
        else witness_circuit(state, cell, most)
        for cell, circuit in circuits.items()
    }


def witness_circuit(state: PatternState, cell: int, most: int) -> Long:
    """Return the secondaries that a cell's witnesses use, at most so many."""
    parts = _witnesses(state, levels_of(state.network, cell))
    return _secondaries_among(state.network, parts)[:most]


def simple_rectangles(state: PatternState) -> Circuits:
    """Return, for each open cell, the secondaries of a hidden rectangle with it.

    Of several rectangles the one with the most expensive secondaries; none where there
    is no rectangle of hidden cells.
    """
    arcs, problem = state.network.arcs, state.network.problem
    at = {
        (int(arcs.tail[cell]), int(arcs.head[cell])): int(cell)
        for cell in np.flatnonzero(state.hidden)
    }
    columns, rows = defaultdict(list), defaultdict(list)
    for row, column in at:
        columns[row].append(column)
        rows[column].append(row)
    circuits: Circuits = {}
    for cell in np.unique(state.network.demands.cell).tolist():
        own_row, own_column = int(arcs.tail[cell]), int(arcs.head[cell])
        found = [
            np.array([at[own_row, column], at[row, column], at[row, own_column]])
            for column in columns[own_row]
            for row in rows[own_column]
            if column != own_column and row != own_row and (row, column) in at
        ]
        found = [np.sort(corners[~problem.primary[corners]]) for corners in found]
        circuits[cell] = max(
            filter(len, found),
            key=lambda corners: float(problem.cost[corners].sum()),
            default=np.zeros(0, dtype=np.int64),
        )
    return circuits


def publish_redundant(
    individual: CircuitIndividual,
    mender: NetworkMender,
    cells: Long,
    most: int,
    by_circuits: bool = False,
) -> bool:
    """Publish the first redundant cell; join the circuits that it stood in.

    A joined circuit has `most` cells at most. `by_circuits` takes a cell for redundant
    where the joined circuit protects without it the cells of all that were joined.
    Returns whether there was one.
    """
    state, circuits = individual.state, individual.circuits
    for cell in cells[state.hidden[cells]].tolist():
        joined = _joined(_without(circuits, cell), most)
        asked = joined if by_circuits else None
        if _publish_if_redundant(state, mender, cell, asked):
            individual.update(state, circuits | joined)
            return True
    return False


def _joined(circuits: Circuits, most: int) -> Circuits:
    """Give the cells of some circuits the union of these, at most so many cells."""
    if not circuits:
        return {}
    union = np.unique(np.concatenate([*circuits.values()]))
    return dict.fromkeys(circuits, union[:most])


def add_and_publish(
    individual: CircuitIndividual,
    mender: NetworkMender,
    cell: int,
    tries: int,
    most: int,
) -> bool:
    """Hide a cell that lets circuits combine, where more can be published for it.

    The cheapest candidates are tried first, at most so many. Returns whether one paid.
    """
    for added in _closing_cells(individual.state, individual.circuits[cell], tries):
        state = individual.state.copy()
        state.hide([added])
        mender.prune(state)
        if state.cost < individual.cost * (1 - 1e-12):
            individual.update(state, renew(state, individual.circuits, most))
            return True
    return False


def _closing_cells(state: PatternState, circuit: Long, most: int) -> list[int]:
    """Return published cells that join the ends of a circuit, at most so many.

    Both nodes of such a cell meet hidden cells, one of them of the circuit. It is
    cheaper than the most expensive cell of the circuit.
    """
    arcs, problem = state.network.arcs, state.network.problem
    own = circuit[state.hidden[circuit]]
    if not len(own):
        return []
    touched = met_at(state.network, own) > 0
    met = met_at(state.network, np.flatnonzero(state.hidden)) > 0
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
    return cells[order].tolist()
