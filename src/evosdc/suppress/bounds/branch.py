"""The integer programme over the cuts found so far, by HiGHS.

Only cells whose reduced cost leaves room for a pattern cheaper than the best known are
columns: hiding any other cell would already cost more (reduced-cost fixing). Solving it
gives a lower bound on every cheaper pattern and candidates that meet its cuts. Cuts
that candidates violate are added, and what the relaxation makes of them: programmes and
cuts take turns, since the solver has no safe way to add cuts while it branches.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import highspy
import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.engine.base import Cut

# Let Ctrl-C end a solver that must not be left by an exception.
#
# An exception must not travel through compiled code that calls back, so for the time of
# a run the interrupt only raises a flag that the callbacks ask for; it is raised after
# it.

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


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Yield a list that is not empty once Ctrl-C was pressed."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, lambda number, _frame: asked.append(number))
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


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

        Solutions met on the way are asked too, but only the last one counts.
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

        A bound that would prove the pattern optimal is asked for a second time, from
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
        with held_back() as asked:

            def look(
                kind: Any, _message: Any, out: Any, order: Any, _user: Any
            ) -> None:
                if kind == kinds.kCallbackMipImprovingSolution:
                    self._met.append(np.array(out.mip_solution))
                elif asked or time.monotonic() > end:
                    order.user_interrupt = 1

            self._mip.setCallback(look, None)
            self._mip.startCallback(kinds.kCallbackMipInterrupt)
            self._mip.startCallback(kinds.kCallbackMipImprovingSolution)
            self._mip.run()
