"""What hiding a cell costs, by name."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.table import Table

CHOICES = "weight, value, frequency, unit or boxcox:L (for example boxcox:0.5)"


def costs(table: Table, name: str = "weight") -> NDArray[np.float64]:
    """Price every cell.

    Parameters
    ----------
    name
        ``weight`` the table's own weights; ``value`` the absolute value (never below
        1, so that zeros are not free); ``frequency`` the number of contributors;
        ``unit`` 1 a cell; ``boxcox:L`` the value raised to the power L, or its
        logarithm for L = 0.
    """
    size = np.abs(table.value)
    if name == "weight":
        return table.weight.copy()
    if name == "value":
        return np.maximum(size, 1.0)
    if name == "unit":
        return np.ones(len(table))
    if name == "frequency":
        if table.frequency is None:
            raise InputError(
                "the table has no frequencies to take as costs",
                expected="a column or record of contributors a cell",
                hint="choose another --cost: " + CHOICES,
            )
        return np.maximum(table.frequency.astype(np.float64), 1.0)
    kind, _, power = name.partition(":")
    if kind == "boxcox":
        try:
            exponent = float(power)
        except ValueError:
            exponent = float("nan")
        if np.isfinite(exponent) and -10 <= exponent <= 10:
            base = np.maximum(size, 1.0)
            return np.log1p(base) if exponent == 0 else base**exponent
    raise InputError(f"cost {name!r} is not known", expected=CHOICES)
