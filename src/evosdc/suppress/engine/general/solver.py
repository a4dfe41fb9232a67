"""HiGHS on small programs whose right-hand sides are zero, and cells joined for them.

Once most cells are published, half of the equations and more have two hidden cells
left, so that one moves as far as the other. Programs over such classes of cells have a
half to a tenth of the equations.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from scipy import sparse

from evosdc.arrays import Int, Long, Real

# Costs are perturbed by this share of what HiGHS does: without any the programs of
# tables of many levels take a half more iterations, with all of it those of dense cubes
# take up to ten times more.
_PERTURBATION = 0.1


def silent_solver() -> Any:
    """Return a solver of small programs, whose answers are as exact as they can be."""
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "simplex"),
        ("presolve", "on"),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-7),
        ("dual_simplex_cost_perturbation_multiplier", _PERTURBATION),
    ):
        solver.setOptionValue(option, value)
    return solver


def pass_program(
    solver: Any,
    rows: int,
    columns: tuple[Int, Int, Real],
    low: Real,
    high: Real,
    cost: Real,
    last: float = 0.0,
) -> None:
    """Pass a program of equations whose right-hand sides are zero to a solver.

    All but that of the last one, which may be another. `columns` are the arrays of a
    CSC matrix. This is quicker than to change the bounds and costs of a program that is
    there.
    """
    right = np.zeros(rows)
    right[-1:] = last
    solver.passModel(
        len(cost),
        rows,
        len(columns[2]),
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        cost,
        low,
        high,
        right,
        right,
        *columns,
        np.zeros(len(cost), dtype=np.int32),
    )


def both_ways(matrix: Any) -> tuple[Int, Int, Real]:
    """Columns of a matrix (CSC), each once upwards and once downwards."""
    start = matrix.indptr.astype(np.int32)
    index = matrix.indices.astype(np.int32)
    return (
        np.concatenate([start, start[1:] + matrix.nnz]),
        np.concatenate([index, index]),
        np.concatenate([matrix.data, -matrix.data]),
    )


def load_program(matrix: Any) -> Any:
    """Load equations ``matrix @ x = 0`` (CSC) into a solver; all columns fixed at 0."""
    start, index = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
    solver, fixed = silent_solver(), np.zeros(matrix.shape[1])
    columns = start, index, matrix.data
    pass_program(solver, matrix.shape[0], columns, fixed, fixed, fixed)
    return solver


@dataclass(frozen=True)
class _Joined:
    """An equation, and the cells on its two sides when it made a class of them."""

    row: int
    first: list[int]
    second: list[int]


class PairedCells:
    """Classes of cells, and the equations that are left between them.

    Parameters
    ----------
    part
        Equations of some cells, as CSR.

    Attributes
    ----------
    of, sign
        The class of each cell, and whether it moves with its class (1) or against it.
    rows, matrix
        The equations that are left, by number, and over classes, as CSR.
    """

    def __init__(self, part: Any) -> None:
        self._part = part
        self._joined: list[_Joined] = []
        if (np.diff(part.indptr) == 2).any():
            self._join()
        else:
            self._set(np.arange(part.shape[1]), np.ones(part.shape[1]))
            self.rows, self.matrix = np.arange(part.shape[0]), part

    def __len__(self) -> int:
        return len(self._starts)

    def room(self, up: Real, down: Real) -> tuple[Real, Real]:
        """How far classes can go, from what their cells can."""
        ahead = np.where(self.sign > 0, up, down)[self._order]
        back = np.where(self.sign > 0, down, up)[self._order]
        return (
            np.minimum.reduceat(ahead, self._starts),
            np.minimum.reduceat(back, self._starts),
        )

    def price(self, price: Real) -> Real:
        """What moving classes costs: all of their cells."""
        total: Real = np.add.reduceat(price[self._order], self._starts)
        return total

    def moves(self, by: Real) -> Real:
        """How far cells move, from how far classes do."""
        moved: Real = by[self.of] * self.sign
        return moved

    def mates(self, cell: int) -> Long:
        """The cells that move with a cell, itself among them."""
        return np.flatnonzero(self.of == self.of[cell])

    def multipliers(
        self,
        left: Real,
        kept: int | None,
        up: Real,
        down: Real,
        extra: Real | None = None,
    ) -> Real:
        """Multipliers of all equations, from those of the equations that are left.

        Equations that made a class get such multipliers that the sum of all, and
        `extra`, has one cell of each class: `kept` where it is one of them, and else
        the one with the least room the way the sum goes. What follows is strongest.
        """
        y = np.zeros(self._part.shape[0])
        y[self.rows] = left
        z = np.asarray(self._part.T @ y)
        if extra is not None:
            z += extra
        keeps = self._keepers(z, kept, up, down)
        sums, sign = z.tolist(), self.sign.tolist()
        for joined in reversed(self._joined):
            empty = joined.second
            if any(cell in keeps for cell in empty):
                empty = joined.first
            total = sum(sums[cell] * sign[cell] for cell in empty)
            if total:
                inside = set(empty)
                line = self._line(joined.row)
                held = sum(by * sign[cell] for cell, by in line if cell in inside)
                y[joined.row] = by_row = -total / held
                for cell, by in line:
                    sums[cell] += by_row * by
        return y

    def _line(self, row: int) -> list[tuple[int, float]]:
        """An equation: its cells and their coefficients."""
        part = self._part
        line = slice(part.indptr[row], part.indptr[row + 1])
        cells, data = part.indices[line].tolist(), part.data[line].tolist()
        return list(zip(cells, data, strict=True))

    def _keepers(self, z: Real, kept: int | None, up: Real, down: Real) -> set[int]:
        """The cell of each class that stays in a sum of equations."""
        total = self.price(z * self.sign)
        ways = total[self.of] * self.sign
        room = np.where(ways > 0, up, down)
        if kept is not None:
            room[kept] = -1.0
        order = np.lexsort((room, self.of))
        return set(order[self._starts].tolist())

    def _join(self) -> None:
        """Make classes of the cells of equations with two, again and again."""
        part = self._part
        ends, cells = part.indptr.tolist(), part.indices.tolist()
        data = part.data.tolist()
        lines = [
            dict(zip(cells[a:b], data[a:b], strict=True))
            for a, b in itertools.pairwise(ends)
        ]
        having: list[set[int]] = [set() for _ in range(part.shape[1])]
        for row, line in enumerate(lines):
            for cell in line:
                having[cell].add(row)
        members = [[cell] for cell in range(part.shape[1])]
        sign = [1] * part.shape[1]
        queue = [row for row, line in enumerate(lines) if len(line) == 2]
        while queue:
            row = queue.pop()
            if len(lines[row]) != 2:
                continue
            (a, x), (b, y) = lines[row].items()
            if abs(x) != abs(y):
                continue
            if len(members[a]) < len(members[b]):
                a, b = b, a
            turn = -1 if x == y else 1
            self._joined.append(_Joined(row, list(members[a]), members[b]))
            for cell in members[b]:
                sign[cell] *= turn
            members[a] += members[b]
            lines[row] = {}
            having[a].discard(row)
            for other in having[b] - {row}:
                line = lines[other]
                new = line.get(a, 0.0) + turn * line.pop(b)
                if new:
                    line[a] = new
                    having[a].add(other)
                else:
                    del line[a]
                    having[a].discard(other)
                if len(line) == 2:
                    queue.append(other)
            members[b] = []
        of = np.empty(part.shape[1], dtype=np.int64)
        roots = [cell for cell, some in enumerate(members) if some]
        for number, root in enumerate(roots):
            of[members[root]] = number
        self._set(of, np.array(sign, dtype=np.float64))
        self.rows = np.array([r for r, line in enumerate(lines) if line], dtype=int)
        place = {root: number for number, root in enumerate(roots)}
        self.matrix = sparse.csr_array(
            (
                [by for r in self.rows for by in lines[r].values()],
                [place[a] for r in self.rows for a in lines[r]],
                np.concatenate([[0], np.cumsum([len(lines[r]) for r in self.rows])]),
            ),
            shape=(len(self.rows), len(roots)),
        )

    def _set(self, of: Long, sign: Real) -> None:
        self.of, self.sign = of, sign
        self._order = np.argsort(of, kind="stable")
        self._starts = np.searchsorted(of[self._order], np.arange(of.max() + 1))
