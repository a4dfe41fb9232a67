"""Lower bounds on the cost of any safe pattern.

`equation_bound` takes one equation at a time and serves tables of any size.
`node_bound` uses the cuts of single equations only: the row and column model of
Carvalho and Almeida. `row_bound` adds bridgeless rows. `cut_bound` goes on to separate
cuts until none is violated: minimum cuts in network tables, duals of the attacker's
program in others. All are computed from multipliers by weak duality, so they hold
whatever the tolerances of the LP solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.compile.kernels import kernel
from evosdc.parallel import LazyPool, Workers
from evosdc.suppress.bounds.aggregation import (
    BridgelessRows,
    CombinedEquations,
    sliding_partner_cuts,
)
from evosdc.suppress.bounds.master import Master
from evosdc.suppress.bounds.planes import PlaneCuts
from evosdc.suppress.bounds.rounding import gomory_cuts, rounded
from evosdc.suppress.engine.base import Cut
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.problem.problem import Problem

# Rounding may neither invent a need nor make it larger than it is.
_ROUNDING = 1e-9
# Cells that one round of pricing makes columns. With half as many there are more
# rounds, with twice as many each of them solves a larger programme.
_CELLS_PER_PRICING = 2000
# Rounds of cheap rows go on while the bound rises by this share each, or for so many
# rounds without. At half of either the bound rises a little further in more time; at
# twice of it the attacker's programs are solved for what rows would give.
_LEAST_RISE, _ROUNDS_WITHOUT_RISE = 1e-4, 3
# Rounded cuts added in one round at most, the most violated first. With half as many
# there are more rounds; twice as many slow the relaxation down by cuts that overlap.
_MOST_ROUNDED = 500
# A learned cut is added where more than this is missing: well above rounding.
_MIN_VIOLATION = 1e-4
# With so many cuts from one source the next one, which is slower, is not used. At half
# of it rounds get more numerous, at twice of it slow sources are used more often.
_ENOUGH_CUTS = 10


def equation_bound(problem: Problem) -> float:
    """Return a cost that no safe pattern can be below."""
    table, levels = problem.table, problem.levels
    if not len(levels):
        return 0.0
    # A level in two equations of its cell is two inequalities.
    columns = table.columns
    many = np.diff(columns.indptr)[levels.cell]
    level = np.repeat(np.arange(len(levels)), many)
    first = np.concatenate([[0], np.cumsum(many)])[:-1]
    place = np.arange(many.sum()) - np.repeat(first, many)
    place += np.repeat(columns.indptr[levels.cell], many)
    matrix = table.matrix
    needs = (
        columns.indices[place].astype(np.int64),
        levels.cell[level],
        np.sign(columns.data[place]) * levels.sign[level],
        np.abs(columns.data[place]) * levels.amount[level],
    )
    rows = (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.float64),
    )
    cells = (problem.up, problem.down, problem.cost, problem.primary, problem.hideable)
    alone, _ = _ascend(rows, needs, cells, np.arange(len(level)), False)
    best = 0.0
    # Dear inequalities first, or those that few cells can meet.
    length = np.diff(matrix.indptr)[needs[0]]
    for order in (np.argsort(-alone, kind="stable"), np.lexsort((-alone, length))):
        price, charge = _ascend(rows, needs, cells, order, True)
        over = np.max(charge / np.maximum(problem.cost, 1e-300), initial=1.0)
        best = max(best, float(price.sum()) / max(1.0, float(over)))
    return best * (1 - _ROUNDING)


@kernel
def _ascend(rows, needs, cells, order, charging):  # type: ignore[no-untyped-def]
    """Raise the price of one inequality after the other as far as cells can bear it.

    Return the prices and what each cell is charged. Without `charging` each inequality
    is priced as if it were alone.
    """
    start, cell_of, factor = rows
    row, owner, way, need = needs
    up, down, cost, primary, hideable = cells
    left = cost.copy()
    charge = np.zeros(len(cost))
    price = np.zeros(len(row))
    for k in order:
        first, last, own = start[row[k]], start[row[k] + 1], owner[k]
        rest, size = need[k], need[k]
        for p in range(first, last):
            j = cell_of[p]
            if primary[j] and j != own:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                rest -= abs(factor[p]) * room
                size += abs(factor[p]) * room
        if not rest > _ROUNDING * size:
            continue
        rest -= _ROUNDING * size
        most = np.inf
        for p in range(first, last):
            j = cell_of[p]
            if j != own and hideable[j] and not primary[j]:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                if room > 0:
                    most = min(most, left[j] / min(1.0, abs(factor[p]) * room / rest))
        if most == np.inf or most <= 0:
            continue
        price[k] = most
        if not charging:
            continue
        for p in range(first, last):
            j = cell_of[p]
            if j != own and hideable[j] and not primary[j]:
                room = down[j] if factor[p] * way[k] > 0 else up[j]
                if room > 0:
                    share = min(1.0, abs(factor[p]) * room / rest) * most
                    left[j] = max(0.0, left[j] - share)
                    charge[j] += share
    return price, charge


@dataclass(frozen=True, eq=False)
class Bound:
    """A lower bound, and the fractional pattern that attains it in the relaxation."""

    value: float
    method: str
    fractions: Real
    reduced: Real
    cuts: int
    rounds: int
    complete: bool


class CutLoop:
    """Solve, separate, price, again; its bound may be read at any time.

    `bridgeless`, `combined` and `planes` switch these cuts off, to see what they are
    worth. A `pool` attacks levels where that takes programs. `learned` lists cuts that
    patterns failed elsewhere: those that the relaxation violates too are added.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        bridgeless: bool = True,
        combined: bool = True,
        planes: bool = True,
        pool: LazyPool[Problem] | None = None,
        learned: Callable[[], Sequence[Cut]] = tuple,
    ) -> None:
        self._problem, self._learned = problem, learned
        engine = engine_for(problem)
        self.is_network = engine.is_network
        self._source = engine.cuts(pool)
        self._rows = BridgelessRows(problem).violated if bridgeless else _no_cuts
        # The cuts of a network's own engine are those of the one plane there is.
        general = not self.is_network
        self._combinations: Callable[[Real], Iterator[Cut]] = _no_cuts
        if combined and general:
            self._combinations = CombinedEquations(problem).violated
        self._planes = PlaneCuts(problem) if planes and general else None
        self.master = Master(problem.cost)
        self._seen: set[bytes] = set()
        self.value = 0.0
        self.rounds = 0
        self._combined_at = -1.0  # bound when cuts were last combined
        self.reduced = problem.cost.copy()
        self.fractions = np.zeros(len(problem.cost))
        # Costs that are all whole numbers make every pattern's cost a whole number.
        self._whole = bool(np.all(problem.cost == np.rint(problem.cost)))

    def run_nodes(self) -> None:
        """Add the cuts of single equations."""
        self._add(self._source.first())
        self._add(sliding_partner_cuts(self._problem))
        self._solve()

    def run_rows(
        self,
        stopped: Callable[[], bool],
        improved: Callable[[float], None] = lambda _: None,
    ) -> None:
        """Add bridgeless rows and rounded cuts while they raise the bound.

        Neither needs an attacker's program.
        """
        held = 0
        while not stopped() and held < _ROUNDS_WITHOUT_RISE:
            if not self._add(self._rows(self.fractions)) + self._add_rounded():
                return
            before = self.value
            self._solve()
            improved(self.value)
            held = 0 if self.value > before * (1 + _LEAST_RISE) else held + 1

    def run_cuts(
        self,
        stopped: Callable[[], bool],
        improved: Callable[[float], None] = lambda _: None,
        target: float = np.inf,
        stall: int = 30,
        least: float = 1e-5,
    ) -> bool:
        """Separate until no cut is violated (True) or the run is stopped (False).

        It also ends where so many rounds raise the bound by less than a share `least`.
        """
        self.run_rows(stopped, improved)
        history = [self.value]
        while not stopped() and self.value < target:
            if not (self.separate(self.fractions, stopped) or self._add_combined()):
                return not stopped()
            self._solve()
            self.run_rows(stopped)
            improved(self.value)
            history.append(self.value)
            if len(history) > stall and self.value < history[-stall] * (1 + least):
                return False
        return False

    def resolve(self, stopped: Callable[[], bool] = lambda: False) -> None:
        """Solve again after cuts came from elsewhere, with what can be made of them."""
        self._solve()
        self.run_rows(stopped)

    def open_cells(self, best: float) -> Flags:
        """Cells that a pattern cheaper than `best` may hide (reduced-cost fixing)."""
        room = best - self.value
        free = self._problem.hideable & ~self._problem.primary
        return free & (self.reduced <= room * (1 + 1e-9) + 1e-9)

    def separate(self, x: Real, stopped: Callable[[], bool] = lambda: False) -> int:
        """Add the cuts that a pattern, fractional or not, violates; count them."""
        return self._add(self._violated(x, True, stopped))

    def fresh(
        self,
        x: Real,
        programs: bool,
        most: int | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Cut]:
        """Return cuts that a pattern violates, for others to use.

        Without `programs` only those that need no attacker's program; no more than
        `most`. None of them with `programs`, not stopped: the pattern violates no cut.
        """
        return list(islice(self._violated(x, programs, stopped), most))

    def _violated(
        self, x: Real, programs: bool, stopped: Callable[[], bool]
    ) -> Iterator[Cut]:
        """Yield cuts that a pattern violates, from the cheapest source that has any.

        Rows and planes take microseconds; programs serve what they leave open.
        """
        hidden = x.copy()
        hidden[self._problem.primary] = 1.0
        found = 0
        for source in (self._rows, self._failed, self._combinations):
            for cut in source(x):
                found += 1
                yield cut
        if found >= _ENOUGH_CUTS:
            return
        planes = self._planes
        for separate in () if planes is None else (planes.violated, planes.bridges):
            for cut in separate(hidden, stopped):
                found += 1
                yield cut
            if found:
                return
        # The cuts of networks are as quick as rows.
        if (programs and not found) or self.is_network:
            yield from self._source.violated(hidden, stopped)

    def _failed(self, x: Real) -> Iterator[Cut]:
        """Yield the learned cuts that a fractional pattern fails as well."""
        hidden = np.where(self._problem.primary, 1.0, x)
        for cut in self._learned():
            if cut.missing(hidden) > _MIN_VIOLATION:
                yield cut

    def _add_rounded(self) -> int:
        """Add cuts of the master rounded, those that the present solution violates."""
        x = self.fractions
        found = list(rounded(self.master.rows(), x))
        if len(found) > _MOST_ROUNDED:
            # Rounded cuts are rounded again: without a limit they double each round.
            found.sort(key=lambda cut: -cut.distance(x))
        return self._add(found[:_MOST_ROUNDED])

    def _add_combined(self) -> int:
        """Add combinations of cuts, unless those added last raised no bound."""
        if self.value <= self._combined_at * (1 + _LEAST_RISE):
            return 0
        self._combined_at = self.value
        return self._add(gomory_cuts(self.master))

    def bound(self, method: str, complete: bool) -> Bound:
        """Return what is known now."""
        return Bound(
            self.value,
            method,
            self.fractions,
            self.reduced,
            len(self.master.cuts),
            self.rounds,
            complete,
        )

    def _add(self, cuts: Iterable[Cut]) -> int:
        """Add cuts unless they are known; count those that are new."""
        before = len(self.master.cuts)
        for cut in cuts:
            key = _key(cut)
            if key not in self._seen:
                self._seen.add(key)
                self.master.add_cut(cut)
        return len(self.master.cuts) - before

    def _solve(self) -> None:
        """Solve the master over all cells by pricing, and keep the best bound."""
        self.rounds += 1
        while self.master.solve():
            reduced = self.master.reduced_costs()
            value = self.master.dual_bound(reduced)
            if self._whole:
                value = np.ceil(value - 1e-6 * max(1.0, abs(value)))
            if value >= self.value:
                self.value, self.reduced = float(value), reduced
            if not self.master.price(reduced, _CELLS_PER_PRICING):
                self.fractions = self.master.fractions()
                # A cut that was dropped and is violated again may come back.
                for cut in self.master.drop_idle(10):
                    self._seen.discard(_key(cut))
                return
        self.fractions = self.master.fractions()


def _no_cuts(_: Real) -> Iterator[Cut]:
    """Yield nothing: a kind of cuts that is switched off."""
    return iter(())


def _key(cut: Cut) -> bytes:
    """Distinguish cuts: bridgeless rows of the same cells differ in their signs."""
    return cut.cells.tobytes() + cut.coefficients.tobytes()


def node_bound(problem: Problem) -> Bound:
    """Row and column bound of Carvalho and Almeida."""
    loop = CutLoop(problem)
    loop.run_nodes()
    return loop.bound("node", True)


def row_bound(problem: Problem, stopped: Callable[[], bool] = lambda: False) -> Bound:
    """Bound of single equations and bridgeless rows: needs no attacker's program."""
    loop = CutLoop(problem)
    loop.run_nodes()
    loop.run_rows(stopped)
    return loop.bound("row", False)


def cut_bound(
    problem: Problem,
    stopped: Callable[[], bool] = lambda: False,
    workers: Workers | None = None,
) -> Bound:
    """Bound of all cuts, or of those found until `stopped` says so."""
    with LazyPool(problem, workers=workers) as pool:
        loop = CutLoop(problem, pool=pool)
        loop.run_nodes()
        complete = loop.run_cuts(stopped)
        return loop.bound("cut", complete)
