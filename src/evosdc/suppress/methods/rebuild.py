"""Local search by ruin and recreate for tables of any dimensions (``ls-rebuild``).

The pattern of the incremental attacker is improved step by step: a few secondaries near
one another are published, the levels that broke are covered again by the cheapest boxes
and cycles under costs blurred at random, and the result is kept if it is not dearer.
Ruin and recreate is due to Schrimpf et al. (2000).
"""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.suppress.engine.base import WalkOptions
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.methods.walking import Plan, build_and_walk
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search

# Steps under one blur of the costs.
_TURN = 32


@dataclass(frozen=True)
class RebuildParameters:
    """Options of ruin and recreate on any table.

    Attributes
    ----------
    steps
        Steps in all; a time or evaluation limit may end the run before.
    most
        Cells a step publishes at most.
    blur
        How far the costs that steer the search stray: the standard deviation of their
        logarithms.
    """

    steps: int = 1_000_000
    most: int = 4
    blur: float = 0.3


def run(problem: Problem, parameters: RebuildParameters, search: Search) -> Pattern:
    """Build a pattern by the incremental attacker and rebuild it bit by bit."""
    options = WalkOptions(parameters.most, parameters.blur, _TURN)
    plan = Plan(GeneralEngine, options, parameters.steps, "rebuilt")
    return build_and_walk(problem, plan, search, built="attacker programs")


METHOD = Method(
    name="ls-rebuild",
    summary="local search: ruin, recreate by cheapest boxes and cycles",
    tables="any; quickest where there are dimensions, labelled or found",
    source="after Schrimpf et al. 2000",
    parameters=RebuildParameters,
    run=run,
)
