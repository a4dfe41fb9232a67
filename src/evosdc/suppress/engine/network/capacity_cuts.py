"""Capacity cuts of a network table, and the kernels that find them.

Let level ``(k, sign, amount)`` ask for a flow of ``amount`` from one end of cell `k` to
the other through hidden cells. For every set `S` of nodes with the source inside and
the sink outside, the hidden cells that leave `S` must have room for the flow (Fischetti
and Salazar 1999, capacity constraints)::

    sum over cells i crossing S of min(room_i, rest) * x_i >= rest,

where ``rest`` is the amount less the room of the primaries that cross, since those are
hidden anyway, and ``x_i`` says whether cell `i` is hidden. Cutting the coefficients
down to ``rest`` is valid because ``x`` is binary, and makes the cut stronger.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel

# Flows are compared with this share of the amount asked for.
EPSILON = 1e-7


@kernel
def crossing(
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    state: NDArray[np.int8],
    side: NDArray[np.bool_],
    cell: int,
    amount: float,
) -> tuple[float, NDArray[np.int64], NDArray[np.float64]]:
    """Write the cut of a node set: its right-hand side, cells and coefficients.

    `state` is 2 for primaries, 1 for cells that may be hidden, 0 for the others.
    """
    rest = amount
    count = 0
    for i in range(len(tail)):
        if state[i] != 0 and side[tail[i]] != side[head[i]] and i != cell:
            room = up[i] if side[tail[i]] else down[i]
            if state[i] == 2:
                rest -= min(room, amount)
            elif room > 0:
                count += 1
    cells = np.empty(count, np.int64)
    coefficients = np.empty(count, np.float64)
    count = 0
    for i in range(len(tail)):
        if state[i] == 1 and side[tail[i]] != side[head[i]] and i != cell:
            room = up[i] if side[tail[i]] else down[i]
            if room > 0:
                cells[count] = i
                coefficients[count] = min(room, rest)
                count += 1
    return rest, cells, coefficients
