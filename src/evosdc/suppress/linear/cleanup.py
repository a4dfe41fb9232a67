"""Clean-up: take out redundant suppressions, the most expensive first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.linear.engine import Engine, Question
from evosdc.suppress.linear.model import Move
from evosdc.suppress.linear.witness import Witnesses
from evosdc.suppress.search import Search


def clean_up(
    engine: Engine,
    hidden: NDArray[np.bool_],
    witnesses: Witnesses,
    search: Search,
) -> NDArray[np.bool_]:
    """Delete each secondary that no demand needs; stop early when the time is up.

    A cell that no witness uses goes free of charge. Otherwise only the demands whose
    witness uses it are asked again, with the cell forbidden.
    """
    problem = engine.problem
    hidden = hidden | problem.primary
    secondaries = np.flatnonzero(hidden & ~problem.primary)
    order = secondaries[np.lexsort((secondaries, -problem.cost[secondaries]))]
    ask = engine.among(hidden)
    blockers: list[int] = []
    for cell in order.tolist():
        users = witnesses.users(cell)
        if len(users) and search.stopped():
            continue
        trial = hidden.copy()
        trial[cell] = False
        if not len(users) or _replaced(engine, ask, trial, witnesses, users, blockers):
            hidden = trial
    return hidden


def _replaced(
    engine: Engine,
    ask: Question,
    trial: NDArray[np.bool_],
    witnesses: Witnesses,
    users: NDArray[np.int64],
    blockers: list[int],
) -> bool:
    """Find new witnesses for `users` among the cells of `trial`, or change nothing."""
    problem, demands = engine.problem, witnesses.demands
    free = engine.movable(trial)
    if not free[demands.cell[users]].all():
        return False
    # Witnesses that lean on primaries and cheap cells leave the others free to go.
    price = np.where(free, problem.cost, np.inf)
    moves: list[tuple[int, Move]] = []
    doubtful = Witnesses(problem, demands)
    doubtful.covered[:] = True
    doubtful.covered[users] = False
    recent = {row: at for at, row in enumerate(blockers)}
    for row in sorted(users.tolist(), key=lambda r: -recent.get(r, -1)):
        if doubtful.covered[row]:
            continue
        move = ask(
            int(demands.cell[row]),
            int(demands.sign[row]),
            float(demands.amount[row]),
            price,
        )
        if move is None:
            # A demand that kept one cell is likely to keep the next: ask it first.
            if row in recent:
                blockers.remove(row)
            blockers.append(row)
            return False
        doubtful.add(move, row)
        moves.append((row, move))
    witnesses.release(users)
    for row, move in moves:
        witnesses.add(move, row)
    return True
