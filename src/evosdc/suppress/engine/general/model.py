"""The attacker's linear program over some of the cells, for one question after another.

Smith et al. (2011) ask: which deviation ``d = y+ - y-`` that moves one cell by its
level is cheapest, when moving a cell that is hidden already costs nothing?

Few of a large table's cells are in the answer, so the program of a neighbourhood is
solved first. Its dual prices tell whether cells outside would make the answer cheaper
(pricing: Gilmore and Gomory 1961); if so the program over all cells is solved, so that
the answer is that of the whole table, and None means that it has none. Dense tables are
the exception: where that program takes too long (`takes_long`), the first neighbourhood
that has an answer does, and cells that its prices ask for are let in while that pays.

No price is negative, so the basis in which no cell has moved is the best there is but
for the few equations of the cell in question. Every program begins there, with the dual
simplex method: answers do not depend on what was asked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.suppress.engine.general.paired_cells import PairedCells
from evosdc.suppress.structure.unpick import nearest

# Deviations are solved in units of the amount asked for, so that tables of 1e15 and
# of 1e-9 look alike to the solver. A cell counts as moved above this share.
MOVED = 1e-9
# No witness needs to move a cell by more than this many times the amount asked for.
FAR = 1e7
# Classes of cells in the first neighbourhood. With half as many, a question takes more
# rounds of pricing; with twice as many, most programs are larger than they need to be.
NEIGHBOURS = 200
# Slow programs are taken as solved where their answer gets cheaper by less than this
# share. At half of it they take a round or two more, at twice of it patterns cost more.
_LITTLE = 0.02
# A class enters when it would save more than this share of the typical price.
_SAVING = 1e-6
# Iterations of the dual simplex method, which take as long as a solution by interior
# points on 5,000 classes. At half of it more programs are begun in vain, at twice of it
# those of dense cubes take twice as long.
_ITERATIONS = 4_000
# Costs are perturbed by this share of what HiGHS does: without any the programs of
# tables of many levels take a half more iterations, with all of it those of dense cubes
# take up to ten times more.
_PERTURBATION = 0.1


@dataclass(frozen=True, eq=False)
class Move:
    """A deviation: `by` is added to `cells`, every equation keeps its total."""

    cells: NDArray[np.int64]
    by: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tight:
    """Cells, in order, with less room than everyone leaves them: an attacker's."""

    cells: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    # Whether one attacker leaves it: a safe pattern need not serve several at once.
    binding: bool = True

    def within(
        self,
        cells: NDArray[np.int64],
        up: NDArray[np.float64],
        down: NDArray[np.float64],
        but: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the room of some cells, in order, as the attacker sees it.

        The cell `but` keeps what it has: how far it must move is said elsewhere.
        """
        place = np.searchsorted(cells, self.cells)
        place[place == len(cells)] = 0
        here = (cells[place] == self.cells) & (self.cells != but)
        place = place[here]
        up, down = up.copy(), down.copy()
        up[place] = np.minimum(up[place], self.up[here])
        down[place] = np.minimum(down[place], self.down[here])
        return up, down


class _Program(NamedTuple):
    """How the class `asked` is moved by one unit most cheaply."""

    asked: int
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    cost: NDArray[np.float64]


class DeviationModel:
    """The program over `cells`; all other cells stay as they are.

    Parameters
    ----------
    columns
        Equations of the table, as CSC.
    cells
        The cells that may move.
    up, down
        Room of every cell of the table.
    slow
        Whether programs of the table take so long (see `takes_long`) that an answer
        among some of the cells has to do.
    """

    def __init__(
        self,
        columns: Any,
        cells: NDArray[np.int64],
        up: NDArray[np.float64],
        down: NDArray[np.float64],
        slow: bool = False,
    ) -> None:
        self.cells, self._slow = cells, slow
        self._up = self._wide_up = up[cells]
        self._down = self._wide_down = down[cells]
        self._rows, self._part = _part_of(columns, cells)
        self._solver = silent_solver()
        self._solver.setOptionValue("simplex_iteration_limit", _ITERATIONS)
        for option, value in _BY_DUAL_SIMPLEX:
            self._solver.setOptionValue(option, value)
        self._ray: NDArray[np.float64] | None = None
        # Of the last question that had no answer: the cell, and the one it waits for.
        self._refused: tuple[int, int | None] | None = None

    @cached_property
    def _pairs(self) -> PairedCells:
        return PairedCells(self._part)

    @cached_property
    def _by_column(self) -> Any:
        """Equations over classes, as CSC, whose transposed prices them."""
        return sparse.csc_array(self._pairs.matrix)

    @cached_property
    def _wide_class_room(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._pairs.room(self._wide_up, self._wide_down)

    def _look_at(self, tight: Tight | None, cell: int) -> None:
        """See the table as an attacker does, who asks about a cell."""
        self._up, self._down = self._wide_up, self._wide_down
        if tight is None or not len(self.cells):
            self._class_room = self._wide_class_room
            return
        self._up, self._down = tight.within(self.cells, self._up, self._down, cell)
        self._class_room = self._pairs.room(self._up, self._down)

    def cheapest(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None:
        """Find the cheapest deviation that moves `cell` by `amount`, or None.

        `price` is asked of each of the model's cells by unit moved; infinite where the
        cell must not move. `tight` is the room that an attacker leaves some cells.
        """
        self._look_at(tight, cell)
        k = int(np.searchsorted(self.cells, cell))
        self._refused = (k, None)
        held = self._held(k, sign, amount, price)
        if held is not None:
            self._refused = (k, held)
            return None
        program = self._program(k, sign, amount, price)
        if len(program.cost) <= 2 * NEIGHBOURS:
            found = self._run(None, *program[1:])
        else:
            found = self._near_or_whole(program)
        if found is None:
            return None
        self._refused = None
        return self._as_move(self._pairs.moves(found), k, amount)

    def takes_long(
        self, cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> bool:
        """Whether the program of all classes takes more than `_ITERATIONS`."""
        self._look_at(None, cell)
        k = int(np.searchsorted(self.cells, cell))
        program = self._program(k, sign, amount, price)
        self._pass(None, *program[1:])
        self._solver.run()
        return self._solver.getModelStatus() not in _ANSWERED

    def _program(
        self, k: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> _Program:
        """Write the question how a cell, by its place, is moved most cheaply."""
        pairs = self._pairs
        by_class = pairs.price(price)
        high = self._room(amount, by_class)
        n, c = len(pairs), int(pairs.of[k])
        way = int(sign * pairs.sign[k])
        low = np.zeros(2 * n)
        chosen, other = (c, c + n) if way > 0 else (c + n, c)
        low[chosen] = high[chosen] = 1.0
        high[other] = 0.0
        cost = _level_prices(by_class)
        cost[c] = 0.0
        return _Program(c, low, high, cost)

    def _near_or_whole(self, program: _Program) -> NDArray[np.float64] | None:
        """Solve the program of a neighbourhood, or of all classes if that falls short.

        Dual prices tell whether classes outside would make the answer cheaper. Where
        some would, or there is no answer, all are taken: letting in a few at a time
        takes two to fifteen times as long on tables of 4,000 to 31,000 cells. Slow
        programs do that all the same, as long as the answer gets cheaper by it.
        """
        asked, low, high, cost = program
        n, matrix, columns = len(cost), self._pairs.matrix, self._by_column
        shut = high[:n] + high[n:] <= 0.0
        steps = np.ones(n) if self._slow else cost + 0.01
        steps[shut] = 1e3 * (1.0 + cost.max(initial=1.0))
        many = 4 * NEIGHBOURS if self._slow else NEIGHBOURS
        inside = np.zeros(n, dtype=np.bool_)
        best, cheapest = None, np.inf
        while many < n:
            if best is None:
                graph = matrix.indptr, matrix.indices, columns.indptr, columns.indices
                inside[nearest(asked, many, steps, *graph)] = True
                inside[shut] = False
                inside[asked] = True
            found = self._run(np.flatnonzero(inside), low, high, cost)
            if found is not None:
                z = columns.T @ self._duals
                room = np.where(z > 0, high[:n], high[n:]) > 0
                worth = np.where(room & ~inside, np.abs(z) - cost, 0.0)
                now = float(cost @ np.abs(found))
                if worth.max() <= _SAVING or now > cheapest * (1.0 - _LITTLE):
                    return found
                best, cheapest = found, now
                entering = np.argsort(-worth, kind="stable")[: max(many // 4, 1)]
                inside[entering[worth[entering] > _SAVING]] = True
            if not self._slow:
                break
            many = int(inside.sum()) if found is not None else 2 * many
        if best is not None and self._slow:
            return best
        return self._run(None, low, high, cost)

    def _held(
        self, k: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> int | None:
        """A cell that moves with another and must not or cannot so far, if any."""
        mates = self._pairs.mates(k)
        mates = mates[mates != k]
        if not len(mates):
            return None
        ways = sign * self._pairs.sign[k] * self._pairs.sign[mates]
        room = np.where(ways > 0, self._up[mates], self._down[mates])
        room[~np.isfinite(price[mates])] = 0.0
        if room.min() >= amount * (1.0 - MOVED):
            return None
        return int(mates[np.argmin(room)])

    def farthest(
        self, cell: int, sign: int, unit: float, tight: Tight | None = None
    ) -> tuple[float, Move | None]:
        """How far `cell` can move, at most `FAR` times `unit`, and the deviation."""
        self._look_at(tight, cell)
        k = int(np.searchsorted(self.cells, cell))
        pairs = self._pairs
        n, c = len(pairs), int(pairs.of[k])
        high = np.minimum(self._room(unit, np.zeros(n)), FAR)
        ways = np.zeros(n)
        ways[c] = -float(sign * pairs.sign[k])
        found = self._run(None, np.zeros(2 * n), high, ways, turned=-ways)
        if found is None:
            return 0.0, None
        d = pairs.moves(found)
        moved = np.flatnonzero(d)
        return max(0.0, sign * float(d[k])) * unit, Move(
            self.cells[moved], d[moved] * unit
        )

    def refusal(self) -> tuple[NDArray[np.int64], NDArray[np.float64]] | None:
        """Why the last question had no answer: multipliers of some equations.

        What these say together leaves the cell too little room (Farkas).
        """
        if self._refused is None:
            return None
        pairs, (k, held) = self._pairs, self._refused
        if held is not None:
            alone = np.zeros(len(self.cells))
            alone[k] = -1.0
            nothing = np.zeros(len(pairs.rows))
            y = pairs.multipliers(nothing, held, self._up, self._down, alone)
            return self._rows, y
        if self._ray is None:
            return None
        return self._rows, pairs.multipliers(self._ray, k, self._up, self._down)

    def _room(self, amount: float, price: NDArray[np.float64]) -> NDArray[np.float64]:
        """Room of classes both ways in units of an amount; none without a price."""
        high: NDArray[np.float64] = np.concatenate(self._class_room) / amount
        high[high > FAR] = highspy.kHighsInf
        shut = ~np.isfinite(price)
        high[np.concatenate([shut, shut])] = 0.0
        return high

    def _run(
        self,
        classes: NDArray[np.int64] | None,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cost: NDArray[np.float64],
        turned: NDArray[np.float64] | None = None,
    ) -> NDArray[np.float64] | None:
        """Solve the program of some classes, or of all; return how far classes move.

        Each class is one column upwards and one downwards, which costs the same unless
        `turned`. Dual prices of the equations, or why there is no solution, are kept.
        """
        n, m, solver = len(cost), len(self._pairs.rows), self._solver
        rows = self._pass(classes, low, high, cost, turned)
        solver.run()
        status = solver.getModelStatus()
        if status not in _ANSWERED:
            # Rounding misled the simplex method, or it takes too long: dense cubes have
            # programs of 100,000 iterations, which interior points solve in 40.
            for option, value in _BY_INTERIOR_POINTS:
                solver.setOptionValue(option, value)
            solver.clearSolver()
            solver.run()
            status = solver.getModelStatus()
            for option, value in _BY_DUAL_SIMPLEX:
                solver.setOptionValue(option, value)
        self._ray = None
        if status != highspy.HighsModelStatus.kOptimal:
            _, there, ray = solver.getDualRay()
            if there:
                self._ray = _spread(np.array(ray), rows, m)
            return None
        solution = solver.getSolution()
        self._duals = _spread(np.array(solution.row_dual), rows, m)
        values = np.array(solution.col_value)
        many = len(values) // 2
        moved = values[:many] - values[many:]
        return moved if classes is None else _spread(moved, classes, n)

    def _pass(
        self,
        classes: NDArray[np.int64] | None,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cost: NDArray[np.float64],
        turned: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64] | None:
        """Pass the program of some classes to the solver; return its equations."""
        back = cost if turned is None else turned
        if classes is None:
            both = np.concatenate([cost, back])
            pass_program(self._solver, self._by_column, low, high, both)
            return None
        rows, part = _part_of(self._by_column, classes)
        at = np.concatenate([classes, classes + len(cost)])
        both = np.concatenate([cost[classes], back[classes]])
        pass_program(self._solver, sparse.csc_array(part), low[at], high[at], both)
        return rows

    def _as_move(self, d: NDArray[np.float64], k: int, amount: float) -> Move | None:
        """Drop what rounding moved; None where the rest no longer adds up."""
        moved = np.abs(d) > MOVED
        snapped = np.where(moved, d, 0.0)
        if not moved[k]:
            return None
        off = np.abs(self._part @ snapped)
        if len(off) and off.max() > 10 * MOVED * max(1.0, np.abs(snapped).max()):
            return None
        return Move(self.cells[moved], snapped[moved] * amount)


def _part_of(columns: Any, cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], Any]:
    """Equations of some columns (CSC) that have an entry there: numbers, and as CSR.

    Looks at these columns alone: a small program must not cost what the table does.
    """
    part = columns[:, cells]
    rows, place = np.unique(part.indices, return_inverse=True)
    few = (part.data, place.astype(part.indices.dtype), part.indptr)
    shape = len(rows), len(cells)
    return rows.astype(np.int64), sparse.csr_array(sparse.csc_array(few, shape=shape))


_ANSWERED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
)
_BY_DUAL_SIMPLEX = (("solver", "simplex"), ("presolve", "off"))
_BY_INTERIOR_POINTS = (("solver", "ipm"), ("presolve", "on"))


def _spread(
    few: NDArray[np.float64], places: NDArray[np.int64] | None, many: int
) -> NDArray[np.float64]:
    """Put values at some places among zeros; None stands for all places."""
    if places is None:
        return few
    full = np.zeros(many)
    full[places] = few
    return full


def _level_prices(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prices in units of the typical one, so that the solver's tolerance fits them."""
    cost = np.where(np.isfinite(price), price, 0.0)
    positive = cost[cost > 0]
    if len(positive):
        cost = np.minimum(cost / np.median(positive), 1e6)
    return cost


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
    matrix: Any,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    cost: NDArray[np.float64],
) -> None:
    """Pass a program with equations ``matrix @ (up - down) = 0`` (CSC) to a solver.

    Each column of the matrix is two of the program, one upwards and one downwards. This
    is quicker than to change the bounds and costs of a program that is there.
    """
    rows, entries = matrix.shape[0], matrix.nnz
    start = matrix.indptr.astype(np.int32)
    index = matrix.indices.astype(np.int32)
    nothing = np.zeros(rows)
    solver.passModel(
        len(cost),
        rows,
        2 * entries,
        int(highspy.MatrixFormat.kColwise),
        int(highspy.ObjSense.kMinimize),
        0.0,
        cost,
        low,
        high,
        nothing,
        nothing,
        np.concatenate([start, start[1:] + entries]),
        np.concatenate([index, index]),
        np.concatenate([matrix.data, -matrix.data]),
        np.zeros(len(cost), dtype=np.int32),
    )


def load_program(matrix: Any) -> Any:
    """Load equations ``matrix @ x = 0`` (CSC) into a solver; all columns fixed at 0."""
    rows, columns = matrix.shape
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = columns, rows
    lp.col_cost_ = np.zeros(columns)
    lp.col_lower_ = np.zeros(columns)
    lp.col_upper_ = np.zeros(columns)
    lp.row_lower_ = np.zeros(rows)
    lp.row_upper_ = np.zeros(rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    solver = silent_solver()
    solver.passModel(lp)
    return solver
