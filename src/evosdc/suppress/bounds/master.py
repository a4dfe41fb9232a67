"""The linear and the integer programme over the cuts found so far, by HiGHS.

In both, cells are columns and cuts are rows; the linear one starts warm. In the integer
one only cells whose reduced cost leaves room for a pattern cheaper than the best known
are columns: hiding any other cell would already cost more (reduced-cost fixing).
Solving it gives a lower bound on every cheaper pattern and candidates that meet its
cuts. Cuts that candidates violate are added, and what the relaxation makes of them:
programmes and cuts take turns, since the solver has no safe way to add cuts while it
branches.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.interrupts import held_back
from evosdc.suppress.engine.base import Cut

if TYPE_CHECKING:
    from evosdc.suppress.bounds.cut_loop import CutLoop


# Cells that a new cut brings into the LP at least. With half as many there are more
# rounds of pricing, with twice as many the LP has more columns that stay at zero.
_CELLS_PER_CUT = 12
# Solvers prove bounds to this relative tolerance; ours are lowered by as much.
_TOLERANCE = 1e-6
# Feasibility tolerance of the solver, and by how much rows that are not whole are
# relaxed, so that no pattern is lost to it.
_FEASIBILITY_TOLERANCE = 1e-9
_RELAXED_BY = 1e-7
_SECOND_SEED = 271828
# Ends of HiGHS after which what it has proved so far holds.
_PROVES = (
    highspy.HighsModelStatus.kOptimal,
    highspy.HighsModelStatus.kInfeasible,
    highspy.HighsModelStatus.kTimeLimit,
    highspy.HighsModelStatus.kSolutionLimit,
    highspy.HighsModelStatus.kInterrupt,
)
# A cut is violated where this much is missing: a tolerance.
_SHORT = 1e-6
# The programme is rebuilt where no more than this share of its columns is left. At half
# of it the solver carries more published cells along, at twice of it (all) it is built
# again after each round and loses its warm start.
_SHARE_LEFT = 0.6
# Solutions met on the way whose cuts are added too, the last ones. With half as many
# there are more programmes, with twice as many more cuts that only early ones violate.
_EARLIER_SOLUTIONS = 5


@dataclass
class Master:
    """Minimise cost over the cuts found so far, with only some cells as columns.

    Cells enter when their reduced cost is negative, so a table of 100,000 cells needs
    an LP of a few thousand columns. Cuts are kept in full for all cells.
    """

    cost: Real
    cuts: list[Cut] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lp = highspy.Highs()
        self._lp.setOptionValue("output_flag", False)
        self._lp.setOptionValue("threads", 1)
        self._column = np.full(len(self.cost), -1, dtype=np.int64)
        self._cells: list[int] = []
        self._alive: list[int] = []  # cut of each row of the LP
        self._waiting: list[int] = []  # cuts that are no rows yet
        self._idle: list[int] = []  # rounds each row has been slack
        self.duals = np.zeros(0)
        self.values = np.zeros(0)

    def add_cells(self, cells: Long) -> None:
        """Make columns of cells that have none."""
        fresh = np.unique(cells[self._column[cells] < 0])
        if not len(fresh):
            return
        self._column[fresh] = len(self._cells) + np.arange(len(fresh))
        cuts = [self.cuts[cut] for cut in self._alive]
        row, cells_in, terms = entries(cuts)
        inside = np.isin(cells_in, fresh)
        row, terms = row[inside], terms[inside]
        place = self._column[cells_in[inside]] - len(self._cells)
        order = np.argsort(place, kind="stable")
        start = np.searchsorted(place[order], np.arange(len(fresh)))
        self._lp.addCols(
            len(fresh),
            self.cost[fresh],
            np.zeros(len(fresh)),
            np.ones(len(fresh)),
            len(order),
            start.astype(np.int32),
            row[order].astype(np.int32),
            terms[order],
        )
        self._cells.extend(fresh.tolist())

    def add_cut(self, cut: Cut) -> None:
        """Add a cut; it becomes a row when the LP is looked at the next time."""
        self.cuts.append(cut)
        self._waiting.append(len(self.cuts) - 1)

    def _take_waiting(self) -> None:
        """Make rows of new cuts, all at once: one by one it takes quadratic time."""
        if not self._waiting:
            return
        cuts = [self.cuts[at] for at in self._waiting]
        self.add_cells(np.concatenate([self._seeds(cut) for cut in cuts]))
        row, cells, terms = entries(cuts)
        inside = self._column[cells] >= 0
        count = len(cuts)
        self._lp.addRows(
            count,
            np.array([cut.least for cut in cuts]),
            np.full(count, highspy.kHighsInf),
            int(inside.sum()),
            np.searchsorted(row[inside], np.arange(count)).astype(np.int32),
            self._column[cells[inside]].astype(np.int32),
            terms[inside],
        )
        self._alive += self._waiting
        self._idle += [0] * count
        self._waiting = []

    def _seeds(self, cut: Cut) -> Long:
        """Return the best cells of a cut by cost per coefficient, to become columns.

        At least a dozen, and as many as the cut needs: the level of a giant cell asks
        for thousands, and with fewer of them the LP would have no solution.
        """
        able = np.flatnonzero(cut.coefficients > 0)
        cells, coefficients = cut.cells[able], cut.coefficients[able]
        best = np.argsort(self.cost[cells] / coefficients, kind="stable")
        needed = int(np.searchsorted(np.cumsum(coefficients[best]), 1.0)) + 2
        return cells[best[: max(_CELLS_PER_CUT, needed)]]

    def solve(self) -> bool:
        """Solve the LP over the present columns and cuts."""
        self._take_waiting()
        if not self.cuts:
            return False
        self._lp.run()
        if self._lp.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            return False
        solution: Any = self._lp.getSolution()
        self.duals = np.maximum(np.array(solution.row_dual), 0.0)
        self.values = np.array(solution.col_value)
        return True

    def drop_idle(self, rounds: int) -> list[Cut]:
        """Drop rows that have had a zero dual for so many rounds; return their cuts."""
        for row, dual in enumerate(self.duals.tolist()):
            self._idle[row] = 0 if dual > 1e-9 else self._idle[row] + 1
        gone = [r for r, idle in enumerate(self._idle) if idle >= rounds]
        if len(gone) < 50:
            return []
        dropped = [self.cuts[self._alive[r]] for r in gone]
        self._lp.deleteRows(len(gone), np.array(gone, dtype=np.int32))
        keep = [r for r in range(len(self._alive)) if self._idle[r] < rounds]
        self._alive = [self._alive[r] for r in keep]
        self._idle = [self._idle[r] for r in keep]
        self.duals = self.duals[keep]
        return dropped

    def fractions(self) -> Real:
        """How much of each cell the LP hides."""
        x = np.zeros(len(self.cost))
        x[self._cells[: len(self.values)]] = np.clip(self.values, 0.0, 1.0)
        return x

    def rows(self) -> list[Cut]:
        """Return the cuts that are rows of the LP."""
        self._take_waiting()
        return [self.cuts[at] for at in self._alive]

    def basic_columns(self) -> Long:
        """Column that is basic at each place of the basis, negative for a row."""
        _, basic = self._lp.getBasicVariables()
        return np.array(basic, dtype=np.int64)

    def inverse_row(self, place: int) -> Real:
        """Return a row of the inverse of the basis: multipliers of the LP's rows."""
        return np.array(self._lp.getBasisInverseRow(place)[1], dtype=np.float64)

    def reduced_costs(self) -> Real:
        """Cost of each cell less what the cuts pay for it."""
        paid = np.flatnonzero(self.duals > 0)
        reduced = self.cost.copy()
        row, cells, terms = entries([self.cuts[self._alive[r]] for r in paid])
        np.subtract.at(reduced, cells, self.duals[paid][row] * terms)
        return reduced

    def dual_bound(self, reduced: Real) -> float:
        """Return a lower bound valid for any non-negative duals, however inexact.

        Weak duality with every cell in [0, 1]: the right-hand sides paid, less what
        cells of negative reduced cost could still save.
        """
        least = np.array([self.cuts[cut].least for cut in self._alive])
        paid = float(self.duals @ least[: len(self.duals)])
        return paid + float(np.minimum(reduced, 0.0).sum())

    def price(self, reduced: Real, most: int) -> int:
        """Bring in the cells of most negative reduced cost; return how many."""
        cells = np.flatnonzero((reduced < -1e-9) & (self._column < 0))
        if len(cells) > most:
            cells = cells[np.argsort(reduced[cells], kind="stable")[:most]]
        self.add_cells(cells)
        return len(cells)


def entries(cuts: list[Cut]) -> tuple[Long, Long, Real]:
    """Return the terms of cuts as triplets: number of the cut, cell, coefficient."""
    if not cuts:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros(0)
    row = np.repeat(np.arange(len(cuts)), [len(cut.cells) for cut in cuts])
    cells = np.concatenate([cut.cells for cut in cuts])
    return row, cells, np.concatenate([cut.coefficients for cut in cuts])


@dataclass(frozen=True, eq=False)
class ProvenCandidate:
    """Cells hidden by the integer programme, and what it proved.

    `earlier` are solutions that it met on the way, the best last.
    """

    hidden: Flags | None
    bound: float
    earlier: tuple[Flags, ...] = ()


class OpenCells:
    """The columns of an integer programme: cells that may lead to something cheaper."""

    def __init__(self, cost: Real, free: Flags) -> None:
        self._cost = cost
        # Costs that are all whole numbers add up to one.
        self._whole = bool(np.all(cost == np.rint(cost)))
        self._cells = np.flatnonzero(free)
        self._column = np.full(len(cost), -1, dtype=np.int64)
        self._column[self._cells] = np.arange(len(self._cells))

    def _row(self, cut: Cut) -> tuple[Long, Real, float]:
        """Columns, coefficients and least sum of a cut, relaxed unless whole."""
        column = self._column[cut.cells]
        inside = column >= 0
        whole = np.all(cut.coefficients == np.rint(cut.coefficients))
        least = float(cut.least if whole else cut.least - _RELAXED_BY)
        return column[inside], cut.coefficients[inside], least

    def _proven(self, bound: float) -> float:
        """A bound less what the solver takes for equal, rounded up where costs are."""
        if not np.isfinite(bound):
            return bound
        bound -= _TOLERANCE * abs(bound)
        return float(np.ceil(bound)) if self._whole else bound


class Branch(OpenCells):
    """A persistent integer programme that grows by cuts and loses cells.

    One that is not `trusted` is for candidates only: it is quicker.
    """

    def __init__(
        self, loop: CutLoop, cost: Real, free: Flags, *, trusted: bool = True
    ) -> None:
        super().__init__(cost, free)
        self._loop = loop
        self._inside: dict[int, Cut] = {}
        self._met: list[Real] = []
        self._mip = highspy.Highs()
        self._mip.setOptionValue("output_flag", False)
        self._mip.setOptionValue("threads", 1)
        # Its presolve was seen to cut off the optimum (HiGHS 1.15), so bounds are taken
        # without it; candidates need no trust. This is no guarantee: without presolve
        # a bound of 645 was seen where a pattern of 639 meets every row.
        self._mip.setOptionValue("presolve", "off" if trusted else "on")
        self._mip.setOptionValue("mip_feasibility_tolerance", _FEASIBILITY_TOLERANCE)
        # Its other heuristics find candidates sooner than branches do, and candidates
        # give cuts; this one took more time than it gave.
        self._mip.setOptionValue("mip_heuristic_run_root_reduced_cost", False)
        count = len(self._cells)
        self._every = np.arange(count, dtype=np.int32)
        self._mip.addVars(count, np.zeros(count), np.ones(count))
        self._mip.changeColsCost(count, self._every, cost[self._cells])
        whole = np.full(count, highspy.HighsVarType.kInteger)
        self._mip.changeColsIntegrality(count, self._every, whole)
        self._add_rows()

    def add(self, cut: Cut) -> None:
        """Add a cut."""
        self._inside[id(cut)] = cut
        column, by, least = self._row(cut)
        self._mip.addRow(
            least, highspy.kHighsInf, len(column), column.astype(np.int32), by
        )

    def restrict(self, free: Flags) -> Branch:
        """Publish cells that can lead to nothing cheaper by now.

        Returns a smaller programme over the same cuts where that leaves few cells:
        without its presolve the solver carries those that are published along.
        """
        if free[self._cells].sum() < _SHARE_LEFT * len(self._cells):
            smaller = Branch(self._loop, self._cost, free)
            for key, cut in self._inside.items():
                if key not in smaller._inside:
                    smaller.add(cut)
            return smaller
        upper = free[self._cells].astype(np.float64)
        self._mip.changeColsBounds(len(upper), self._every, np.zeros(len(upper)), upper)
        return self

    def strengthen(
        self, candidate: ProvenCandidate, stopped: Callable[[], bool] = lambda: False
    ) -> int:
        """Add every known or new cut that a candidate violates; count those.

        Solutions met on the way are checked too, but only the last one counts.
        """
        if candidate.hidden is None:
            return 0
        found = self._cut_off(candidate.hidden, stopped)
        for hidden in candidate.earlier:
            if stopped():
                break
            self._cut_off(hidden, stopped)
        # The relaxation rounds and combines the new cuts with those it had.
        self._loop.resolve(stopped)
        self._add_rows()
        return found

    def _cut_off(self, hidden: Flags, stopped: Callable[[], bool]) -> int:
        x = hidden.astype(np.float64)
        self._loop.separate(x, stopped)
        found = 0
        for cut in self._loop.master.cuts:
            if id(cut) not in self._inside and cut.missing(x) > _SHORT:
                self.add(cut)
                found += 1
        return found

    def _add_rows(self) -> None:
        """Add the cuts that the relaxation works with now."""
        for cut in self._loop.master.rows():
            if id(cut) not in self._inside:
                self.add(cut)

    def solve(
        self, best: Flags, seconds: float, gap: float, nodes: int | None = None
    ) -> ProvenCandidate:
        """Solve to `gap`, for so many seconds or nodes, starting from a pattern.

        A bound that would prove the pattern optimal is computed a second time, from
        another random seed, and the lower one counts: one programme in some hundreds
        claimed more than is true (HiGHS 1.15, with and without presolve).
        """
        end = time.monotonic() + seconds
        first = self._solve_once(best, seconds, gap, nodes)
        cost = float(self._cost[best].sum())
        if first.bound < cost * (1 - _TOLERANCE):
            return first
        self._mip.setOptionValue("random_seed", _SECOND_SEED)
        again = self._solve_once(best, end - time.monotonic(), gap, nodes)
        self._mip.setOptionValue("random_seed", 0)
        return replace(first, bound=min(first.bound, again.bound))

    def _solve_once(
        self, best: Flags, seconds: float, gap: float, nodes: int | None
    ) -> ProvenCandidate:
        if nodes is not None:
            self._mip.setOptionValue("mip_max_nodes", nodes)
        start = highspy.HighsSolution()
        start.col_value = best[self._cells].astype(np.float64).tolist()
        self._mip.setSolution(start)
        self._mip.setOptionValue("mip_rel_gap", gap)
        self._met.clear()
        self._run(max(seconds, 0.05))
        info = self._mip.getInfo()
        bound = float(info.mip_dual_bound)
        if self._mip.getModelStatus() not in _PROVES:
            bound = -np.inf
        if not np.isfinite(bound):
            bound = -np.inf if bound < 0 else np.inf
        bound = self._proven(bound)
        if info.primal_solution_status != 2:
            return ProvenCandidate(None, bound)
        last = self._hidden(np.array(self._mip.getSolution().col_value))
        earlier = (self._hidden(values) for values in self._met[-_EARLIER_SOLUTIONS:])
        return ProvenCandidate(
            last, bound, tuple(x for x in earlier if not np.array_equal(x, last))
        )

    def _hidden(self, values: Real) -> Flags:
        hidden = np.zeros(len(self._cost), dtype=bool)
        hidden[self._cells[values > 0.5]] = True
        return hidden

    def _run(self, seconds: float) -> None:
        """Run HiGHS for some seconds, and let Ctrl-C end it."""
        # Versions of HiGHS count the time of a run or of all runs of an instance.
        end = time.monotonic() + seconds
        self._mip.setOptionValue("time_limit", self._mip.getRunTime() + seconds)
        kinds = highspy.cb.HighsCallbackType
        with held_back() as interrupts:

            def look(
                kind: Any, _message: Any, out: Any, order: Any, _user: Any
            ) -> None:
                if kind == kinds.kCallbackMipImprovingSolution:
                    self._met.append(np.array(out.mip_solution))
                elif interrupts or time.monotonic() > end:
                    order.user_interrupt = 1

            self._mip.setCallback(look, None)
            self._mip.startCallback(kinds.kCallbackMipInterrupt)
            self._mip.startCallback(kinds.kCallbackMipImprovingSolution)
            self._mip.run()
