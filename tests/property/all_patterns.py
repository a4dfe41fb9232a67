"""The cheapest safe pattern of a small table, by trying them all.

It reads the table alone and shares nothing with the searchers: what is safe is decided
by plain attacker's programs. A pattern that is not safe is made as large as it can be
without becoming safe, so that few of the others have to be tried: what is within it is
not safe either.
"""

from __future__ import annotations

import highspy
import numpy as np
from numpy.typing import NDArray

from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY

Mask = NDArray[np.bool_]
# A level counts as reached by the attacker's programs with this share of it missing.
_SHORT = 1e-8
# No deviation has to be larger than so many times the level (all equations are sums).
_FAR = 1e5


class AllPatterns:
    """All patterns of a small table, asked one by one whether they are safe.

    Attributes
    ----------
    free
        The cells that a pattern may hide or not: neither sensitive nor fixed, and with
        room to move.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._up = np.maximum(table.upper - table.value, 0.0)
        self._down = np.maximum(table.value - table.lower, 0.0)
        self.primary = table.status == PRIMARY
        room = np.concatenate([self._up, self._down])
        self._least = float(room[room > 0].min(initial=1.0))
        moves = (self._up > 0) | (self._down > 0)
        self.free = np.flatnonzero(~self.primary & (table.status != FIXED) & moves)
        # Each asks for a sum of moves: one way, or up and down together.
        self._asked: list[tuple[int, tuple[int, ...], float]] = []
        for cell in np.flatnonzero(self.primary).tolist():
            up, down = float(table.upl[cell]), float(table.lpl[cell])
            width = float(table.spl[cell])
            if up > 0:
                self._asked.append((cell, (1,), up))
            if down > 0:
                self._asked.append((cell, (-1,), down))
            if width > up + down:
                self._asked.append((cell, (1, -1), width))
            if up == down == width == 0:
                # Nothing asked but that the value is not given away.
                self._asked.append((cell, (1, -1), 0.0))
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._lp.setOptionValue("primal_feasibility_tolerance", 1e-9)
        matrix, n = table.matrix, len(table)
        self._every = np.arange(n, dtype=np.int32)
        self._lp.addVars(n, np.zeros(n), np.zeros(n))
        rows = matrix.shape[0]
        self._lp.addRows(
            rows,
            np.zeros(rows),
            np.zeros(rows),
            matrix.nnz,
            matrix.indptr[:-1].astype(np.int32),
            matrix.indices.astype(np.int32),
            matrix.data.astype(np.float64),
        )

    def safe(self, hidden: Mask) -> bool:
        """Whether every level is reached, up to a small share of it."""
        for k, (cell, signs, amount) in enumerate(self._asked):
            # Any move at all will do where there is no level: some of the least room.
            unit = amount or self._least
            enough = (1.0 if amount else 1e-3) - _SHORT
            if sum(self._most(hidden, cell, sign, unit) for sign in signs) < enough:
                # What failed last is likely to fail again.
                self._asked.insert(0, self._asked.pop(k))
                return False
        return True

    def _most(
        self, hidden: Mask, cell: int | list[int], sign: int, amount: float
    ) -> float:
        """How far a cell, or the sum of some, can be moved, as a share of an amount.

        A cell at most 1.
        """
        n = len(self._every)
        up = np.where(hidden, np.minimum(self._up / amount, _FAR), 0.0)
        down = np.where(hidden, np.minimum(self._down / amount, _FAR), 0.0)
        if not isinstance(cell, list):
            way = up if sign > 0 else down
            way[cell] = min(1.0, way[cell])
        cost = np.zeros(n)
        cost[cell] = -sign
        self._lp.changeColsBounds(n, self._every, -down, up)
        self._lp.changeColsCost(n, self._every, cost)
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise AssertionError(self._lp.getModelStatus())
        return -float(self._lp.getInfo().objective_function_value)

    def optimum(self) -> float | None:
        """Cost of the cheapest safe pattern; None where not even all cells are."""
        count = len(self.free)
        if not self.safe(self.hidden((1 << count) - 1)):
            return None
        codes = np.arange(1 << count, dtype=np.int64)
        cost = np.zeros(1 << count)
        for bit, cell in enumerate(self.free):
            cost[(codes >> bit) & 1 == 1] += self._table.weight[cell]
        order = np.argsort(cost, kind="stable")
        open_codes = np.ones(1 << count, dtype=bool)
        for code in order.tolist():
            if not open_codes[code]:
                continue
            if self.safe(self.hidden(code)):
                return float(cost[code])
            for bit in range(count):
                if not code >> bit & 1 and not self.safe(self.hidden(code | 1 << bit)):
                    code |= 1 << bit
            # Nothing within a pattern that is not safe is safe.
            open_codes[(codes & ~code) == 0] = False
        raise AssertionError("all cells hidden were safe")

    def hidden(self, code: int) -> Mask:
        """The hidden cells of a pattern: the bits of a number say which are."""
        hidden = self.primary.copy()
        hidden[self.free[[b for b in range(len(self.free)) if code >> b & 1]]] = True
        return hidden
