"""Answer the attacker's questions about a table, by programs and learned cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.engine.general.learned_cuts import LearnedCuts
from evosdc.suppress.engine.general.model import Demand, DeviationModel, Move, Tight
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import Equations
from evosdc.suppress.structure.unpick import movable
from evosdc.suppress.structure.upsets import independent_equations, up_sets

# Levels times cells up to which programs are taken to build a pattern in seconds.
# At half of it, tables of 3,000 cells of which a third are sensitive begin with boxes,
# which hide more; at twice as much, a first pattern may take ten seconds.
_MOST_LEVELS_TIMES_CELLS = 10_000_000

_QUICK, _SLOW = "programs are quick", "programs over all cells are slow"
# Programs, those of the largest levels, by which it is told whether they are slow. One
# alone may be misleading; twice as many delay the first pattern by some seconds.
_PROGRAMS_TRIED = 3


# A way to ask for a deviation that meets a demand. The price of moving a cell has one
# entry for each cell of the table.
Question = Callable[[Demand, Real], Move | None]


def are_quick(problem: Problem) -> bool:
    """Whether programs build and change the patterns of a table, and not only boxes.

    Those of small tables do; those of larger ones where `call_quick` says so.
    """
    if _QUICK not in problem.derived:
        levels, cells = len(problem.levels), int(problem.hideable.sum())
        problem.derived[_QUICK] = levels * cells <= _MOST_LEVELS_TIMES_CELLS
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
        self._equations = Equations.of(table.matrix, table.columns)

    @cached_property
    def _whole(self) -> DeviationModel:
        return self._model(np.flatnonzero(self.problem.hideable))

    @property
    def slow(self) -> bool:
        """Whether the first programs of a pattern take too long over the whole table.

        It is asked once: what programs answer must not depend on what was asked before.
        """
        problem = self.problem
        if _SLOW not in problem.derived:
            levels = problem.levels
            largest = np.argsort(-levels.amount, kind="stable")[:_PROGRAMS_TRIED]
            model = DeviationModel(
                self._columns,
                np.flatnonzero(problem.hideable),
                problem.up,
                problem.down,
            )
            price = np.where(problem.primary, 0.0, problem.cost)[model.cells]
            long, quick = 0, 0
            for cell, sign, amount in zip(
                levels.cell[largest].tolist(),
                levels.sign[largest].tolist(),
                levels.amount[largest].tolist(),
                strict=True,
            ):
                if model.takes_long(Demand(cell, sign, amount), price):
                    long += 1
                else:
                    quick += 1
                if 2 * max(long, quick) > len(largest):
                    break  # the others would change nothing
            problem.derived[_SLOW] = long > quick
        return bool(problem.derived[_SLOW])

    @cached_property
    def _free(self) -> Flags:
        """Cells that can move when everything that may be hidden is."""
        return self.movable(self.problem.hideable)

    @property
    def quick(self) -> bool:
        """Whether programs over the whole table are quick."""
        return are_quick(self.problem)

    def cheapest(self, asked: Demand, price: Real) -> Move | None:
        """Find a cheap deviation that meets a demand, or None.

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
        if not free[asked.cells].any():
            return None
        price[~free] = np.inf
        few = 3 * np.count_nonzero(free) < len(self._whole.cells)
        model = self._model(np.flatnonzero(free)) if few else self._whole
        return self._ask(model, asked, price)

    def cheapest_together(self, asked: Sequence[Demand], price: Real) -> Move | None:
        """Find the cheapest deviation that meets several demands of the public."""
        self.asked += 1
        whole = self._whole
        return whole.cheapest_together(asked, price[whole.cells])

    def farthest(self, asked: Demand) -> tuple[float, Move | None]:
        """How far a cell can move when everything that may be hidden is."""
        self.asked += 1
        return self._whole.farthest(asked)

    def hide_totals(self, asked: Demand, price: Real) -> Move | None:
        """Move a cell with an inner cell below it and all totals above that, or None.

        Raising one inner cell and every total it is part of keeps all equations, and
        needs no solver. This is what the marginal method of tau-Argus amounts to: it
        hides margins until the table is safe. Of a sum the cells are moved one by one,
        until one of them can be moved far enough.
        """
        for cell in asked.cells:
            found = self._hide_totals(asked._replace(cell=cell), price)
            if found is not None:
                return found
        return None

    def _hide_totals(self, asked: Demand, price: Real) -> Move | None:
        (cell, sign, amount, tight, _), problem = asked, self.problem
        if self.sets is None:
            return None
        below = self.sets.inner_below(cell)
        below = below[self.sets.sound[below]]
        if not len(below):
            return None
        up, down = problem.up, problem.down
        if tight is not None:
            up, down = tight.within(np.arange(len(up)), up, down, cell)
        shut = ((up if sign > 0 else down) < amount) | ~problem.hideable
        rows = self.sets.reach[below]
        blocked = rows @ shut.astype(np.float64)
        if blocked.min() > 0:
            return None
        worth = np.where(blocked > 0, np.inf, rows @ np.where(shut, 0.0, price))
        best = rows[[int(np.argmin(worth))]].indices.astype(np.int64)
        return Move(np.sort(best), np.full(len(best), sign * amount))

    def against(self, attackers: Iterable[int]) -> Tight | None:
        """Return the room that some attackers leave between them; None for public."""
        others = [attacker for attacker in attackers if attacker]
        if not others:
            return None
        return Tight.of(self.problem.attackers, others, binding=len(others) == 1)

    def movable(self, hidden: Flags) -> Flags:
        """Hidden cells that do not follow one after the other from the equations."""
        return np.asarray(movable(hidden, self._equations))

    def among(self, hidden: Flags) -> Question:
        """Return a way to ask many questions about deviations of hidden cells only.

        Why a program had no answer is told to `learned`, where every safe pattern must
        have one.
        """
        model = self._model(np.flatnonzero(hidden))

        def ask(asked: Demand, price: Real) -> Move | None:
            move = self._ask(model, asked, price)
            why = model.refusal() if move is None else None
            if why is not None and (asked.tight is None or asked.tight.binding):
                self.learned.learn(asked, *why)
            return move

        return ask

    def _model(self, cells: Long) -> DeviationModel:
        up, down = self.problem.up, self.problem.down
        return DeviationModel(self._columns, cells, up, down, self.slow)

    def _ask(self, model: DeviationModel, asked: Demand, price: Real) -> Move | None:
        self.asked += 1
        return model.cheapest(asked, price[model.cells])
