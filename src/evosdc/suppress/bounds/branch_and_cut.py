"""Branch and cut by SCIP: one tree that takes cuts wherever it finds them violated.

Fischetti and Salazar (2000) solve cell suppression so. Programmes and cuts in turn
(`branch`) begin a new tree after each round; on tables that are no networks hundreds
of rounds would be needed, each with a tree of its own. Here the relaxation of every
node is cut by bridgeless rows and planes, which cost microseconds, and the attacker's
programs judge whole patterns. The tree is kept: solving may go on where it ended.

Only cells whose reduced cost leaves room for a pattern cheaper than the best known are
columns. Presolve is off and rows that are not whole are relaxed (see `branch`):
a proof must not rest on what a solver takes for equal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from pyscipopt import (
    SCIP_PARAMSETTING,
    SCIP_RESULT,
    SCIP_STAGE,
    Conshdlr,
    Model,
    quicksum,
)

from evosdc.arrays import Flags, Real
from evosdc.compile.interrupts import held_back
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.bounds.master import OpenCells
from evosdc.suppress.engine.base import Cut

Result = dict[str, Any]
# The stage of SCIP in which a problem is made; later ones have a time.
_SET_UP = 3
# The stages of SCIP that take a new limit on the objective.
_TAKES_LIMIT = frozenset(
    {SCIP_STAGE.PROBLEM, *range(SCIP_STAGE.TRANSFORMED, SCIP_STAGE.INITSOLVE)}
) | {SCIP_STAGE.SOLVING}
# Seconds between two reports of the bound; nodes where no clock may change the answer.
# Half as many report twice as often; with twice as many a proof is noticed later.
_SECONDS_PER_REPORT, _NODES_PER_REPORT = 1.0, 10
# Cuts that a relaxation gets in one round, and how far it must be from them. With half
# as many (or twice the distance) there are more nodes, with twice as many (half the
# distance) each node takes longer.
_CUTS_PER_NODE = 30
_LEAST_DISTANCE = 0.02
# Nodes between two whole patterns that are nearly safe and are repaired. At half of it
# twice the time goes into repairs, at twice of it better patterns are found later.
_NODES_PER_REPAIR = 20
# Seconds that SCIP's last questions may take once a slice is over, and the share of the
# time left of the run where that is longer: a tree that is given up is lost. At half of
# them trees of tables with slow programs are given up more often, at twice of them
# other operators wait longer, and limits of time are passed by half a second more.
_GRACE_SECONDS, _GRACE_SHARE = 0.5, 0.1


class BranchAndCut(OpenCells):
    """A tree over the open cells of a table, kept from one call to the next.

    Parameters
    ----------
    loop
        Where cuts come from, and the rows to begin with.
    cost, free
        What cells cost, and which may lead to a pattern cheaper than `best`.
    best
        Cost of the best pattern known: nothing more expensive is looked for.
    """

    def __init__(self, loop: CutLoop, cost: Real, free: Flags, best: float) -> None:
        super().__init__(cost, free)
        self._best = best
        self._limit = best  # the objective limit that SCIP has
        self.relaxed: Real | None = None  # of the node looked at last
        self._model = Model()
        self._model.hideOutput()
        self._model.setPresolve(SCIP_PARAMSETTING.OFF)
        for name, value in (
            ("misc/allowstrongdualreds", False),
            ("misc/allowweakdualreds", False),
            ("timing/clocktype", 2),
            ("misc/catchctrlc", False),
        ):
            self._model.setParam(name, value)
        if loop.is_network:
            # The cuts of networks leave little for those of the solver, which took
            # half of the time on class I tables of 50x50.
            self._model.setSeparating(SCIP_PARAMSETTING.OFF)
        self.variables = [
            self._model.addVar(vtype="B", obj=float(cost[cell])) for cell in self._cells
        ]
        for cut in loop.master.rows():
            self.add(cut)
        self._model.setObjlimit(best)
        self.handler = _Cuts(self, loop)
        self._model.includeConshdlr(
            self.handler,
            "safe",
            "every level is covered",
            sepapriority=-10,
            enfopriority=-10,
            chckpriority=-10,
            sepafreq=1,
            propfreq=-1,
            eagerfreq=-1,
            maxprerounds=0,
            needscons=False,
        )

    @property
    def nodes(self) -> int:
        """Nodes looked at so far."""
        return int(self._model.getNTotalNodes())

    def add(self, cut: Cut) -> None:
        """Add a cut that holds in the whole tree."""
        column, factors, least = self._row(cut)
        terms = quicksum(
            float(by) * self.variables[at]
            for at, by in zip(column, factors, strict=True)
        )
        self._model.addCons(terms >= least)

    def pattern(self, solution: Any = None) -> Real:
        """Return to what extent the relaxation, or a solution, hides each cell."""
        value = self._model.getSolVal
        x = np.zeros(len(self._cost))
        x[self._cells] = [value(solution, v) for v in self.variables]
        return np.clip(x, 0.0, 1.0)

    def lower(self, best: float) -> None:
        """Look for nothing more expensive than a pattern that was found elsewhere.

        SCIP takes no limit while it begins to solve, and none once nothing is left of
        the tree: `solve` reports it then, and bounds keep to the pattern meanwhile.
        """
        self._best = min(self._best, best)
        if self._best < self._limit and self._model.getStage() in _TAKES_LIMIT:
            self._limit = self._best
            self._model.setObjlimit(self._limit)

    def solve(
        self,
        seconds: float,
        nodes: int | None,
        stopped: Callable[[], bool],
        found: Callable[[Flags], None],
        follow: Callable[[float], None] = lambda _: None,
        nearly: Callable[[Flags], None] = lambda _: None,
        left: float = 0.0,
    ) -> tuple[float, bool]:
        """Go on with the tree; return the bound and whether nothing is left of it.

        `left` are the seconds left of the run, of which this is a slice.

        `found` is called with every pattern that no cut forbids, `nearly` of some cheap
        ones that may be worth mending, `follow` of the bound as it rises: one on all
        patterns cheaper than the best known at the beginning.
        """
        model, handler = self._model, self.handler
        spent = model.getSolvingTime() if model.getStage() > _SET_UP else 0.0
        if np.isfinite(seconds):
            model.setParam("limits/time", spent + max(seconds, 0.05))
        if nodes is not None:
            model.setParam("limits/totalnodes", model.getNTotalNodes() + nodes)
        self.lower(self._best)
        with held_back() as interrupts:
            grace = max(_GRACE_SECONDS, _GRACE_SHARE * (left - seconds))
            handler.found, handler.nearly, handler.follow = found, nearly, follow
            handler.begin(seconds, grace, lambda: bool(interrupts) or stopped())
            model.optimize()
            if handler.raised is not None:
                raise handler.raised
            follow(self.bound())
        done = self.usable and model.getStatus() in ("optimal", "infeasible")
        return self.bound(), done

    @property
    def usable(self) -> bool:
        """Whether the tree may be solved further: all its answers have been true."""
        return self.handler.bound_at_end is None

    def bound(self) -> float:
        """Return a lower bound on every pattern cheaper than the best known."""
        if self.handler.bound_at_end is not None:
            return self.handler.bound_at_end
        model = self._model
        nothing = model.getStatus() == "infeasible"
        bound = self._best if nothing else min(float(model.getDualbound()), self._best)
        return self._proven(bound)


def _deepest(cuts: list[Cut], x: Real) -> list[Cut]:
    """Return the cuts that a relaxation violates most, by their distance from it."""
    distance = [cut.distance(x) for cut in cuts]
    order = np.argsort(distance)[::-1][:_CUTS_PER_NODE]
    return [cuts[at] for at in order if distance[at] > _LEAST_DISTANCE]


class _Cuts(Conshdlr):
    """What SCIP calls: is a pattern safe, and which cuts does it violate?

    Answers are true, also when the slice is over: SCIP discards a node whose cells are
    all fixed if it learns that their pattern is not safe, and a pattern that is said
    to be safe only once, so that a later bound would be too high. Where they would
    take too long then, the bound is kept as it is and the tree is not used any more.
    """

    def __init__(self, tree: BranchAndCut, loop: CutLoop) -> None:
        self._tree, self._loop = tree, loop
        self._node = -1
        self._mend = 0  # nodes from which on a pattern may be mended
        self.raised: BaseException | None = None
        self.bound_at_end: float | None = None  # when answers ceased to be true

    # What is reported to the caller: see `BranchAndCut.solve`.
    found: Callable[[Flags], None]
    nearly: Callable[[Flags], None]
    follow: Callable[[float], None]

    def begin(self, seconds: float, grace: float, stopped: Callable[[], bool]) -> None:
        """Begin a slice of so many seconds, and of some more for the last answers."""
        self._end = time.monotonic() + seconds
        self._given_up, self._stopped = self._end + grace, stopped
        self._last_report = self._now()

    def _now(self) -> float:
        """Return the reports that are due so far: by the clock only if one ends it."""
        if np.isfinite(self._end):
            return time.monotonic() / _SECONDS_PER_REPORT
        return float(self.model.getNTotalNodes()) / _NODES_PER_REPORT

    def _over(self) -> bool:
        """Whether the run is to end; if so, SCIP ends it after the answer it gets."""
        over = self.raised is not None or self._ended()
        # Patterns are checked before solving begins, too, when SCIP takes no orders.
        if over and self.model.getStage() == SCIP_STAGE.SOLVING:
            self.model.interruptSolve()
        return over

    def _late(self) -> bool:
        """Whether answers take so long after the end that they are no longer true."""
        if self.bound_at_end is None and time.monotonic() > self._given_up:
            self.bound_at_end = self._tree.bound()
        return self.bound_at_end is not None

    def _ended(self) -> bool:
        """Report the bound if due; return whether time, a caller or an error ends."""
        try:
            if self._now() - self._last_report > 1:
                self._last_report = self._now()
                self.follow(self._tree.bound())
            return time.monotonic() >= self._end or self._stopped()
        except BaseException as error:
            self.raised = error
            return True

    def _ask(
        self,
        x: Real,
        programs: bool,
        most: int | None = None,
        stopped: Callable[[], bool] = lambda: False,
    ) -> list[Cut]:
        """Return cuts that a pattern violates; an error ends the run, not SCIP."""
        try:
            return self._loop.fresh(x, programs, most, stopped)
        except BaseException as error:
            self.raised = error
            return []

    def _safe(self, x: Real) -> bool:
        """Whether a whole pattern violates no cut; False where that takes too long."""
        violated = self._late() or bool(self._ask(x, True, 1, self._late))
        return not violated and self.raised is None and not self._late()

    def conscheck(self, _: Any, solution: Any, *_unused: Any, **_more: Any) -> Result:
        over = self._over()
        x = np.rint(self._tree.pattern(solution))
        safe = self._safe(x)
        nodes = self.model.getNTotalNodes()
        if safe or (nodes >= self._mend and not over):
            self._mend = nodes + _NODES_PER_REPAIR
            try:
                (self.found if safe else self.nearly)(x > 0.5)
            except BaseException as error:
                self.raised = error
        return {"result": SCIP_RESULT.FEASIBLE if safe else SCIP_RESULT.INFEASIBLE}

    def consenfolp(self, *_unused: Any) -> Result:
        # One cut is enough to keep a node when the run is over.
        most = 1 if self._over() else None
        x = np.rint(self._tree.pattern())
        cuts = [] if self._late() else self._ask(x, True, most, self._late)
        for cut in cuts:
            self._tree.add(cut)
        if self.raised is not None or (not cuts and self._late()):
            return {"result": SCIP_RESULT.INFEASIBLE}
        done = SCIP_RESULT.CONSADDED if cuts else SCIP_RESULT.FEASIBLE
        return {"result": done}

    def consenfops(self, *_unused: Any) -> Result:
        self._over()
        safe = self._safe(np.rint(self._tree.pattern()))
        return {"result": SCIP_RESULT.FEASIBLE if safe else SCIP_RESULT.INFEASIBLE}

    def conssepalp(self, *_unused: Any) -> Result:
        node, depth = self.model.getCurrentNode().getNumber(), self.model.getDepth()
        # Below the root one round per node: branching does the rest.
        if (depth and node == self._node) or self._over():
            return {"result": SCIP_RESULT.DIDNOTRUN}
        self._node = node
        x = self._tree.relaxed = self._tree.pattern()
        # The attacker's programs judge whole patterns only: at the root the cut loop
        # has called them, and called again there they took nine tenths of the time.
        cuts = _deepest(self._ask(x, False, stopped=self._over), x)
        for cut in cuts:
            self._tree.add(cut)
        found = SCIP_RESULT.CONSADDED if cuts else SCIP_RESULT.DIDNOTFIND
        return {"result": found}

    def conslock(self, _: Any, kind: Any, positive: int, negative: int) -> None:
        # Hiding more never hurts a level, but rows tie a secondary to others.
        both = positive + negative
        for variable in self._tree.variables:
            self.model.addVarLocksType(variable, kind, both, both)
