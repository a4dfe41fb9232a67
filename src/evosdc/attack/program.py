"""The attacker's linear program in HiGHS: move one cell as far as it goes.

Each cell has a column for going up and one for going down, both from 0, so that the
program starts feasible where nothing moves and its vertices move few cells.
"""

from __future__ import annotations

import time
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from evosdc.attack.ledger import Unfinished
from evosdc.errors import EvosdcError

_TOLERANCE = 1e-9


class Program:
    """Maximises one column after another, each from the basis of the one before."""

    def __init__(self, rows: Any, deadline: float | None = None) -> None:
        self.deadline = deadline
        self.columns = rows.shape[1]
        self._highs = highspy.Highs()
        for name, value in (
            ("output_flag", False),
            ("threads", 1),
            ("primal_feasibility_tolerance", _TOLERANCE),
            ("dual_feasibility_tolerance", _TOLERANCE),
            ("simplex_strategy", 1),
            ("solver", "simplex"),
            ("presolve", "off"),
        ):
            self._highs.setOptionValue(name, value)
        model = highspy.HighsLp()
        model.num_col_ = self.columns
        model.num_row_ = rows.shape[0]
        model.col_cost_ = np.zeros(self.columns)
        model.col_lower_ = np.zeros(self.columns)
        model.col_upper_ = np.zeros(self.columns)
        model.row_lower_ = np.zeros(rows.shape[0])
        model.row_upper_ = np.zeros(rows.shape[0])
        model.sense_ = highspy.ObjSense.kMaximize
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = rows.indptr.astype(np.int32)
        model.a_matrix_.index_ = rows.indices.astype(np.int32)
        model.a_matrix_.value_ = rows.data.astype(np.float64)
        if self._highs.passModel(model) == highspy.HighsStatus.kError:
            raise EvosdcError("the solver refused the attacker's program")
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

    def furthest(
        self, column: int, cap: float, against: int
    ) -> tuple[float, NDArray[np.float64]]:
        """Maximise a column up to a cap, `against` (its other way) held at 0.

        Returns the move, infinite where nothing holds it, and all columns.
        """
        h = self._highs
        cap = highspy.kHighsInf if np.isinf(cap) else cap
        h.changeColCost(column, 1.0)
        h.changeColBounds(column, 0.0, min(cap, self.upper[column]))
        if against >= 0:
            h.changeColBounds(against, 0.0, 0.0)
        try:
            return self._run()
        finally:
            h.changeColCost(column, 0.0)
            h.changeColBounds(column, 0.0, self.upper[column])
            if against >= 0:
                h.changeColBounds(against, 0.0, self.upper[against])

    def _run(self) -> tuple[float, NDArray[np.float64]]:
        h = self._highs
        for attempt in range(3):
            if self.deadline is not None:
                left = self.deadline - time.monotonic()
                if left <= 0:
                    raise Unfinished("the time limit was reached")
                h.setOptionValue("time_limit", h.getRunTime() + left)
            if attempt:
                # A basis that led astray is dropped; the last try may presolve.
                h.clearSolver()
            h.setOptionValue("presolve", "choose" if attempt == 2 else "off")
            h.run()
            status = h.getModelStatus()
            if status == highspy.HighsModelStatus.kOptimal:
                x = np.array(h.getSolution().col_value)
                return float(h.getInfo().objective_function_value), x
            if status in (
                highspy.HighsModelStatus.kUnbounded,
                highspy.HighsModelStatus.kUnboundedOrInfeasible,
            ):
                # Nothing moved is always feasible, so this is unbounded.
                return np.inf, np.zeros(self.columns)
            if status == highspy.HighsModelStatus.kTimeLimit:
                raise Unfinished("the time limit was reached")
        raise Unfinished(f"the solver ended with {status}")
