"""Levels in whole units, with sliding levels split into an upper and a lower one."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Long, Real
from evosdc.errors import LevelError
from evosdc.suppress.engine.network.arrays import Arcs, Net
from evosdc.suppress.engine.network.paths import (
    drop_flow,
    hidden_network,
    send_in_phases,
)
from evosdc.suppress.problem.problem import Problem

# Long-number capacities: no level is ever left short through rounding.
#
# With capacities that are whole multiples of a unit every maximum flow is one too, so a
# level rounded up to the next multiple requires neither more nor less. The unit is a
# power of ten that writes every number of the table, where there is one small enough.
# Otherwise it lies far below the last digit that matters, and the capacities that are
# not whole multiples of it are rounded down.

# Doubles hold every whole number up to here.
_LARGEST_EXACT_INTEGER = 2.0**53
# The largest level in units where some number is not a whole multiple.
_LARGEST_LEVEL_UNITS = 2.0**50
_MOST_DIGITS = 12


@dataclass(frozen=True, eq=False)
class Capacities:
    """Room to move and levels in whole units.

    Attributes
    ----------
    up, down
        How far each cell can move; cut off at the largest level, which no flow needs
        to exceed.
    amount, slide_amount
        `Levels.amount` and `Levels.slide_amount` in units, rounded up.
    unit
        What one unit is worth in the table's own measure.
    """

    up: Long
    down: Long
    amount: Long
    slide_amount: Long
    unit: float


def whole_capacities(problem: Problem) -> Capacities:
    """Express a problem's room and levels in whole units."""
    table, levels = problem.table, problem.levels
    demands = np.concatenate([levels.amount, levels.slide_amount])
    if not len(demands):
        none = np.zeros(0, dtype=np.int64)
        nothing = np.zeros(len(table), dtype=np.int64)
        return Capacities(nothing, nothing, none, none, 1.0)
    scale = 10.0 ** _digits([table.value, table.lower, table.upper], demands.max())
    wanted = _round_up(demands, scale)
    most = int(wanted.max())
    return Capacities(
        up=_room(table.value, table.upper, problem.up, scale, most),
        down=_room(table.value, table.lower, problem.down, scale, most),
        amount=wanted[: len(levels)],
        slide_amount=wanted[len(levels) :],
        unit=1.0 / scale,
    )


def _digits(columns: list[Real], demand: float) -> int:
    """Fewest decimals that write every number, or else as many as levels allow."""
    numbers = np.concatenate([c[np.isfinite(c)] for c in columns])
    largest = max(float(np.abs(numbers).max()), demand)
    for digits in range(_MOST_DIGITS + 1):
        scale = 10.0**digits
        if largest * scale > _LARGEST_EXACT_INTEGER:
            break
        if np.array_equal(np.rint(numbers * scale) / scale, numbers):
            return digits
    return int(np.floor(np.log10(_LARGEST_LEVEL_UNITS / demand)))


def _room(value: Real, bound: Real, room: Real, scale: float, most: int) -> Long:
    """Distance of each value from its bound in units, rounded down, at most `most`."""
    units = [np.rint(column * scale) for column in (value, bound)]
    exact = np.ones(len(value), dtype=np.bool_)
    for column, unit in zip((value, bound), units, strict=True):
        exact &= (np.abs(unit) <= _LARGEST_EXACT_INTEGER) & (unit / scale == column)
    finite = np.where(np.isfinite(bound), np.abs(bound), 0.0)
    # One unit in the last place for reading each decimal, one for the difference.
    blur = 3 * np.spacing(np.maximum(np.abs(value), finite))
    rounded = np.floor((room - blur) * scale)
    most_likely = np.floor((room + blur) * scale)
    for cell in np.flatnonzero(~exact & np.isfinite(bound) & (rounded < most_likely)):
        rounded[cell] = _decimal_room(float(value[cell]), float(bound[cell]), scale)
    difference = np.full(len(value), np.inf)
    np.subtract(units[1], units[0], out=difference, where=exact)
    whole = np.where(exact, np.abs(difference), rounded)
    # A value outside its bounds by rounding has no room.
    whole[room == 0] = 0
    return np.clip(whole, 0, most).astype(np.int64)


def _decimal_room(value: float, bound: float, scale: float) -> float:
    """Distance in units, rounded down, of two numbers read as decimals."""
    with localcontext() as context:
        # Doubles next to each other and far apart alike: nothing is rounded.
        context.prec = 700
        apart = abs(Decimal(repr(value)) - Decimal(repr(bound)))
        return float((apart * Decimal(repr(scale))).to_integral_value(ROUND_FLOOR))


def _round_up(demands: Real, scale: float) -> Long:
    """Fewest units that reach each demand, read as a decimal."""
    units = np.rint(demands * scale)
    units += units / scale < demands
    return units.astype(np.int64)


def network_levels(
    problem: Problem, arcs: Arcs, capacities: Capacities
) -> tuple[Long, NDArray[np.int8], Long, Long]:
    """Return cell, sign and amount of every level, and its row in `problem.levels`.

    A sliding level raises the upper level of its cell as far as any pattern can reach,
    and the lower level by what is then left of the width; the other way round for cells
    of `Problem.falling`.
    """
    levels = problem.levels
    wanted = {
        (int(cell), int(sign)): (int(amount), row)
        for row, (cell, sign, amount) in enumerate(
            zip(levels.cell, levels.sign, capacities.amount, strict=True)
        )
    }
    everything: Net | None = None  # one for all: it depends on no cell
    cells, nodes = np.flatnonzero(problem.hideable), len(arcs.start) - 1
    for cell, width in zip(levels.slide, capacities.slide_amount, strict=True):
        k = int(cell)
        everything = everything or hidden_network(
            arcs.tail, arcs.head, arcs.up, arcs.down, nodes, cells
        )
        reach = {sign: _reach(everything, k, sign, int(width)) for sign in (1, -1)}
        if reach[1] + reach[-1] < width:
            raise LevelError(
                f"the sliding level of {problem.table.label(k)} is beyond any pattern: "
                f"at most {100 * (reach[1] + reach[-1]) / int(width):.4g} % of it "
                "can be had",
                expected="levels within the external bounds that hidden cells reach",
                hint="lower this level, widen the bounds, or free fixed cells",
            )
        way = -1 if k in problem.falling else 1
        least, _ = wanted.get((k, -way), (0, -1))
        most = min(int(width) - min(least, reach[-way]), reach[way])
        for sign, amount in ((way, most), (-way, int(width) - most)):
            known = wanted.get((k, sign), (0, -1))
            if amount > known[0]:
                wanted[k, sign] = (amount, known[1])
    keys = sorted(wanted, key=lambda key: (-key[1], key[0]))
    return (
        np.array([cell for cell, _ in keys], dtype=np.int64),
        np.array([sign for _, sign in keys], dtype=np.int8),
        np.array([wanted[key][0] for key in keys], dtype=np.int64),
        np.array([wanted[key][1] for key in keys], dtype=np.int64),
    )


def _reach(everything: Net, cell: int, sign: int, width: int) -> int:
    """How far a cell can move one way when all cells that may be are hidden."""
    arcs = everything.arcs
    own = int(arcs.up[cell] if sign > 0 else arcs.down[cell])
    source, target = int(arcs.head[cell]), int(arcs.tail[cell])
    if sign < 0:
        source, target = target, source
    most = min(own, width)
    if source == target or most == 0:
        return most
    left = send_in_phases(everything, source, target, cell, most, 0)
    drop_flow(everything.work)
    return most - int(left)
