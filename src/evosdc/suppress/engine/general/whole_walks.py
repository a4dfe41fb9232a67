"""Cover demands by walks in whole units, where there are no boxes to cover them by.

Programs over a large table without dimensions take seconds each, and what they find
moves thousands of cells by fractions, which nobody reads as whole numbers. Walks over
broken equations (`step_kernels`) find deviations of some dozen cells in milliseconds,
and those are whole. They are no proof: a demand that no walk covers may have a
deviation all the same, and is left to programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.engine.base import Cells, Costs, Stopped, never
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.step_kernels import Steps, whole_steps
from evosdc.suppress.problem.problem import Problem

if TYPE_CHECKING:
    from evosdc.suppress.engine.general.state import GeneralState

# Digits after the point that the values of a table may have: with half of it more
# tables are read as having sixteen, twice as many are no longer read exactly.
_MOST_DIGITS = 6
# Steps of one walk. At half of it demands that need more than some dozen cells are
# missed, at twice of it walks that get nowhere take twice as long.
_MOST_STEPS = 500
# Passes over the open demands. What a cell of typical cost costs, in equations mended:
# much in the first pass, so that what can be covered cheaply is, and less in each pass
# by a factor. Tries of a demand in the first pass, and their growth. With half of
# the passes twice as many demands are left to programs; with twice as many weights or
# tries the first pattern costs less and takes twice as long.
_PASSES, _WEIGHT, _LIGHTER = 8, 0.5, 0.5
_TRIES, _MORE_TRIES = 10, 1.3
# Cells are called so many times as expensive as the typical one at most: beyond it
# walks do without totals that they need.
_DEAREST = 20.0
# Tries of a demand whose deviation is replaced, and the weight of costs meanwhile. With
# half of the tries more cells stay that are not needed, with twice as many fewer cells
# are looked at.
_TRIES_AGAIN, _WEIGHT_AGAIN = 40, 1.0
# Larger numbers of units are no bound to a walk: sums of some hundred stay exact.
_FAR = float(2**50)


def digits_of(problem: Problem) -> int | None:
    """Digits after the point of values and bounds; None where there are too many."""
    table = problem.table
    numbers = np.concatenate([table.value, table.lower, table.upper])
    numbers = numbers[np.isfinite(numbers)]
    for digits in range(_MOST_DIGITS + 1):
        if np.array_equal(np.round(numbers, digits), numbers):
            return digits
    return None


class WholeWalks:
    """Walks over the equations of one table: made by `walks_of`."""

    def __init__(self, problem: Problem, steps: Steps, unit: float) -> None:
        self._steps, self._unit = steps, unit
        costs = problem.cost[problem.hideable & ~problem.primary]
        positive = costs[costs > 0]
        typical = float(np.median(positive)) if len(positive) else 1.0
        self._problem, self._typical = problem, typical

    def prices(self, hidden: Flags, cost: Costs) -> Real:
        """What moving a cell costs, as a share of the typical cost: 0 where hidden."""
        price = np.where(hidden, 0.0, np.minimum(cost / self._typical, _DEAREST))
        return np.where(self._problem.hideable, price, np.inf)

    def find(
        self, cell: int, way: int, amount: float, price: Real, tries: int, seed: int
    ) -> Move | None:
        """Find a deviation in whole units that moves a cell by an amount, or None."""
        steps = self._steps
        # What rounding added to an amount is no unit more.
        by = int(np.ceil(amount / self._unit * (1.0 - 1e-12)))
        if by <= 0 or by > (steps.up if way > 0 else steps.down)[cell]:
            return None
        cells, moved, _ = whole_steps(
            steps, cell, way * by, price, tries, _MOST_STEPS, seed
        )
        if not len(cells):
            return None
        at = np.argsort(cells)
        return Move(cells[at], moved[at] * self._unit)

    def cover(
        self,
        state: GeneralState,
        order: Cells | list[int],
        cost: Costs,
        stopped: Stopped = never,
    ) -> None:
        """Cover open demands against the public, in order, until the time is up."""
        weight, tries = _WEIGHT, float(_TRIES)
        price = self.prices(state.hidden, cost)
        for number in range(_PASSES):
            demands = state.table.rows
            rows = state.open_rows(order)
            if not rows:
                return
            for row in rows:
                if stopped():
                    return
                if state.witnesses.covered[row]:
                    continue
                move = self.find(
                    int(demands.cell[row]),
                    int(demands.sign[row]),
                    float(demands.amount[row]),
                    weight * price,
                    int(tries),
                    _seed(row, number),
                )
                if move is not None:
                    state.take(row, move)
                    price[move.cells] = 0.0
            weight, tries = weight * _LIGHTER, tries * _MORE_TRIES

    def replace(
        self,
        state: GeneralState,
        banned: Cells,
        price: Real,
        seed: int,
        stopped: Stopped = never,
    ) -> bool:
        """Do without some cells, at the same cost or less, or change nothing.

        The demands whose deviation uses one of them get another one; `price` says what
        other cells cost. Secondaries that are idle then are published.
        """
        witnesses, problem = state.witnesses, self._problem
        users = np.unique(np.concatenate([witnesses.users(c) for c in banned.tolist()]))
        price = price.copy()
        price[banned] = np.inf
        demands = state.table.rows
        if not np.isfinite(price[demands.cell[users]]).all():
            return False
        before = state.cost
        attempt = witnesses.begin_trial(users)
        hidden = state.hidden.copy()
        hidden[banned] = False
        spent, most = 0.0, float(problem.cost[banned].sum())
        order = users[np.argsort(-demands.amount[users], kind="stable")]
        for row in order.tolist():
            if witnesses.covered[row]:
                continue
            move = None
            if spent <= most and not stopped():
                move = self.find(
                    int(demands.cell[row]),
                    int(demands.sign[row]),
                    float(demands.amount[row]),
                    _WEIGHT_AGAIN * price,
                    _TRIES_AGAIN,
                    _seed(row, seed),
                )
            if move is None:
                witnesses.put_back(attempt)
                return False
            new = move.cells[~hidden[move.cells]]
            spent += float(problem.cost[new].sum())
            hidden[new] = True
            price[move.cells] = 0.0
            witnesses.add(move, row)
        hidden &= problem.primary | witnesses.used()
        if problem.pattern(hidden).cost > before:
            witnesses.put_back(attempt)
            return False
        witnesses.keep()
        state.hidden = hidden
        return True


def _seed(row: int, number: int) -> int:
    """Where the generator of a walk begins: it depends on no earlier walk."""
    return (row + 1) * 2654435761 + (number + 1) * 40503


def walks_of(problem: Problem) -> WholeWalks | None:
    """Set up walks for a table, or None where its numbers have too many digits."""
    table, digits = problem.table, digits_of(problem)
    matrix, columns = table.matrix, table.columns
    if digits is None or not np.array_equal(matrix.data, np.rint(matrix.data)):
        return None
    unit = 10.0**-digits
    rows, cells = matrix.shape

    def units(room: Real) -> Long:
        few = np.minimum(room / unit, _FAR)
        return np.floor(few * (1.0 + 1e-12)).astype(np.int64)

    return WholeWalks(
        problem,
        Steps(
            row_start=matrix.indptr.astype(np.int64),
            cell=matrix.indices.astype(np.int64),
            factor=matrix.data.astype(np.int64),
            column_start=columns.indptr.astype(np.int64),
            row=columns.indices.astype(np.int64),
            column_factor=columns.data.astype(np.int64),
            up=units(problem.up),
            down=units(problem.down),
            off=np.zeros(rows, np.int64),
            by=np.zeros(cells, np.int64),
            moved_at=np.zeros(cells, np.int64),
            place=np.zeros(rows, np.int64),
        ),
        unit,
    )
