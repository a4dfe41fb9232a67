"""The connected pieces of a network, each with cells and nodes numbered by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.problem import Problem


@dataclass(frozen=True, eq=False)
class Arcs:
    """Cells of a network as arcs, with what an attacker knows of them.

    `cells` are their numbers in the table, in ascending order.
    """

    cells: NDArray[np.int64]
    tail: NDArray[np.int32]
    head: NDArray[np.int32]
    nodes: int
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    hideable: NDArray[np.bool_]
    primary: NDArray[np.bool_]

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
