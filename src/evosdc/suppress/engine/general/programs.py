"""Ask the attacker's questions of any table: of all cells, or of neighbourhoods."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.blockers import Blockers
from evosdc.suppress.engine.general.local import neighbourhoods
from evosdc.suppress.engine.general.model import DeviationModel, Move, Tight
from evosdc.suppress.problem import Problem
from evosdc.suppress.structure.unpick import movable
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# With no more cells than this, programs over the whole table are taken to be quick.
SMALL = 2500
# Simplex iterations, some seconds, after which a program over a larger table is given
# up, and how often that happens before neighbourhoods are asked instead. The first
# programs are the longest: hidden cells shorten later ones to some hundred iterations.
_PATIENCE, _GIVE_UP = 30_000, 3

_QUICK, _RULED_OUT = "programs are quick", "programs are ruled out"


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
    """Whether programs over the whole table are quick.

    Those of small tables are taken to be; of larger ones whoever measured it says so.
    """
    if _QUICK not in problem.derived:
        problem.derived[_QUICK] = int(problem.hideable.sum()) <= SMALL
    return bool(problem.derived[_QUICK])


def call_quick(problem: Problem) -> None:
    """Say that programs over the whole table were measured to be quick."""
    problem.derived[_QUICK] = True


def rule_out(problem: Problem) -> None:
    """Say that larger tables are not to be tried: boxes build their patterns."""
    problem.derived.setdefault(_RULED_OUT, True)


def may_be_tried(problem: Problem) -> bool:
    """Whether it is worth measuring how long programs over the whole table take."""
    return not (are_quick(problem) or _RULED_OUT in problem.derived)


class Programs:
    """Cheapest deviations on one table, whose programs stay loaded."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.asked = 0
        self._given_up = 0
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
        of the table or, where such programs take too long, of the first neighbourhood
        that has one. None means that there is none in the whole table.
        """
        price = np.where(self.problem.hideable, price, np.inf)
        free = self.movable(np.isfinite(price))
        if not free[cell]:
            return None
        price[~free] = np.inf
        open_cells = np.flatnonzero(free)
        few = 3 * len(open_cells) < len(self._whole.cells)
        model = self._model(open_cells) if few else self._whole
        if self.quick or len(open_cells) <= SMALL:
            return self._ask(model, cell, sign, amount, price, tight)
        if self._given_up < _GIVE_UP:
            move = self._ask(model, cell, sign, amount, price, tight, _PATIENCE)
            if not model.gave_up:
                return move
            self._given_up += 1
        move = self.nearby(cell, sign, amount, price, tight)
        if move is not None:
            return move
        return self._ask(model, cell, sign, amount, price, tight)

    def over_all(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None:
        """Find the cheapest deviation of the table, or None where it takes too long."""
        if self._given_up >= _GIVE_UP:
            return None
        move = self._ask(self._whole, cell, sign, amount, price, tight, _PATIENCE)
        self._given_up += self._whole.gave_up
        return move

    def nearby(
        self,
        cell: int,
        sign: int,
        amount: float,
        price: NDArray[np.float64],
        tight: Tight | None = None,
    ) -> Move | None:
        """Find a deviation in a neighbourhood; None says nothing about the table."""
        most = int(np.isfinite(price).sum())
        for cells in self._around.around(cell, price):
            if 2 * len(cells) > most:
                break
            move = self._ask(self._model(cells), cell, sign, amount, price, tight)
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

    def farthest(
        self, cell: int, sign: int, unit: float, tight: Tight | None = None
    ) -> tuple[float, Move | None]:
        """How far a cell can move when everything that may be hidden is."""
        self.asked += 1
        return self._whole.farthest(cell, sign, unit, tight)

    def against(self, attackers: Iterable[int]) -> Tight | None:
        """Return the room that some attackers leave between them; None for public."""
        known = self.problem.knowledge
        at = [known.entries(a) for a in attackers if a]
        if not at:
            return None
        cell = np.concatenate([known.cell[part] for part in at])
        cells, place = np.unique(cell, return_inverse=True)
        up, down = np.full(len(cells), np.inf), np.full(len(cells), np.inf)
        np.minimum.at(up, place, np.concatenate([known.up[part] for part in at]))
        np.minimum.at(down, place, np.concatenate([known.down[part] for part in at]))
        return Tight(cells, up, down)

    def movable(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Hidden cells that do not follow one after the other from the equations."""
        return np.asarray(movable(hidden, *self._equations))

    def among(self, hidden: NDArray[np.bool_]) -> Question:
        """Return a way to ask many questions about deviations of hidden cells only.

        Where a program over all of them takes too long the neighbourhoods are asked, so
        that None may come too early: clean-up then keeps a cell that it could have
        spared, and that is safe. Why a program had no answer is told to `blockers`.
        """
        model = self._model(np.flatnonzero(hidden))
        patience = None if self.quick or len(model.cells) <= SMALL else _PATIENCE
        given_up = 0

        def ask(
            cell: int,
            sign: int,
            amount: float,
            price: NDArray[np.float64],
            tight: Tight | None = None,
        ) -> Move | None:
            nonlocal given_up
            if given_up >= _GIVE_UP:
                return self.nearby(cell, sign, amount, price, tight)
            move = self._ask(model, cell, sign, amount, price, tight, patience)
            if model.gave_up:
                given_up += 1
                return self.nearby(cell, sign, amount, price, tight)
            why = model.refusal() if move is None else None
            if why is not None:
                self.blockers.learn(cell, sign, amount, *why, tight)
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
        tight: Tight | None = None,
        patience: int | None = None,
    ) -> Move | None:
        self.asked += 1
        return model.cheapest(cell, sign, amount, price[model.cells], patience, tight)
