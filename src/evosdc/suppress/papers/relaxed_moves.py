"""Kernels: give equations room by hiding cells, chosen by rule, list or trail.

An equation that comes short gets cells until it is balanced; each of them may leave
other equations short, which wait for their turn. With claims, cells hidden already are
made to claim more before others are hidden.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.papers.relaxed_check import (
    LOGGED,
    SECONDARIES,
    TOLERANCE,
    WAITING,
    Frame,
    RelaxedArrays,
    forget,
    hide,
    lacking,
    publish,
    queue,
    undo,
)
from evosdc.suppress.structure.primitives import draw

# What makes a cell good to hide: rules by name, and their numbers.
RULES = ("cheapest", "per-unit", "largest", "ahead")
CHEAPEST, PER_UNIT, LARGEST, AHEAD = range(4)
# A total below this share of another is less: a tolerance for rounded sums of costs.
_STRICTLY_LESS = 1 - 1e-12
# What a move publishes: cells at random, expensive ones, some of an equation, one cell.
ANYWHERE, EXPENSIVE, TOGETHER, ONE = range(4)


class MoveChoice(NamedTuple):
    """How cells are chosen.

    By `rule` the best `size` cells of an equation make the candidate list; one of them
    is drawn with a chance of ``trail ** alpha / score ** beta``, so that zeros make all
    alike. `best`, places in ``frame.row_cell``, and `score` are scratch space, `state`
    that of the random numbers.
    """

    rule: int
    size: int
    alpha: float
    beta: float
    trail: Real
    state: np.ndarray
    best: Long
    score: Real


def make_choice(
    frame: Frame,
    rule: int,
    size: int = 1,
    rng: np.random.Generator | None = None,
    alpha: float = 0.0,
    beta: float = 0.0,
    trail: Real | None = None,
) -> MoveChoice:
    """Set up a way to choose; without a generator the best cell is taken."""
    seed = np.zeros(1, np.int64) if rng is None else rng.integers(0, 2**62, 1)
    return MoveChoice(
        rule=rule,
        size=1 if rng is None else max(1, size),
        alpha=alpha,
        beta=beta,
        trail=np.ones(len(frame.cost)) if trail is None else trail,
        state=seed.astype(np.uint64),
        best=np.zeros(max(1, size), dtype=np.int64),
        score=np.zeros(max(1, size)),
    )


@kernel(inner=True)
def _owner(frame: Frame, live: RelaxedArrays, row: int, d: int) -> int:
    """The hidden cell whose claim an equation is shortest for."""
    worst, found = -1.0, -1
    for p in range(frame.row_start[row], frame.row_start[row + 1]):
        cell = frame.row_cell[p]
        if not live.hidden[cell]:
            continue
        k = d if frame.row_factor[p] > 0 else 1 - d
        claim = live.claim[cell, 1 - k]
        if claim > 0:
            lends = live.claim[cell, k] if frame.claims else frame.room[cell, k]
            ask = abs(frame.row_factor[p]) * (claim + lends)
            if ask > worst:
                worst, found = ask, cell
    return found


@kernel(inner=True)
def _cheapest(frame: Frame, live: RelaxedArrays, row: int, d: int, ban: int) -> float:
    """Cost of the cheapest cell that could still be hidden in an equation."""
    for p in range(frame.row_start[row], frame.row_start[row + 1]):
        cell = frame.row_cell[p]
        if cell == ban or live.hidden[cell] or not frame.free[cell]:
            continue
        if frame.room[cell, d if frame.row_factor[p] > 0 else 1 - d] > 0:
            return frame.cost[cell]
    return np.inf


@kernel(inner=True)
def opened(
    frame: Frame, live: RelaxedArrays, row: int, cell: int, k: int, amount: float
) -> float:
    """What the other equations of a cell would cost at least if it claimed an amount.

    Nothing where hidden cells have the room; infinite where nothing is left to hide.
    An equation that comes short and that the cell helps saves what it would have cost:
    this is how chains of cells close.
    """
    total = 0.0
    for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
        other = frame.column_row[p]
        if other == row:
            continue
        size = abs(frame.column_factor[p])
        # The others must move the equation the other way.
        d = 1 - k if frame.column_factor[p] > 0 else k
        if live.have[other, 1 - d] < live.ask[other, 1 - d] * (1 - TOLERANCE):
            saved = _cheapest(frame, live, other, 1 - d, cell)
            if saved < np.inf:
                total -= saved
            continue
        left = live.spare[other, d]
        if live.hidden[cell]:
            left -= size * frame.room[cell, 1 - k]
        if left < size * amount * (1 - TOLERANCE):
            total += _cheapest(frame, live, other, d, cell)
    return total


@kernel(inner=True)
def _score(
    frame: Frame,
    live: RelaxedArrays,
    rule: int,
    row: int,
    cell: int,
    k: int,
    size: float,
    short: float,
) -> float:
    """What a cell is worth by a rule, the less the better; infinite without room."""
    room, has = frame.room[cell, k], 0.0
    if live.hidden[cell]:
        has = live.claim[cell, k]
    if room - has <= TOLERANCE * room:
        return np.inf
    gain = min(size * (room - has), short)
    cost = 0.0 if live.hidden[cell] else frame.cost[cell]
    if rule == CHEAPEST:
        return cost
    if rule == PER_UNIT:
        return cost / gain
    if rule == LARGEST:
        return 0.0 if live.hidden[cell] else 1.0 / (size * room)
    return cost + opened(frame, live, row, cell, k, has + gain / size)


@kernel(inner=True)
def _draw_from(frame: Frame, choice: MoveChoice, count: int, floor: float) -> int:
    if count == 1:
        return choice.best[0]
    if choice.alpha == 0 and choice.beta == 0:
        return choice.best[draw(choice.state, count)]
    total = 0.0
    for i in range(count):
        weight = choice.trail[frame.row_cell[choice.best[i]]] ** choice.alpha
        choice.score[i] = weight / (max(choice.score[i], 0.0) + floor) ** choice.beta
        total += choice.score[i]
    point = total * draw(choice.state, 1 << 30) / float(1 << 30)
    for i in range(count - 1):
        point -= choice.score[i]
        if point < 0:
            return choice.best[i]
    return choice.best[count - 1]


@kernel(inner=True)
def _pick(
    frame: Frame,
    live: RelaxedArrays,
    choice: MoveChoice,
    row: int,
    d: int,
    owner: int,
    short: float,
    may_hide: bool,
    ban: int,
) -> int:
    """Choose a cell that gives an equation room in direction `d`: its place, or -1."""
    count = 0
    floor = np.inf
    for p in range(frame.row_start[row], frame.row_start[row + 1]):
        cell = frame.row_cell[p]
        if cell in (owner, ban):
            continue
        known = live.hidden[cell]
        if known and not frame.claims:
            continue
        if not known and not (may_hide and frame.free[cell]):
            continue
        k = d if frame.row_factor[p] > 0 else 1 - d
        size = abs(frame.row_factor[p])
        score = _score(frame, live, choice.rule, row, cell, k, size, short)
        if score == np.inf:
            continue
        at = count
        while at > 0 and choice.score[at - 1] > score:
            at -= 1
        if at >= choice.size:
            continue
        count = min(count + 1, choice.size)
        for i in range(count - 1, at, -1):
            choice.score[i] = choice.score[i - 1]
            choice.best[i] = choice.best[i - 1]
        choice.score[at] = score
        choice.best[at] = p
        # Cells come cheapest first; hidden ones, which are free to claim, anywhere.
        if choice.rule == CHEAPEST and count == choice.size and not frame.claims:
            break
    if count == 0:
        return -1
    for i in range(count):
        if choice.score[i] > 0:
            floor = min(floor, choice.score[i])
    return _draw_from(frame, choice, count, 0.01 * floor if floor < np.inf else 1.0)


@kernel(inner=True)
def balance(
    frame: Frame,
    live: RelaxedArrays,
    choice: MoveChoice,
    row: int,
    may_hide: bool,
    ban: int,
) -> bool:
    """Give an equation room; False where it cannot be had."""
    # Cells may ask for one another's room in turn; an end is set to that.
    for _ in range(4 * (frame.row_start[row + 1] - frame.row_start[row]) + 8):
        if not lacking(frame, live, row):
            return True
        if live.tally[LOGGED] + 2 > len(live.log_cell):
            return False
        d = 0
        if live.have[row, 0] >= live.ask[row, 0] * (1 - TOLERANCE):
            d = 1
        short = live.ask[row, d] - live.have[row, d]
        owner = -1
        if short <= TOLERANCE * live.ask[row, d]:
            # A secondary stands alone: it takes any other hidden cell.
            short = np.inf
        else:
            owner = _owner(frame, live, row, d)
        at = _pick(frame, live, choice, row, d, owner, short, may_hide, ban)
        if at < 0:
            return False
        cell, factor = frame.row_cell[at], frame.row_factor[at]
        k = d if factor > 0 else 1 - d
        room = frame.room[cell, k]
        if short == np.inf:
            hide(frame, live, cell, k, 0.0)
            continue
        has = live.claim[cell, k] if live.hidden[cell] else 0.0
        claim = min(room, has + short / abs(factor))
        # Levels alone count in the reading by slack, so that secondaries claim nothing.
        hide(frame, live, cell, k, claim if frame.claims else 0.0)
    return not lacking(frame, live, row)


@kernel(inner=True)
def balance_waiting(
    frame: Frame,
    live: RelaxedArrays,
    choice: MoveChoice,
    may_hide: bool,
    ban: int,
    most: float,
    many: int,
) -> bool:
    """Balance `many` of the equations that wait, the latest first.

    False as soon as one cannot be balanced or the total cost reaches `most`.
    """
    while live.tally[WAITING] > 0 and many > 0:
        live.tally[WAITING] -= 1
        many -= 1
        row = live.waiting[live.tally[WAITING]]
        live.queued[row] = False
        if not balance(frame, live, choice, row, may_hide, ban):
            live.dead[row] = True
            return False
        if live.total[0] >= most:
            return False
    return True


@kernel
def construct(
    frame: Frame,
    live: RelaxedArrays,
    choice: MoveChoice,
    order: Long,
    level_by_level: bool,
) -> int:
    """Balance equations in order; return how many cannot be balanced.

    What an equation opens is balanced at once, or level by level in later passes: then
    all equations of a level come before those of the next, and cells hidden below lead
    back up in the next pass.
    """
    live.dead[:] = False
    forget(live)
    many = 1 if level_by_level else len(order)
    changed = True
    while changed:
        changed = False
        for row in order:
            queue(frame, live, row)
            while live.tally[WAITING] > 0:
                changed = True
                if balance_waiting(frame, live, choice, True, -1, np.inf, many):
                    break
            forget(live)
    failed = 0
    for row in range(len(live.dead)):
        if live.dead[row] and lacking(frame, live, row):
            failed += 1
    live.dead[:] = False
    return failed


@kernel
def rows_of(frame: Frame, cells: Long) -> Long:
    """Equations in the order in which cells name them first, then all others."""
    rows = len(frame.row_start) - 1
    order = np.empty(rows, dtype=np.int64)
    seen = np.zeros(rows, dtype=np.bool_)
    count = 0
    for cell in cells:
        for p in range(frame.column_start[cell], frame.column_start[cell + 1]):
            row = frame.column_row[p]
            if not seen[row]:
                seen[row] = True
                order[count] = row
                count += 1
    for row in range(rows):
        if not seen[row]:
            order[count] = row
            count += 1
    return order


# Kernels: moves of a pattern that keep the relaxed check, or are taken back.
#
# A move publishes secondaries and balances the equations that come short by it, with
# cells that are hidden already or with others. It stands where the cost allows it.


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
        if way == EXPENSIVE:
            other = live.extra[draw(state, live.tally[SECONDARIES])]
            if frame.cost[other] > frame.cost[cell]:
                cell = other
        publish(frame, live, cell)


@kernel
def move(
    frame: Frame,
    live: RelaxedArrays,
    choice: MoveChoice,
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
    done = balance_waiting(frame, live, choice, may_hide, cell, most, len(live.dead))
    live.dead[:] = False
    if done and live.total[0] < most:
        forget(live)
        return True
    undo(frame, live)
    return False


@kernel
def descend(
    frame: Frame, live: RelaxedArrays, choice: MoveChoice, cells: Long, swaps: bool
) -> int:
    """Try each cell once: publish it, or swap it; return how many moves stood.

    A swap publishes a cell for others of its equations that are cheaper together.
    """
    moved = 0
    for cell in cells:
        if live.place[cell] < 0:
            continue
        for turn in range(2 if swaps else 1):
            most = np.inf if turn == 0 else live.total[0] * _STRICTLY_LESS
            if move(frame, live, choice, ONE, cell, 1, turn == 1, most):
                moved += 1
                break
    return moved
