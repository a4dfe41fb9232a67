"""Ask the attacker's questions of a table, with its programs and what they taught."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.learned_cuts import LearnedCuts
from evosdc.suppress.engine.general.model import DeviationModel, Move, Tight
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.unpick import movable
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# Levels times cells up to which programs are taken to build a pattern in some seconds.
# At half of it, tables of 3,000 cells of which a third are sensitive begin with boxes,
# which hide more; at twice as much, a first pattern may take ten seconds.
_QUICKLY = 10_000_000

_QUICK, _SLOW = "programs are quick", "programs over all cells are slow"
# Programs, those of the largest levels, by which it is told whether they are slow.
_TRIALS = 3


# The same about the public alone.
PublicQuestion = Callable[[int, int, float, NDArray[np.float64]], Move | None]


class Question(Protocol):
    """A way to ask for a deviation that moves a cell by an amount up or down.

    `price` has one entry for each cell of the table; `tight` is the room that an
    attacker leaves some cells.
    """

    def __call__(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None: ...


def are_quick(problem: Problem) -> bool:
    """Whether programs build and change the patterns of a table, and not only boxes.

    Those of small tables do; of larger ones whoever measured it says so.
    """
    if _QUICK not in problem.derived:
        levels, cells = len(problem.levels), int(problem.hideable.sum())
        problem.derived[_QUICK] = levels * cells <= _QUICKLY
    return bool(problem.derived[_QUICK])


def call_quick(problem: Problem) -> None:
    """Say that programs over the whole table were measured to be quick."""
    problem.derived[_QUICK] = True


class Programs:
    """Cheapest deviations on one table, whose programs stay loaded."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.asked = 0
        table = problem.table
        self.sets = up_sets(table)
        self._columns = independent_equations(table, self.sets)
        self.learned = LearnedCuts(problem, self._columns)
        self._equations = (
            table.matrix.indptr,
            table.matrix.indices,
            table.columns.indptr,
            table.columns.indices,
        )

    @cached_property
    def _whole(self) -> DeviationModel:
        return self._model(np.flatnonzero(self.problem.hideable))

    @property
    def _slow(self) -> bool:
        """Whether the first programs of a pattern take too long over the whole table.

        It is asked once: what programs answer must not depend on what was asked before.
        """
        problem = self.problem
        if _SLOW not in problem.derived:
            levels = problem.levels
            largest = np.argsort(-levels.amount, kind="stable")[:_TRIALS]
            model = DeviationModel(
                self._columns,
                np.flatnonzero(problem.hideable),
                problem.up,
                problem.down,
            )
            price = np.where(problem.primary, 0.0, problem.cost)[model.cells]
            long = [
                model.takes_long(
                    int(levels.cell[row]),
                    int(levels.sign[row]),
                    float(levels.amount[row]),
                    price,
                )
                for row in largest.tolist()
            ]
            problem.derived[_SLOW] = 2 * sum(long) > len(long)
        return bool(problem.derived[_SLOW])

    @cached_property
    def _free(self) -> NDArray[np.bool_]:
        """Cells that can move when everything that may be hidden is."""
        return self.movable(self.problem.hideable)

    @property
    def quick(self) -> bool:
        """Whether programs over the whole table are quick."""
        return are_quick(self.problem)

    def cheapest(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None:
        """Find a cheap deviation that moves `cell` by `amount` up or down, or None.

        `price` has one entry for each cell of the table: what moving it costs, 0 for
        hidden cells, infinite for cells that must stay. The deviation is the cheapest
        of the table; None means that it has none.
        """
        price = np.where(self.problem.hideable, price, np.inf)
        may_move = np.isfinite(price)
        if (may_move == self.problem.hideable).all():
            free = self._free
        else:
            free = self.movable(may_move)
        if not free[cell]:
            return None
        price[~free] = np.inf
        few = 3 * np.count_nonzero(free) < len(self._whole.cells)
        model = self._model(np.flatnonzero(free)) if few else self._whole
        return self._ask(model, cell, sign, amount, price, tight)

    def farthest(
        self, cell: int, sign: int, unit: float, tight: Tight | None = None
    ) -> tuple[float, Move | None]:
        """How far a cell can move when everything that may be hidden is."""
        self.asked += 1
        return self._whole.farthest(cell, sign, unit, tight)

    def against(self, attackers: Iterable[int]) -> Tight | None:
        """Return the room that some attackers leave between them; None for public."""
        known, real = self.problem.knowledge, len(self.problem.attackers)
        who = [a for a in attackers if a]
        at = [known.entries(a) for a in who]
        if not at:
            return None
        cell = np.concatenate([known.cell[part] for part in at])
        cells, place = np.unique(cell, return_inverse=True)
        up, down = np.full(len(cells), np.inf), np.full(len(cells), np.inf)
        np.minimum.at(up, place, np.concatenate([known.up[part] for part in at]))
        np.minimum.at(down, place, np.concatenate([known.down[part] for part in at]))
        # A sum need not move by one of its cells alone, as its row asks.
        return Tight(cells, up, down, binding=len(who) == 1 and who[0] < real)

    def movable(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Hidden cells that do not follow one after the other from the equations."""
        return np.asarray(movable(hidden, *self._equations))

    def among(self, hidden: NDArray[np.bool_]) -> Question:
        """Return a way to ask many questions about deviations of hidden cells only.

        Why a program had no answer is told to `learned`, where every safe pattern must
        have one.
        """
        model = self._model(np.flatnonzero(hidden))

        def ask(
            cell: int,
            sign: int,
            amount: float,
            price: NDArray[np.float64],
            tight: Tight | None = None,
        ) -> Move | None:
            move = self._ask(model, cell, sign, amount, price, tight)
            why = model.refusal() if move is None else None
            if why is not None and (tight is None or tight.binding):
                self.learned.learn(cell, sign, amount, *why, tight)
            return move

        return ask

    def _model(self, cells: NDArray[np.int64]) -> DeviationModel:
        up, down = self.problem.up, self.problem.down
        return DeviationModel(self._columns, cells, up, down, self._slow)

    def _ask(
        self,
        model: DeviationModel,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None:
        self.asked += 1
        return model.cheapest(cell, sign, amount, price[model.cells], tight)
