"""Levels with few digits, so that what covers them can be read exactly.

A level such as 15 % of something, or one with a strict margin, has sixteen digits, and
a deviation that shares it out has steps that no rounding restores. Asking for a
thousandth of the table's unit more costs nothing worth naming and leaves steps of few
digits, which the judge reads as they were meant.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Real
from evosdc.suppress.engine.base import Demands
from evosdc.suppress.problem.problem import Problem

# Digits that the values of a table may have, and digits beyond them for the levels.
_MOST_DIGITS = 6
_FINER = 3


def digits_of(problem: Problem) -> int | None:
    """Digits after the point of values and bounds; None where there are too many."""
    table = problem.table
    numbers = np.concatenate([table.value, table.lower, table.upper])
    numbers = numbers[np.isfinite(numbers)]
    for digits in range(_MOST_DIGITS + 1):
        if np.array_equal(np.round(numbers, digits), numbers):
            return digits
    return None


def round_levels_up(problem: Problem, demands: Demands) -> Real:
    """Raise each amount to the next one with few digits that its cell has room for."""
    digits = digits_of(problem)
    if digits is None:
        return demands.amount
    places = digits + _FINER
    amount = demands.amount
    raised = np.round(np.ceil(amount * 10.0**places) / 10.0**places, places)
    room = np.where(
        demands.sign > 0, problem.up[demands.cell], problem.down[demands.cell]
    )
    few = np.round(amount, places) == amount
    return np.where(few | (raised > room), amount, raised)
