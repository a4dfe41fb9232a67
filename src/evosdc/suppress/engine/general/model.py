"""The attacker's linear program over some of the cells, for one question after another.

Smith et al. (2011) ask: which deviation ``d = y+ - y-`` that moves one cell by its
level is cheapest, when moving a cell that is hidden already costs nothing?

Every question begins with no cell moved. No price is negative, so that this is the
best there is but for the few equations of the cell in question, which the dual simplex
method mends one after the other, like a search for a shortest path. From the end of the
question before, which had other prices and other bounds, it takes two to five times as
long, and what is found would depend on what was asked before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.suppress.engine.general.chains import Chains

# Deviations are solved in units of the amount asked for, so that tables of 1e15 and
# of 1e-9 look alike to the solver. A cell counts as moved above this share.
MOVED = 1e-9
# No witness needs to move a cell by more than this many times the amount asked for.
FAR = 1e7


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
    """

    def __init__(
        self,
        columns: Any,
        cells: NDArray[np.int64],
        up: NDArray[np.float64],
        down: NDArray[np.float64],
    ) -> None:
        self.cells = cells
        self._up = self._wide_up = up[cells]
        self._down = self._wide_down = down[cells]
        self._rows, self._part = _part_of(columns, cells)
        self._loaded: tuple[Any, Any] | None = None
        self.gave_up = False
        # Of the last question that had no answer: the cell, and the one it waits for.
        self._refused: tuple[int, int | None] | None = None

    @cached_property
    def _chains(self) -> Chains:
        return Chains(self._part)

    @cached_property
    def _wide_class_room(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return self._chains.room(self._wide_up, self._wide_down)

    def _look_at(self, tight: Tight | None, cell: int) -> None:
        """See the table as an attacker does, who asks about a cell."""
        self._up, self._down = self._wide_up, self._wide_down
        if tight is None or not len(self.cells):
            self._class_room = self._wide_class_room
            return
        self._up, self._down = tight.within(self.cells, self._up, self._down, cell)
        self._class_room = self._chains.room(self._up, self._down)

    def cheapest(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        patience: int | None = None,
        tight: Tight | None = None,
    ) -> Move | None:
        """Find the cheapest deviation that moves `cell` by `amount`, or None.

        `price` is asked of each of the model's cells by unit moved; infinite where the
        cell must not move. With `patience` the program is given up after so many
        simplex iterations: `gave_up` then says that None is no answer. `tight` is the
        room that an attacker leaves some cells.
        """
        self.gave_up = False
        self._look_at(tight, cell)
        k = int(np.searchsorted(self.cells, cell))
        chains = self._chains
        by_class = chains.price(price)
        high = self._room(amount, by_class)
        low = np.zeros(len(high))
        n, c = len(chains), int(chains.of[k])
        chosen, other = (c, c + n) if sign * chains.sign[k] > 0 else (c + n, c)
        self._refused = (k, None)
        held = self._held(k, sign, amount, price)
        if held is not None:
            self._refused = (k, held)
            return None
        low[chosen] = high[chosen] = 1.0
        high[other] = 0.0
        cost = _level_prices(by_class)
        cost[c] = 0.0
        values = self._run(low, high, np.concatenate([cost, cost]), patience)
        if values is None:
            return None
        self._refused = None
        return self._as_move(chains.moves(values[:n] - values[n:]), k, amount)

    def _held(
        self, k: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> int | None:
        """A cell that moves with another and must not or cannot so far, if any."""
        mates = self._chains.mates(k)
        mates = mates[mates != k]
        if not len(mates):
            return None
        ways = sign * self._chains.sign[k] * self._chains.sign[mates]
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
        chains = self._chains
        n, c = len(chains), int(chains.of[k])
        high = np.minimum(self._room(unit, np.zeros(n)), FAR)
        cost = np.zeros(2 * n)
        way = float(sign * chains.sign[k])
        cost[c], cost[c + n] = -way, way
        values = self._run(np.zeros(2 * n), high, cost)
        if values is None:
            return 0.0, None
        d = chains.moves(values[:n] - values[n:])
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
        chains, (k, held) = self._chains, self._refused
        if held is not None:
            alone = np.zeros(len(self.cells))
            alone[k] = -1.0
            nothing = np.zeros(len(chains.rows))
            y = chains.multipliers(nothing, held, self._up, self._down, alone)
            return self._rows, y
        if self._loaded is None:
            return None
        _, there, ray = self._loaded[0].getDualRay()
        if not there:
            return None
        y = chains.multipliers(np.array(ray), k, self._up, self._down)
        return self._rows, y

    def _room(self, amount: float, price: NDArray[np.float64]) -> NDArray[np.float64]:
        """Room of classes both ways in units of an amount; none without a price."""
        high: NDArray[np.float64] = np.concatenate(self._class_room) / amount
        high[high > FAR] = highspy.kHighsInf
        shut = ~np.isfinite(price)
        high[np.concatenate([shut, shut])] = 0.0
        return high

    def _run(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        cost: NDArray[np.float64],
        patience: int | None = None,
    ) -> NDArray[np.float64] | None:
        solver, nothing_moved = self._solver()
        most = highspy.kHighsIInf if patience is None else patience
        solver.setOptionValue("simplex_iteration_limit", most)
        count, index = len(cost), np.arange(len(cost), dtype=np.int32)
        solver.changeColsBounds(count, index, low, high)
        solver.changeColsCost(count, index, cost)
        solver.clearSolver()
        solver.setBasis(nothing_moved)
        solver.run()
        status = solver.getModelStatus()
        self.gave_up = status == highspy.HighsModelStatus.kIterationLimit
        if status not in _ANSWERED and not self.gave_up:
            # A start can mislead the simplex method; ask once more without one.
            solver.clearSolver()
            solver.run()
            status = solver.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        return np.array(solver.getSolution().col_value)

    def _solver(self) -> tuple[Any, Any]:
        """The program, and the basis in which nothing has moved."""
        if self._loaded is None:
            equations = self._chains.matrix
            both = sparse.hstack([equations, -equations], format="csc")
            solver = load_program(sparse.csc_array(both))
            solver.setOptionValue("presolve", "off")
            start = highspy.HighsBasis()
            rows, columns = both.shape
            start.col_status = [highspy.HighsBasisStatus.kLower] * columns
            start.row_status = [highspy.HighsBasisStatus.kBasic] * rows
            self._loaded = solver, start
        return self._loaded

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


def _level_prices(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Prices in units of the typical one, so that the solver's tolerance fits them."""
    cost = np.where(np.isfinite(price), price, 0.0)
    positive = cost[cost > 0]
    if len(positive):
        cost = np.minimum(cost / np.median(positive), 1e6)
    return cost


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
    solver = highspy.Highs()
    for option, value in (
        ("output_flag", False),
        ("threads", 1),
        ("solver", "simplex"),
        ("presolve", "on"),
        ("primal_feasibility_tolerance", 1e-9),
        ("dual_feasibility_tolerance", 1e-7),
    ):
        solver.setOptionValue(option, value)
    solver.passModel(lp)
    return solver
