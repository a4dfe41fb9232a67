"""Clean-up: take out redundant suppressions, the most expensive first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evosdc.suppress.engine.base import Cells, Costs, Mask, Stopped
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Question
from evosdc.suppress.problem.problem import Problem

if TYPE_CHECKING:
    from evosdc.suppress.engine.general.state import GeneralState


def clean_up(state: GeneralState, order: Cells | None, stopped: Stopped) -> Mask:
    """Delete each secondary that no demand needs; stop early when the time is up.

    All are looked at, the most expensive first, or only those of an order.

    A cell that no witness uses goes free of charge. Otherwise only the demands whose
    witness uses it are asked again, with the cell forbidden: boxes and cycles first,
    and programs where they are quick. What they say of cells that are needed is
    remembered for other patterns.
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
    Attackers against whom a new witness fails are asked about as well.
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
                # A demand that kept one cell is likely to keep the next: ask it first.
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
