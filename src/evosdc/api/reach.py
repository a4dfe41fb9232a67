"""Levels that no pattern can give: lowered for the search, never for the judge.

An office whose table has one hopeless cell still wants the others protected. So the
search asks for what can be had, the judge for what was asked, and what is missing is
listed by label.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.attack import judge
from evosdc.suppress.problem import strict_margin
from evosdc.table import Table
from evosdc.table.status import FIXED

# A level that only rounding keeps from being reached is lowered by this share.
_SHORT = 1e-6
_MOST = 5


@dataclass(frozen=True, eq=False)
class Reach:
    """A table with levels that can be had, and the others in words."""

    table: Table
    notes: tuple[str, ...]


def within_reach(table: Table, *, strict: bool, deadline: float | None) -> Reach:
    """Lower every level that is out of reach even with everything hidden.

    A cell that cannot move at all is fixed: it is known whatever is hidden, and helps
    nobody.
    """
    everything = table.with_pattern(table.status != FIXED)
    verdict, _ = judge(everything, strict=strict, deadline=deadline)
    margin = strict_margin(table) if strict else np.zeros(len(table))
    levels = {name: getattr(table, name).copy() for name in ("lpl", "upl", "spl")}
    status = table.status.copy()
    short: list[str] = []
    for e in verdict.exposed:
        cell, value = e.cell, float(table.value[e.cell])
        had = {"upl": e.high - value, "lpl": value - e.low, "spl": e.high - e.low}
        for name, level in levels.items():
            most = _lowered(had[name] - margin[cell], table.is_integer)
            level[cell] = min(level[cell], most)
        if not levels["upl"][cell] and not levels["lpl"][cell]:
            way = max(("upl", "lpl"), key=had.__getitem__)
            levels[way][cell] = _lowered(had[way] - margin[cell], table.is_integer)
        if not levels["upl"][cell] and not levels["lpl"][cell]:
            status[cell] = FIXED
        short.append(f"{e.label} ({_share_in_words(e.share)})")
    if not short:
        return Reach(table, ())
    shown = "; ".join(short[:_MOST])
    rest = f" and {len(short) - _MOST} more" if len(short) > _MOST else ""
    number = "1 cell has" if len(short) == 1 else f"{len(short)} cells have"
    note = f"{number} levels beyond any pattern: {shown}{rest}"
    return Reach(table.replace(status=status, **levels), (note,))


def is_lowered(asked: Table, had: Table, cells: NDArray[np.bool_]) -> bool:
    """Whether a search was asked for less than some cells need, out of reach."""
    less = had.status == FIXED
    for name in ("lpl", "upl", "spl"):
        less |= getattr(had, name) < getattr(asked, name)
    return bool((cells & less).any())


def _share_in_words(share: float) -> str:
    """Say how much of its levels a cell can have; never "100 %", which it cannot."""
    if share > 1 - _SHORT:
        return (
            "all of its levels but for rounding: levels a millionth lower, or known "
            "bounds as much wider, can be had"
        )
    return f"at most {min(100 * share, 99.9):.3g} % of its levels"


def _lowered(had: float, whole: bool) -> float:
    if not had > 0:
        return 0.0
    return float(np.floor(had)) if whole else had * (1 - _SHORT)
