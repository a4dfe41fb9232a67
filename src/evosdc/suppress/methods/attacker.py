"""The incremental attacker in order of weight (Smith et al. 2011)."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class AttackerParameters:
    """No options: the order is by weight, as published."""


def run(problem: Problem, _: AttackerParameters, search: Search) -> Pattern:
    """Cover each level by the cheapest deviation; every cell moved is hidden."""
    state = GeneralEngine(problem).start()
    return cover_and_finish(state, search, "attacker programs")


METHOD = Method(
    name="attacker",
    summary="incremental attacker programs, cells in order of weight",
    tables="any",
    source="Smith, Clark, Staggemeier and Serpell 2011; Fischetti and Salazar 2001",
    parameters=AttackerParameters,
    run=run,
)
