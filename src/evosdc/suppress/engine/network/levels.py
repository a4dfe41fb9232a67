"""Levels in whole units, with sliding levels split into an upper and a lower one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError
from evosdc.suppress.engine.network.arrays import Arcs
from evosdc.suppress.engine.network.flow import Graph, graph_of, max_flow
from evosdc.suppress.engine.network.scale import Capacities
from evosdc.suppress.problem import Problem

Long = NDArray[np.int64]


def network_levels(
    problem: Problem, arcs: Arcs, capacities: Capacities
) -> tuple[Long, NDArray[np.int8], Long, Long]:
    """Return cell, sign and amount of every level, and its row in `problem.levels`.

    A sliding level raises the upper level of its cell as far as any pattern can reach,
    and the lower level by what is then left of the width.
    """
    levels = problem.levels
    wanted = {
        (int(cell), int(sign)): (int(amount), row)
        for row, (cell, sign, amount) in enumerate(
            zip(levels.cell, levels.sign, capacities.amount, strict=True)
        )
    }
    everything: Graph | None = None  # one for all: it depends on no cell
    for cell, width in zip(levels.slide, capacities.slide_amount, strict=True):
        k = int(cell)
        everything = everything or graph_of(arcs.tail, arcs.head, problem.hideable)
        both = (1, -1)
        reach = {sign: _reach(everything, arcs, k, sign, int(width)) for sign in both}
        if reach[1] + reach[-1] < width:
            raise LevelError(
                f"the sliding level of {problem.table.label(k)} is beyond any pattern: "
                f"at most {100 * (reach[1] + reach[-1]) / int(width):.4g} % of it "
                "can be had",
                expected="levels within the external bounds that hidden cells reach",
                hint="lower this level, widen the bounds, or free fixed cells",
            )
        least, _ = wanted.get((k, -1), (0, -1))
        up = min(int(width) - min(least, reach[-1]), reach[1])
        for sign, amount in ((1, up), (-1, int(width) - up)):
            known = wanted.get((k, sign), (0, -1))
            if amount > known[0]:
                wanted[k, sign] = (amount, known[1])
    keys = sorted(wanted, key=lambda key: (-key[1], key[0]))
    return (
        np.array([cell for cell, _ in keys], dtype=np.int64),
        np.array([sign for _, sign in keys], dtype=np.int8),
        np.array([wanted[key][0] for key in keys], dtype=np.int64),
        np.array([wanted[key][1] for key in keys], dtype=np.int64),
    )


def _reach(graph: Graph, arcs: Arcs, cell: int, sign: int, width: int) -> int:
    """How far a cell can move one way when all cells of a graph are hidden."""
    own = int(arcs.up[cell] if sign > 0 else arcs.down[cell])
    source, target = int(arcs.head[cell]), int(arcs.tail[cell])
    if sign < 0:
        source, target = target, source
    most = min(own, width)
    if source == target or most == 0:
        return most
    up, down = arcs.up.copy(), arcs.down.copy()
    up[cell] = down[cell] = 0
    sent, _ = max_flow(graph, up, down, source, target, most)
    return int(sent)
