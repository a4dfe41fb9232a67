"""Cycles of a plane, repeated across the other dimensions: the moves beyond boxes.

A box is a rectangle in two dimensions times a pair of codes in each other one. Any
closed cycle in the plane will do in place of the rectangle, and the cheapest one is a
shortest path: in a plane with at most one hierarchy the equations are the nodes of a
network and the cells its arcs. Where sensitive cells are scattered, six corners times a
pair of codes often join cells that are hidden already and that no box joins.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.general.box_kernels import (
    Boxwork,
    CodeGrid,
    price_of,
    spell_out,
)

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Arcs looked at in one search; what was found until then is taken.
MOST_ARCS = 3_000_000


class Planes(NamedTuple):
    """The planes of a grid that are networks, one after the other.

    Attributes
    ----------
    across, along
        The two dimensions of each plane.
    nodes
        How many nodes each plane has.
    arc_first
        Where the arcs of a plane begin in `tail` and `head`: an arc a pair of codes.
    node_first
        Where the nodes of a plane begin in `start`.
    start, arc
        The arcs at each node.
    """

    across: Ints
    along: Ints
    nodes: Ints
    arc_first: Ints
    tail: Ints
    head: Ints
    node_first: Ints
    start: Ints
    arc: Ints


class Pathwork(NamedTuple):
    """Scratch space of one search; nothing in it outlives a call."""

    distance: Floats
    via: Ints
    done: Flags
    heap_key: Floats
    heap_node: Ints
    shift: Ints
    way: Ints
    place: Ints
    place_way: Ints


@kernel(inner=True)
def _push(work: Pathwork, size: int, key: float, node: int) -> int:
    at = size
    while at > 0:
        above = (at - 1) // 2
        if work.heap_key[above] <= key:
            break
        work.heap_key[at] = work.heap_key[above]
        work.heap_node[at] = work.heap_node[above]
        at = above
    work.heap_key[at], work.heap_node[at] = key, node
    return size + 1


@kernel(inner=True)
def _pop(work: Pathwork, size: int) -> int:
    """Take the top off; it must have been read before."""
    size -= 1
    key, node = work.heap_key[size], work.heap_node[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and work.heap_key[child + 1] < work.heap_key[child]:
            child += 1
        if key <= work.heap_key[child]:
            break
        work.heap_key[at] = work.heap_key[child]
        work.heap_node[at] = work.heap_node[child]
        at = child
    if size > 0:
        work.heap_key[at], work.heap_node[at] = key, node
    return size


@kernel(inner=True)
def _shortest(
    grid: CodeGrid,
    planes: Planes,
    work: Pathwork,
    plane: int,
    corner: int,
    target_arc: int,
    sign: int,
    layers: int,
    amount: float,
    up: Floats,
    down: Floats,
    cost: Floats,
    hidden: Flags,
    only_hidden: bool,
    bound: float,
) -> tuple[float, int]:
    """Dijkstra's search for the way back round a plane; its length and work done."""
    across, along = planes.across[plane], planes.along[plane]
    wide, high = grid.size[along], grid.stride[across]
    deep = grid.stride[along]
    base, first = planes.arc_first[plane], planes.node_first[plane]
    nodes = planes.nodes[plane]
    tail, head = planes.tail[base + target_arc], planes.head[base + target_arc]
    source, goal = (head, tail) if sign > 0 else (tail, head)
    for v in range(nodes):
        work.distance[v] = np.inf
        work.done[v] = False
    work.distance[source] = 0.0
    work.via[source] = -1
    size = _push(work, 0, 0.0, source)
    looked = 0
    while size > 0:
        node, far = work.heap_node[0], work.heap_key[0]
        size = _pop(work, size)
        if far >= bound:
            return np.inf, looked
        if work.done[node]:
            continue
        if node == goal:
            return far, looked
        work.done[node] = True
        for p in range(planes.start[first + node], planes.start[first + node + 1]):
            arc = planes.arc[p]
            looked += 1
            rises = planes.tail[base + arc] == node
            other = planes.head[base + arc] if rises else planes.tail[base + arc]
            if work.done[other] or arc == target_arc or other == node:
                continue
            way = 1 if rises else -1
            place = corner + (arc // wide) * high + (arc % wide) * deep
            total = far
            for layer in range(layers):
                total += price_of(
                    grid.cell[place + work.shift[layer]],
                    way * work.way[layer],
                    amount,
                    up,
                    down,
                    cost,
                    hidden,
                    only_hidden,
                )
                if total >= bound:
                    break
            if total < work.distance[other] and total < bound:
                work.distance[other] = total
                work.via[other] = arc
                size = _push(work, size, total, other)
    return np.inf, looked


@kernel(inner=True)
def _write_down(
    grid: CodeGrid,
    planes: Planes,
    work: Pathwork,
    plane: int,
    corner: int,
    target_arc: int,
    sign: int,
    layers: int,
) -> int:
    """List the places that the path found last moves, the target's first."""
    across, along = planes.across[plane], planes.along[plane]
    wide = grid.size[along]
    base = planes.arc_first[plane]
    tail, head = planes.tail[base + target_arc], planes.head[base + target_arc]
    node = tail if sign > 0 else head
    arc, way, size = target_arc, sign, 0
    while True:
        place = corner + (arc // wide) * grid.stride[across]
        place += (arc % wide) * grid.stride[along]
        if size + layers > len(work.place):
            return 0
        for layer in range(layers):
            work.place[size] = place + work.shift[layer]
            work.place_way[size] = way * work.way[layer]
            size += 1
        arc = work.via[node]
        if arc < 0:
            return size
        if planes.head[base + arc] == node:
            node, way = planes.tail[base + arc], 1
        else:
            node, way = planes.head[base + arc], -1


@kernel(inner=True)
def _stack_layers(
    grid: CodeGrid,
    boxes: Boxwork,
    work: Pathwork,
    k: int,
    vector: int,
    place: int,
    layers: int,
) -> int:
    """Repeat the layers so far along a vector of one more dimension."""
    own = (place // grid.stride[k]) % grid.size[k]
    entries = spell_out(grid, boxes, k, own, vector)
    size = layers
    for layer in range(layers):
        for e in range(entries):
            if size == len(work.shift):
                return 0
            shift = (boxes.entry[k, e] - own) * grid.stride[k]
            work.shift[size] = work.shift[layer] + shift
            work.way[size] = work.way[layer] * boxes.entry_sign[k, e]
            size += 1
    return size


@kernel(inner=True)
def cheapest_cycle(
    grid: CodeGrid,
    boxes: Boxwork,
    planes: Planes,
    work: Pathwork,
    target: int,
    sign: int,
    amount: float,
    up: Floats,
    down: Floats,
    cost: Floats,
    hidden: Flags,
    only_hidden: bool,
    bound: float,
) -> tuple[int, float]:
    """Find the cheapest cycle through a cell that costs less than a bound.

    The vectors of each dimension must have been listed by a search for a box just
    before. Returns the number of places (0 for none) and the cost; places and
    directions are in ``boxes.best_place`` and ``boxes.best_way``.
    """
    n = len(grid.size)
    place = grid.place[target]
    best, found, looked = bound, 0, 0
    for k in range(n):
        if boxes.listed[k] == 0:
            # Nothing can balance the equation of the cell along this dimension.
            return 0, bound
    for plane in range(len(planes.nodes)):
        across, along = planes.across[plane], planes.along[plane]
        x = (place // grid.stride[across]) % grid.size[across]
        y = (place // grid.stride[along]) % grid.size[along]
        corner = place - x * grid.stride[across] - y * grid.stride[along]
        target_arc = x * grid.size[along] + y
        one, two = -1, -1
        for k in range(n):
            if k != across and k != along:
                if one < 0:
                    one = k
                else:
                    two = k
        for i in range(boxes.listed[one] if one >= 0 else 1):
            first = boxes.order[one, i] if one >= 0 else 0
            line = boxes.ways_cost[one, first] if one >= 0 else 0.0
            if line >= best or looked > MOST_ARCS:
                break
            for j in range(boxes.listed[two] if two >= 0 else 1):
                work.shift[0], work.way[0] = 0, 1
                layers = 1
                if one >= 0:
                    layers = _stack_layers(grid, boxes, work, one, first, place, 1)
                second = boxes.order[two, j] if two >= 0 else 0
                if two >= 0:
                    if line + boxes.ways_cost[two, second] >= best:
                        break
                    layers = _stack_layers(
                        grid, boxes, work, two, second, place, layers
                    )
                if layers == 0:
                    continue
                start = 0.0
                for layer in range(1, layers):
                    start += price_of(
                        grid.cell[place + work.shift[layer]],
                        sign * work.way[layer],
                        amount,
                        up,
                        down,
                        cost,
                        hidden,
                        only_hidden,
                    )
                if start >= best:
                    continue
                length, more = _shortest(
                    grid, planes, work, plane, corner, target_arc, sign, layers,
                    amount, up, down, cost, hidden, only_hidden, best - start,
                )  # fmt: skip
                looked += more
                if start + length >= best:
                    continue
                size = _write_down(
                    grid, planes, work, plane, corner, target_arc, sign, layers
                )
                if 0 < size <= len(boxes.best_place):
                    best, found = start + length, size
                    for at in range(size):
                        boxes.best_place[at] = work.place[at]
                        boxes.best_way[at] = work.place_way[at]
    return found, best
