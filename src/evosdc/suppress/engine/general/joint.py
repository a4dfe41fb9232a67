"""One program for a whole group: a deviation that moves all its cells at once.

Smith et al. (2011) protect groups so, to solve fewer programs. Such a deviation is a
witness for each level of the group. Where there is none, the group is halved.
"""

from __future__ import annotations

from typing import Any

import highspy
import numpy as np
from scipy import sparse

from evosdc.arrays import Real
from evosdc.suppress.engine.general.model import MOVED, Move, load_program
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search


class JointProgram:
    """The attacker's program over all cells that may be hidden, several cells given."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._cells = np.flatnonzero(problem.hideable)
        part = sparse.csc_array(problem.table.columns[:, self._cells])
        self._part = part
        self._solver: Any = None

    def cover(self, state: GeneralState, rows: list[int], search: Search) -> None:
        """Cover the open rows of a group, one direction after the other.

        Rows that stay open when a group of one has no solution, or when the time is
        up, are left to the caller.
        """
        for sign in (1, -1):
            side = [row for row in rows if state.table.demands.sign[row] == sign]
            waiting = [side]
            while waiting:
                part = waiting.pop()
                part = [row for row in part if not state.witnesses.covered[row]]
                if len(part) < 2 or search.stopped():
                    continue
                move = self._solve(state, part)
                if move is None:
                    middle = len(part) // 2
                    waiting += [part[middle:], part[:middle]]
                    continue
                state.hidden[move.cells] = True
                for row in part:
                    state.witnesses.add(move, row)

    def _solve(self, state: GeneralState, rows: list[int]) -> Move | None:
        """Find the cheapest deviation that moves the cells of all rows."""
        problem, n = self._problem, len(self._cells)
        demands = state.table.demands
        unit = float(np.median(demands.amount[rows]))
        high = np.concatenate([problem.up[self._cells], problem.down[self._cells]])
        high = np.where(np.isfinite(high), high / unit, highspy.kHighsInf)
        low = np.zeros(2 * n)
        at = np.searchsorted(self._cells, demands.cell[rows])
        chosen = np.where(demands.sign[rows] > 0, at, at + n)
        low[chosen] = high[chosen] = demands.amount[rows] / unit
        high[np.where(demands.sign[rows] > 0, at + n, at)] = 0.0
        price = np.where(state.hidden, 0.0, problem.cost)
        values = self._run(low, high, price[self._cells])
        if values is None:
            return None
        d = values[:n] - values[n:]
        d[np.abs(d) <= MOVED] = 0.0
        off = np.abs(self._part @ d)
        if len(off) and off.max() > 10 * MOVED * max(1.0, np.abs(d).max()):
            return None
        moved = np.flatnonzero(d)
        return Move(self._cells[moved], d[moved] * unit)

    def _run(self, low: Real, high: Real, price: Real) -> Real | None:
        if self._solver is None:
            both = sparse.hstack([self._part, -self._part], format="csc")
            self._solver = load_program(sparse.csc_array(both))
        index = np.arange(len(low), dtype=np.int32)
        positive = price[price > 0]
        scale = float(np.median(positive)) if len(positive) else 1.0
        cost = np.minimum(price / scale, 1e6)
        self._solver.changeColsBounds(len(low), index, low, high)
        self._solver.changeColsCost(len(low), index, np.concatenate([cost, cost]))
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self._solver.clearSolver()
            return None
        return np.array(self._solver.getSolution().col_value)
