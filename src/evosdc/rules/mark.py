"""From rules and contributors to the status and the levels of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.rules.contributors import Contributors, Numbers, Verdict
from evosdc.rules.rounding import significant
from evosdc.table.status import PRIMARY, SAFE


class Rule(Protocol):
    """Something that calls cells unsafe, and says how far each must be covered."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""
        ...

    @property
    def needs(self) -> int:
        """How many of the largest contributions it looks at."""
        ...

    def apply(self, contributors: Contributors) -> Verdict:
        """Return which cells are unsafe, their upper and their lower levels."""
        ...


@dataclass(frozen=True, eq=False)
class Marks:
    """Columns of a table: status and protection levels."""

    status: NDArray[np.str_]
    lpl: Numbers
    upl: Numbers
    spl: Numbers


def mark(
    contributors: Contributors,
    rules: Sequence[Rule],
    *,
    floor: float = 0.0,
    whole: bool = False,
) -> Marks:
    """Mark the cells that violate any rule, with the largest level any rule asks for.

    Parameters
    ----------
    floor
        The least a cell can be, as everyone knows: 0 for tables that cannot be
        negative, minus infinity for others. A lower level beyond it cannot be had (no
        attacker believes in less than nothing), so it is cut there.
    whole
        Round levels up to whole numbers, at least 1, as tau-Argus does: in a table of
        counts, half a person more or less hides nobody.
    """
    n = len(contributors)
    unsafe = np.zeros(n, dtype=bool)
    upl, lpl = np.zeros(n), np.zeros(n)
    for rule in rules:
        hit, up, down = rule.apply(contributors)
        unsafe |= hit
        upl, lpl = np.maximum(upl, up), np.maximum(lpl, down)
    # Levels are read as decimals later on: without the dirt of floating point.
    upl, lpl = significant(upl, 12), significant(lpl, 12)
    if whole:
        least = unsafe.astype(np.float64)
        upl = np.maximum(np.ceil(upl), least)
        lpl = np.maximum(np.ceil(lpl), least)
    lpl = np.minimum(lpl, np.maximum(contributors.value - floor, 0.0))
    status = np.where(unsafe, PRIMARY, SAFE).astype("U1")
    return Marks(status=status, lpl=lpl, upl=upl, spl=np.zeros(n))
