"""Small random tables and naive twins of the network kernels."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from evosdc.errors import LevelError
from evosdc.suppress.problem.problem import Problem
from evosdc.table import Dimension, Hierarchy, Table, build_table

KINDS = ("whole", "decimal", "real", "bounded", "sliding", "margins", "thin")


def table_with_totals(inner, **columns) -> Table:
    """A two-dimensional table of inner cells with its totals, row by row."""
    rows, cols = inner.shape
    full = np.zeros((rows + 1, cols + 1))
    full[1:, 1:] = inner
    full[0, 1:] = inner.sum(axis=0)
    full[1:, 0] = inner.sum(axis=1)
    full[0, 0] = inner.sum()
    dims = [
        Dimension("row", Hierarchy.flat([f"r{i}" for i in range(rows)])),
        Dimension("column", Hierarchy.flat([f"c{j}" for j in range(cols)])),
    ]
    codes = np.stack(np.meshgrid(*map(np.arange, full.shape), indexing="ij"), axis=-1)
    return build_table(dims, codes.reshape(-1, 2), full.ravel(), **columns)


def random_problem(seed: int, kind: str = "whole") -> Problem:
    """A small random problem, most of them with a solution."""
    rng = np.random.default_rng(seed)
    while True:
        try:
            return Problem.of(_random_table(rng, kind))
        except LevelError:  # a level beyond the cell's own bounds
            continue


def _random_table(rng: np.random.Generator, kind: str) -> Table:
    shape = tuple(rng.integers(3, 7, size=2))
    inner = rng.integers(0, 60, size=shape).astype(float)
    if kind == "thin":
        inner *= rng.random(shape) < 0.7
    if kind == "decimal":
        inner = np.round(inner / 7, 1)
    if kind == "real":
        inner = rng.uniform(0, 60, size=shape)
    inner[0, 0] += 1.0  # never an empty table
    table = table_with_totals(inner)
    is_inner = np.all(table.codes > 0, axis=1)
    chance = np.where(is_inner, 0.15, 0.3 if kind == "margins" else 0.0)
    sensitive = (rng.random(len(table)) < chance) & (table.value > 0)
    level = 0.15 * table.value
    if kind != "real":
        level = np.ceil(level)
    level = np.where(sensitive, level, 0.0)
    status = table.status.copy()
    status[sensitive] = "u"
    changes = {"status": status, "upl": level, "lpl": np.minimum(level, table.value)}
    if kind == "bounded":
        changes["lower"] = np.floor(0.5 * table.value)
        changes["upper"] = np.ceil(1.5 * table.value)
    if kind == "thin":
        # Totals published, zeros, little room: paths share cells, some levels are lost.
        status[~is_inner] = "z"
        changes["lower"] = np.floor(0.8 * table.value)
        changes["upper"] = np.ceil(1.2 * table.value)
    if kind == "sliding":
        changes["spl"] = np.where(sensitive, np.ceil(0.5 * table.value), 0.0)
        changes["upper"] = np.where(
            rng.random(len(table)) < 0.5, np.ceil(1.3 * table.value), np.inf
        )
    return table.replace(**changes)


def reach(problem: Problem, hidden, cell: int, sign: int) -> float:
    """How far an attacker thinks a cell can move one way, by linear programming."""
    cost = np.zeros(len(hidden))
    cost[cell] = -sign
    low = np.where(hidden, -problem.down, 0.0)
    high = np.where(hidden, problem.up, 0.0)
    answer = linprog(
        cost,
        A_eq=problem.table.matrix,
        b_eq=np.zeros(problem.table.matrix.shape[0]),
        bounds=np.stack([low, high], axis=1),
        method="highs",
    )
    return np.inf if answer.status == 3 else -answer.fun


def is_safe(problem: Problem, hidden, tolerance: float = 1e-6) -> bool:
    """Whether every level is covered, by linear programming."""
    levels = problem.levels
    for cell, sign, amount in zip(levels.cell, levels.sign, levels.amount, strict=True):
        if reach(problem, hidden, cell, sign) < amount - tolerance:
            return False
    return all(
        reach(problem, hidden, cell, 1) + reach(problem, hidden, cell, -1)
        >= width - tolerance
        for cell, width in zip(levels.slide, levels.slide_amount, strict=True)
    )


def random_graph(rng: np.random.Generator, nodes: int, cells: int):
    """Tails, heads, capacities both ways, costs; parallel arcs and loops happen."""
    tail = rng.integers(0, nodes, cells).astype(np.int32)
    head = rng.integers(0, nodes, cells).astype(np.int32)
    up = rng.integers(0, 10, cells)
    down = rng.integers(0, 10, cells)
    return tail, head, up, down, rng.integers(0, 20, cells).astype(float)


def directed(tail, head, up, down):
    """Every arc in both directions: origin, end, capacity, cell."""
    for cell, (a, b) in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        if a != b:
            yield a, b, int(up[cell]), cell
            yield b, a, int(down[cell]), cell


def capacity_matrix(nodes, tail, head, up, down):
    """Capacities between nodes, parallel arcs added up, as scipy wants them."""
    dense = np.zeros((nodes, nodes), dtype=np.int32)
    for a, b, room, _ in directed(tail, head, up, down):
        dense[a, b] += room
    return sparse.csr_array(dense)


def naive_distance(nodes, arcs, source, target) -> float:
    """Bellman and Ford: cheapest way along (origin, end, price) arcs."""
    distance = [np.inf] * nodes
    distance[source] = 0.0
    for _ in range(nodes):
        for a, b, price in arcs:
            distance[b] = min(distance[b], distance[a] + price)
    return distance[target]
