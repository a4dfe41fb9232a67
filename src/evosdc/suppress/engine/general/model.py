"""The attacker's linear program over some of the cells, for one question after another.

Smith et al. (2011) ask: which deviation ``d = y+ - y-`` that moves one cell by its
level is cheapest, when moving a cell that is hidden already costs nothing?

Few of a large table's cells are in the answer, so the program of a neighbourhood is
solved first. Its dual prices tell whether cells outside would make the answer cheaper
(pricing: Gilmore and Gomory 1961); if so the program over all cells is solved, so that
the answer is that of the whole table, and None means that it has none. Dense tables are
the exception: where that program takes too long (`takes_long`), the first neighbourhood
that has an answer does, and cells that its prices ask for are let in while that makes
the answer cheaper.

No price is negative, so the basis in which no cell has moved is the best there is but
for the few equations of the cell in question. Every program begins there, with the dual
simplex method: answers do not depend on what was asked before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import highspy
import numpy as np
from scipy import sparse

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.general.solver import (
    PairedCells,
    both_ways,
    pass_program,
    silent_solver,
)
from evosdc.suppress.structure.equations import Equations
from evosdc.suppress.structure.unpick import nearest
from evosdc.table.attackers import AttackerKnowledge

# Deviations are solved in units of the amount asked for, so that tables of 1e15 and
# of 1e-9 look alike to the solver. A cell counts as moved above this share.
MOVED = 1e-9
# No witness needs to move a cell by more than this many times the amount asked for: a
# numerical bound, below the range in which the solver's tolerances hold.
FAR = 1e7
# Classes of cells in the first neighbourhood. With half as many, a question takes more
# rounds of pricing; with twice as many, most programs are larger than they need to be.
NEIGHBOURS = 200
# Times as many where programs are slow, and where most classes are free of charge as
# well: a share of all of them. With half as many, programs without an answer come
# first; with twice as many the first answer takes longer.
_TIMES_WHEN_SLOW, _TIMES_WHEN_FILLED, _FILLED = 4, 16, 0.5
# Slow programs are taken as solved where their answer gets cheaper by less than this
# share. At half of it they take a round or two more, at twice of it patterns cost more.
_LEAST_GAIN = 0.02
# A class enters when it would save more than this share of the typical price: a
# tolerance.
_LEAST_SAVING = 1e-6
# Iterations of the dual simplex method, which take as long as a solution by interior
# points on 5,000 classes. At half of it more programs are begun in vain, at twice of it
# those of dense cubes take twice as long.
_MOST_ITERATIONS = 4_000
_ANSWERED = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
)
_BY_DUAL_SIMPLEX = (("solver", "simplex"), ("presolve", "off"))
_BY_INTERIOR_POINTS = (("solver", "ipm"), ("presolve", "on"))


@dataclass(frozen=True, eq=False)
class Move:
    """A deviation: `by` is added to `cells`, every equation keeps its total."""

    cells: Long
    by: Real


@dataclass(frozen=True, eq=False)
class Tight:
    """Cells, in order, with less room than everyone leaves them: an attacker's."""

    cells: Long
    up: Real
    down: Real
    # Whether one attacker leaves it: a safe pattern need not serve several at once.
    binding: bool = True

    @classmethod
    def of(
        cls, known: AttackerKnowledge, attackers: Iterable[int], binding: bool = True
    ) -> Tight:
        """Return the room that some attackers leave between them."""
        at = [known.entries(a) for a in attackers]
        cell = np.concatenate([known.cell[part] for part in at])
        cells, place = np.unique(cell, return_inverse=True)
        up, down = np.full(len(cells), np.inf), np.full(len(cells), np.inf)
        np.minimum.at(up, place, np.concatenate([known.up[part] for part in at]))
        np.minimum.at(down, place, np.concatenate([known.down[part] for part in at]))
        return cls(cells, up, down, binding)

    def within(self, cells: Long, up: Real, down: Real, but: int) -> tuple[Real, Real]:
        """Return the room of some cells, in order, as the attacker sees it.

        The cell `but` keeps what it has: how far it must move is said elsewhere.
        """
        place = np.searchsorted(cells, self.cells)
        place[place == len(cells)] = 0
        here = (cells[place] == self.cells) & (self.cells != but)
        place = place[here]
        up, down = up.copy(), down.copy()
        up[place] = np.minimum(up[place], self.up[here])
        down[place] = np.minimum(down[place], self.down[here])
        return up, down


class Demand(NamedTuple):
    """A cell, or the sum of several, to be moved by an amount up or down.

    `tight` is the room that an attacker leaves some cells; None for the public. `more`
    are the other cells of a sum.
    """

    cell: int
    sign: int
    amount: float
    tight: Tight | None = None
    more: tuple[int, ...] = ()

    @property
    def cells(self) -> list[int]:
        """The cell, or those of the sum."""
        return [self.cell, *self.more]


class _Program(NamedTuple):
    """How some classes are moved by fixed amounts most cheaply; `asked` is the first.

    The first entries of `low`, `high` say how far classes move upwards, the others how
    far downwards. Where a sum is asked for, `along` says how far it moves with each
    class, which must add up to `sum`, and `asked` is the class of its first cell.
    """

    asked: int
    low: Real
    high: Real
    cost: Real
    along: Real | None = None
    sum: float = 0.0


class DeviationModel:
    """The program over `cells`; all other cells stay as they are.

    Parameters
    ----------
    columns
        Equations of the table, as CSC.
    cells
        The cells that may move.
    up, down
        Room of every cell of the table.
    slow
        Whether programs of the table take so long (see `takes_long`) that an answer
        among some of the cells has to do.
    """

    def __init__(
        self, columns: Any, cells: Long, up: Real, down: Real, slow: bool = False
    ) -> None:
        self.cells, self._slow = cells, slow
        self._up = self._wide_up = up[cells]
        self._down = self._wide_down = down[cells]
        self._rows, self._part = _part_of(columns, cells)
        self._solver = silent_solver()
        self._solver.setOptionValue("simplex_iteration_limit", _MOST_ITERATIONS)
        for option, value in _BY_DUAL_SIMPLEX:
            self._solver.setOptionValue(option, value)
        self._ray: Real | None = None
        self._ray_of_sum = 0.0
        # Of the last question that had no answer: the cells, and one they wait for.
        self._refused: tuple[Long, int | None] | None = None

    @cached_property
    def _pairs(self) -> PairedCells:
        return PairedCells(self._part)

    @cached_property
    def _by_column(self) -> Any:
        """Equations over classes, as CSC, whose transposed prices them."""
        return sparse.csc_array(self._pairs.matrix)

    @cached_property
    def _wide_class_room(self) -> tuple[Real, Real]:
        return self._pairs.room(self._wide_up, self._wide_down)

    def _look_at(self, asked: Demand) -> int:
        """See the table as who asks about a cell does; return the place of the cell."""
        self._up, self._down = self._wide_up, self._wide_down
        if asked.tight is None or not len(self.cells):
            self._class_room = self._wide_class_room
        else:
            room = asked.tight.within(self.cells, self._up, self._down, asked.cell)
            self._up, self._down = room
            self._class_room = self._pairs.room(*room)
        return int(np.searchsorted(self.cells, asked.cell))

    def _places(self, asked: Demand) -> Long:
        """Where the cells of a demand are; those that may not move are left out."""
        wanted = np.array(asked.cells, dtype=np.int64)
        place = np.searchsorted(self.cells, wanted)
        place[place == len(self.cells)] = 0
        return place[self.cells[place] == wanted]

    def cheapest(self, asked: Demand, price: Real) -> Move | None:
        """Find the cheapest deviation that meets a demand, or None.

        `price` is asked of each of the model's cells by unit moved; infinite where the
        cell must not move.
        """
        k = self._look_at(asked)
        places = self._places(asked) if asked.more else np.array([k])
        self._refused = (places, None)
        held = None if asked.more else self._held(k, asked, price)
        if held is not None:
            self._refused = (places, held)
            return None
        if asked.more:
            program = self._program_of_sum(asked, places, price)
        else:
            program = self._program([asked], asked.amount, price)
        if len(program.cost) <= 2 * NEIGHBOURS:
            found = self._run(None, program)
        else:
            found = self._near_or_whole(program)
        if found is None:
            return None
        self._refused = None
        return self._as_move(self._pairs.moves(found), places, asked.amount)

    def cheapest_together(self, asked: Sequence[Demand], price: Real) -> Move | None:
        """Find the cheapest deviation that meets several demands of the public exactly.

        Smith et al. (2011) protect groups of cells so, to solve fewer programs.
        """
        k = self._look_at(asked[0])
        unit = float(np.median([demand.amount for demand in asked]))
        found = self._run(None, self._program(asked, unit, price))
        if found is None:
            return None
        d = self._pairs.moves(found)
        # Cells of one class may contradict each other, or have too little room.
        far = 10 * MOVED * max(1.0, float(np.abs(d).max()))
        fits = (d <= self._up / unit + far) & (-d <= self._down / unit + far)
        places = np.searchsorted(self.cells, [demand.cell for demand in asked])
        wanted = np.array([demand.sign * demand.amount / unit for demand in asked])
        if not fits.all() or np.abs(d[places] - wanted).max() > far:
            return None
        return self._as_move(d, np.array([k]), unit)

    def takes_long(self, asked: Demand, price: Real) -> bool:
        """Whether the program of all classes takes more than `_MOST_ITERATIONS`."""
        self._look_at(asked)
        self._pass(None, self._program([asked], asked.amount, price))
        self._solver.run()
        return self._solver.getModelStatus() not in _ANSWERED

    def _program(self, asked: Sequence[Demand], unit: float, price: Real) -> _Program:
        """Write how cells are moved most cheaply, in units of an amount."""
        pairs = self._pairs
        by_class = pairs.price(price)
        n, high, cost = len(pairs), self._room(unit, by_class), _level_prices(by_class)
        low = np.zeros(2 * n)
        for cell, sign, amount, *_ in reversed(asked):
            k = int(np.searchsorted(self.cells, cell))
            c = int(pairs.of[k])
            chosen, other = (c, c + n) if sign * pairs.sign[k] > 0 else (c + n, c)
            low[chosen] = high[chosen] = amount / unit
            low[other] = high[other] = cost[c] = 0.0
        return _Program(c, low, high, cost)

    def _program_of_sum(self, asked: Demand, places: Long, price: Real) -> _Program:
        """Write how a sum is moved most cheaply, in units of its amount."""
        pairs = self._pairs
        by_class = pairs.price(price)
        high, cost = self._room(asked.amount, by_class), _level_prices(by_class)
        first = int(pairs.of[places[0]])
        low, along = np.zeros_like(high), self._along(places)
        return _Program(first, low, high, cost, along, float(asked.sign))

    def _along(self, places: Long) -> Real:
        """How far the sum of some cells moves with each class."""
        pairs = self._pairs
        along = np.zeros(len(pairs))
        np.add.at(along, pairs.of[places], pairs.sign[places])
        return along

    def _near_or_whole(self, program: _Program) -> Real | None:
        """Solve the program of a neighbourhood, or of all classes if that falls short.

        Dual prices tell whether classes outside would make the answer cheaper. Where
        some would, or there is no answer, all are taken: letting in a few at a time
        takes two to fifteen times as long on tables of 4,000 to 31,000 cells. Slow
        programs do that all the same, as long as the answer gets cheaper by it.
        """
        asked, _, high, cost, along, _ = program
        starts = [asked] if along is None else np.flatnonzero(along).tolist()
        n, matrix, columns = len(cost), self._pairs.matrix, self._by_column
        shut = high[:n] + high[n:] <= 0.0
        steps = np.ones(n) if self._slow else cost + 0.01
        steps[shut] = 1e3 * (1.0 + cost.max(initial=1.0))
        # Where most cells are hidden already, prices hardly tell answers apart.
        filled = self._slow and np.count_nonzero(cost > 0.0) < (1 - _FILLED) * n
        many = NEIGHBOURS
        if self._slow:
            many *= _TIMES_WHEN_FILLED if filled else _TIMES_WHEN_SLOW
        inside = np.zeros(n, dtype=np.bool_)
        best, cheapest = None, np.inf
        while many < n:
            if best is None:
                equations = Equations.of(matrix, columns)
                for start in starts:
                    few = max(many // len(starts), 1)
                    inside[nearest(start, few, steps, equations)] = True
                inside[shut] = False
                inside[starts] = True
            here = np.flatnonzero(inside)
            found = self._run(here, program, patient=best is None)
            if found is None and best is not None:
                return best  # to price it further takes longer than it is worth
            if found is not None:
                if filled:
                    return found
                z = columns.T @ self._duals
                room = np.where(z > 0, high[:n], high[n:]) > 0
                worth = np.where(room & ~inside, np.abs(z) - cost, 0.0)
                now = float(cost @ np.abs(found))
                if worth.max() <= _LEAST_SAVING or now > cheapest * (1.0 - _LEAST_GAIN):
                    return found
                best, cheapest = found, now
                entering = np.argsort(-worth, kind="stable")[: max(many // 4, 1)]
                inside[entering[worth[entering] > _LEAST_SAVING]] = True
            if not self._slow:
                break
            many = int(inside.sum()) if found is not None else 2 * many
        if best is not None and self._slow:
            return best
        return self._run(None, program)

    def _held(self, k: int, asked: Demand, price: Real) -> int | None:
        """A cell that moves with another and must not or cannot so far, if any."""
        mates = self._pairs.mates(k)
        mates = mates[mates != k]
        if not len(mates):
            return None
        ways = asked.sign * self._pairs.sign[k] * self._pairs.sign[mates]
        room = np.where(ways > 0, self._up[mates], self._down[mates])
        room[~np.isfinite(price[mates])] = 0.0
        if room.min() >= asked.amount * (1.0 - MOVED):
            return None
        return int(mates[np.argmin(room)])

    def farthest(self, asked: Demand) -> tuple[float, Move | None]:
        """How far a cell can move, at most `FAR` times the amount, and how."""
        self._look_at(asked)
        places = self._places(asked)
        sign, unit, pairs = asked.sign, asked.amount, self._pairs
        n = len(pairs)
        high = np.minimum(self._room(unit, np.zeros(n)), FAR)
        ways = -sign * self._along(places)
        program = _Program(0, np.zeros(2 * n), high, ways)
        found = self._run(None, program, turned=-ways)
        if found is None:
            return 0.0, None
        d = pairs.moves(found)
        moved = np.flatnonzero(d)
        return max(0.0, sign * float(d[places].sum())) * unit, Move(
            self.cells[moved], d[moved] * unit
        )

    def refusal(self) -> tuple[Long, Real] | None:
        """Why the last question had no answer: multipliers of some equations.

        What these say together leaves the cell too little room (Farkas). Those of a sum
        are scaled: the sum's cells less what they say is left with too little.
        """
        if self._refused is None:
            return None
        pairs, (places, held) = self._pairs, self._refused
        alone, k = np.zeros(len(self.cells)), int(places[0])
        if held is not None:
            alone[k] = -1.0
            nothing = np.zeros(len(pairs.rows))
            y = pairs.multipliers(nothing, held, self._up, self._down, alone)
            return self._rows, y
        if self._ray is None:
            return None
        if not self._ray_of_sum:
            return self._rows, pairs.multipliers(self._ray, k, self._up, self._down)
        # The way that the sum was to go: the least room is that of the cells this way.
        alone[places] = way = np.sign(self._ray_of_sum)
        ray = self._ray / abs(self._ray_of_sum)
        y = pairs.multipliers(ray, None, self._up, self._down, alone)
        return self._rows, -way * y

    def _room(self, amount: float, price: Real) -> Real:
        """Room of classes both ways in units of an amount; none without a price."""
        high: Real = np.concatenate(self._class_room) / amount
        high[high > FAR] = highspy.kHighsInf
        shut = ~np.isfinite(price)
        high[np.concatenate([shut, shut])] = 0.0
        return high

    def _run(
        self,
        classes: Long | None,
        program: _Program,
        turned: Real | None = None,
        patient: bool = True,
    ) -> Real | None:
        """Solve the program of some classes, or of all; return how far classes move.

        None also where the simplex method takes too long and nobody is `patient`.
        Each class is one column upwards and one downwards, which costs the same unless
        `turned`. Dual prices of the equations, or why there is no solution, are kept.
        """
        n, m, solver = len(program.cost), len(self._pairs.rows), self._solver
        rows = self._pass(classes, program, turned)
        most = m if rows is None else len(rows)
        solver.run()
        status = solver.getModelStatus()
        if status not in _ANSWERED and not patient:
            return None
        if status not in _ANSWERED:
            # Rounding misled the simplex method, or it takes too long: dense cubes have
            # programs of 100,000 iterations, which interior points solve in 40.
            for option, value in _BY_INTERIOR_POINTS:
                solver.setOptionValue(option, value)
            solver.clearSolver()
            solver.run()
            status = solver.getModelStatus()
            for option, value in _BY_DUAL_SIMPLEX:
                solver.setOptionValue(option, value)
        self._ray, self._ray_of_sum = None, 0.0
        if status != highspy.HighsModelStatus.kOptimal:
            _, there, ray = solver.getDualRay()
            if there:
                self._ray = _spread(np.array(ray)[:most], rows, m)
                if program.along is not None:
                    self._ray_of_sum = float(ray[most])
            return None
        solution = solver.getSolution()
        self._duals = _spread(np.array(solution.row_dual)[:most], rows, m)
        values = np.array(solution.col_value)
        many = len(values) // 2
        moved = values[:many] - values[many:]
        return moved if classes is None else _spread(moved, classes, n)

    def _pass(
        self,
        classes: Long | None,
        program: _Program,
        turned: Real | None = None,
    ) -> Long | None:
        """Pass the program of some classes to the solver; return its equations.

        What moves a sum is one more row, the last.
        """
        _, low, high, cost, along, last = program
        back = cost if turned is None else turned
        rows, part, some = None, self._by_column, np.arange(len(cost))
        if classes is not None:
            rows, part = _part_of(self._by_column, classes)
            at = np.concatenate([classes, classes + len(cost)])
            low, high, some = low[at], high[at], classes
        if along is not None:
            part = sparse.vstack([part, sparse.csr_array(along[None, some])])
        columns = both_ways(part.tocsc())
        both = np.concatenate([cost[some], back[some]])
        pass_program(self._solver, part.shape[0], columns, low, high, both, last)
        return rows

    def _as_move(self, d: Real, places: Long, amount: float) -> Move | None:
        """Drop what rounding moved; None where the rest no longer adds up."""
        moved = np.abs(d) > MOVED
        snapped = np.where(moved, d, 0.0)
        if not abs(snapped[places].sum()) > MOVED:
            return None
        off = np.abs(self._part @ snapped)
        if len(off) and off.max() > 10 * MOVED * max(1.0, np.abs(snapped).max()):
            return None
        return Move(self.cells[moved], snapped[moved] * amount)


def _part_of(columns: Any, cells: Long) -> tuple[Long, Any]:
    """Equations of some columns (CSC) that have an entry there: numbers, and as CSR.

    Looks at these columns alone: a small program must not cost what the table does.
    """
    part = columns[:, cells]
    rows, place = np.unique(part.indices, return_inverse=True)
    few = (part.data, place.astype(part.indices.dtype), part.indptr)
    shape = len(rows), len(cells)
    return rows.astype(np.int64), sparse.csr_array(sparse.csc_array(few, shape=shape))


def _spread(few: Real, places: Long | None, many: int) -> Real:
    """Put values at some places among zeros; None stands for all places."""
    if places is None:
        return few
    full = np.zeros(many)
    full[places] = few
    return full


def _level_prices(price: Real) -> Real:
    """Prices in units of the typical one, so that the solver's tolerance fits them."""
    cost = np.where(np.isfinite(price), price, 0.0)
    positive = cost[cost > 0]
    if len(positive):
        cost = np.minimum(cost / np.median(positive), 1e6)
    return cost
