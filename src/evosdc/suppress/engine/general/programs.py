"""Answer the attacker's questions about a table, by programs and learned cuts.

Publishing a cell that is needed is found out by a program without a solution, again and
again: for each cell of each pattern. The multipliers that show why (Farkas) are a cut,
which every safe pattern satisfies. Kept, it answers the same question for all patterns
after that, without a program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.engine.base import MULTIPLIER_GRID, Cut, Mask, capacity_cut
from evosdc.suppress.engine.general.model import Demand, DeviationModel, Move, Tight
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.equations import (
    Equations,
    independent_equations,
    up_sets,
)
from evosdc.suppress.structure.unpick import movable

# A cut is violated where more than this is missing: well above rounding.
_SHORT = 1e-6
# Cuts that are kept: with more of them the older half is forgotten. Half as many answer
# fewer questions without a program, twice as many take longer to look at per pattern.
_MOST_CUTS = 4000
# Levels times cells up to which programs are taken to build a pattern in seconds.
# At half of it, tables of 3,000 cells of which a third are sensitive begin with boxes,
# which hide more; at twice as much, a first pattern may take ten seconds.
_MOST_LEVELS_TIMES_CELLS = 10_000_000
_QUICK, _SLOW = "programs are quick", "programs over all cells are slow"
# Programs, those of the largest levels, that show whether they are slow. One
# alone may be misleading; twice as many delay the first pattern by some seconds.
_PROGRAMS_TRIED = 3
# A function that finds a deviation that meets a demand. The price of moving a cell has
# one entry for each cell of the table.
Question = Callable[[Demand, Real], Move | None]


class LearnedCuts:
    """The cuts that patterns of a problem have failed so far.

    Parameters
    ----------
    columns
        The equations that programs are made of, as CSC.
    """

    def __init__(self, problem: Problem, columns: Any) -> None:
        self._problem = problem
        self._columns = columns
        self.cuts: list[Cut] = []
        self.having: dict[int, list[tuple[int, float]]] = {}
        self.forgotten = 0  # how often cuts got other numbers

    @cached_property
    def _transposed(self) -> Any:
        return sparse.csr_array(self._columns.T)

    @cached_property
    def _levels(self) -> dict[tuple[tuple[int, ...], int], float]:
        levels = self._problem.levels
        each = zip(
            levels.cell.tolist(), levels.sign.tolist(), levels.amount, strict=True
        )
        found: dict[tuple[tuple[int, ...], int], float] = {
            ((cell,), sign): float(amount) for cell, sign, amount in each
        }
        for cells, sign, amount in self._problem.sum_levels:
            found[cells, sign] = amount
        return found

    def look_at(self, hidden: Mask) -> Slacks:
        """Begin with a pattern from which cells are to be published."""
        return Slacks(self, hidden)

    def learn(self, demand: Demand, rows: Long, multipliers: Real) -> None:
        """Keep what some equations together say of a level that was not reached.

        Cells count with the room that the attacker of the demand leaves them. Of a
        level that stands for a width only the part that every pattern needs is kept.
        """
        needed = self._levels.get((tuple(demand.cells), demand.sign), 0.0)
        if not needed:
            return
        least = demand._replace(amount=min(demand.amount, needed))
        cut = self._cut(least, rows, multipliers)
        if cut is None:
            return
        if len(self.cuts) == _MOST_CUTS:
            self._forget()
        number = len(self.cuts)
        self.cuts.append(cut)
        for i, by in zip(cut.cells.tolist(), cut.coefficients.tolist(), strict=True):
            self.having.setdefault(i, []).append((number, by))

    def _cut(self, demand: Demand, rows: Long, multipliers: Real) -> Cut | None:
        """Write the sum of equations as a cut: what lets the cell move must be hidden.

        It holds for all multipliers, so they are rounded to a grid.
        """
        cell, sign, amount, _, more = demand
        y = np.zeros(self._transposed.shape[1])
        y[rows] = multipliers
        if more:
            z = np.asarray(self._transposed @ np.rint(-y * MULTIPLIER_GRID))
            z[demand.cells] += MULTIPLIER_GRID
            return self._written(sign * z / (MULTIPLIER_GRID * amount), demand)
        at = slice(*self._transposed.indptr[cell : cell + 2])
        own = self._transposed.indices[at], self._transposed.data[at]
        size = float(own[1] @ y[own[0]])
        if size == 0.0:
            return None
        z = np.asarray(self._transposed @ np.rint(y / size * MULTIPLIER_GRID))
        if z[cell] == 0.0:
            return None
        moves = -sign * z / (z[cell] * amount)
        moves[cell] = 0.0
        return self._written(moves, demand)

    def _written(self, moves: Real, demand: Demand) -> Cut | None:
        """Write as a cut how a demand is met by what each cell is moved."""
        problem, tight = self._problem, demand.tight
        moves[~problem.hideable] = 0.0
        cells = np.flatnonzero(moves)
        moves = moves[cells]
        up, down = problem.up[cells], problem.down[cells]
        if tight is not None:
            up, down = tight.within(cells, up, down, demand.cell)
        room = np.where(moves > 0, up, down)
        return capacity_cut(cells, np.abs(moves) * room, problem.primary[cells], _SHORT)

    def _forget(self) -> None:
        """Keep the newer half."""
        half = _MOST_CUTS // 2
        self.forgotten += 1
        self.cuts = self.cuts[half:]
        self.having = {
            cell: [(number - half, by) for number, by in entries if number >= half]
            for cell, entries in self.having.items()
        }


class Slacks:
    """Slack of each cut in a pattern that gets smaller."""

    def __init__(self, learned: LearnedCuts, hidden: Mask) -> None:
        self._learned, self._hidden = learned, hidden
        self._slack: list[float] = []
        self._forgotten = learned.forgotten

    def needs(self, cell: int) -> bool:
        """Whether a cut forbids to publish a cell."""
        self._catch_up()
        entries = self._learned.having.get(cell, ())
        return any(self._slack[number] - by < -_SHORT for number, by in entries)

    def publish(self, cell: int, hidden: Mask) -> None:
        """Take note that a cell is published, which leaves a smaller pattern."""
        self._catch_up()
        for number, by in self._learned.having.get(cell, ()):
            self._slack[number] -= by
        self._hidden = hidden

    def _catch_up(self) -> None:
        """Look at cuts that are new."""
        if self._forgotten != self._learned.forgotten:
            self._forgotten, self._slack = self._learned.forgotten, []
        for cut in self._learned.cuts[len(self._slack) :]:
            held = self._hidden[cut.cells]
            self._slack.append(float(cut.coefficients[held].sum()) - cut.least)


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
        self.solved = 0
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

        It is measured once: answers must not depend on earlier programs.
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

    def cheapest(self, demand: Demand, price: Real) -> Move | None:
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
        if not free[demand.cells].any():
            return None
        price[~free] = np.inf
        few = 3 * np.count_nonzero(free) < len(self._whole.cells)
        model = self._model(np.flatnonzero(free)) if few else self._whole
        return self._ask(model, demand, price)

    def cheapest_together(self, demand: Sequence[Demand], price: Real) -> Move | None:
        """Find the cheapest deviation that meets several demands of the public."""
        self.solved += 1
        whole = self._whole
        return whole.cheapest_together(demand, price[whole.cells])

    def farthest(self, demand: Demand) -> tuple[float, Move | None]:
        """How far a cell can move when everything that may be hidden is."""
        self.solved += 1
        return self._whole.farthest(demand)

    def hide_totals(self, demand: Demand, price: Real) -> Move | None:
        """Move a cell with an inner cell below it and all totals above that, or None.

        Raising one inner cell and every total it is part of keeps all equations, and
        needs no solver. This is what the marginal method of tau-Argus amounts to: it
        hides margins until the table is safe. Of a sum the cells are moved one by one,
        until one of them can be moved far enough.
        """
        for cell in demand.cells:
            found = self._hide_totals(demand._replace(cell=cell), price)
            if found is not None:
                return found
        return None

    def _hide_totals(self, demand: Demand, price: Real) -> Move | None:
        (cell, sign, amount, tight, _), problem = demand, self.problem
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
        """Return a function that finds many deviations of hidden cells only.

        `learned` receives why a program had no answer, where every safe pattern must
        have one.
        """
        model = self._model(np.flatnonzero(hidden))

        def answer(demand: Demand, price: Real) -> Move | None:
            move = self._ask(model, demand, price)
            why = model.refusal() if move is None else None
            if why is not None and (demand.tight is None or demand.tight.binding):
                self.learned.learn(demand, *why)
            return move

        return answer

    def _model(self, cells: Long) -> DeviationModel:
        up, down = self.problem.up, self.problem.down
        return DeviationModel(self._columns, cells, up, down, self.slow)

    def _ask(self, model: DeviationModel, demand: Demand, price: Real) -> Move | None:
        self.solved += 1
        return model.cheapest(demand, price[model.cells])
