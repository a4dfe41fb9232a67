"""The plain arrays that the kernels work on.

A *slot* is a cell seen from one of its ends: slot ``2 c`` leaves the tail of cell `c`
(the cell goes up), slot ``2 c + 1`` leaves its head (the cell goes down).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.table import Network

# Whole units; real numbers where flows are sought for cuts.
Capacity = NDArray[Any]


class Arcs(NamedTuple):
    """The network, which no search changes.

    `up` and `down` are whole capacities (0 for cells that must stay published).
    ``slot[start[v]:start[v + 1]]`` leaves node `v` through cells that may be hidden and
    are not sensitive, cheapest first, whichever way they have room; ``price`` holds
    what they cost.
    """

    tail: Int
    head: Int
    up: Capacity
    down: Capacity
    start: Long
    slot: Int
    price: Real


class Graph(NamedTuple):
    """Slots by the node they leave: ``slot[start[v]:start[v + 1]]``, cheapest first."""

    tail: Int
    head: Int
    start: Long
    slot: Int


class NetworkDemands(NamedTuple):
    """Levels that primaries alone do not cover, in whole units."""

    cell: Long
    sign: NDArray[np.int8]
    amount: Long


class PatternArrays(NamedTuple):
    """A set of hidden cells and a witness flow for each level it covers.

    The hidden cells at node `v` are a list in order of cell number: ``first[v]`` is a
    slot, ``following[slot]`` the next, -1 the end. Being in order makes every answer a
    function of the hidden set alone, not of the way to it. ``extra[:tally[0]]`` are
    the hidden cells that are not sensitive, ``place`` says where each one stands there.

    The witness of level `l` is ``length[l]`` entries of the pool from ``begin[l]`` on
    (-1: no witness), where there is room for ``space[l]``; ``tally[1]`` is where the
    pool is free.
    """

    hidden: Flags
    first: Int
    following: Int
    extra: Int
    place: Int
    tally: Long
    begin: Long
    length: Int
    space: Int
    pool_cell: Int
    pool_flow: Long


class Side(NamedTuple):
    """One direction of a path search: labels, the nodes labelled, and a heap of them.

    Labels count where ``seen`` holds the search's number. ``queue[:size[0]]`` are the
    nodes labelled, nearest first. The hidden cells of ``size[1]`` of them have been
    followed; ``size[3]`` have been sent to the heap, where ``size[2]`` wait for the arc
    at their ``pointer``.
    """

    seen: Long
    distance: Real
    via: Int
    pointer: Long
    queue: Int
    size: Long
    heap: Int
    spot: Int
    key: Real


class Work(NamedTuple):
    """Scratch space of the kernels, clean (flows zero, heaps empty) between calls.

    `ahead` searches from the source on, `back` from the target; the path found last
    is in ``ahead.via``. ``near`` and ``last`` mark nodes one step from a target.
    """

    flow: Capacity
    listed: Flags
    touched: Int
    touches: Long
    clock: Long
    near: Long
    last: Int
    ahead: Side
    back: Side


class Net(NamedTuple):
    """A network, a pattern on it and scratch space: what most kernels take."""

    arcs: Arcs
    demands: NetworkDemands
    live: PatternArrays
    work: Work


def graph_of(tail: Int, head: Int, use: Flags, nodes: int, cost: Real) -> Graph:
    """Collect the slots of the cells to use, cheapest first. Loops are left out."""
    cells = np.flatnonzero(use & (tail != head))
    slot = np.concatenate([2 * cells, 2 * cells + 1])
    node = np.concatenate([tail[cells], head[cells]])
    order = np.lexsort((slot, cost[slot >> 1], node))
    start = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(node, minlength=nodes), out=start[1:])
    return Graph(tail, head, start, slot[order].astype(np.int32))


def make_arcs(network: Network, up: Long, down: Long, free: Flags, cost: Real) -> Arcs:
    """Sort the arcs of the cells in `free` at each node by cost, then by number."""
    use = free & ((up > 0) | (down > 0))
    graph = graph_of(network.tail, network.head, use, network.nodes, cost)
    return Arcs(
        tail=network.tail,
        head=network.head,
        up=up,
        down=down,
        start=graph.start,
        slot=graph.slot,
        price=cost[graph.slot >> 1].astype(np.float64),
    )


def _make_side(nodes: int) -> Side:
    return Side(
        seen=np.zeros(nodes, dtype=np.int64),
        distance=np.zeros(nodes, dtype=np.float64),
        via=np.zeros(nodes, dtype=np.int32),
        pointer=np.zeros(nodes, dtype=np.int64),
        queue=np.zeros(nodes, dtype=np.int32),
        size=np.zeros(4, dtype=np.int64),
        heap=np.zeros(nodes, dtype=np.int32),
        spot=np.full(nodes, -1, dtype=np.int32),
        key=np.zeros(nodes, dtype=np.float64),
    )


def make_work(nodes: int, cells: int, kind: DTypeLike = np.int64) -> Work:
    """Allocate scratch space for flows of whole numbers, or of another kind."""
    return Work(
        flow=np.zeros(cells, dtype=kind),
        listed=np.zeros(cells, dtype=np.bool_),
        touched=np.zeros(cells, dtype=np.int32),
        touches=np.zeros(1, dtype=np.int64),
        clock=np.zeros(1, dtype=np.int64),
        near=np.zeros(nodes, dtype=np.int64),
        last=np.zeros(nodes, dtype=np.int32),
        ahead=_make_side(nodes),
        back=_make_side(nodes),
    )


def make_live(nodes: int, cells: int, levels: int, pool: int) -> PatternArrays:
    """Allocate a state that hides nothing and covers nothing."""
    return PatternArrays(
        hidden=np.zeros(cells, dtype=np.bool_),
        first=np.full(nodes, -1, dtype=np.int32),
        following=np.full(2 * cells, -1, dtype=np.int32),
        extra=np.zeros(cells, dtype=np.int32),
        place=np.full(cells, -1, dtype=np.int32),
        tally=np.zeros(2, dtype=np.int64),
        begin=np.zeros(levels, dtype=np.int64),
        length=np.full(levels, -1, dtype=np.int32),
        space=np.zeros(levels, dtype=np.int32),
        pool_cell=np.zeros(pool, dtype=np.int32),
        pool_flow=np.zeros(pool, dtype=np.int64),
    )


def copy_live(live: PatternArrays) -> PatternArrays:
    """Return an independent copy."""
    return PatternArrays._make(array.copy() for array in live)
