"""A labelled table as a grid, and patterns built with boxes and cycles on it.

Hundreds of times faster than a program, and in large tables nearly every level has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Int, Long, Real
from evosdc.suppress.engine.base import Cells, Mask, Stopped, never
from evosdc.suppress.engine.general import cover_kernels as kernels
from evosdc.suppress.engine.general.box_kernels import (
    ABSENT,
    EMPTY,
    MOST_BELOW,
    Boxwork,
    CodeGrid,
)
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.engine.general.path_kernels import Pathwork, Planes
from evosdc.suppress.engine.general.pool import Rows
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import dimensions_of
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
# Demands and cells dealt with between two looks at the clock. Half as many look twice
# as often; twice as many pass a limit of time by as much more.
_ROWS_A_CALL = 64
_CELLS_PER_CALL = 32
# Witnesses that a kernel may store in one go, and cells of them. Half as much space is
# full after fewer demands of a call; twice as much is memory that stays empty.
_WITNESSES_A_CALL = 4096
_ENTRIES_PER_CALL = 65536


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


class Boxes:
    """What boxes and cycles can do on one table.

    Made by `boxes_of`; all methods change `hidden` and the witnesses in place.
    """

    def __init__(self, problem: Problem, field: kernels.CoverArrays) -> None:
        self._problem = problem
        self.field = field

    def with_rows(self, rows: Rows) -> Boxes:
        """Return the same boxes for a list of demands that has grown."""
        trial = _trial(rows, self._problem)
        return Boxes(self._problem, self.field._replace(rows=rows, trial=trial))

    def with_price(self, cost: Real) -> Boxes:
        """Return the same boxes at other costs."""
        price = np.where(self._problem.hideable, cost, np.inf)
        return Boxes(self._problem, self.field._replace(price=price))

    def cover(
        self,
        witnesses: Witnesses,
        hidden: Mask,
        order: Cells,
        *,
        only_hidden: bool = False,
        in_parts: bool = True,
        stopped: Stopped = never,
    ) -> Cells:
        """Cover open demands in order, as cheaply as boxes and cycles can.

        With `only_hidden` nothing more is hidden; without `in_parts` every level is
        covered in one step, which is quicker and hides more. Returns the demands that
        have none; when stopped early, the others of `order` are simply left open.
        """
        witnesses.follow(self.field.rows)
        self.field.parts.most[0] = kernels.MOST_PARTS if in_parts else 0
        failed = np.empty(len(order), np.int64)
        misses: list[Cells] = []
        at = 0
        while at < len(order) and not stopped():
            witnesses.make_space(_WITNESSES_A_CALL, self._entries())
            part = order[at : at + _ROWS_A_CALL]
            done, missed = kernels.cover_rows(
                self.field, witnesses.pool, hidden, part, only_hidden, failed
            )
            misses.append(failed[:missed].copy())
            at += done
        self.field.parts.most[0] = kernels.MOST_PARTS
        return np.concatenate(misses) if misses else np.empty(0, np.int64)

    def drop(
        self, witnesses: Witnesses, hidden: Mask, cells: Cells, stopped: Stopped = never
    ) -> None:
        """Publish those of some cells that other boxes and cycles can replace."""
        witnesses.follow(self.field.rows)
        at = 0
        while at < len(cells) and not stopped():
            witnesses.make_space(_WITNESSES_A_CALL, self._entries())
            part = cells[at : at + _CELLS_PER_CALL]
            done = kernels.drop_cells(self.field, witnesses.pool, hidden, part)
            if done == 0:
                # One cell needs more space than a call has: it stays hidden.
                done = 1
            at += done

    def rebuild(
        self,
        witnesses: Witnesses,
        hidden: Mask,
        targets: Cells,
        shuffle: Real,
        cost: Real,
    ) -> float:
        """Publish some secondaries and cover what broke, if that costs no more.

        The boxes' own prices guide it, `cost` decides. Returns the change of the cost.
        """
        witnesses.follow(self.field.rows)
        witnesses.make_space(_WITNESSES_A_CALL, self._entries())
        pool = witnesses.pool
        return float(kernels.ruin(self.field, pool, hidden, targets, shuffle, cost))

    def only_box(self, demand: Demand, price: Real) -> Move | None:
        """Find the cheapest box, no cycle, at given prices.

        They are 0 for hidden cells, and infinite for cells that must stay.
        """
        field = self.field._replace(price=price)
        size = kernels.find_only_box(field, demand.cell, demand.sign, demand.amount)
        if size == 0:
            return None
        order = np.argsort(field.cells[:size])
        return Move(field.cells[order].copy(), field.by[order].copy())

    def _entries(self) -> int:
        return 8 * len(self.field.cells) + _ENTRIES_PER_CALL


def boxes_of(problem: Problem, rows: Rows) -> Boxes | None:
    """Set up boxes for a table, or None where it has no grid of codes."""
    table = problem.table
    spanned = dimensions_of(table)
    grid = None if spanned is None else lay_out(*spanned)
    if spanned is None or grid is None:
        return None
    planes = plane_networks(spanned[0])
    work = make_boxwork(grid)
    columns = table.columns
    most = len(work.best_place)
    field = kernels.CoverArrays(
        grid=grid,
        work=work,
        planes=planes,
        paths=make_pathwork(planes),
        rows=rows,
        up=problem.up.copy(),
        down=problem.down.copy(),
        price=np.where(problem.hideable, problem.cost, np.inf),
        primary=problem.primary,
        column_start=columns.indptr.astype(np.int64),
        column_row=columns.indices.astype(np.int64),
        column_factor=columns.data.astype(np.float64),
        off=np.zeros(table.matrix.shape[0]),
        cells=np.empty(most, np.int64),
        by=np.empty(most),
        parts=kernels.Parts(
            most=np.array([kernels.MOST_PARTS]),
            at_once=np.empty(most, np.int64),
            spot=np.full(len(table), -1, np.int64),
            cells=np.empty(most, np.int64),
            by=np.empty(most),
            up=np.empty(most),
            down=np.empty(most),
            fresh=np.empty(most, np.bool_),
        ),
        trial=_trial(rows, problem),
    )
    return Boxes(problem, field)


def _trial(rows: Rows, problem: Problem) -> kernels.Trial:
    """Make the scratch space for undoing changes."""
    demands, cells = len(rows.cell), len(problem.table)
    return kernels.Trial(
        rows=np.empty(demands, np.int64),
        old=np.empty(demands, np.int64),
        marked=np.zeros(demands, np.bool_),
        fresh=np.empty(cells, np.int64),
        gone=np.empty(cells, np.int64),
    )
