"""Simple methods: four of one pass, and those that the flagship runs itself.

It runs them for the problem as it was posed, so that it is never above any of them:
boxes and sub-tables need dimensions, which contraction may lose.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.base import AnyEngine, cover_and_finish
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.evaluator import Evaluator
from evosdc.suppress.engine.general.boxes import MOST_PLACES
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.methods.contracted import run_contracted, run_for_public
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import FLAGSHIP, Method, find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.equations import dimensions_of
from evosdc.suppress.structure.subtables import subtables
from evosdc.suppress.structure.unpick import CELLS, GROUPINGS, UNPICKED, Grouping

CLEAN = ("never", "best", "every")
# Above so many cells groups beat single cells (Smith et al. 2011). At half of it tables
# lose the finer order that they have time for, at twice of it few orders are evaluated.
MOST_CELLS_ONE_BY_ONE = 30_000
# Groups where `groups` leaves the choice to the table (Smith et al. 2011). Half as many
# leave less to order, twice as many take longer per order.
_DEFAULT_GROUPS = {"all": 40, "exposed": 40} | dict.fromkeys(UNPICKED, 20)
# Those that take longest come last: each may have the time that the others left.
NAMES = ("sp", "hypercube", "order-by-weight", "hitas", FLAGSHIP)
# More evaluations than any budget has: what needs them is run under a clock only.
_CLOCK_ONLY_EVALUATIONS = 10**9


@dataclass(frozen=True)
class NoOptions:
    """No options."""


def run_attacker(problem: Problem, _: NoOptions, search: Search) -> Pattern:
    """Cover each level, by weight, by the cheapest deviation and hide its cells."""
    state = GeneralEngine(problem).start()
    return cover_and_finish(state, search, "attacker programs")


ATTACKER = Method(
    name="attacker",
    summary="incremental attacker programs, cells in order of weight",
    source="Smith, Clark, Staggemeier and Serpell 2011; Fischetti and Salazar 2001",
    parameters=NoOptions,
    run=run_attacker,
)


def run_marginal(problem: Problem, _: NoOptions, search: Search) -> Pattern:
    """Hide totals; where they are fixed or too small, ask the attacker's program."""
    state = GeneralEngine(problem).start()
    failed = state.cover_by(state.table.programs.hide_totals, stopped=search.stopped)
    if failed:
        search.note(f"totals do not cover {failed} levels: asking programs")
    return cover_and_finish(state, search, "totals hidden")


MARGINAL = Method(
    name="marginal",
    summary="hides the totals above sensitive cells; protects whatever can be",
    source="tau-Argus, as compared by Smith et al. 2011",
    parameters=NoOptions,
    contracts=False,
    run=run_marginal,
)


def with_dimensions(problem: Problem) -> str | None:
    """Take tables with dimensions whose grid of codes fits in memory."""
    spanned = dimensions_of(problem.table)
    if spanned is None:
        return "it has no labels, and its equations are not those of dimensions"
    if prod(len(d.hierarchy) for d in spanned[0]) > MOST_PLACES:
        return f"its codes have more than {MOST_PLACES:,} combinations"
    return None


def run_hypercube(problem: Problem, _: NoOptions, search: Search) -> Pattern:
    """Give each level a box; levels without one are covered by attacker programs."""
    state = GeneralEngine(problem).start()
    assert state.table.boxes is not None
    failed = state.cover_by(state.table.boxes.only_box, stopped=search.stopped)
    if failed:
        search.note(f"no box covers {failed} levels: repaired by programs")
    return cover_and_finish(state, search, "hypercube")


HYPERCUBE = Method(
    name="hypercube",
    summary="the cheapest box of hidden cells for each sensitive cell",
    tables="any number of dimensions, hierarchies included, with or without labels",
    source="Giessing and Repsilber 2002; Almeida, Schuetz and Carvalho 2008",
    parameters=NoOptions,
    contracts=False,
    run=run_hypercube,
    takes=with_dimensions,
)


@dataclass(frozen=True)
class WeightParameters(MethodOptions):
    """Options of the plain heuristic.

    Attributes
    ----------
    cells
        Sensitive cells to protect: all; exposed (those that the primaries alone leave
        short: K); unpicked (those that follow from the equations one by one: K_u);
        by-bounds (these and those whose levels the bounds of other cells rule out). The
        cells that the last two leave out are protected as a closing group. auto:
        exposed, but in tables of more than 30,000 cells unpicked on networks and
        by-bounds elsewhere.
    groups
        Groups the cells are protected in; 0 for one at a time; -1 for one at a time up
        to 30,000 cells and 40 (20 for unpicked and by-bounds) beyond.
    grouping
        How groups are made: weight, row or column.
    together
        One program for a whole group and direction, halved where it has no solution,
        as published; otherwise the cells of a group one after another. None: one
        program in networks and in tables of up to 30,000 cells, where it is quick.
    clean
        Whether redundant cells are published again: never (as published), best (each
        pattern that is the best so far), every (each pattern, and by its cost then the
        order is judged).
    """

    cells: str = option("auto", known=("auto", *CELLS))
    groups: int = option(-1, least=0, known=(-1,))
    grouping: str = option("weight", known=GROUPINGS)
    together: bool | None = None
    clean: str = option("never", known=CLEAN)

    def evaluator(self, engine: AnyEngine, search: Search) -> Evaluator:
        """Return what evaluates orders; decide what is left to the table."""
        large = len(engine.problem.table) > MOST_CELLS_ONE_BY_ONE
        cells, groups, together = self.cells, self.groups, self.together
        if cells == "auto":
            unpicked = "unpicked" if engine.is_network else "by-bounds"
            cells = unpicked if large else "exposed"
        if groups < 0:
            groups = _DEFAULT_GROUPS[cells] if large else 0
        if together is None:
            together = not large or engine.is_network
        grouping = Grouping(cells, groups, self.grouping, together)
        return engine.evaluator(grouping, search, self.clean == "every")


def run_by_weight(
    problem: Problem, parameters: WeightParameters, search: Search
) -> Pattern:
    """Protect the cells in order of falling weight, as Fischetti & Salazar do."""
    evaluator = parameters.evaluator(engine_for(problem), search)
    (priced,) = evaluator.evaluate([(np.arange(evaluator.length), None)])
    if priced is not None:
        search.count()
        pattern = evaluator.complete(priced, parameters.clean != "never")
        if pattern is not None:
            search.offer(pattern, "order of weight")
    return answer_of(evaluator, search)


def answer_of(evaluator: Evaluator, search: Search) -> Pattern:
    """Return the best pattern, or a quick one where the run ended before the first."""
    if search.best is None:
        search.count()
        search.offer(evaluator.rescue(), "covered quickly")
    return search.found


BY_WEIGHT = Method(
    name="order-by-weight",
    summary="incremental attacker, falling weight, no clean-up, as published",
    source="Fischetti & Salazar 2001; Smith, Clark, Staggemeier and Serpell 2011",
    parameters=WeightParameters,
    run=run_by_weight,
)


def constructions(problem: Problem) -> list[str]:
    """Return the names of those that take this problem."""
    return [
        name
        for name in NAMES
        if find_method(name).takes(problem) is None
        and (name != "hitas" or _tables(problem))
        and (name != FLAGSHIP or _for_public_first(problem))
    ]


def construct(problem: Problem, name: str, search: Search) -> Pattern:
    """Run one of them to its end, or until its run is over."""
    method = find_method(name)
    if name == FLAGSHIP:
        # Flows solve a network for the public alone quickly.
        return run_for_public(problem, method, method.configure({}), search)
    return run_contracted(problem, method, method.configure({}), search)


def evaluations(problem: Problem, name: str) -> int:
    """How many patterns, of parts or of the whole, a construction builds at least."""
    if name == FLAGSHIP:
        return _CLOCK_ONLY_EVALUATIONS
    return _tables(problem) if name == "hitas" else 1


def _for_public_first(problem: Problem) -> bool:
    """Whether flows find a pattern for the public, to be made safe from the others."""
    return problem.has_attackers and engine_for(problem.for_public).is_network


def _tables(problem: Problem) -> int:
    """How many sub-tables with sensitive cells there are; 0 where it is the only one.

    The single sub-table of a flat table is solved by the flagship.
    """
    parts = subtables(problem.table)
    if len(parts) < 2:
        return 0
    return sum(bool(problem.primary[part.cells].any()) for part in parts)
