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

from evosdc.arrays import Int, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.general.box_kernels import (
    Boxwork,
    CodeGrid,
    Movable,
    list_entries,
    price_of,
)
from evosdc.suppress.structure.primitives import heap_pop, heap_push

# Arcs looked at in one search; what was found until then is taken. At half of it large
# tables get a few more expensive deviations, at twice of it some searches take longer.
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

    across: Long
    along: Long
    nodes: Long
    arc_first: Long
    tail: Long
    head: Long
    node_first: Long
    start: Long
    arc: Long


class Pathwork(NamedTuple):
    """Scratch space of one search; nothing in it outlives a call."""

    distance: Real
    via: Long
    heap: Int
    spot: Int
    shift: Long
    way: Long
    place: Long
    place_way: Long


@kernel(inner=True, borrows=True)
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
    cells: Movable,
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
        work.spot[v] = -1
    work.via[source] = -1
    size = heap_push(work.heap, work.spot, work.distance, 0, source, 0.0)
    looked = 0
    while size > 0:
        node = heap_pop(work.heap, work.spot, work.distance, size)
        size -= 1
        far = work.distance[node]
        if far >= bound:
            return np.inf, looked
        if node == goal:
            return far, looked
        for p in range(planes.start[first + node], planes.start[first + node + 1]):
            arc = planes.arc[p]
            looked += 1
            rises = planes.tail[base + arc] == node
            other = planes.head[base + arc] if rises else planes.tail[base + arc]
            if arc == target_arc or work.distance[other] <= far:
                continue
            way = 1 if rises else -1
            place = corner + (arc // wide) * high + (arc % wide) * deep
            total = far
            for layer in range(layers):
                cell = grid.cell[place + work.shift[layer]]
                total += price_of(cells, cell, way * work.way[layer], amount)
                if total >= bound:
                    break
            if total < work.distance[other] and total < bound:
                work.via[other] = arc
                size = heap_push(
                    work.heap, work.spot, work.distance, size, other, total
                )
    return np.inf, looked


@kernel(inner=True, borrows=True)
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


@kernel(inner=True, borrows=True)
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
    entries = list_entries(grid, boxes, k, own, vector)
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


@kernel(inner=True, borrows=True)
def cheapest_cycle(
    grid: CodeGrid,
    boxes: Boxwork,
    planes: Planes,
    work: Pathwork,
    target: int,
    sign: int,
    amount: float,
    cells: Movable,
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
                    cell = grid.cell[place + work.shift[layer]]
                    start += price_of(cells, cell, sign * work.way[layer], amount)
                if start >= best:
                    continue
                length, more = _shortest(
                    grid, planes, work, plane, corner, target_arc, sign, layers,
                    amount, cells, best - start,
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
