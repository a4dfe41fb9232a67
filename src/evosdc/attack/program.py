"""The attacker's linear program in HiGHS: move one cell as far as possible.

Each cell has a column for moves up and one for moves down, both from 0, so that no move
at all is feasible and vertices move few cells.

`whole_move` is the same in whole numbers, as an integer program.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from evosdc.attack.ledger import Unfinished
from evosdc.compile.clock import moment
from evosdc.errors import EvosdcError

_TOLERANCE = 1e-9
_DEPENDENT_EQUATIONS = 1024  # presolve rule that costs more than the program itself
_ITERATIONS_BEFORE_PRESOLVE = 1000
_NO_LIMIT = 2**31 - 1
_MAX_INTEGER_SECONDS = 10.0  # for one integer program
_ENDED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kUnbounded,
    highspy.HighsModelStatus.kUnboundedOrInfeasible,
)


def _solver(
    rows: Any, costs: Any, lower: Any, upper: Any, *, integer: bool, **options: Any
) -> highspy.Highs:
    """Return HiGHS with a program loaded whose equations equal 0."""
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, **options}.items():
        highs.setOptionValue(name, value)
    model = highspy.HighsLp()
    model.num_row_, model.num_col_ = rows.shape
    model.col_cost_, model.col_lower_, model.col_upper_ = costs, lower, upper
    model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = rows.indptr.astype(np.int32)
    model.a_matrix_.index_ = rows.indices.astype(np.int32)
    model.a_matrix_.value_ = rows.data.astype(np.float64)
    if integer:
        model.integrality_ = [highspy.HighsVarType.kInteger] * rows.shape[1]
    if highs.passModel(model) == highspy.HighsStatus.kError:
        kind = "integer program" if integer else "program"
        raise EvosdcError(f"the solver refused the attacker's {kind}")
    return highs


class Program:
    """The linear program of some equations, solved for one column after another."""

    def __init__(self, rows: Any, deadline: float | None = None) -> None:
        self.deadline = deadline
        self.columns = rows.shape[1]
        zeros = np.zeros(self.columns)
        self._highs = _solver(
            rows,
            zeros,
            zeros,
            zeros,
            integer=False,
            primal_feasibility_tolerance=_TOLERANCE,
            dual_feasibility_tolerance=_TOLERANCE,
            simplex_strategy=1,
            solver="simplex",
            presolve_rule_off=_DEPENDENT_EQUATIONS,
        )
        self.upper = np.zeros(self.columns)

    def set_upper(self, upper: NDArray[np.float64]) -> None:
        """Set the bounds of all columns; infinite where there is none."""
        self.upper = np.where(np.isinf(upper), highspy.kHighsInf, upper)
        self._highs.changeColsBounds(
            self.columns,
            np.arange(self.columns, dtype=np.int32),
            np.zeros(self.columns),
            self.upper,
        )

    def reach(
        self, column: int, amount: float, against: int
    ) -> NDArray[np.float64] | None:
        """Move a column by an amount with the least total movement, or return None.

        `against`, the opposite column of the same cell, is held at 0. From the basis
        without moves the dual simplex repairs only what this cell violates; a cost on
        every move keeps the others small, so that few cells move.
        """
        with self._only(column, amount, amount, against):
            self._price(1.0)
            self._highs.setOptionValue(
                "simplex_iteration_limit", _ITERATIONS_BEFORE_PRESOLVE
            )
            try:
                status, _, x = self._run()
            except Unfinished:
                status = None
            self._highs.setOptionValue("simplex_iteration_limit", _NO_LIMIT)
        if status is not None:
            return x if status == highspy.HighsModelStatus.kOptimal else None
        # For a move of many cells presolve is faster, but its solution is denser.
        move, x = self.furthest(column, amount, against)
        return x if move >= amount * (1 - _TOLERANCE) else None

    def furthest(
        self, column: int, cap: float, against: int
    ) -> tuple[float, NDArray[np.float64]]:
        """Maximise a column up to a cap, `against` (the opposite one) held at 0.

        Returns the move, infinite where it is unbounded, and all columns.
        """
        with self._only(column, 0.0, cap, against):
            self._price(0.0)
            self._highs.changeColCost(column, -1.0)
            status, move, x = self._run(presolve=True)
            if status == highspy.HighsModelStatus.kOptimal:
                return -move, x
        # No move at all is always feasible, so this is unbounded.
        return np.inf, np.zeros(self.columns)

    def _price(self, cost: float) -> None:
        every = np.arange(self.columns, dtype=np.int32)
        self._highs.changeColsCost(self.columns, every, np.full(self.columns, cost))

    @contextmanager
    def _only(
        self, column: int, low: float, high: float, against: int
    ) -> Iterator[None]:
        h = self._highs
        high = highspy.kHighsInf if np.isinf(high) else high
        h.changeColBounds(column, low, min(high, self.upper[column]))
        if against >= 0:
            h.changeColBounds(against, 0.0, 0.0)
        try:
            yield
        finally:
            h.changeColBounds(column, 0.0, self.upper[column])
            if against >= 0:
                h.changeColBounds(against, 0.0, self.upper[against])

    def _run(self, presolve: bool = False) -> tuple[Any, float, NDArray[np.float64]]:
        h = self._highs
        limited = h.getOptionValue("simplex_iteration_limit")[1] != _NO_LIMIT
        for attempt in (presolve,) if limited else (presolve, not presolve):
            if self.deadline is not None:
                left = self.deadline - moment()
                if left <= 0:
                    raise Unfinished("the time limit was reached")
                h.setOptionValue("time_limit", h.getRunTime() + left)
            h.clearSolver()
            h.setOptionValue("presolve", "on" if attempt else "off")
            h.run()
            status = h.getModelStatus()
            if status in _ENDED:
                x = np.array(h.getSolution().col_value)
                return status, float(h.getInfo().objective_function_value), x
            if status == highspy.HighsModelStatus.kTimeLimit:
                raise Unfinished("the time limit was reached")
        raise Unfinished(f"the solver ended with {status}")


def whole_move(
    rows: Any,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    column: int,
    sign: int,
    least: int | None,
    deadline: float | None,
    nodes: int | None = None,
) -> NDArray[np.float64] | None:
    """Move a cell by whole numbers, or return None where that is impossible.

    `low` (negative) and `high` bound the moves of all cells. The cell moves in
    direction `sign` by at least `least`, or as far as possible where that is None.
    Raises `Unfinished` where time or nodes of the solver run out first.
    """
    limit = _MAX_INTEGER_SECONDS
    if deadline is not None:
        limit = min(limit, deadline - moment())
        if limit <= 0:
            raise Unfinished("the time limit was reached")
    count = rows.shape[1]
    # HiGHS may call a program infeasible whose integers have fractional bounds.
    below = np.where(np.isinf(low), -highspy.kHighsInf, np.ceil(low))
    above = np.where(np.isinf(high), highspy.kHighsInf, np.floor(high))
    if sign > 0:
        below[column] = least or 1
    else:
        above[column] = -(least or 1)
    if below[column] > above[column]:
        return None
    cost = np.zeros(count)
    if least is None:
        cost[column] = -sign
    options = {} if nodes is None else {"mip_max_nodes": nodes}
    highs = _solver(
        rows,
        cost,
        below,
        above,
        integer=True,
        time_limit=limit,
        mip_rel_gap=0.0,
        mip_abs_gap=0.5,
        **options,
    )
    highs.run()
    status = highs.getModelStatus()
    if status == highspy.HighsModelStatus.kOptimal:
        return np.rint(np.array(highs.getSolution().col_value))
    if status == highspy.HighsModelStatus.kInfeasible:
        return None
    raise Unfinished(f"an integer program of {count} cells was not solved in time")
