"""Methods on the relaxed check: greedy heuristics, descent from their patterns, GRASP.

`RelaxedSearch` is what these, ant colonies and hyper-heuristics share: build, descend,
repair. `Repair` covers what the hidden cells do not cover by cheapest deviations, then
publishes what is redundant.

Each equation of a sensitive cell is given room, and so outwards. Staggemeier et al.
describe the greedy heuristics as choosing the cheapest cells in the equations of a
sensitive cell that leave enough slack; each cell chosen needs slack in its other
equations in turn. The four differ only in what makes a cell the best to take. Slack in
every equation is necessary but not sufficient, so what the attacker can still undo is
repaired by the strict check.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.base import Cells, Costs, Mask, State, finish
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.papers.relaxed_check import (
    SECONDARIES,
    RelaxedArrays,
    make_frame,
    make_live,
    start_from,
)
from evosdc.suppress.papers.relaxed_moves import (
    RULES,
    MoveChoice,
    construct,
    descend,
    make_choice,
    rows_of,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.equations import single_totals
from evosdc.suppress.structure.unpick import by_weight

# Share of the seconds of a slow repair that the next one is expected to take. At half
# of it one slow repair is soon forgotten and a limit may be passed, near 1 it ends the
# run.
_EXPECTED_SHARE = 0.8
# Price of a cell that was published on purpose, times its cost. At half of it many are
# hidden again at once, at twice of it more other cells are hidden instead.
_PENALTY_FACTOR = 4.0
# Cells a descent looks at between two looks at the clock. At half of it the call itself
# is felt, at twice of it a limit of time is passed by more on large tables.
_CELLS_PER_CLOCK_CHECK = 200
# What each rule goes by.
VARIANTS = {
    "greedy": ("cheapest", "the cheapest cell"),
    "greedy-unit": ("per-unit", "the cell that is cheapest for the room it lends"),
    "greedy-few": ("largest", "the cell with most room, so that few are hidden"),
    "greedy-ahead": ("ahead", "the cell that is cheapest with what it opens"),
}


class Repair:
    """Makes patterns of one problem safe, and offers them to the search.

    Attributes
    ----------
    count
        Patterns repaired that had passed the relaxed check.
    exposed
        Levels that needed more cells than these patterns had, over all of them.
    expected_seconds
        Of a repair: what the slowest one took, fading.
    """

    def __init__(self, problem: Problem, search: Search) -> None:
        self.problem = problem
        self.search = search
        self.count = 0
        self.exposed = 0
        self.expected_seconds = 0.0
        self._relaxed = 0.0
        self._strict = 0.0
        self.engine = engine_for(problem)
        self._state: State | None = None

    def affordable(self) -> bool:
        """Whether there is time for another repair."""
        if self.search.stopped():
            return False
        left = self.search.seconds_left()
        return math.isinf(left) or left > 1.2 * self.expected_seconds

    def __call__(
        self,
        hidden: Mask,
        event: str,
        penalised: Cells | None = None,
        *,
        passed: bool = True,
    ) -> Pattern:
        """Make a pattern safe; the record names what the relaxed check had missed.

        Patterns that have not `passed` the relaxed check say nothing about it. Cells
        that are `penalised` cost more while levels are covered. With some, even none,
        the pattern is taken as a small change of the last one: where the engine goes on
        from that, only cells near the change are looked at for clean-up.
        """
        start = self.search.seconds
        relaxed = self.problem.pattern(hidden & self.problem.hideable)
        pattern, exposed = self._repaired(relaxed.hidden, event, penalised)
        self.expected_seconds = max(
            _EXPECTED_SHARE * self.expected_seconds, self.search.seconds - start
        )
        if passed:
            self.count += 1
            self.exposed += exposed
            self._relaxed += relaxed.cost
            self._strict += pattern.cost
        if passed and penalised is None:
            self.search.note(
                f"{event}: relaxed cost {relaxed.cost:.6g}, {exposed} levels exposed, "
                f"safe cost {pattern.cost:.6g}"
            )
        return pattern

    def close(self) -> None:
        """Write the gap between the two checks over the whole run to the record."""
        if not self.count:
            return
        gap = self._strict / self._relaxed - 1 if self._relaxed > 0 else 0.0
        self.search.note(
            f"relaxed against strict: {self.count} patterns repaired, "
            f"{self.exposed} levels exposed, cost {100 * gap:+.1f} %"
        )

    def _repaired(
        self, hidden: Mask, event: str, penalised: Cells | None
    ) -> tuple[Pattern, int]:
        """Return the pattern made safe, and how many levels were exposed."""
        last, stopped = self._state, self.search.stopped
        before = None if last is None else last.hidden.copy()
        state: State = self.engine.start(hidden, after=last)
        self._state = state
        price = (
            self._prices(penalised)
            if penalised is not None and len(penalised)
            else None
        )
        exposed = state.repair(price, stopped)
        if penalised is None or before is None or state is not last:
            return finish(state, self.search, True, event), exposed
        changed = np.union1d(np.flatnonzero(before != state.hidden), penalised)
        state.clean_up(self._near(changed, state.hidden), stopped)
        pattern = state.pattern()
        self.search.count()
        self.search.offer(pattern, event)
        return pattern, exposed

    def _prices(self, penalised: Cells) -> Costs:
        cost = self.problem.cost.copy()
        cost[penalised] *= _PENALTY_FACTOR
        return cost

    def _near(self, changed: Cells, hidden: Mask) -> Cells:
        """Secondaries in an equation with a cell that changed, by falling cost."""
        table = self.problem.table
        rows = np.unique(table.columns[:, changed].indices)
        cells = np.unique(table.matrix[rows].indices)
        cells = cells[hidden[cells] & ~self.problem.primary[cells]].astype(np.int64)
        return cells[np.argsort(-self.problem.cost[cells], kind="stable")]


@dataclass(frozen=True)
class RelaxedOptions(MethodOptions):
    """Options of all methods on the relaxed check.

    Attributes
    ----------
    check
        The relaxed check: slack as published, or claims.
    """

    check: str = option("slack", known=("slack", "claims"))


class RelaxedSearch:
    """One problem laid out for the relaxed check, with the strict repair at hand."""

    def __init__(self, problem: Problem, search: Search, check: str) -> None:
        self.problem = problem
        self.search = search
        self.frame = make_frame(problem, claims=check == "claims")
        self.repair = Repair(problem, search)

    def choice(self, rule: str, size: int = 1, **more: Any) -> MoveChoice:
        """Set up how cells are chosen; see `make_choice`."""
        return make_choice(self.frame, RULES.index(rule), size, **more)

    @cached_property
    def by_weight(self) -> Long:
        """Sensitive cells by falling weight."""
        return by_weight(self.problem, np.flatnonzero(self.problem.primary))

    @cached_property
    def depth(self) -> Long:
        """How deep in the hierarchy each equation stands."""
        return equation_depth(self.problem.table.matrix)

    def build(
        self, choice: MoveChoice, cells: Long | None = None, *, by_level: bool = False
    ) -> RelaxedArrays:
        """Build a pattern for the sensitive cells in order, or from the top down."""
        live = make_live(self.frame)
        order = rows_of(self.frame, self.by_weight if cells is None else cells)
        if by_level:
            order = order[np.argsort(self.depth[order], kind="stable")]
        construct(self.frame, live, choice, order, by_level)
        return live

    def descend(
        self,
        live: RelaxedArrays,
        choice: MoveChoice,
        *,
        swaps: bool = True,
        passes: int = 20,
    ) -> None:
        """Publish or swap secondaries, the most expensive first, while a pass helps."""
        cost = self.frame.cost
        for _ in range(passes):
            cells = np.sort(live.extra[: live.tally[SECONDARIES]])
            cells = cells[np.argsort(-cost[cells], kind="stable")]
            moved = 0
            for first in range(0, len(cells), _CELLS_PER_CLOCK_CHECK):
                if self.search.stopped():
                    return
                part = cells[first : first + _CELLS_PER_CLOCK_CHECK]
                moved += descend(self.frame, live, choice, part, swaps)
            if not moved:
                return

    def restart(self, live: RelaxedArrays, hidden: Flags, choice: MoveChoice) -> None:
        """Go on from other hidden cells, and hide more where the check requires it."""
        start_from(self.frame, live, hidden)
        construct(self.frame, live, choice, rows_of(self.frame, self.by_weight), False)

    @property
    def done(self) -> bool:
        """Whether nothing can be cheaper than the best pattern."""
        return self.search.best is not None and self.search.best.cost == 0

    def answer(self) -> Pattern:
        """Close the run and return its best pattern."""
        self.repair.close()
        return self.search.found


def equation_depth(matrix: Any) -> Long:
    """Count the totals above the total of each equation; labels are not needed.

    An equation of one total and its parts has all factors but one of the same sign.
    Others count as the top.
    """
    rows, n = matrix.shape
    row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    head, is_head = single_totals(matrix)
    parts = ~is_head & (head[row] >= 0)
    part, above = matrix.indices[parts], head[row[parts]]
    depth = np.zeros(n, dtype=np.int64)
    # Linked tables may go round in a circle: no hierarchy is deeper than its rows.
    for _ in range(min(rows, 64)):
        deeper = depth.copy()
        np.maximum.at(deeper, part, depth[above] + 1)
        if np.array_equal(deeper, depth):
            break
        depth = deeper
    return np.where(head >= 0, depth[head], 0)


@dataclass(frozen=True)
class GreedyParameters(RelaxedOptions):
    """Options of the greedy heuristics.

    Attributes
    ----------
    order
        Order of the sensitive cells: weight (falling, as the attacker programs take
        them) or given (row by row).
    """

    order: str = option("weight", known=("weight", "given"))


def _method(name: str) -> Method:
    rule, words = VARIANTS[name]

    def run(problem: Problem, parameters: GreedyParameters, search: Search) -> Pattern:
        """Give each equation room by the rule, then repair by the strict check."""
        relaxed = RelaxedSearch(problem, search, parameters.check)
        by_weight = parameters.order == "weight"
        cells = None if by_weight else np.flatnonzero(problem.primary)
        live = relaxed.build(relaxed.choice(rule), cells)
        relaxed.repair(live.hidden, "greedy")
        return relaxed.answer()

    return Method(
        name=name,
        summary=f"takes {words}, outwards from sensitive cells",
        source="Staggemeier et al., greedy heuristics of the ONS",
        parameters=GreedyParameters,
        run=run,
    )


GREEDY, GREEDY_UNIT, GREEDY_FEW, GREEDY_AHEAD = map(_method, VARIANTS)


# Descent: local search by first improvement under the relaxed check.
#
# Staggemeier et al. name a descent method without its moves. Here a move publishes a
# secondary, or publishes it for other cells of its equations that are cheaper together;
# the first one that helps is made, and the most expensive secondaries are tried first.
# The strict check has the last word: before the descent, so that there is an answer
# early, and after.


@dataclass(frozen=True)
class DescentParameters(RelaxedOptions):
    """Options of descent.

    Attributes
    ----------
    rule
        What a swap takes: cheapest, per-unit, largest or ahead.
    passes
        Passes over the secondaries at most.
    swaps
        Whether cells are swapped, or only published.
    """

    rule: str = option("ahead", known=RULES)
    passes: int = option(20, least=1)
    swaps: bool = True


def run_descent(
    problem: Problem, parameters: DescentParameters, search: Search
) -> Pattern:
    """Descend from a greedy pattern, then from the safe pattern it led to."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    choice = relaxed.choice(parameters.rule)
    live = relaxed.build(choice)
    first = relaxed.repair(live.hidden, "greedy")
    for start, event in ((live.hidden.copy(), "greedy"), (first.hidden, "safe")):
        if search.stopped():
            break
        relaxed.restart(live, start, choice)
        relaxed.descend(live, choice, swaps=parameters.swaps, passes=parameters.passes)
        if relaxed.repair.affordable():
            relaxed.repair(live.hidden, f"descent from the {event} pattern")
    return relaxed.answer()


DESCENT = Method(
    name="descent",
    summary="local search that publishes or swaps secondaries, first improvement",
    source="Staggemeier et al., descent method of the ONS",
    parameters=DescentParameters,
    run=run_descent,
)


# GRASP: greedy randomised construction, then descent, over and over.
#
# Feo & Resende (1995); used for cell suppression by Thompson at the ONS (Staggemeier et
# al.). A construction draws each cell from a short list of the best candidates. Cells
# must leave the protection levels ensured, not only be cheap: a cell is a candidate by
# the room it lends, and enough are taken for the level. The hierarchical version walks
# the table from the top down, all equations of a level before those of the next.


@dataclass(frozen=True)
class GraspParameters(RelaxedOptions):
    """Options of GRASP; the document gives no figures.

    Attributes
    ----------
    cycles
        Constructions. More were found unlikely to help much.
    repairs
        How many of their patterns go on to the strict check, cheapest first.
    candidates
        Length of the candidate list.
    rule
        What makes a cell a good candidate: cheapest, per-unit, largest or ahead.
    hierarchical
        Walk from the top down: yes, no, or auto (where equations have depth and the
        table is no network).
    descent
        Descend after each construction.
    """

    cycles: int = option(20, least=1)
    repairs: int = option(10, least=1)
    candidates: int = option(3, least=1)
    rule: str = option("ahead", known=RULES)
    hierarchical: str = option("auto", known=("auto", "yes", "no"))
    descent: bool = True


def run_grasp(problem: Problem, parameters: GraspParameters, search: Search) -> Pattern:
    """Run GRASP; the first cycle is the greedy construction itself."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    by_level = parameters.hierarchical == "yes" or (
        parameters.hierarchical == "auto"
        and not relaxed.repair.engine.is_network
        and bool(np.any(relaxed.depth > 0))
    )
    greedy = relaxed.choice(parameters.rule)
    live = relaxed.build(greedy, by_level=by_level)
    relaxed.repair(live.hidden, "greedy")
    made: list[tuple[float, int, Flags]] = []
    for cycle in range(parameters.cycles):
        # Time for one strict repair is kept.
        if relaxed.done or not relaxed.repair.affordable():
            break
        rng = search.rng(1, cycle)
        if cycle:
            choice = relaxed.choice(parameters.rule, parameters.candidates, rng=rng)
            cells = rng.permutation(relaxed.by_weight)
            live = relaxed.build(choice, cells, by_level=by_level)
        if parameters.descent:
            relaxed.descend(live, greedy)
        search.count()
        search.generations += 1
        made.append((float(live.total[0]), cycle, live.hidden.copy()))
    # The number of the cycle decides between patterns of one cost.
    for _, cycle, hidden in sorted(made, key=lambda m: m[:2])[: parameters.repairs]:
        if not relaxed.repair.affordable():
            break
        relaxed.repair(hidden, f"cycle {cycle + 1}")
    return relaxed.answer()


GRASP = Method(
    name="grasp",
    summary="greedy randomised constructions, each followed by a descent",
    source="Feo & Resende 1995; Staggemeier et al., GRASP of the ONS",
    parameters=GraspParameters,
    run=run_grasp,
)
