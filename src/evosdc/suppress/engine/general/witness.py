"""Witnesses, and the clean-up of what they do not need.

There is one for each demand: a deviation that covers it. Clean-up takes out redundant
suppressions, the most expensive first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.engine.base import Cells, Costs, Mask, Stopped
from evosdc.suppress.engine.general import pool as pools
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.pool import Pool, Rows
from evosdc.suppress.engine.general.programs import Question
from evosdc.suppress.problem.problem import Problem

if TYPE_CHECKING:
    from evosdc.suppress.engine.general.state import GeneralState


# Witnesses, and cells of witnesses, that a pool has space for at first. Half as many
# grow once more, twice as many take longer to copy in tables that need fewer.
_WITNESSES = 1024
_ENTRIES = 16384
# Pairs of a demand and an attacker that are listed at a time. Half as many are listed
# in more calls, twice as many take more memory; no row has as many.
_PAIRS_PER_CALL = 65536


@dataclass(frozen=True, eq=False)
class DoubtedWitnesses:
    """Demands whose witnesses are in doubt, and what to go back to."""

    rows: Long
    old: Long
    witnesses: int


class Witnesses:
    """The witnesses of a growing or shrinking pattern.

    `rows` and `pool` are the plain arrays that kernels work on; `make_space` must be
    called before a kernel stores anything, and may replace `pool`.
    """

    def __init__(self, problem: Problem, rows: Rows) -> None:
        self._up, self._down = problem.up, problem.down
        self.rows = rows
        many, cells = len(rows.cell), len(problem.table)
        self.pool: Pool = pools.make_pool(many, cells, _WITNESSES, _ENTRIES)
        self._trial = False
        self._found = np.empty(many, np.int64)
        self._marked = np.zeros(many, np.bool_)

    def follow(self, rows: Rows) -> None:
        """Take over demands that were added at the end since these were listed.

        Those against attackers whom the public's witness leaves alone are covered.
        """
        if rows is self.rows:
            return
        old, more = len(self.rows.cell), len(rows.cell) - len(self.rows.cell)
        self.rows = rows
        if not more:
            return
        pool, none = self.pool, np.full(more, -1, np.int64)
        self.pool = pool._replace(
            covered=np.append(pool.covered, np.zeros(more, np.bool_)),
            checked=np.append(pool.checked, np.zeros(more, np.bool_)),
            witness=np.append(pool.witness, none),
            following=np.append(pool.following, none),
            before=np.append(pool.before, none),
        )
        self._found = np.empty(old + more, np.int64)
        self._marked = np.zeros(old + more, np.bool_)
        pools.cover_like_base(self.pool, rows, old)

    def cover_like_base(self) -> None:
        """Cover open demands against attackers by what covers them for the public."""
        pools.cover_like_base(self.pool, self.rows, 0)

    def unguarded(self, most: float = np.inf) -> list[tuple[int, int]]:
        """Demands against the public whose witness fails against others, with whom.

        Only attackers for whom there is no demand on that cell and direction yet. No
        more are listed once there are so many.
        """
        if not len(self.rows.knowledge.cell):
            return []
        row, attacker = (
            np.empty(_PAIRS_PER_CALL, np.int64),
            np.empty(_PAIRS_PER_CALL, np.int64),
        )
        found: set[tuple[int, int]] = set()
        while True:
            count = pools.list_unguarded(self.pool, self.rows, row, attacker)
            pairs = zip(row[:count].tolist(), attacker[:count].tolist(), strict=True)
            found.update(pairs)
            if count < _PAIRS_PER_CALL or len(found) >= most:
                return sorted(found)

    @property
    def covered(self) -> Flags:
        """Which demands have a witness."""
        return self.pool.covered

    def add(self, move: Move, own: int | None = None) -> None:
        """Take a deviation as witness of every open demand it covers.

        It may be scaled and turned round. `own` is the demand it was made for.
        """
        self.make_space(1, len(move.cells))
        number = pools.store(self.pool, move.cells, move.by, len(move.cells))
        pools.claim(self.pool, self.rows, number, self._up, self._down, False)
        if own is not None and not self.pool.covered[own]:
            pools.assign(self.pool, own, number)

    def rely_on(self, cells: Long) -> None:
        """Let all open demands rest on a set of cells without a known deviation."""
        self.make_space(1, len(cells))
        number = pools.store(self.pool, cells, np.zeros(len(cells)), len(cells))
        for row in np.flatnonzero(~self.pool.covered).tolist():
            pools.assign(self.pool, row, number)

    def users(self, cell: int) -> Long:
        """Demands whose witness uses a cell."""
        count = pools.rows_using(self.pool, cell, self._found, 0, self._marked)
        found = np.sort(self._found[:count])
        self._marked[found] = False
        return found

    def release(self, cells: Long) -> Long:
        """Open the demands whose witness uses one of some cells, and return them."""
        count = 0
        for cell in cells.tolist():
            count = pools.rows_using(self.pool, cell, self._found, count, self._marked)
        found = np.sort(self._found[:count])
        self._marked[found] = False
        self.open(found)
        return found

    def open(self, rows: Long) -> None:
        """Take the witnesses from some demands."""
        for row in rows[self.covered[rows]].tolist():
            pools.release(self.pool, row)

    def copy(self) -> Witnesses:
        """Return an independent copy."""
        other = Witnesses.__new__(Witnesses)
        other.__dict__.update(self.__dict__)
        other.pool = Pool._make(array.copy() for array in self.pool)
        other._found, other._marked = self._found.copy(), self._marked.copy()
        return other

    def used(self) -> Flags:
        """Which cells the witnesses that cover something use."""
        pool = self.pool
        entries = int(pool.tally[1])
        live = pool.users[pool.entry_witness[:entries]] > 0
        mask = np.zeros(len(pool.cell_entry), np.bool_)
        mask[pool.entry_cell[:entries][live]] = True
        return mask

    def begin_trial(self, rows: Long) -> DoubtedWitnesses:
        """Open some demands again until the trial ends one way or the other."""
        trial = DoubtedWitnesses(
            rows, self.pool.witness[rows].copy(), int(self.pool.tally[0])
        )
        for row in rows.tolist():
            pools.release(self.pool, row)
        self._trial = True
        return trial

    def keep(self) -> None:
        """End a trial: what was added in it stays."""
        self._trial = False

    def put_back(self, trial: DoubtedWitnesses) -> None:
        """End a trial: everything is as it was before."""
        self._trial = False
        pools.put_back(
            self.pool, trial.rows, trial.old, len(trial.rows), trial.witnesses
        )

    def make_space(self, witnesses: int, entries: int) -> None:
        """See to it that so many witnesses with so many entries can be stored."""
        pool = self.pool
        number, used = int(pool.tally[0]), int(pool.tally[1])
        if number + witnesses < len(pool.begin) and used + entries < len(
            pool.entry_cell
        ):
            return
        # In a trial the old witnesses cover nothing and must not be lost.
        live = np.flatnonzero(pool.users[:number] + self._trial)
        kept = int(pool.length[live].sum())
        self.pool = pools.make_pool(
            len(pool.covered),
            len(pool.cell_entry),
            2 * (len(live) + witnesses) + _WITNESSES,
            2 * (kept + entries) + _ENTRIES,
        )
        pools.copy_pool(pool, self.pool, self._trial)

    def hints(self) -> tuple[tuple[Long, Real], ...]:
        """Return the deviations in use, for the judge to look at first."""
        pool = self.pool
        found = []
        for number in np.flatnonzero(pool.users[: pool.tally[0]]).tolist():
            begin = int(pool.begin[number])
            part = slice(begin, begin + int(pool.length[number]))
            if pool.entry_by[part].all():
                found.append((pool.entry_cell[part].copy(), pool.entry_by[part].copy()))
        return tuple(found)


def clean_up(state: GeneralState, order: Cells | None, stopped: Stopped) -> Mask:
    """Delete each secondary that no demand needs; stop early when the time is up.

    All are looked at, the most expensive first, or only those of an order.

    A cell that no witness uses is published without a program. Otherwise only the
    demands whose witness uses it are covered again, with the cell forbidden: boxes and
    cycles first, and programs where they are quick. What they say of cells that are
    needed is remembered for other patterns.
    """
    table, witnesses = state.table, state.witnesses
    problem, programs = table.problem, table.programs
    hidden = state.hidden | problem.primary
    witnesses.follow(table.rows)
    if table.boxes is not None:
        table.boxes.drop(witnesses, hidden, _in_turn(problem, hidden, order), stopped)
        if not programs.quick:
            idle = _in_turn(problem, hidden & ~witnesses.used(), order)
            hidden[idle] = False
            return hidden
    if table.walks is not None and not programs.quick:
        hidden[_in_turn(problem, hidden & ~witnesses.used(), order)] = False
        return hidden
    ask = programs.among(hidden)
    refused: list[int] = []
    slacks = programs.learned.look_at(hidden)
    for cell in _in_turn(problem, hidden, order).tolist():
        users = witnesses.users(cell)
        if len(users) and (stopped() or slacks.needs(cell)):
            continue
        trial = hidden.copy()
        trial[cell] = False
        if not len(users) or _replaced(state, ask, trial, users, refused, stopped):
            hidden = trial
            slacks.publish(cell, hidden)
    return hidden


def _in_turn(problem: Problem, hidden: Mask, order: Cells | None) -> Cells:
    """Secondaries in the order given, or the most expensive first."""
    if order is not None:
        return order[hidden[order] & ~problem.primary[order]]
    secondaries = np.flatnonzero(hidden & ~problem.primary)
    return secondaries[np.lexsort((secondaries, -problem.cost[secondaries]))]


def _replaced(
    state: GeneralState,
    ask: Question,
    trial: Mask,
    users: Cells,
    refused: list[int],
    stopped: Stopped,
) -> bool:
    """Find new witnesses for `users` among the cells of `trial`, or change nothing.

    Nothing is changed either when it is stopped.
    Attackers against whom a new witness fails are checked as well.
    """
    table, witnesses = state.table, state.witnesses
    problem, programs = table.problem, table.programs
    free = programs.movable(trial)
    if not table.any_moves(users, free):
        return False
    # Witnesses that rest on primaries and cheap cells leave the others free to go.
    price = np.where(free, problem.cost, np.inf)
    recent = {row: at for at, row in enumerate(refused)}
    attempt = witnesses.begin_trial(users)
    rows = sorted(users.tolist(), key=lambda r: -recent.get(r, -1))
    while rows:
        demands = table.rows
        for row in rows:
            if witnesses.covered[row] or not demands.amount[row]:
                continue
            move = None if stopped() else _ask(state, ask, rows, row, price)
            if move is None:
                # A demand that kept one cell is likely to keep the next: try it first.
                if row in recent:
                    refused.remove(row)
                refused.append(row)
                witnesses.put_back(attempt)
                witnesses.cover_like_base()
                return False
            witnesses.add(move, row)
        rows = []
        if problem.has_attackers:
            table.add(witnesses.unguarded())
            witnesses.follow(table.rows)
            rows = state.uncovered.tolist()
    witnesses.keep()
    return True


def _ask(
    state: GeneralState, ask: Question, rows: list[int], row: int, price: Costs
) -> Move | None:
    """Ask for one deviation for all open attackers of a level, else for its own."""
    demands = state.table.rows
    if demands.attacker[row] and not state.table.is_sum([row])[0]:
        among = np.array(rows)
        among = among[demands.cell[among] == demands.cell[row]]
        among = among[demands.sign[among] == demands.sign[row]]
        among = among[demands.attacker[among] > 0]
        among = among[~state.table.is_sum(among)]
        among = among[~state.witnesses.covered[among]]
        if len(among) > 1:
            move = ask(state.table.demand(*among.tolist()), price)
            if move is not None:
                return move
    return ask(state.table.demand(row), price)
