"""Kernels: moves of a pattern that keep the relaxed check, or are taken back.

A move publishes secondaries and balances the equations that come short by it, with
cells that are hidden already or with others. It stands where the cost allows it.
"""

from __future__ import annotations

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.draw import draw
from evosdc.suppress.relaxed.balance import Choice, settle
from evosdc.suppress.relaxed.check import (
    SECONDARIES,
    Frame,
    Long,
    RelaxedArrays,
    forget,
    publish,
    undo,
)

# Rounding in sums of costs.
_LESS = 1 - 1e-12
# What a move publishes: cells at random, dear ones, some of an equation, one cell.
ANYWHERE, DEAR, TOGETHER, ONE = 0, 1, 2, 3


@kernel(inner=True)
def _ruin(
    frame: Frame, live: RelaxedArrays, state: np.ndarray, way: int, many: int
) -> None:
    """Publish a few secondaries."""
    if way == TOGETHER:
        cell = live.extra[draw(state, live.tally[SECONDARIES])]
        degree = frame.column_start[cell + 1] - frame.column_start[cell]
        row = frame.column_row[frame.column_start[cell] + draw(state, degree)]
        start = frame.row_start[row]
        size = frame.row_start[row + 1] - start
        at = draw(state, size)
        for i in range(size):
            other = frame.row_cell[start + (at + i) % size]
            if live.place[other] >= 0:
                publish(frame, live, other)
                many -= 1
                if many == 0:
                    return
        return
    for _ in range(many):
        if live.tally[SECONDARIES] == 0:
            return
        cell = live.extra[draw(state, live.tally[SECONDARIES])]
        if way == DEAR:
            other = live.extra[draw(state, live.tally[SECONDARIES])]
            if frame.cost[other] > frame.cost[cell]:
                cell = other
        publish(frame, live, cell)


@kernel
def move(
    frame: Frame,
    live: RelaxedArrays,
    choice: Choice,
    way: int,
    cell: int,
    many: int,
    may_hide: bool,
    most: float,
) -> bool:
    """Publish secondaries and balance what comes short, below a total cost.

    By `way` one cell is published, which then stays out, or `many` of some kind.
    Without leave to hide others, only what is hidden already may balance.
    """
    if live.tally[SECONDARIES] == 0:
        return False
    if way == ONE:
        publish(frame, live, cell)
    else:
        _ruin(frame, live, choice.state, way, many)
    good = settle(frame, live, choice, may_hide, cell, most, len(live.dead))
    live.dead[:] = False
    if good and live.total[0] < most:
        forget(live)
        return True
    undo(frame, live)
    return False


@kernel
def descend(
    frame: Frame, live: RelaxedArrays, choice: Choice, cells: Long, swaps: bool
) -> int:
    """Try each cell once: publish it, or swap it; return how many moves stood.

    A swap publishes a cell for others of its equations that are cheaper together.
    """
    moved = 0
    for cell in cells:
        if live.place[cell] < 0:
            continue
        for turn in range(2 if swaps else 1):
            most = np.inf if turn == 0 else live.total[0] * _LESS
            if move(frame, live, choice, ONE, cell, 1, turn == 1, most):
                moved += 1
                break
    return moved
