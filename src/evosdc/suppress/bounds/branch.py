"""The integer programme over the cuts found so far, by HiGHS.

Only cells whose reduced cost leaves room for a pattern cheaper than the best known are
columns: hiding any other cell would already cost more (reduced-cost fixing). Solving it
gives a lower bound on every cheaper pattern and a candidate that meets the cuts.
"""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass
from typing import Any

import highspy
import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.engine.cut import Cut

# HiGHS proves bounds to this relative tolerance; ours are lowered by as much.
_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Candidate:
    """Cells hidden by the integer programme, and what it proved."""

    hidden: NDArray[np.bool_] | None
    bound: float


class Branch:
    """A persistent integer programme that grows by cuts."""

    def __init__(
        self, loop: CutLoop, cost: NDArray[np.float64], free: NDArray[np.bool_]
    ) -> None:
        self._loop = loop
        self._cost = cost
        self._whole = bool(np.all(cost == np.rint(cost)))
        self._cells = np.flatnonzero(free)
        self._column = np.full(len(cost), -1, dtype=np.int64)
        self._column[self._cells] = np.arange(len(self._cells))
        self._mip = highspy.Highs()
        self._mip.setOptionValue("output_flag", False)
        self._mip.setOptionValue("threads", 1)
        count = len(self._cells)
        self._mip.addVars(count, np.zeros(count), np.ones(count))
        every = np.arange(count, dtype=np.int32)
        self._mip.changeColsCost(count, every, cost[self._cells])
        for column in range(count):
            self._mip.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        for cut in loop.master.rows():
            self.add(cut)

    def add(self, cut: Cut) -> None:
        """Add a cut."""
        column = self._column[cut.cells]
        inside = column >= 0
        self._mip.addRow(
            cut.least,
            highspy.kHighsInf,
            int(inside.sum()),
            column[inside].astype(np.int32),
            cut.coefficients[inside],
        )

    def solve(
        self,
        best: NDArray[np.bool_],
        seconds: float,
        gap: float,
        nodes: int | None = None,
    ) -> Candidate:
        """Solve to `gap`, for so many seconds or nodes, starting from a pattern."""
        if nodes is not None:
            self._mip.setOptionValue("mip_max_nodes", nodes)
        start = highspy.HighsSolution()
        start.col_value = best[self._cells].astype(np.float64).tolist()
        self._mip.setSolution(start)
        # HiGHS counts its time over all runs of an instance.
        limit = self._mip.getRunTime() + max(seconds, 0.05)
        self._mip.setOptionValue("time_limit", float(limit))
        self._mip.setOptionValue("mip_rel_gap", gap)
        self._run()
        info = self._mip.getInfo()
        bound = float(info.mip_dual_bound)
        if not np.isfinite(bound):
            bound = -np.inf if bound < 0 else np.inf
        bound -= _TOLERANCE * abs(bound) if np.isfinite(bound) else 0.0
        if self._whole and np.isfinite(bound):
            # Costs that are all whole numbers add up to one.
            bound = float(np.ceil(bound))
        if info.primal_solution_status != 2:
            return Candidate(None, bound)
        hidden = np.zeros(len(self._cost), dtype=bool)
        chosen = np.array(self._mip.getSolution().col_value) > 0.5
        hidden[self._cells[chosen]] = True
        return Candidate(hidden, bound)

    def _run(self) -> None:
        """Run HiGHS, and let Ctrl-C end it.

        An exception must not travel through the solver, so for the time of the run
        the interrupt only raises a flag that the solver asks for.
        """
        asked: list[int] = []

        def look(_kind: Any, _message: Any, _out: Any, order: Any, _user: Any) -> None:
            if asked:
                order.user_interrupt = 1

        self._mip.setCallback(look, None)
        self._mip.startCallback(highspy.cb.HighsCallbackType.kCallbackMipInterrupt)
        if threading.current_thread() is not threading.main_thread():
            self._mip.run()
            return
        before = signal.signal(
            signal.SIGINT, lambda number, _frame: asked.append(number)
        )
        try:
            self._mip.run()
        finally:
            signal.signal(signal.SIGINT, before)
        if asked:
            raise KeyboardInterrupt
