"""Ask the attacker's questions of any table: neighbourhoods first, then all cells."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.blockers import Blockers
from evosdc.suppress.engine.general.local import neighbourhoods
from evosdc.suppress.engine.general.model import DeviationModel, Move
from evosdc.suppress.problem import Problem
from evosdc.suppress.structure.movable import movable
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# With no more cells than this, the whole table is the neighbourhood.
SMALL = 2500

Question = Callable[[int, int, float, NDArray[np.float64]], Move | None]


class Programs:
    """Cheapest deviations on one table, whose programs stay loaded."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.asked = 0
        table = problem.table
        self.sets = up_sets(table)
        self._columns = independent_equations(table, self.sets)
        self.blockers = Blockers(problem, self._columns)
        self._around = neighbourhoods(table, self.sets)
        self._whole = self._model(np.flatnonzero(problem.hideable))
        self._equations = (
            table.matrix.indptr,
            table.matrix.indices,
            table.columns.indptr,
            table.columns.indices,
        )

    @property
    def is_small(self) -> bool:
        """Whether programs over the whole table are quick."""
        return int(self.problem.hideable.sum()) <= SMALL

    def cheapest(
        self, cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> Move | None:
        """Find a cheap deviation that moves `cell` by `amount` up or down, or None.

        `price` has one entry for each cell of the table: what moving it costs, 0 for
        hidden cells, infinite for cells that must stay. The deviation is the cheapest
        of the first neighbourhood that has one. None means that there is none in the
        whole table.
        """
        price = np.where(self.problem.hideable, price, np.inf)
        free = self.movable(np.isfinite(price))
        if not free[cell]:
            return None
        price[~free] = np.inf
        open_cells = np.flatnonzero(free)
        if len(open_cells) > SMALL:
            move = self.nearby(cell, sign, amount, price)
            if move is not None:
                return move
        few = 3 * len(open_cells) < len(self._whole.cells)
        model = self._model(open_cells) if few else self._whole
        return self._ask(model, cell, sign, amount, price)

    def nearby(
        self, cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> Move | None:
        """Find a deviation in a neighbourhood; None says nothing about the table."""
        most = int(np.isfinite(price).sum())
        for cells in self._around.around(cell, price):
            if 2 * len(cells) > most:
                break
            move = self._ask(self._model(cells), cell, sign, amount, price)
            if move is not None:
                return move
        return None

    def within(
        self,
        cells: NDArray[np.int64],
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
    ) -> Move | None:
        """Find the cheapest deviation of some cells; None says nothing of others."""
        return self._ask(self._model(cells), cell, sign, amount, price)

    def farthest(self, cell: int, sign: int, unit: float) -> tuple[float, Move | None]:
        """How far a cell can move when everything that may be hidden is."""
        self.asked += 1
        return self._whole.farthest(cell, sign, unit)

    def movable(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Hidden cells that do not follow one after the other from the equations."""
        return np.asarray(movable(hidden, *self._equations))

    def among(self, hidden: NDArray[np.bool_]) -> Question:
        """Return a way to ask many questions about deviations of hidden cells only.

        Few cells are asked all together. Among many only the neighbourhoods are asked,
        so that None may come too early: clean-up then keeps a cell that it could have
        spared, and that is safe. Why few cells had no answer is told to `blockers`.
        """
        cells = np.flatnonzero(hidden)
        if len(cells) > SMALL:
            return self.nearby
        model = self._model(cells)

        def ask(
            cell: int, sign: int, amount: float, price: NDArray[np.float64]
        ) -> Move | None:
            move = self._ask(model, cell, sign, amount, price)
            why = model.refusal() if move is None else None
            if why is not None:
                self.blockers.learn(cell, sign, amount, *why)
            return move

        return ask

    def _model(self, cells: NDArray[np.int64]) -> DeviationModel:
        return DeviationModel(self._columns, cells, self.problem.up, self.problem.down)

    def _ask(
        self,
        model: DeviationModel,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
    ) -> Move | None:
        self.asked += 1
        return model.cheapest(cell, sign, amount, price[model.cells])
