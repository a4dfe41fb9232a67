"""The hypercube method: the cheapest box of hidden cells for each sensitive cell."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.grid import MOST_PLACES
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search
from evosdc.suppress.structure.codes import dimensions_of


@dataclass(frozen=True)
class HypercubeParameters:
    """No options."""


def takes(problem: Problem) -> str | None:
    """Take tables with dimensions whose grid of codes fits in memory."""
    spanned = dimensions_of(problem.table)
    if spanned is None:
        return "it has no labels, and its equations are not those of dimensions"
    if prod(len(d.hierarchy) for d in spanned[0]) > MOST_PLACES:
        return f"its codes have more than {MOST_PLACES:,} combinations"
    return None


def run(problem: Problem, _: HypercubeParameters, search: Search) -> Pattern:
    """Give each level a box; levels without one are covered by attacker programs."""
    state = GeneralEngine(problem).start()
    assert state.table.boxes is not None
    failed = state.cover_by(state.table.boxes.only_box, stopped=search.stopped)
    if failed:
        search.note(f"no box covers {failed} levels: repaired by programs")
    return cover_and_finish(state, search, "hypercube")


METHOD = Method(
    name="hypercube",
    summary="the cheapest box of hidden cells for each sensitive cell",
    tables="any number of dimensions, hierarchies included, with or without labels",
    source="Giessing and Repsilber 2002; Almeida, Schuetz and Carvalho 2008",
    parameters=HypercubeParameters,
    contracts=False,
    run=run,
    takes=takes,
)
