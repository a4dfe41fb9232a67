"""Clean-up: take out redundant suppressions, the most expensive first."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.boxes import Boxes
from evosdc.suppress.engine.general.programs import Engine, Question
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.search import Search


def clean_up(
    engine: Engine,
    hidden: NDArray[np.bool_],
    witnesses: Witnesses,
    search: Search,
    boxes: Boxes | None = None,
) -> NDArray[np.bool_]:
    """Delete each secondary that no demand needs; stop early when the time is up.

    A cell that no witness uses goes free of charge. Otherwise only the demands whose
    witness uses it are asked again, with the cell forbidden: boxes and cycles first,
    and programs where there are few enough cells for it.
    """
    problem = engine.problem
    hidden = hidden | problem.primary
    if boxes is not None:
        boxes.drop(witnesses, hidden, _dearest_first(engine, hidden), search.stopped)
        if not engine.is_small:
            return _without_idle(engine, hidden, witnesses)
    ask = engine.among(hidden)
    blockers: list[int] = []
    for cell in _dearest_first(engine, hidden).tolist():
        users = witnesses.users(cell)
        if len(users) and search.stopped():
            continue
        trial = hidden.copy()
        trial[cell] = False
        if not len(users) or _replaced(engine, ask, trial, witnesses, users, blockers):
            hidden = trial
    return hidden


def _dearest_first(engine: Engine, hidden: NDArray[np.bool_]) -> NDArray[np.int64]:
    problem = engine.problem
    secondaries = np.flatnonzero(hidden & ~problem.primary)
    return secondaries[np.lexsort((secondaries, -problem.cost[secondaries]))]


def _without_idle(
    engine: Engine, hidden: NDArray[np.bool_], witnesses: Witnesses
) -> NDArray[np.bool_]:
    """Publish the cells that no witness uses."""
    return engine.problem.primary | (hidden & witnesses.used())


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
    recent = {row: at for at, row in enumerate(blockers)}
    attempt = witnesses.begin_trial(users)
    for row in sorted(users.tolist(), key=lambda r: -recent.get(r, -1)):
        if witnesses.covered[row]:
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
            witnesses.put_back(attempt)
            return False
        witnesses.add(move, row)
    witnesses.keep()
    return True
