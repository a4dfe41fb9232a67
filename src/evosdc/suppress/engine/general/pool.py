"""Witnesses in plain arrays: which deviation covers which demand, who uses which cell.

A deviation stays a witness as long as all its cells are hidden, so taking a cell out of
a pattern puts in doubt only the demands whose witness uses it.

An *entry* is one cell of one witness. The entries of a cell are a list, newest first:
what was stored last can be taken back by popping. A witness that covers nothing any
more stays in the lists and is passed over (``users[witness] == 0``).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.table.attackers import AttackerKnowledge

# Rounding in a product of two numbers; a level missed by this share is reached.
ROUNDING = 1e-12
# A sum that moves by less than this share of what its cells do stands still.
NO_MOVE = 1e-9


class Knowledge(NamedTuple):
    """What attackers know besides the publication, by attacker and by cell.

    The first `real` of them are attackers; each other one stands for a sum.
    The first cell of a sum has a row of `Rows` with its number.
    Entries ``start[a]`` to ``start[a + 1]`` of `cell`, `up` and `down` say how far
    attacker `a` believes a cell from its value at most. Those of a cell are
    ``entry[first[c]]`` to ``entry[first[c + 1]]``. `forth` and `back` are scratch
    space, infinite between calls, `moved`, zero between calls, `saved_up` and
    `saved_down`.
    """

    real: int
    start: Long
    cell: Long
    up: Real
    down: Real
    attacker: Long
    first: Long
    entry: Long
    forth: Real
    back: Real
    moved: Real
    saved_up: Real
    saved_down: Real


class Rows(NamedTuple):
    """Demands: `cell` must be movable by `amount` in direction `sign`.

    `attacker` is against whom, 0 for the public. `base` is the demand on the same cell
    and direction against the public, -1 for sums. The demands of each cell and
    direction are a list: ``first[2 * cell]`` upwards and ``first[2 * cell + 1]``
    downwards, then `following`, -1 at its end.
    """

    cell: Long
    sign: Long
    amount: Real
    attacker: Long
    base: Long
    first: Long
    following: Long
    knowledge: Knowledge


class Pool(NamedTuple):
    """The witnesses; ``tally`` counts witnesses and entries.

    `checked` says of a demand against the public that its present witness was looked at
    from the side of the other attackers.
    """

    covered: Flags
    checked: Flags
    witness: Long
    following: Long
    before: Long
    begin: Long
    length: Long
    first_user: Long
    users: Long
    entry_cell: Long
    entry_by: Real
    entry_next: Long
    entry_witness: Long
    cell_entry: Long
    tally: Long


def make_knowledge(attackers: AttackerKnowledge, real: int, cells: int) -> Knowledge:
    """Index what attackers know by cell."""
    who = np.repeat(np.arange(len(attackers)), np.diff(attackers.start))
    entry = np.argsort(attackers.cell, kind="stable")
    sizes = np.bincount(attackers.cell, minlength=cells)
    return Knowledge(
        real=real,
        start=attackers.start,
        cell=attackers.cell,
        up=attackers.up,
        down=attackers.down,
        attacker=who,
        first=np.concatenate([[0], np.cumsum(sizes)]),
        entry=entry,
        forth=np.full(len(attackers), np.inf),
        back=np.full(len(attackers), np.inf),
        moved=np.zeros(len(attackers)),
        saved_up=np.empty(len(who)),
        saved_down=np.empty(len(who)),
    )


def no_rows(knowledge: Knowledge) -> Rows:
    """Return a list of no demands."""
    none, sides = np.empty(0, np.int64), 2 * (len(knowledge.first) - 1)
    first = np.full(sides, -1, np.int64)
    return Rows(none, none, np.empty(0), none, none, first, none, knowledge)


def add_rows(rows: Rows, cell: Long, sign: Long, amount: Real, attacker: Long) -> Rows:
    """Return demands with others at the end; the old ones stay as they were."""
    none = np.full(len(cell), -1, np.int64)
    more = Rows(
        np.append(rows.cell, cell),
        np.append(rows.sign, sign),
        np.append(rows.amount, amount),
        np.append(rows.attacker, attacker),
        np.append(rows.base, none),
        rows.first.copy(),
        np.append(rows.following, none),
        rows.knowledge,
    )
    _link(more, len(rows.cell))
    return more


@kernel
def _link(rows: Rows, begin: int) -> None:
    """Put demands from a number on into the lists of their sides, and find bases."""
    for row in range(begin, len(rows.cell)):
        side = 2 * rows.cell[row] + (rows.sign[row] < 0)
        rows.following[row] = rows.first[side]
        rows.first[side] = row
    for row in range(begin, len(rows.cell)):
        if rows.attacker[row] < rows.knowledge.real:
            rows.base[row] = _row_against(rows, row, 0)


@kernel(inner=True)
def _row_against(rows: Rows, row: int, attacker: int) -> int:
    """The demand on the same cell and direction against somebody else, -1 for none."""
    other = rows.first[2 * rows.cell[row] + (rows.sign[row] < 0)]
    while other >= 0 and rows.attacker[other] != attacker:
        other = rows.following[other]
    return other


def make_pool(demands: int, cells: int, witnesses: int, entries: int) -> Pool:
    """Make a pool with room for so many witnesses and entries."""
    return Pool(
        covered=np.zeros(demands, np.bool_),
        checked=np.zeros(demands, np.bool_),
        witness=np.full(demands, -1, np.int64),
        following=np.full(demands, -1, np.int64),
        before=np.full(demands, -1, np.int64),
        begin=np.empty(witnesses, np.int64),
        length=np.empty(witnesses, np.int64),
        first_user=np.empty(witnesses, np.int64),
        users=np.zeros(witnesses, np.int64),
        entry_cell=np.empty(entries, np.int64),
        entry_by=np.empty(entries, np.float64),
        entry_next=np.empty(entries, np.int64),
        entry_witness=np.empty(entries, np.int64),
        cell_entry=np.full(cells, -1, np.int64),
        tally=np.zeros(2, np.int64),
    )


@kernel
def store(pool: Pool, cells: Long, by: Real, size: int) -> int:
    """Add a witness that covers nothing yet; return its number."""
    number, entry = pool.tally[0], pool.tally[1]
    pool.begin[number], pool.length[number] = entry, size
    pool.first_user[number], pool.users[number] = -1, 0
    for i in range(size):
        c = cells[i]
        pool.entry_cell[entry], pool.entry_by[entry] = c, by[i]
        pool.entry_witness[entry] = number
        pool.entry_next[entry] = pool.cell_entry[c]
        pool.cell_entry[c] = entry
        entry += 1
    pool.tally[0], pool.tally[1] = number + 1, entry
    return number


@kernel(inner=True)
def take_back(pool: Pool, witnesses: int) -> None:
    """Forget all but the first so many witnesses; they must cover nothing."""
    if pool.tally[0] == witnesses:
        return
    start = pool.begin[witnesses]
    for entry in range(pool.tally[1] - 1, start - 1, -1):
        pool.cell_entry[pool.entry_cell[entry]] = pool.entry_next[entry]
    pool.tally[0], pool.tally[1] = witnesses, start


@kernel
def assign(pool: Pool, row: int, number: int) -> None:
    """Let a witness cover an open demand."""
    first = pool.first_user[number]
    pool.following[row], pool.before[row] = first, -1
    if first >= 0:
        pool.before[first] = row
    pool.first_user[number] = row
    pool.users[number] += 1
    pool.witness[row] = number
    pool.covered[row] = True
    pool.checked[row] = False


@kernel
def release(pool: Pool, row: int) -> None:
    """Open a demand again."""
    number = pool.witness[row]
    ahead, behind = pool.before[row], pool.following[row]
    if ahead >= 0:
        pool.following[ahead] = behind
    else:
        pool.first_user[number] = behind
    if behind >= 0:
        pool.before[behind] = ahead
    pool.users[number] -= 1
    pool.witness[row] = -1
    pool.covered[row] = False


@kernel(inner=True)
def _limit(pool: Pool, knowledge: Knowledge, number: int) -> None:
    """Note how far each attacker lets a witness be stretched, and how sums move."""
    if len(knowledge.cell) == 0:
        return
    begin = pool.begin[number]
    for i in range(begin, begin + pool.length[number]):
        c, by = pool.entry_cell[i], pool.entry_by[i]
        for k in range(knowledge.first[c], knowledge.first[c + 1]):
            e = knowledge.entry[k]
            a = knowledge.attacker[e]
            if a >= knowledge.real:
                knowledge.moved[a] += by
                continue
            up, down = knowledge.up[e] / abs(by), knowledge.down[e] / abs(by)
            knowledge.forth[a] = min(knowledge.forth[a], up if by > 0 else down)
            knowledge.back[a] = min(knowledge.back[a], down if by > 0 else up)


@kernel(inner=True)
def _forget_limits(pool: Pool, knowledge: Knowledge, number: int) -> None:
    """Make the scratch space of `_limit` infinite again."""
    if len(knowledge.cell) == 0:
        return
    begin = pool.begin[number]
    for i in range(begin, begin + pool.length[number]):
        c = pool.entry_cell[i]
        for k in range(knowledge.first[c], knowledge.first[c + 1]):
            a = knowledge.attacker[knowledge.entry[k]]
            knowledge.forth[a] = knowledge.back[a] = np.inf
            knowledge.moved[a] = 0.0


@kernel(inner=True)
def _unguarded(
    pool: Pool, rows: Rows, number: int, row: int, by: float, found: Long, count: int
) -> int:
    """List attackers without a demand of theirs against whom a witness fails.

    `by` is how far the witness moves the cell of the demand before it is scaled.
    Returns how many there are after `count` others, -1 where there is no space for all.
    """
    known = rows.knowledge
    times = rows.sign[row] * rows.amount[row] / by
    begin = pool.begin[number]
    for i in range(begin, begin + pool.length[number]):
        c, far = pool.entry_cell[i], times * pool.entry_by[i]
        for k in range(known.first[c], known.first[c + 1]):
            e = known.entry[k]
            room = known.up[e] if far > 0 else known.down[e]
            a = known.attacker[e]
            if a >= known.real or abs(far) <= room * (1 + ROUNDING):
                continue
            if _row_against(rows, row, a) < 0:
                if count == len(found):
                    return -1
                found[count] = a
                count += 1
    return count


@kernel(inner=True)
def _fails(pool: Pool, rows: Rows, number: int, row: int, by: float) -> bool:
    """Whether a witness fails against somebody without a demand of theirs."""
    return _unguarded(pool, rows, number, row, by, rows.cell[:0], 0) < 0


@kernel
def claim(
    pool: Pool, rows: Rows, number: int, up: Real, down: Real, strict: bool
) -> None:
    """Let a witness cover every open demand it can.

    It may be scaled up or down and turned round as far as the room of its cells allows
    (Castro 2005 checks all sensitive cells of a path at once), also against attackers
    who leave its cells that much room. With `strict` demands against the public stay
    open where it fails against an attacker for whom there is no demand yet.
    """
    begin, end = pool.begin[number], pool.begin[number] + pool.length[number]
    forth, back = np.inf, np.inf
    for entry in range(begin, end):
        c, by = pool.entry_cell[entry], pool.entry_by[entry]
        size = abs(by)
        forth = min(forth, (up[c] if by > 0 else down[c]) / size)
        back = min(back, (down[c] if by > 0 else up[c]) / size)
    forth *= 1 + ROUNDING
    back *= 1 + ROUNDING
    known = rows.knowledge
    strict = strict and len(known.cell) > 0
    _limit(pool, known, number)
    for entry in range(begin, end):
        c, by = pool.entry_cell[entry], pool.entry_by[entry]
        for side in range(2):
            forwards = (by > 0) == (side == 0)
            row = rows.first[2 * c + side]
            while row >= 0:
                a = rows.attacker[row]
                if not pool.covered[row] and a < known.real:
                    most = known.forth[a] if forwards else known.back[a]
                    most = min(most * (1 + ROUNDING), forth if forwards else back)
                    times = rows.amount[row] / abs(by)
                    if times <= most and not (
                        strict and a == 0 and _fails(pool, rows, number, row, by)
                    ):
                        assign(pool, row, number)
                row = rows.following[row]
    if known.real < len(known.moved):
        _claim_sums(pool, rows, number, forth, back)
    _forget_limits(pool, known, number)


@kernel(inner=True)
def _claim_sums(pool: Pool, rows: Rows, number: int, forth: float, back: float) -> None:
    """Let a witness cover every open demand on a sum that it moves far enough."""
    known = rows.knowledge
    begin, end = pool.begin[number], pool.begin[number] + pool.length[number]
    most = 0.0
    for entry in range(begin, end):
        most = max(most, abs(pool.entry_by[entry]))
    for entry in range(begin, end):
        c = pool.entry_cell[entry]
        for k in range(known.first[c], known.first[c + 1]):
            a = known.attacker[known.entry[k]]
            by = known.moved[a]
            known.moved[a] = 0.0
            # What cancels out in its cells moves no sum.
            if abs(by) <= NO_MOVE * most:
                continue
            for side in range(2):
                far = forth if (by > 0) == (side == 0) else back
                row = rows.first[2 * known.cell[known.start[a]] + side]
                while row >= 0 and rows.attacker[row] != a:
                    row = rows.following[row]
                if row < 0 or pool.covered[row]:
                    continue
                if rows.amount[row] / abs(by) <= far:
                    assign(pool, row, number)


@kernel(inner=True)
def cover_row(
    pool: Pool, rows: Rows, row: int, number: int, up: Real, down: Real
) -> bool:
    """Let a witness that was made for a demand cover it, and all others it can.

    False where it fails against an attacker for whom there is no demand yet.
    """
    claim(pool, rows, number, up, down, True)
    if pool.covered[row]:
        return True
    # Only rounding kept it from covering the demand, unless somebody is unguarded.
    if rows.attacker[row] == 0 and len(rows.knowledge.cell) > 0:
        own = _step(pool, number, rows.cell[row])
        if _fails(pool, rows, number, row, own):
            return False
    assign(pool, row, number)
    return True


@kernel
def cover_like_base(pool: Pool, rows: Rows, first: int) -> None:
    """Cover open demands from a number on by the witness that the public one has."""
    known = rows.knowledge
    for row in range(first, len(rows.cell)):
        base = rows.base[row]
        if base < 0 or base == row or pool.covered[row] or not pool.covered[base]:
            continue
        number = pool.witness[base]
        by = _step(pool, number, rows.cell[row])
        if by == 0.0:
            continue
        _limit(pool, known, number)
        a = rows.attacker[row]
        forwards = (by > 0) == (rows.sign[row] > 0)
        most = known.forth[a] if forwards else known.back[a]
        if rows.amount[row] / abs(by) <= most * (1 + ROUNDING):
            assign(pool, row, number)
        _forget_limits(pool, known, number)


@kernel(inner=True)
def _step(pool: Pool, number: int, cell: int) -> float:
    """By how much a witness moves a cell."""
    begin = pool.begin[number]
    for entry in range(begin, begin + pool.length[number]):
        if pool.entry_cell[entry] == cell:
            return pool.entry_by[entry]
    return 0.0


@kernel
def list_unguarded(
    pool: Pool, rows: Rows, found_row: Long, found_attacker: Long
) -> int:
    """List the demands against the public whose witness fails against somebody else.

    Each with the attacker, who has no demand yet; some may be there twice. Only
    witnesses are looked at that are new since the last time. Returns how many there
    are; no more than there is space for.
    """
    count = 0
    for row in range(len(rows.cell)):
        if rows.attacker[row] != 0 or not pool.covered[row] or pool.checked[row]:
            continue
        number = pool.witness[row]
        own = _step(pool, number, rows.cell[row])
        before = count
        if own != 0.0:
            count = _unguarded(pool, rows, number, row, own, found_attacker, before)
        if count < 0:
            found_row[before:] = row
            return len(found_row)
        found_row[before:count] = row
        pool.checked[row] = True
    return count


@kernel
def rows_using(pool: Pool, cell: int, found: Long, count: int, marked: Flags) -> int:
    """Append the demands whose witness uses a cell; `marked` ones are there already."""
    entry = pool.cell_entry[cell]
    while entry >= 0:
        number = pool.entry_witness[entry]
        if pool.users[number] > 0:
            row = pool.first_user[number]
            while row >= 0:
                if not marked[row]:
                    marked[row] = True
                    found[count] = row
                    count += 1
                row = pool.following[row]
        entry = pool.entry_next[entry]
    return count


@kernel(inner=True)
def in_use(pool: Pool, cell: int) -> bool:
    """Whether a witness that covers something uses a cell."""
    entry = pool.cell_entry[cell]
    while entry >= 0:
        if pool.users[pool.entry_witness[entry]] > 0:
            return True
        entry = pool.entry_next[entry]
    return False


@kernel
def put_back(pool: Pool, rows: Long, old: Long, count: int, witnesses: int) -> None:
    """Undo a trial: give demands their old witnesses, forget the new ones.

    Demands that were open before and that a new witness covered are open again.
    """
    for number in range(witnesses, pool.tally[0]):
        while pool.first_user[number] >= 0:
            release(pool, pool.first_user[number])
    take_back(pool, witnesses)
    for i in range(count):
        assign(pool, rows[i], old[i])


@kernel
def copy_pool(source: Pool, target: Pool, keep_idle: bool) -> None:
    """Copy witnesses into an empty pool, those that cover nothing only if asked to."""
    for number in range(source.tally[0]):
        if source.users[number] == 0 and not keep_idle:
            continue
        begin = source.begin[number]
        end = begin + source.length[number]
        new = store(
            target,
            source.entry_cell[begin:end],
            source.entry_by[begin:end],
            end - begin,
        )
        row = source.first_user[number]
        while row >= 0:
            assign(target, row, new)
            row = source.following[row]
