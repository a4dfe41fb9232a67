"""Numba kernels on networks: rectangles by short paths, and maximum flow (Dinic)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel(inner=True)
def short_path(
    source: int,
    target: int,
    skip: int,
    amount: float,
    start: Ints,
    arc: Ints,
    way: Ints,
    other: Ints,
    up: Floats,
    down: Floats,
    mark: Ints,
) -> tuple[bool, Ints]:
    """Find one to three arcs from source to target that all carry `amount`.

    Returns the entries of the path, -1 where it is shorter. `mark` is a scratch array
    with one entry per node, -1 before and after.
    """
    path = np.full(3, -1, np.int64)
    # Nodes with an arc into the target; `way` is seen from the other end.
    for e in range(start[target], start[target + 1]):
        a = arc[e]
        room = down[a] if way[e] > 0 else up[a]
        if a != skip and room >= amount:
            mark[other[e]] = e
    found = False
    if mark[source] >= 0:
        path[0] = mark[source]
        found = True
    if not found:
        for e in range(start[source], start[source + 1]):
            a = arc[e]
            room = up[a] if way[e] > 0 else down[a]
            if a == skip or room < amount:
                continue
            u = other[e]
            if mark[u] >= 0 and arc[mark[u]] != a:
                path[0] = e
                path[1] = mark[u]
                found = True
                break
            for f in range(start[u], start[u + 1]):
                b = arc[f]
                room = up[b] if way[f] > 0 else down[b]
                if b in (skip, a) or room < amount:
                    continue
                v = other[f]
                if v != source and mark[v] >= 0 and arc[mark[v]] != b:
                    path[0] = e
                    path[1] = f
                    path[2] = mark[v]
                    found = True
                    break
            if found:
                break
    for e in range(start[target], start[target + 1]):
        mark[other[e]] = -1
    return found, path


@kernel
def rectangles(
    cells: Ints,
    signs: Ints,
    amounts: Floats,
    tail: Ints,
    head: Ints,
    start: Ints,
    arc: Ints,
    way: Ints,
    other: Ints,
    up: Floats,
    down: Floats,
) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Look for a short cycle through each cell of a list.

    A cell is left out when an earlier cycle covers it. Returns for each cell
    the three other arcs (-1 for none) and their directions.
    """
    count = len(cells)
    arcs = np.full((count, 3), -1, np.int64)
    ways = np.zeros((count, 3), np.int64)
    found = np.zeros(count, np.bool_)
    moved_up = np.zeros(len(tail))
    moved_down = np.zeros(len(tail))
    mark = np.full(len(start) - 1, -1, np.int64)
    for i in range(count):
        k = cells[i]
        covered = moved_up[k] if signs[i] > 0 else moved_down[k]
        if covered >= amounts[i]:
            continue
        source = head[k] if signs[i] > 0 else tail[k]
        target = tail[k] if signs[i] > 0 else head[k]
        ok, path = short_path(
            source, target, k, amounts[i], start, arc, way, other, up, down, mark
        )
        if not ok:
            continue
        found[i] = True
        if signs[i] > 0:
            moved_up[k] = max(moved_up[k], amounts[i])
        else:
            moved_down[k] = max(moved_down[k], amounts[i])
        for j in range(3):
            e = path[j]
            if e < 0:
                break
            # The last arc was found from the target's side.
            last = j == 2 or path[j + 1] < 0
            direction = -way[e] if last else way[e]
            arcs[i, j] = arc[e]
            ways[i, j] = direction
            if direction > 0:
                moved_up[arc[e]] = max(moved_up[arc[e]], amounts[i])
            else:
                moved_down[arc[e]] = max(moved_down[arc[e]], amounts[i])
    return found, arcs, ways


@kernel
def max_flow(
    source: int,
    target: int,
    limit: int,
    start: Ints,
    arc: Ints,
    way: Ints,
    other: Ints,
    origin: Ints,
    up: Ints,
    down: Ints,
    flow: Ints,
) -> int:
    """Send up to `limit` from source to target and fill `flow`, one entry per arc."""
    nodes = len(start) - 1
    level = np.empty(nodes, np.int64)
    queue = np.empty(nodes, np.int64)
    pointer = np.empty(nodes, np.int64)
    path = np.empty(nodes + 1, np.int64)
    total = 0
    while total < limit:
        level[:] = -1
        level[source] = 0
        queue[0] = source
        first, last = 0, 1
        while first < last and level[target] < 0:
            u = queue[first]
            first += 1
            for e in range(start[u], start[u + 1]):
                v = other[e]
                if level[v] >= 0:
                    continue
                a = arc[e]
                left = up[a] - flow[a] if way[e] > 0 else down[a] + flow[a]
                if left > 0:
                    level[v] = level[u] + 1
                    queue[last] = v
                    last += 1
        if level[target] < 0:
            break
        pointer[:] = start[:-1]
        depth = 0
        node = source
        while True:
            if node == target:
                push = limit - total
                for i in range(depth):
                    a = arc[path[i]]
                    forward = way[path[i]] > 0
                    left = up[a] - flow[a] if forward else down[a] + flow[a]
                    push = min(push, left)
                full = depth
                for i in range(depth - 1, -1, -1):
                    a = arc[path[i]]
                    if way[path[i]] > 0:
                        flow[a] += push
                        left = up[a] - flow[a]
                    else:
                        flow[a] -= push
                        left = down[a] + flow[a]
                    if left == 0:
                        full = i
                total += push
                if total >= limit:
                    break
                depth = full
                node = origin[path[depth]]
                continue
            advanced = False
            while pointer[node] < start[node + 1]:
                e = pointer[node]
                a = arc[e]
                left = up[a] - flow[a] if way[e] > 0 else down[a] + flow[a]
                if left > 0 and level[other[e]] == level[node] + 1:
                    path[depth] = e
                    depth += 1
                    node = other[e]
                    advanced = True
                    break
                pointer[node] += 1
            if not advanced:
                if depth == 0:
                    break
                depth -= 1
                node = origin[path[depth]]
                pointer[node] += 1
    return total
