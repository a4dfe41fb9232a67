"""HiGHS on small programs whose equations have right-hand sides of zero."""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np

from evosdc.arrays import Int, Real

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
