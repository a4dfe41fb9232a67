"""What a pattern must reach, one row a direction of a cell.

A sliding level asks only for a width. It is turned into ordinary levels by raising the
upper level by what is missing; where the cell cannot rise so far even with everything
hidden, the lower one; where that fails too, the cell is asked to rise as far as it can
and to fall by the rest. For cells of `Problem.falling` it is the other way round. Any
pattern that covers these rows covers the sliding level.

Levels have few digits, so that what covers them can be read exactly: a level such as
15 % of something, or one with a strict margin, has sixteen, and a deviation that shares
it out has steps that no rounding restores. A thousandth of the table's unit more costs
nothing worth naming and leaves steps of few digits, which the judge reads as meant.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Real
from evosdc.errors import LevelError
from evosdc.suppress.engine.base import Demands
from evosdc.suppress.engine.general.model import Demand
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.problem.problem import Problem, unreachable

# A level counts as out of reach when it is missed by more than this share.
SHORT = 1e-8
# Digits after the point that the values of a table may have, and digits beyond them for
# the levels: with half of either more levels keep sixteen digits or ask for more than
# was meant; twice as many are no longer read exactly.
_MOST_DIGITS = 6
_MORE_DIGITS = 3


def demands_of(programs: Programs) -> Demands:
    """List the demands of a problem, sliding levels turned into ordinary ones."""
    levels = programs.problem.levels
    wanted: dict[tuple[int, int], float] = {
        (int(c), int(s)): float(a)
        for c, s, a in zip(levels.cell, levels.sign, levels.amount, strict=True)
    }
    short: list[tuple[int, float]] = []
    for cell, width in zip(
        levels.slide.tolist(), levels.slide_amount.tolist(), strict=True
    ):
        up, down = wanted.get((cell, 1), 0.0), wanted.get((cell, -1), 0.0)
        way = -1 if cell in programs.problem.falling else 1
        first, other = (up, down)[::way]
        first, other, share = _split(programs, cell, way, width, first, other)
        if share < 1.0:
            short.append((cell, share))
            continue
        wanted.update({(cell, way): first, (cell, -way): other})
    if short:
        raise _too_wide(programs.problem, short)
    rows = [(c, s, a) for (c, s), a in wanted.items() if a > 0]
    return Demands(
        np.array([r[0] for r in rows], dtype=np.int64),
        np.array([r[1] for r in rows], dtype=np.int8),
        np.array([r[2] for r in rows], dtype=np.float64),
    )


def with_sums(problem: Problem, demands: Demands) -> Demands:
    """Add the demands on sums of cells of one respondent: rows of `Problem.knowledge`.

    Of a sum without levels nobody may learn the value: it must move by what one of its
    cells must, the way that the cell must.
    """
    real, known = len(problem.attackers), problem.knowledge
    rows: list[tuple[int, int, float, int]] = []
    asked = {(cells, sign): amount for cells, sign, amount in problem.sum_levels}
    for who in range(real, len(known)):
        cells = known.cells(who).tolist()
        levels = {sign: asked.get((tuple(cells), sign), 0.0) for sign in (1, -1)}
        if not any(levels.values()):
            inside = np.flatnonzero(np.isin(demands.cell, cells))
            if len(inside):
                least = inside[np.argmin(demands.amount[inside])]
                levels[int(demands.sign[least])] = float(demands.amount[least])
        rows += [(cells[0], sign, a, who) for sign, a in levels.items() if a > 0]
    if not rows:
        return demands
    return Demands(
        np.append(demands.cell, [r[0] for r in rows]),
        np.append(demands.sign, np.array([r[1] for r in rows], np.int8)),
        np.append(demands.amount, [r[2] for r in rows]),
        np.append(demands.attacker, [r[3] for r in rows]),
    )


def refuse_unreachable(programs: Programs, demands: Demands, among: list[int]) -> None:
    """Raise a `LevelError` that names every level no pattern can give, if any.

    Only the demands in `among` are asked about; the others are known to be covered.
    """
    levels = programs.problem.levels
    row_of = {
        (int(c), int(s)): row
        for row, (c, s) in enumerate(zip(levels.cell, levels.sign, strict=True))
    }
    rows: list[int] = []
    best: list[float] = []
    for cell, sign, amount in zip(
        demands.cell[among].tolist(),
        demands.sign[among].tolist(),
        demands.amount[among].tolist(),
        strict=True,
    ):
        far, _ = programs.farthest(Demand(cell, sign, amount))
        if far < amount * (1 - SHORT) and (cell, sign) in row_of:
            rows.append(row_of[cell, sign])
            best.append(far)
    if rows:
        raise unreachable(programs.problem, rows, best)


def _split(
    programs: Programs, cell: int, way: int, width: float, first: float, other: float
) -> tuple[float, float, float]:
    """Share a width out, one way before the other.

    The third number is the share of it that can be had.
    """
    most, _ = programs.farthest(Demand(cell, way, width))
    # What the solver finds is off by rounding: ask for a little less.
    most *= 1 - SHORT
    if width - other <= most:
        return max(first, width - other), other, 1.0
    back, _ = programs.farthest(Demand(cell, -way, width))
    back *= 1 - SHORT
    if width - first <= back:
        return first, max(other, width - first), 1.0
    if most + back >= width:
        return most, width - most, 1.0
    return first, other, (most + back) / width


def _too_wide(problem: Problem, short: list[tuple[int, float]]) -> LevelError:
    shown = "; ".join(
        f"{problem.table.label(cell)} (at most {100 * share:.4g} % of the width)"
        for cell, share in short[:5]
    )
    more = f" and {len(short) - 5} more" if len(short) > 5 else ""
    return LevelError(
        f"{len(short)} sliding levels are beyond any pattern: {shown}{more}",
        expected="widths within what hidden cells can reach",
        hint="lower these levels, widen the bounds, or free fixed cells",
    )


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
    places = digits + _MORE_DIGITS
    amount = demands.amount
    raised = np.round(np.ceil(amount * 10.0**places) / 10.0**places, places)
    room = np.where(
        demands.sign > 0, problem.up[demands.cell], problem.down[demands.cell]
    )
    # What a sum has room for is not known.
    room[demands.attacker >= len(problem.attackers)] = 0.0
    few = np.round(amount, places) == amount
    return np.where(few | (raised > room), amount, raised)
