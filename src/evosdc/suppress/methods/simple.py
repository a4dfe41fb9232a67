"""Three methods of one pass: cover each level in the method's way, then clean up."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.grid import MOST_PLACES
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.codes import dimensions_of


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
