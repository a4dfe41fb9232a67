"""The relaxed check: does every equation with a hidden cell leave room to move?

The metaheuristics of the ONS use a relaxed feasibility check and leave the strict one,
attacker programs, to the end (Staggemeier et al.). An equation passes when for
each hidden cell that must be able to move, the other hidden cells together can undo the
change, and when no secondary stands alone in it. Two readings:

slack
    What must be able to move are the sensitive cells, by their levels, and hidden cells
    provide all the room within their bounds.
claims
    A hidden cell provides only what it claims to be able to move, and must be able to
    move by its claim itself, in all its equations. Every safe pattern passes: let each
    cell claim the most that any witness moves it.

All sums are kept for each equation and change only where a cell does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import Equations
from evosdc.suppress.structure.unpick import movable

# An equation short by less than this share is balanced: a tolerance for rounded sums.
TOLERANCE = 1e-9
# Places in the tally: cells in the log, equations waiting, cells in the list.
LOGGED, WAITING, SECONDARIES = 0, 1, 2


class Frame(NamedTuple):
    """What no search changes. Directions: 0 is up, 1 is down.

    The cells of an equation stand cheapest first. `free` are the cells that may become
    secondaries; `level` is what sensitive cells must be able to move by; `alone` says
    equations without a sensitive cell.
    """

    claims: bool
    row_start: Long
    row_cell: Long
    row_factor: Real
    column_start: Long
    column_row: Long
    column_factor: Real
    room: Real
    level: Real
    cost: Real
    primary: Flags
    free: Flags
    alone: Flags


class RelaxedArrays(NamedTuple):
    """A set of hidden cells with the sums of each equation.

    ``have[e, d]`` is what hidden cells provide to move equation `e` in direction `d`,
    ``ask[e, d]`` the most that one of them needs, its own loan included, and
    ``spare[e, d]`` the room of all hidden cells, ``known[e]`` how many there are.
    ``extra[:tally[2]]`` lists the
    secondaries, ``place`` where each stands. The log holds cells as they were before
    they changed, ``waiting[:tally[1]]`` equations that came short.
    """

    hidden: Flags
    claim: Real
    have: Real
    ask: Real
    spare: Real
    known: Long
    total: Real
    extra: Long
    place: Long
    log_cell: Long
    log_hidden: Flags
    log_claim: Real
    waiting: Long
    queued: Flags
    dead: Flags
    tally: Long


def make_frame(problem: Problem, claims: bool) -> Frame:
    """Lay out a problem for the kernels."""
    rows = sparse.csr_array(problem.table.matrix, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    equation = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    order = np.lexsort((rows.indices, problem.cost[rows.indices], equation))
    columns = sparse.csc_array(rows)
    level = _levels(problem)
    # No cell is ever asked for more than this; clipped room makes sums exact enough.
    size = np.abs(rows.data)
    spread = float(size.max() / size.min()) if len(size) else 1.0
    most = spread * float(level.max(initial=0.0))
    room = np.minimum(np.column_stack([problem.up, problem.down]), most)
    open_cells = movable(problem.hideable, Equations.of(rows, columns))
    free = open_cells & ~problem.primary & (room > 0).any(axis=1)
    sensitive = np.bincount(
        equation[problem.primary[rows.indices]], minlength=rows.shape[0]
    )
    return Frame(
        claims=claims,
        row_start=rows.indptr.astype(np.int64),
        row_cell=rows.indices[order].astype(np.int64),
        row_factor=rows.data[order],
        column_start=columns.indptr.astype(np.int64),
        column_row=columns.indices.astype(np.int64),
        column_factor=columns.data,
        room=room,
        level=level,
        cost=problem.cost,
        primary=problem.primary,
        free=free,
        alone=sensitive == 0,
    )


def _levels(problem: Problem) -> Real:
    """What each sensitive cell must move by; a sliding level counts as an upper one."""
    levels = problem.levels
    want = np.zeros((len(problem.table), 2))
    want[levels.cell, np.where(levels.sign > 0, 0, 1)] = levels.amount
    cell, width = levels.slide, levels.slide_amount
    up = np.minimum(np.maximum(want[cell, 0], width - want[cell, 1]), problem.up[cell])
    want[cell, 0] = up
    want[cell, 1] = np.minimum(
        np.maximum(want[cell, 1], width - up), problem.down[cell]
    )
    return want


def make_live(frame: Frame) -> RelaxedArrays:
    """Hide the sensitive cells."""
    n, rows = len(frame.cost), len(frame.row_start) - 1
    live = RelaxedArrays(
        hidden=frame.primary.copy(),
        claim=np.where(frame.primary[:, None], frame.level, 0.0),
        have=np.zeros((rows, 2)),
        ask=np.zeros((rows, 2)),
        spare=np.zeros((rows, 2)),
        known=np.zeros(rows, dtype=np.int64),
        total=np.zeros(1),
        extra=np.zeros(n, dtype=np.int64),
        place=np.full(n, -1, dtype=np.int64),
        log_cell=np.zeros(4 * n + 64, dtype=np.int64),
        log_hidden=np.zeros(4 * n + 64, dtype=np.bool_),
        log_claim=np.zeros((4 * n + 64, 2)),
        waiting=np.zeros(rows, dtype=np.int64),
        queued=np.zeros(rows, dtype=np.bool_),
        dead=np.zeros(rows, dtype=np.bool_),
        tally=np.zeros(3, dtype=np.int64),
    )
    recount_all(frame, live)
    return live


@kernel(inner=True)
def lacking(frame: Frame, live: RelaxedArrays, row: int) -> bool:
    """Whether an equation fails the relaxed check."""
    if live.known[row] == 1 and frame.alone[row]:
        return True
    have, ask = live.have[row], live.ask[row]
    least = 1 - TOLERANCE
    return have[0] < ask[0] * least or have[1] < ask[1] * least


@kernel(inner=True)
def recount(frame: Frame, live: RelaxedArrays, row: int) -> None:
    """Sum an equation again."""
    have0, have1, ask0, ask1, spare0, spare1 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    count = 0
    for p in range(frame.row_start[row], frame.row_start[row + 1]):
        cell = frame.row_cell[p]
        if not live.hidden[cell]:
            continue
        count += 1
        size = abs(frame.row_factor[p])
        k = 0 if frame.row_factor[p] > 0 else 1
        rise, fall = live.claim[cell, k], live.claim[cell, 1 - k]
        up, down = frame.room[cell, k], frame.room[cell, 1 - k]
        spare0 += size * up
        spare1 += size * down
        if frame.claims:
            up, down = rise, fall
        have0 += size * up
        have1 += size * down
        if fall > 0:
            ask0 = max(ask0, size * (fall + up))
        if rise > 0:
            ask1 = max(ask1, size * (rise + down))
    live.have[row, 0], live.have[row, 1] = have0, have1
    live.ask[row, 0], live.ask[row, 1] = ask0, ask1
    live.spare[row, 0], live.spare[row, 1] = spare0, spare1
    live.known[row] = count


@kernel
def recount_all(frame: Frame, live: RelaxedArrays) -> None:
    """Sum every equation again."""
    for row in range(len(frame.row_start) - 1):
        recount(frame, live, row)


@kernel(inner=True)
def queue(frame: Frame, live: RelaxedArrays, row: int) -> None:
    """Let an equation that comes short wait, once."""
    if not live.queued[row] and not live.dead[row] and lacking(frame, live, row):
        live.queued[row] = True
        live.waiting[live.tally[WAITING]] = row
        live.tally[WAITING] += 1


@kernel(inner=True)
def _log(live: RelaxedArrays, cell: int) -> None:
    at = live.tally[LOGGED]
    live.log_cell[at] = cell
    live.log_hidden[at] = live.hidden[cell]
    live.log_claim[at, 0] = live.claim[cell, 0]
    live.log_claim[at, 1] = live.claim[cell, 1]
    live.tally[LOGGED] += 1


@kernel(inner=True)
def _list(frame: Frame, live: RelaxedArrays, cell: int) -> None:
    if not frame.primary[cell]:
        live.place[cell] = live.tally[SECONDARIES]
        live.extra[live.tally[SECONDARIES]] = cell
        live.tally[SECONDARIES] += 1
        live.total[0] += frame.cost[cell]


@kernel(inner=True)
def _unlist(frame: Frame, live: RelaxedArrays, cell: int) -> None:
    live.tally[SECONDARIES] -= 1
    last = live.extra[live.tally[SECONDARIES]]
    at = live.place[cell]
    live.extra[at] = last
    live.place[last] = at
    live.place[cell] = -1
    live.total[0] -= frame.cost[cell]


@kernel(inner=True)
def hide(frame: Frame, live: RelaxedArrays, cell: int, k: int, amount: float) -> None:
    """Hide a cell, or let a hidden one claim more, in direction `k`."""
    _log(live, cell)
    added = not live.hidden[cell]
    old = live.claim[cell, k]
    new = max(old, amount)
    other = live.claim[cell, 1 - k]
    live.claim[cell, k] = new
    if added:
        live.hidden[cell] = True
        _list(frame, live, cell)
    for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
        row = frame.column_row[p]
        size = abs(frame.column_factor[p])
        # Direction of the equation in which the cell moves when it moves by k.
        d = k if frame.column_factor[p] > 0 else 1 - k
        here, there = size * frame.room[cell, k], size * frame.room[cell, 1 - k]
        if added:
            live.known[row] += 1
            live.spare[row, d] += here
            live.spare[row, 1 - d] += there
        if frame.claims:
            live.have[row, d] += size * (new - old)
            here, there = size * new, size * other
        elif added:
            live.have[row, d] += here
            live.have[row, 1 - d] += there
        if new > 0:
            live.ask[row, 1 - d] = max(live.ask[row, 1 - d], size * new + there)
        if other > 0:
            live.ask[row, d] = max(live.ask[row, d], size * other + here)
        queue(frame, live, row)


@kernel(inner=True)
def publish(frame: Frame, live: RelaxedArrays, cell: int) -> None:
    """Publish a secondary; its equations wait where they come short."""
    _log(live, cell)
    live.hidden[cell] = False
    live.claim[cell, 0] = live.claim[cell, 1] = 0.0
    _unlist(frame, live, cell)
    for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
        recount(frame, live, frame.column_row[p])
        queue(frame, live, frame.column_row[p])


@kernel(inner=True)
def forget(live: RelaxedArrays) -> None:
    """Let all changes stand, and nothing wait."""
    live.tally[LOGGED] = 0
    for i in range(live.tally[WAITING]):
        live.queued[live.waiting[i]] = False
    live.tally[WAITING] = 0


@kernel(inner=True)
def undo(frame: Frame, live: RelaxedArrays) -> None:
    """Take all changes in the log back."""
    logged = live.tally[LOGGED]
    for i in range(logged - 1, -1, -1):
        cell = live.log_cell[i]
        if live.hidden[cell] and not live.log_hidden[i]:
            _unlist(frame, live, cell)
        elif live.log_hidden[i] and not live.hidden[cell]:
            _list(frame, live, cell)
        live.hidden[cell] = live.log_hidden[i]
        live.claim[cell, 0] = live.log_claim[i, 0]
        live.claim[cell, 1] = live.log_claim[i, 1]
    forget(live)
    # The flags serve to sum each equation once.
    for i in range(logged):
        cell = live.log_cell[i]
        for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
            row = frame.column_row[p]
            if not live.queued[row]:
                live.queued[row] = True
                recount(frame, live, row)
    for i in range(logged):
        cell = live.log_cell[i]
        for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
            live.queued[frame.column_row[p]] = False


@kernel
def start_from(frame: Frame, live: RelaxedArrays, hidden: Flags) -> None:
    """Hide exactly these cells and the primaries, all claims but levels dropped."""
    live.hidden[:] = frame.primary
    live.claim[:] = frame.level
    live.place[:] = -1
    live.tally[:] = 0
    live.total[0] = 0.0
    live.queued[:] = False
    for cell in range(len(hidden)):
        if hidden[cell] and not frame.primary[cell]:
            live.hidden[cell] = True
            _list(frame, live, cell)
    recount_all(frame, live)
