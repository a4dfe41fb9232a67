"""Kernels: a log of what a step changed in a state, and the way back.

Nothing is copied: cells and witnesses are written down before they change, and restored
from there where the step is not accepted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.kernels import kernel
from evosdc.suppress.engine.network.arrays import Arcs, Flags, Long, PatternArrays, Real
from evosdc.suppress.engine.network.paths import hide, publish

# Marks of cells in a step: hidden, or published, when it began.
WAS_HIDDEN, WAS_PUBLISHED = 1, 2


class Log(NamedTuple):
    """What a step changed: cells with their state before, witnesses as they were.

    ``counts`` holds the numbers of cells, levels and witness entries logged.
    """

    mark: np.ndarray
    cell: np.ndarray
    level: np.ndarray
    start: np.ndarray
    length: np.ndarray
    logged: Flags
    flow_cell: np.ndarray
    flow: Long
    counts: Long


def make_log(live: PatternArrays) -> Log:
    """Allocate an empty log of changes to a state."""
    cells, levels, pool = len(live.hidden), len(live.length), len(live.pool_cell)
    return Log(
        mark=np.zeros(cells, dtype=np.int8),
        cell=np.zeros(cells, dtype=np.int32),
        level=np.zeros(levels, dtype=np.int32),
        start=np.zeros(levels, dtype=np.int64),
        length=np.zeros(levels, dtype=np.int32),
        logged=np.zeros(levels, dtype=np.bool_),
        flow_cell=np.zeros(pool, dtype=np.int32),
        flow=np.zeros(pool, dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )


@kernel(inner=True)
def note_cell(log: Log, cell: int, mark: int) -> None:
    if log.mark[cell] == 0:
        log.mark[cell] = mark
        log.cell[log.counts[0]] = cell
        log.counts[0] += 1


@kernel(inner=True)
def note_level(log: Log, live: PatternArrays, level: int) -> None:
    """Log a witness before it changes, once a step."""
    if log.logged[level]:
        return
    log.logged[level] = True
    at, size = log.counts[2], max(0, live.length[level])
    log.level[log.counts[1]] = level
    log.start[log.counts[1]] = at
    log.length[log.counts[1]] = live.length[level]
    for i in range(size):
        log.flow_cell[at + i] = live.pool_cell[live.begin[level] + i]
        log.flow[at + i] = live.pool_flow[live.begin[level] + i]
    log.counts[1] += 1
    log.counts[2] += size


@kernel
def forget(log: Log) -> None:
    """Empty the log: the step stands."""
    for i in range(log.counts[0]):
        log.mark[log.cell[i]] = 0
    for i in range(log.counts[1]):
        log.logged[log.level[i]] = False
    log.counts[:] = 0


@kernel(inner=True)
def undo(arcs: Arcs, live: PatternArrays, log: Log) -> None:
    """Restore what the log holds. A witness's room never shrinks, so it fits."""
    for i in range(log.counts[0]):
        cell = log.cell[i]
        before = log.mark[cell] == WAS_HIDDEN
        if before and not live.hidden[cell]:
            hide(arcs, live, cell)
        elif not before and live.hidden[cell]:
            publish(arcs, live, cell)
    for i in range(log.counts[1]):
        level = log.level[i]
        live.length[level] = log.length[i]
        for k in range(max(0, log.length[i])):
            live.pool_cell[live.begin[level] + k] = log.flow_cell[log.start[i] + k]
            live.pool_flow[live.begin[level] + k] = log.flow[log.start[i] + k]
    forget(log)


@kernel(inner=True)
def remove(arcs: Arcs, live: PatternArrays, log: Log, cell: int) -> None:
    note_cell(log, cell, WAS_HIDDEN)
    publish(arcs, live, cell)


@kernel(inner=True)
def gain_of(live: PatternArrays, log: Log, cost: Real) -> float:
    """How much dearer the logged changes made the pattern."""
    gain = 0.0
    for i in range(log.counts[0]):
        cell = log.cell[i]
        before = log.mark[cell] == WAS_HIDDEN
        if live.hidden[cell] and not before:
            gain += cost[cell]
        elif before and not live.hidden[cell]:
            gain -= cost[cell]
    return gain
