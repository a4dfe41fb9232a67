"""Cover a demand by hiding all totals above a cell; needs no solver.

Raising one inner cell and every total it is part of keeps all equations. This is what
the marginal method of tau-Argus amounts to: it hides margins until the table is safe.
"""

from __future__ import annotations

import numpy as np

from evosdc.arrays import Real
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.engine.general.programs import Programs


def hide_totals(programs: Programs, asked: Demand, price: Real) -> Move | None:
    """Move a cell with an inner cell below it and all totals above that, or None."""
    cell, sign, amount, tight = asked
    sets, problem = programs.sets, programs.problem
    if sets is None:
        return None
    below = sets.inner_below(cell)
    below = below[sets.sound[below]]
    if not len(below):
        return None
    up, down = problem.up, problem.down
    if tight is not None:
        up, down = tight.within(np.arange(len(up)), up, down, cell)
    room = up if sign > 0 else down
    shut = (room < amount) | ~problem.hideable
    rows = sets.reach[below]
    blocked = rows @ shut.astype(np.float64)
    if blocked.min() > 0:
        return None
    worth = np.where(blocked > 0, np.inf, rows @ np.where(shut, 0.0, price))
    best = rows[[int(np.argmin(worth))]].indices.astype(np.int64)
    return Move(np.sort(best), np.full(len(best), sign * amount))
