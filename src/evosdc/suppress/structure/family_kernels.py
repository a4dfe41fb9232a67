"""Compiled searches for the structure that equations of a table have in common."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.kernels import kernel

Whole = NDArray[np.int64]


@kernel
def parallel_pairs(
    head: Whole,
    part_start: Whole,
    parts: Whole,
    above_start: Whole,
    above: Whole,
    headed_start: Whole,
    headed: Whole,
) -> tuple[Whole, Whole, Whole]:
    """Find equations that split two totals of a third equation in the same way.

    Returns triples ``(e, f, g)``: equation `e` is a copy of `f` one step down `g`. The
    total of `e` is a part of `g`, whose total is that of `f`; and every part of `e` is
    a part of some equation whose total is a part of `f`.
    """
    stamp = np.full(len(above_start) - 1, -1, dtype=np.int64)
    small, large, along = [0], [0], [0]
    for e in range(len(head)):
        if head[e] < 0:
            continue
        for i in range(above_start[head[e]], above_start[head[e] + 1]):
            g = above[i]
            total = head[g]
            for j in range(headed_start[total], headed_start[total + 1]):
                f = headed[j]
                if f in (g, e):
                    continue
                for p in range(part_start[f], part_start[f + 1]):
                    stamp[parts[p]] = f
                if _below(e, f, head, part_start, parts, above_start, above, stamp):
                    small.append(e)
                    large.append(f)
                    along.append(g)
                for p in range(part_start[f], part_start[f + 1]):
                    stamp[parts[p]] = -1
    return (
        np.array(small[1:], np.int64),
        np.array(large[1:], np.int64),
        np.array(along[1:], np.int64),
    )


@kernel(inner=True)
def _below(
    e: int,
    f: int,
    head: Whole,
    part_start: Whole,
    parts: Whole,
    above_start: Whole,
    above: Whole,
    stamp: Whole,
) -> bool:
    """Whether every part of `e` is a part of an equation of one of the parts of `f`."""
    for p in range(part_start[e], part_start[e + 1]):
        found = False
        for i in range(above_start[parts[p]], above_start[parts[p] + 1]):
            if above[i] != e and stamp[head[above[i]]] == f:
                found = True
                break
        if not found:
            return False
    return True


@kernel
def depths(
    part_start: Whole,
    parts: Whole,
    above_start: Whole,
    headed_start: Whole,
    headed: Whole,
) -> Whole:
    """Longest way from each cell up to a total that is part of nothing."""
    waits = np.diff(above_start)
    depth = np.zeros(len(waits), dtype=np.int64)
    ready = [cell for cell in range(len(waits)) if waits[cell] == 0]
    at = 0
    while at < len(ready):
        cell = ready[at]
        at += 1
        for k in range(headed_start[cell], headed_start[cell + 1]):
            e = headed[k]
            for p in range(part_start[e], part_start[e + 1]):
                part = parts[p]
                depth[part] = max(depth[part], depth[cell] + 1)
                waits[part] -= 1
                if waits[part] == 0:
                    ready.append(part)
    return depth
