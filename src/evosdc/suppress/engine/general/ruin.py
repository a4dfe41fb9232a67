"""What a step of ruin and recreate publishes: a dear secondary and cells beside it."""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Mask
from evosdc.suppress.problem import Problem


def dear_and_near(
    problem: Problem,
    hidden: Mask,
    secondaries: Cells,
    most: int,
    rng: np.random.Generator,
) -> Cells:
    """Draw a secondary, dear ones more often, and others on one of its lines."""
    table = problem.table
    # The dearest of two draws: quick, and no cell is left out.
    pair = secondaries[rng.integers(len(secondaries), size=2)]
    cell = int(pair[np.argmax(problem.cost[pair])])
    start, end = table.columns.indptr[cell : cell + 2]
    if end == start:
        return np.array([cell])
    row = int(table.columns.indices[rng.integers(start, end)])
    line = table.matrix.indices[table.matrix.indptr[row] : table.matrix.indptr[row + 1]]
    line = line[hidden[line] & ~problem.primary[line]]
    more = int(rng.integers(0, most))
    near = rng.permutation(line)[:more]
    return np.append(cell, near).astype(np.int64)
