"""Small tables and naive twins of the kernels for boxes and cycles."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from evosdc.suppress.engine.base import Demands
from evosdc.suppress.engine.general.box_kernels import Movable, cheapest_box
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.path_kernels import cheapest_cycle
from evosdc.suppress.engine.general.pool import Rows, add_rows, make_knowledge, no_rows
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Dimension, Hierarchy, Table, build_table

Array = NDArray[np.float64]


class Question:
    """A cell to move, and what moving the others costs: an `only_hidden` search.

    Prices are whole numbers, so that costs can be compared exactly.
    """

    def __init__(self, table: Table, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = len(table)
        problem = Problem.of(table)
        self.table = table
        self.up, self.down = problem.up, problem.down
        self.price = rng.integers(0, 20, n).astype(float)
        self.price[(rng.random(n) < 0.1) | ~problem.hideable] = np.inf
        self.hidden = (rng.random(n) < 0.4) & problem.hideable
        self.only_hidden = bool(rng.random() < 0.3)
        self.target = int(rng.integers(n))
        self.sign = int(rng.choice([1, -1]))
        room = (self.up if self.sign > 0 else self.down)[self.target]
        # Often more than a neighbour has room for, never more than the cell itself.
        most = min(room, 2.0 * float(np.median(np.abs(table.value))))
        self.amount = most * float(rng.choice([0.05, 0.3, 1.0]))

    def cells(self) -> Movable:
        """What may move, as kernels see it."""
        return Movable(self.up, self.down, self.price, self.hidden, self.only_hidden)

    def prices(self) -> tuple[Array, Array]:
        """What raising and lowering each cell costs."""
        base = np.where(self.only_hidden, np.inf, self.price)
        base = np.where(self.hidden, 0.0, base)
        return (
            np.where(self.up < self.amount, np.inf, base),
            np.where(self.down < self.amount, np.inf, base),
        )


def witnesses_of(problem: Problem) -> Witnesses:
    """Witnesses for the plain levels of a problem, without a solver."""
    levels = problem.levels
    demands = Demands(levels.cell, levels.sign, levels.amount)
    return Witnesses(problem, rows_of(problem, demands))


def rows_of(problem: Problem, demands: Demands) -> Rows:
    """Demands as kernels see them."""
    known, cells = problem.knowledge, len(problem.table)
    rows = no_rows(make_knowledge(known, len(problem.attackers), cells))
    sign = demands.sign.astype(np.int64)
    return add_rows(rows, demands.cell, sign, demands.amount, demands.attacker)


def all_boxes(table: Table) -> Boxes | None:
    problem = Problem.of(table)
    return boxes_of(problem, witnesses_of(problem).rows)


def ask_box(
    boxes: Boxes, q: Question, bound: float = np.inf
) -> tuple[Array | None, float]:
    """The deviation of the cheapest box in units of the amount, and its cost."""
    field = boxes.field
    size, cost = cheapest_box(
        field.grid, field.work, q.target, q.sign, q.amount, q.cells(), bound
    )
    return _taken(boxes, size, len(q.table)), cost


def ask_cycle(
    boxes: Boxes, q: Question, bound: float = np.inf
) -> tuple[Array | None, float]:
    """The same for the cheapest cycle below a bound; asks for the box first."""
    ask_box(boxes, q)
    field = boxes.field
    size, cost = cheapest_cycle(
        field.grid, field.work, field.planes, field.paths, q.target, q.sign, q.amount,
        q.cells(), bound,
    )  # fmt: skip
    return _taken(boxes, size, len(q.table)), cost


def _taken(boxes: Boxes, size: int, cells: int) -> Array | None:
    if size == 0:
        return None
    work = boxes.field.work
    cell = boxes.field.grid.cell[work.best_place[:size]]
    assert len(np.unique(work.best_place[:size])) == size
    by = np.zeros(cells)
    by[cell[cell >= 0]] = work.best_way[:size][cell >= 0]
    return by


def cost_of(q: Question, by: Array) -> float:
    """What a deviation costs; the target moves free of charge."""
    rise, fall = q.prices()
    price = np.where(by > 0, rise, np.where(by < 0, fall, 0.0))
    price[q.target] = 0.0
    return float(price.sum())


def vectors(tree: Hierarchy, own: int) -> Array:
    """All vectors of a dimension: a leaf at or below a code rises, another falls."""

    def line(leaf: int) -> Array:
        out = np.zeros(len(tree))
        while leaf >= 0:
            out[leaf] = 1.0
            leaf = tree.parents[leaf]
        return out

    lines = [line(leaf) for leaf in np.flatnonzero(tree.is_leaf).tolist()]
    rising = [v for v in lines if v[own]]
    falling = [np.zeros(len(tree)), *(v for v in lines if not v[own])]
    return np.array([a - b for a, b in product(rising, falling)])


def naive_box(q: Question) -> float:
    """The cost of the cheapest box, from all products of vectors."""
    table = q.table
    codes = tuple(table.codes.T)
    every = np.ones((1, len(table)))
    for k, d in enumerate(table.dimensions):
        list_k = vectors(d.hierarchy, int(table.codes[q.target, k]))
        every = (every[:, None, :] * list_k[None, :, codes[k]]).reshape(-1, len(table))
    every = every[~(every @ table.matrix.toarray().T).any(axis=1)] * q.sign
    return min((cost_of(q, by) for by in every), default=np.inf)


def naive_cycle(q: Question) -> float:
    """The cost of the cheapest cycle of a plane times vectors, in a flat table.

    Bellman and Ford: every place of the plane is an arc between its row and column.
    """
    table = q.table
    shape = tuple(len(d.hierarchy) for d in table.dimensions)
    rise, fall = np.full(shape, np.inf), np.full(shape, np.inf)
    rise[tuple(table.codes.T)], fall[tuple(table.codes.T)] = q.prices()
    at = table.codes[q.target].tolist()
    best = np.inf
    for a, b in combinations(range(len(shape)), 2):
        others = [k for k in range(len(shape)) if k not in (a, b)]
        lists = [vectors(table.dimensions[k].hierarchy, at[k]) for k in others]
        up = np.moveaxis(rise, (a, b), (0, 1))
        down = np.moveaxis(fall, (a, b), (0, 1))
        for chosen in product(*lists):
            flat_up, flat_down = np.zeros(up.shape[:2]), np.zeros(up.shape[:2])
            start = 0.0
            for place in np.ndindex(*up.shape[2:]):
                way = np.prod([v[c] for v, c in zip(chosen, place, strict=True)])
                if way == 0:
                    continue
                layer = up[(..., *place)], down[(..., *place)]
                flat_up += layer[0] if way > 0 else layer[1]
                flat_down += layer[1] if way > 0 else layer[0]
                if list(place) != [at[k] for k in others]:
                    start += layer[0 if way * q.sign > 0 else 1][at[a], at[b]]
            back = _way_back(flat_up, flat_down, at[a], at[b], q.sign)
            best = min(best, start + back)
    return float(best)


def _way_back(rise: Array, fall: Array, x: int, y: int, sign: int) -> float:
    """The cheapest path that balances a step of place (x, y) in a flat plane."""
    arcs = []
    for i, j in np.ndindex(*rise.shape):
        # A total enters its equation with a minus.
        way = (-1 if i == 0 else 1) * (-1 if j == 0 else 1)
        ends = ("row", i), ("column", j)
        tail, head = ends if way > 0 else ends[::-1]
        if (i, j) == (x, y):
            source, goal = (head, tail) if sign > 0 else (tail, head)
        else:
            arcs += [(tail, head, rise[i, j]), (head, tail, fall[i, j])]
    far = {node: np.inf for arc in arcs for node in arc[:2]} | {source: 0.0}
    for _ in far:
        for tail, head, price in arcs:
            far[head] = min(far.get(head, np.inf), far[tail] + price)
    return float(far.get(goal, np.inf))


def program_cost(q: Question) -> float:
    """The cheapest deviation by linear programming: steps of at most the amount.

    In a network the optimum is a path, so a cycle of a plane attains it.
    """
    n = len(q.table)
    rise, fall = q.prices()
    rise[q.target] = fall[q.target] = 0.0
    price = np.concatenate([rise, fall])
    can = np.isfinite(price)
    limits = [(0.0, 1.0 if c else 0.0) for c in can.tolist()]
    for way in (1, -1):
        moves = 1.0 if way == q.sign else 0.0
        limits[q.target + (0 if way > 0 else n)] = (moves, moves)
    dense = q.table.matrix.toarray()
    found = linprog(
        np.where(can, price, 0.0),
        A_eq=np.hstack([dense, -dense]),
        b_eq=np.zeros(len(dense)),
        bounds=limits,
    )
    return float(found.fun) if found.status == 0 else np.inf


def tree_of(rng: np.random.Generator, codes: int) -> Hierarchy:
    """A random tree; a code with parts has at least two."""
    parents = [-1]
    open_codes = [0]
    while len(parents) < codes:
        parent = open_codes.pop(int(rng.integers(len(open_codes))))
        for _ in range(min(2 + int(rng.integers(2)), max(2, codes - len(parents)))):
            open_codes.append(len(parents))
            parents.append(parent)
    return Hierarchy(tuple(f"c{i}" for i in range(len(parents))), tuple(parents))


def sparse_table(seed: int, shape: tuple[int, ...], trees: int, absent: float) -> Table:
    """A table in which some inner cells, and totals of nothing, are not there."""
    rng = np.random.default_rng(seed)
    dims = [
        Dimension(
            f"d{k}",
            tree_of(rng, size + 1)
            if k < trees
            else Hierarchy.flat([f"c{i}" for i in range(size)]),
        )
        for k, size in enumerate(shape)
    ]
    leaves = [np.flatnonzero(d.hierarchy.is_leaf).tolist() for d in dims]
    inner = np.array(list(product(*leaves)))
    kept = rng.random(len(inner)) >= absent
    kept[int(rng.integers(len(inner)))] = True
    inner = inner[kept]
    value = rng.integers(0, 50, len(inner))
    return build_table(dims, inner, value, missing="empty")


def without_labels(table: Table, seed: int) -> tuple[Table, NDArray[np.int64]]:
    """The table with nothing but equations, cells and equations shuffled."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(table))
    rows = rng.permutation(table.matrix.shape[0])
    columns = ("value", "weight", "status", "lower", "upper", "lpl", "upl", "spl")
    bare = Table.of(
        matrix=table.matrix[rows][:, order],
        rhs=table.rhs[rows],
        **{name: getattr(table, name)[order] for name in columns},
    )
    return bare, order
