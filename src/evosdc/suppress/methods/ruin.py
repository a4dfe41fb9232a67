"""Local search by ruin and recreate with late acceptance (``ls-ruin``).

The honest rival of the genetic methods: it works on one pattern, publishes a few of its
secondaries, covers the levels that broke along cheapest paths under costs blurred at
random, and publishes what became redundant nearby. Ruin and recreate is due to
Schrimpf et al. (2000), late acceptance to Burke & Bykov (2017).
"""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.suppress.engine.base import WalkOptions
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.network_engine import NetworkEngine
from evosdc.suppress.methods.walking import Plan, build_and_walk
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class RuinParameters:
    """Options of ruin and recreate.

    Attributes
    ----------
    steps
        Steps in all; a time or evaluation limit may end the run before.
    most
        Cells a step publishes at most.
    memory
        Steps that late acceptance looks back.
    blur
        How far the costs that steer the paths stray: the standard deviation of their
        logarithms.
    turn
        Steps between two blurs.
    patience
        Steps without a better pattern after which the walk begins anew from one that
        is largely rebuilt, and at least twenty per secondary; 0 for never.
    """

    steps: int = 100_000
    most: int = 3
    memory: int = 20
    blur: float = 0.8
    turn: int = 40
    patience: int = 400


def run_ruin(problem: Problem, parameters: RuinParameters, search: Search) -> Pattern:
    """Build a pattern by shortest paths and walk on from it."""
    p = parameters
    options = WalkOptions(p.most, p.blur, p.turn, p.memory, p.patience)
    plan = Plan(NetworkEngine, options, p.steps, "ruin and recreate")
    return build_and_walk(problem, plan, search, built="shortest paths")


RUIN = Method(
    name="ls-ruin",
    summary="local search: ruin, recreate by cheapest paths, late acceptance",
    tables="two-dimensional",
    source="after Schrimpf et al. 2000; Burke & Bykov 2017",
    parameters=RuinParameters,
    run=run_ruin,
    takes=networks_only,
)


# Local search by ruin and recreate for tables of any dimensions (``ls-rebuild``).
#
# The pattern of the incremental attacker is improved step by step: a few secondaries
# near one another are published, the levels that broke are covered again by the
# cheapest boxes and cycles under costs blurred at random, and the result is kept if it
# is not dearer. Ruin and recreate is due to Schrimpf et al. (2000).

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


def run_rebuild(
    problem: Problem, parameters: RebuildParameters, search: Search
) -> Pattern:
    """Build a pattern by the incremental attacker and rebuild it bit by bit."""
    options = WalkOptions(parameters.most, parameters.blur, _TURN)
    plan = Plan(GeneralEngine, options, parameters.steps, "rebuilt")
    return build_and_walk(problem, plan, search, built="attacker programs")


REBUILD = Method(
    name="ls-rebuild",
    summary="local search: ruin, recreate by cheapest boxes and cycles",
    tables="any; quickest where there are dimensions, labelled or found",
    source="after Schrimpf et al. 2000",
    parameters=RebuildParameters,
    run=run_rebuild,
)
