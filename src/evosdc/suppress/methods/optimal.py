"""Cut and branch: proven optima, or the best pattern and bound within the time.

Fischetti and Salazar (1999, 2000) solve cell suppression by branch and cut. Here the
cuts are separated in rounds: an LP over the cuts gives a bound and steers a heuristic;
an integer programme over the same cuts gives a better bound and candidates; candidates
that fail a level yield new cuts and, repaired, new patterns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Real
from evosdc.evolution.stopping import gap
from evosdc.options import MethodOptions
from evosdc.parallel import LazyPool
from evosdc.suppress.bounds.cut_loop import CutLoop
from evosdc.suppress.bounds.master import Branch
from evosdc.suppress.engine.base import AnyEngine, cover_and_finish
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods.gensup import guided_price
from evosdc.suppress.methods.scheduler import proven
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import TREE, Search

# Gap below which an integer programme is solved to its end: a numerical tolerance.
_SOLVED_TO_THE_END = 1e-5


@dataclass(frozen=True)
class OptimalParameters(MethodOptions):
    """Options of cut and branch.

    Attributes
    ----------
    ease
        Integer programmes are solved to this share of the gap that is left; a tenth of
        it whenever one yields a candidate that protects everything.
    columns
        Most cells an integer programme may have; beyond that only cuts are used.
    nodes
        Most branches of an integer programme where there is no time limit.
    """

    ease: float = 0.1
    columns: int = 20000
    nodes: int = 2000


def run_optimal(
    problem: Problem, parameters: OptimalParameters, search: Search
) -> Pattern:
    """Run cut and branch."""
    engine = engine_for(problem)
    cover_and_finish(engine.start(), search, "first pattern")
    if search.found.cost == 0:
        search.raise_bound(0.0)
    elif not search.stopped():
        with LazyPool(problem, workers=search.workers) as pool:
            _prove(engine, CutLoop(problem, pool=pool), parameters, search)
    return search.found


def _prove(
    engine: AnyEngine, loop: CutLoop, parameters: OptimalParameters, search: Search
) -> None:
    """Cut, then branch."""
    loop.run_nodes()

    def follow(value: float) -> None:
        search.count()
        search.raise_bound(value)
        # Patterns take long: another one only where the bound has moved on by 5 %.
        if value > follow_at[0]:
            follow_at[0] = 1.05 * value
            _guided(engine, search, loop.fractions)

    follow_at = [0.0]
    follow(loop.value)
    loop.run_cuts(search.stopped, follow)
    if not search.stopped():
        _guided(engine, search, loop.fractions)
        _branch(engine, loop, parameters, search)


def _guided(engine: AnyEngine, search: Search, fractions: Real) -> None:
    """Build a pattern with cells the relaxation hides made cheap (LB-guided costs)."""
    price = guided_price(engine.problem, fractions)
    cover_and_finish(engine.start(), search, "guided by the bound", price=price)


def _branch(
    engine: AnyEngine, loop: CutLoop, parameters: OptimalParameters, search: Search
) -> None:
    """Alternate integer programmes and cuts until the gap closes or time is up."""
    problem = engine.problem

    def open_cells() -> Flags:
        cells = loop.open_cells(search.found.cost) | search.found.hidden
        return cells & ~problem.primary

    cells = open_cells()
    if cells.sum() > parameters.columns:
        return
    branch = Branch(loop, problem.cost, cells)
    ease = parameters.ease
    timed = np.isfinite(search.seconds_left())
    while not search.stopped() and not proven(search):
        tolerance = ease * (gap(search.found.cost, search.bound) or 0.0)
        candidate = branch.solve(
            search.found.hidden,
            search.seconds_left(),
            tolerance if tolerance > _SOLVED_TO_THE_END else 0.0,
            None if timed else parameters.nodes,
        )
        # Patterns outside these columns cost at least the best one.
        search.raise_bound(min(candidate.bound, search.found.cost), TREE)
        if candidate.hidden is None:
            return
        violated = branch.strengthen(candidate, search.stopped)
        if search.stopped():
            return
        cover_and_finish(engine.start(candidate.hidden), search, "branch")
        search.raise_bound(min(loop.value, search.found.cost))
        branch = branch.restrict(open_cells())
        if violated:
            continue
        if tolerance <= _SOLVED_TO_THE_END:
            return
        ease /= 10


METHOD = Method(
    name="optimal",
    summary="cut and branch: proves the optimum, or ends with bound and gap",
    tables="any; proofs for tables of a few thousand cells",
    source="after Fischetti & Salazar 1999, 2000; Almeida, Schuetz & Carvalho 2008",
    parameters=OptimalParameters,
    run=run_optimal,
)
