"""GRASP: greedy randomised construction, then descent, over and over.

Feo & Resende (1995); used for cell suppression by Thompson at the ONS (Staggemeier et
al.). A construction draws each cell from a short list of the best candidates. Cells
must leave the protection levels ensured, not only be cheap: a cell is a candidate by
the room it lends, and enough are taken for the level. The hierarchical version walks
the table from the top down, all equations of a level before those of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.options import MethodOptions, option
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.relaxed.options import CHECKS, RULES
from evosdc.suppress.relaxed.relaxed_search import RelaxedSearch
from evosdc.suppress.search import Search

HIERARCHICAL = ("auto", "yes", "no")


@dataclass(frozen=True)
class GraspParameters(MethodOptions):
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
    check
        The relaxed check: slack as published, or claims.
    """

    cycles: int = option(20, least=1)
    repairs: int = option(10, least=1)
    candidates: int = option(3, least=1)
    rule: str = option("ahead", known=RULES)
    hierarchical: str = option("auto", known=HIERARCHICAL)
    descent: bool = True
    check: str = option("slack", known=CHECKS)


def run_grasp(problem: Problem, parameters: GraspParameters, search: Search) -> Pattern:
    """Run GRASP; the first cycle is the greedy construction itself."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    by_level = parameters.hierarchical == "yes" or (
        parameters.hierarchical == "auto"
        and not relaxed.repair.engine.quick
        and bool(np.any(relaxed.depth > 0))
    )
    greedy = relaxed.choice(parameters.rule)
    live = relaxed.build(greedy, by_level=by_level)
    relaxed.safe(live, "greedy")
    made: list[tuple[float, int, NDArray[np.bool_]]] = []
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


METHOD = Method(
    name="grasp",
    summary="greedy randomised constructions, each followed by a descent",
    tables="any",
    source="Feo & Resende 1995; Staggemeier et al., GRASP of the ONS",
    parameters=GraspParameters,
    run=run_grasp,
)
