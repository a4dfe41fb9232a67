"""A labelled table as a grid, and boxes on it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Int, Long
from evosdc.suppress.engine.general.box_kernels import (
    ABSENT,
    EMPTY,
    MOST_BELOW,
    Boxwork,
    CodeGrid,
)
from evosdc.suppress.engine.general.path_kernels import Pathwork, Planes
from evosdc.table import Dimension, Hierarchy, detect_network
from evosdc.table.build import equations

# Places of a grid at most, 160 MB of them: at half of it sparse tables of many codes
# have no boxes, twice as many may not fit in memory.
MOST_PLACES = 20_000_000
# Vectors listed of one dimension at most. Half as many leave out boxes of dimensions
# with thousands of codes; twice as many take twice the scratch space.
MOST_VECTORS = 4096
# Cells of one deviation at most. With half as many long cycles of five dimensions are
# left out; twice as many hide more than a total would.
MOST_PLACES_MOVED = 512
# Beyond so many dimensions only boxes are looked for: cycles repeat along two further
# dimensions at most. Fewer would do without cycles in cubes, more are not written.
MOST_DIMENSIONS = 4


def lay_out(dimensions: Sequence[Dimension], codes: Int) -> CodeGrid | None:
    """Return the grid of cells with these codes, or None where it is too big."""
    trees = [d.hierarchy for d in dimensions]
    shape = tuple(len(t) for t in trees)
    if prod(shape) > MOST_PLACES:
        return None
    place = np.ravel_multi_index(tuple(codes.T), shape).astype(np.int64)
    cell = np.full(prod(shape), ABSENT, dtype=np.int64)
    cell[place] = np.arange(len(codes))
    cell[_known_empty(cell >= 0, trees, shape)] = EMPTY
    stride = np.ones(len(shape), dtype=np.int64)
    for k in range(len(shape) - 2, -1, -1):
        stride[k] = stride[k + 1] * shape[k + 1]
    return CodeGrid(
        cell=cell,
        place=place,
        stride=stride,
        size=np.array(shape, dtype=np.int64),
        first=np.concatenate([[0], np.cumsum(shape)[:-1]]).astype(np.int64),
        parent=np.concatenate([t.parent_array for t in trees]).astype(np.int64),
        leaf=np.concatenate([t.is_leaf for t in trees]),
    )


def make_boxwork(grid: CodeGrid) -> Boxwork:
    """Make the scratch space for searches on a grid."""
    n, widest = len(grid.size), int(grid.size.max())
    depth = _depth(grid)
    # Codes of one vector: down to a leaf, up to the total, down to another leaf.
    longest = 3 * depth + 2
    corners = 1
    for _ in range(n):
        corners = min(corners * (longest + 1), len(grid.cell))
    vectors = min(MOST_VECTORS, (widest + 1) * MOST_BELOW)
    return Boxwork(
        rise=np.empty(widest),
        fall=np.empty(widest),
        rank=np.empty(widest, np.int64),
        climb=np.empty(depth + 2),
        ways_cost=np.empty((n, vectors)),
        below=np.empty((n, vectors), np.int64),
        beside=np.empty((n, vectors), np.int64),
        listed=np.zeros(n, np.int64),
        order=np.empty((n, vectors), np.int64),
        turn=np.empty(n + 1, np.int64),
        partial=np.empty(n + 1),
        rest=np.empty(n + 1),
        entry=np.empty((n, longest), np.int64),
        entry_sign=np.empty((n, longest), np.int64),
        place=np.empty((n + 1, corners), np.int64),
        way=np.empty((n + 1, corners), np.int64),
        length=np.empty(n + 1, np.int64),
        best_place=np.empty(max(corners, MOST_PLACES_MOVED), np.int64),
        best_way=np.empty(max(corners, MOST_PLACES_MOVED), np.int64),
    )


def _depth(grid: CodeGrid) -> int:
    """Codes on the longest way from a leaf to its total."""
    deepest = 1
    for first, size in zip(grid.first.tolist(), grid.size.tolist(), strict=True):
        depth = np.zeros(size, np.int64)
        for code in range(1, size):
            depth[code] = depth[grid.parent[first + code]] + 1
        deepest = max(deepest, int(depth.max()) + 1)
    return deepest


def _known_empty(
    present: Flags, trees: list[Hierarchy], shape: tuple[int, ...]
) -> Flags:
    """Absent cells that an equation with cells in the table would contain."""
    there = present.reshape(shape)
    empty = np.zeros(shape, dtype=bool)
    for k, tree in enumerate(trees):
        here = np.moveaxis(there, k, 0)
        flag = np.moveaxis(empty, k, 0)
        for node in range(len(tree)):
            parts = tree.children(node)
            if parts:
                counted = here[node] & here[parts].any(axis=0)
                flag[parts] |= counted & ~here[parts]
    return empty.ravel()


def plane_networks(dims: Sequence[Dimension]) -> Planes:
    """List the planes of two dimensions that are networks."""
    found = []
    few = len(dims) <= MOST_DIMENSIONS
    for a, b in combinations(range(len(dims)), 2) if few else ():
        sizes = len(dims[a].hierarchy), len(dims[b].hierarchy)
        codes = np.indices(sizes, dtype=np.int32).reshape(2, -1).T
        network = detect_network(equations([dims[a], dims[b]], codes))
        if network is not None:
            found.append((a, b, network))
    networks = [network for _, _, network in found]
    arcs = np.array([len(network.tail) for network in networks], dtype=np.int64)
    nodes = np.array([network.nodes for network in networks], dtype=np.int64)
    arc_first = np.concatenate([[0], np.cumsum(arcs)])
    starts, at_node = [], []
    for network, first in zip(networks, arc_first.tolist(), strict=False):
        ends = np.concatenate([network.tail, network.head])
        both = np.tile(np.arange(len(network.tail)), 2)
        at_node.append(both[np.argsort(ends, kind="stable")])
        count = np.bincount(ends, minlength=network.nodes)
        starts.append(2 * first + np.concatenate([[0], np.cumsum(count)]))
    return Planes(
        across=_ints([a for a, _, _ in found]),
        along=_ints([b for _, b, _ in found]),
        nodes=nodes,
        arc_first=arc_first,
        tail=_ints(*(network.tail for network in networks)),
        head=_ints(*(network.head for network in networks)),
        node_first=np.concatenate([[0], np.cumsum(nodes + 1)]),
        start=_ints(*starts),
        arc=_ints(*at_node),
    )


def make_pathwork(planes: Planes) -> Pathwork:
    """Make the scratch space for searches on planes."""
    most = int(planes.nodes.max()) if len(planes.nodes) else 1
    layers = 64
    return Pathwork(
        distance=np.empty(most),
        via=np.empty(most, np.int64),
        heap=np.empty(most, np.int32),
        spot=np.empty(most, np.int32),
        shift=np.empty(layers, np.int64),
        way=np.empty(layers, np.int64),
        place=np.empty(MOST_PLACES_MOVED, np.int64),
        place_way=np.empty(MOST_PLACES_MOVED, np.int64),
    )


def _ints(*parts: Any) -> Long:
    if not parts:
        return np.empty(0, np.int64)
    return np.concatenate([np.asarray(p, dtype=np.int64) for p in parts])
