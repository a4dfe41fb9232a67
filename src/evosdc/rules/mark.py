"""From rules and contributors to the status and the levels of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.rules.rule import CellContributors, Numbers, Rule
from evosdc.rules.text import rule_text
from evosdc.table.rounding import significant
from evosdc.table.status import PRIMARY, SAFE


@dataclass(frozen=True, eq=False)
class Marks:
    """Columns of a table: status and protection levels; and what each rule marked."""

    status: NDArray[np.str_]
    lpl: Numbers
    upl: Numbers
    spl: Numbers
    marked: tuple[tuple[str, int], ...] = ()


def mark(
    contributors: CellContributors,
    rules: Sequence[Rule],
    *,
    floor: float | Numbers = 0.0,
    whole: bool = False,
    counted: NDArray[np.bool_] | None = None,
) -> Marks:
    """Mark the cells that violate any rule, with the largest level any rule asks for.

    Parameters
    ----------
    floor
        The lower bound of cells that everyone knows, one for all or one for each: 1 for
        counts, 0 for magnitudes, minus infinity where contributions are negative. No
        lower level can reach beyond it, so levels are cut there.
    whole
        Round levels up to whole numbers, at least 1, as tau-Argus does: in a table of
        counts, half a person more or less protects nobody.
    counted
        The cells that are counted for each rule; all where None.
    """
    n = len(contributors)
    unsafe = np.zeros(n, dtype=bool)
    upl, lpl = np.zeros(n), np.zeros(n)
    marked: dict[str, int] = {}
    for rule in rules:
        hit, up, down = rule.apply(contributors)
        shown = hit if counted is None else hit & counted
        marked[rule_text(rule)] = int(shown.sum())
        unsafe |= hit
        upl, lpl = np.maximum(upl, up), np.maximum(lpl, down)
    # Levels are read as decimals later on: rounding errors must not be in them.
    upl, lpl = significant(upl, 12), significant(lpl, 12)
    if whole:
        minimum = unsafe.astype(np.float64)
        upl = np.maximum(np.ceil(upl), minimum)
        lpl = np.maximum(np.ceil(lpl), minimum)
    lpl = np.minimum(lpl, np.maximum(contributors.value - floor, 0.0))
    status = np.where(unsafe, PRIMARY, SAFE).astype("U1")
    return Marks(status, lpl, upl, np.zeros(n), tuple(marked.items()))
