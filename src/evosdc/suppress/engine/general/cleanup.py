"""Clean-up: take out redundant suppressions, the most expensive first."""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Mask, Stopped
from evosdc.suppress.engine.general.boxes import Boxes
from evosdc.suppress.engine.general.programs import Programs, Question
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem import Problem


def clean_up(
    programs: Programs,
    hidden: Mask,
    witnesses: Witnesses,
    order: Cells | None,
    stopped: Stopped,
    boxes: Boxes | None,
) -> Mask:
    """Delete each secondary that no demand needs; stop early when the time is up.

    All are looked at, the dearest first, or only those of an order.

    A cell that no witness uses goes free of charge. Otherwise only the demands whose
    witness uses it are asked again, with the cell forbidden: boxes and cycles first,
    and programs where there are few enough cells for it. What they say of cells that
    are needed is remembered for other patterns.
    """
    problem = programs.problem
    hidden = hidden | problem.primary
    if boxes is not None:
        boxes.drop(witnesses, hidden, _in_turn(problem, hidden, order), stopped)
        if not programs.quick:
            idle = _in_turn(problem, hidden & ~witnesses.used(), order)
            hidden[idle] = False
            return hidden
    ask = programs.among(hidden)
    refused: list[int] = []
    slacks = programs.blockers.look_at(hidden)
    for cell in _in_turn(problem, hidden, order).tolist():
        users = witnesses.users(cell)
        if len(users) and (stopped() or slacks.needs(cell)):
            continue
        trial = hidden.copy()
        trial[cell] = False
        if not len(users) or _replaced(programs, ask, trial, witnesses, users, refused):
            hidden = trial
            slacks.publish(cell, hidden)
    return hidden


def _in_turn(problem: Problem, hidden: Mask, order: Cells | None) -> Cells:
    """Secondaries in the order given, or the dearest first."""
    if order is not None:
        return order[hidden[order] & ~problem.primary[order]]
    secondaries = np.flatnonzero(hidden & ~problem.primary)
    return secondaries[np.lexsort((secondaries, -problem.cost[secondaries]))]


def _replaced(
    programs: Programs,
    ask: Question,
    trial: Mask,
    witnesses: Witnesses,
    users: Cells,
    refused: list[int],
) -> bool:
    """Find new witnesses for `users` among the cells of `trial`, or change nothing."""
    problem, demands = programs.problem, witnesses.demands
    free = programs.movable(trial)
    if not free[demands.cell[users]].all():
        return False
    # Witnesses that lean on primaries and cheap cells leave the others free to go.
    price = np.where(free, problem.cost, np.inf)
    recent = {row: at for at, row in enumerate(refused)}
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
                refused.remove(row)
            refused.append(row)
            witnesses.put_back(attempt)
            return False
        witnesses.add(move, row)
    witnesses.keep()
    return True
