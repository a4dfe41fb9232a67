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
from numba import njit
from numpy.typing import NDArray

# Flows are compared with this share of the amount asked for.
EPSILON = 1e-7


@njit(cache=True)
def adjacency(
    nodes: int, tail: NDArray[np.int32], head: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the arcs at each node: arc `j` as ``j`` at its tail, ``~j`` at its head."""
    start = np.zeros(nodes + 1, np.int64)
    for j in range(len(tail)):
        start[tail[j] + 1] += 1
        start[head[j] + 1] += 1
    for v in range(nodes):
        start[v + 1] += start[v]
    place = start[:-1].copy()
    ends = np.empty(2 * len(tail), np.int64)
    for j in range(len(tail)):
        ends[place[tail[j]]] = j
        place[tail[j]] += 1
        ends[place[head[j]]] = ~j
        place[head[j]] += 1
    return start, ends


@njit(cache=True)
def source_side(
    start: NDArray[np.int64],
    ends: NDArray[np.int64],
    tail: NDArray[np.int32],
    head: NDArray[np.int32],
    forward: NDArray[np.float64],
    backward: NDArray[np.float64],
    source: int,
    sink: int,
    amount: float,
    banned: int,
    flow: NDArray[np.float64],
    side: NDArray[np.bool_],
) -> float:
    """Send up to `amount` from source to sink; return what could be sent.

    Shortest augmenting paths (Edmonds and Karp). Where less than `amount` arrives,
    `side` marks the nodes on the source's side of a minimum cut.
    """
    nodes = len(start) - 1
    came = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    sent = 0.0
    tiny = amount * 1e-12
    flow[:] = 0.0
    while sent < amount:
        side[:] = False
        side[source] = True
        queue[0] = source
        first, last = 0, 1
        while first < last and not side[sink]:
            v = queue[first]
            first += 1
            for p in range(start[v], start[v + 1]):
                e = ends[p]
                if e >= 0:
                    j, w = e, head[e]
                    room = forward[j] - flow[j]
                else:
                    j, w = ~e, tail[~e]
                    room = backward[j] + flow[j]
                if room > tiny and not side[w] and j != banned:
                    side[w] = True
                    came[w] = e
                    queue[last] = w
                    last += 1
        if not side[sink]:
            return sent
        push = amount - sent
        v = sink
        while v != source:
            e = came[v]
            if e >= 0:
                push = min(push, forward[e] - flow[e])
                v = tail[e]
            else:
                push = min(push, backward[~e] + flow[~e])
                v = head[~e]
        v = sink
        while v != source:
            e = came[v]
            if e >= 0:
                flow[e] += push
                v = tail[e]
            else:
                flow[~e] -= push
                v = head[~e]
        sent += push
    return sent


@njit(cache=True)
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
