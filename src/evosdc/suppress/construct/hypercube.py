"""The hypercube method: the cheapest box of hidden cells for each sensitive cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.suppress.construct.boxes import Boxes
from evosdc.suppress.construct.build import Builder
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, register
from evosdc.suppress.search import Search

MOST_COMBINATIONS = 20_000_000


@dataclass(frozen=True)
class HypercubeParameters:
    """No options."""


def takes(problem: Problem) -> str | None:
    """Take labelled tables whose grid of codes fits in memory."""
    dimensions = problem.table.dimensions
    if not dimensions:
        return "it has no labels: boxes need dimensions and codes"
    if np.prod([float(len(d.hierarchy)) for d in dimensions]) > MOST_COMBINATIONS:
        return f"its codes have more than {MOST_COMBINATIONS:,} combinations"
    return None


def run(problem: Problem, _: HypercubeParameters, search: Search) -> Pattern:
    """Give each level a box; levels without one are covered by attacker programs."""
    builder = Builder(problem, search)
    failed = builder.cover_all(Boxes(problem).cheapest)
    if failed:
        search.note(f"no box covers {failed} levels: repaired by programs")
    return builder.finish("hypercube")


register(
    Method(
        name="hypercube",
        summary="the cheapest box of hidden cells for each sensitive cell",
        tables="labelled tables of any number of dimensions, hierarchies included",
        source="Giessing and Repsilber 2002; Almeida, Schuetz and Carvalho 2008",
        parameters=HypercubeParameters,
        run=run,
        takes=takes,
    )
)
