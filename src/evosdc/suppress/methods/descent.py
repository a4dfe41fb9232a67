"""Descent: local search by first improvement under the relaxed check.

Staggemeier et al. name a descent method without its moves. Here a move publishes a
secondary, or publishes it for other cells of its equations that are cheaper together;
the first one that helps is made, the dearest secondaries are tried first. The strict
check has the last word: before the descent, so that there is an answer early, and
after.
"""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.options import MethodOptions, option
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.relaxed.options import CHECKS, RULES
from evosdc.suppress.relaxed.relaxed_search import RelaxedSearch
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class DescentParameters(MethodOptions):
    """Options of descent.

    Attributes
    ----------
    rule
        What a swap takes: cheapest, per-unit, largest or ahead.
    passes
        Passes over the secondaries at most.
    swaps
        Whether cells are swapped, or only published.
    check
        The relaxed check: slack as published, or claims.
    """

    rule: str = option("ahead", known=RULES)
    passes: int = option(20, least=1)
    swaps: bool = True
    check: str = option("slack", known=CHECKS)


def run_descent(
    problem: Problem, parameters: DescentParameters, search: Search
) -> Pattern:
    """Descend from a greedy pattern, then from the safe pattern it led to."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    choice = relaxed.choice(parameters.rule)
    live = relaxed.build(choice)
    first = relaxed.safe(live, "greedy")
    for start, event in ((live.hidden.copy(), "greedy"), (first.hidden, "safe")):
        if search.stopped():
            break
        relaxed.restart(live, start, choice)
        relaxed.descend(live, choice, swaps=parameters.swaps, passes=parameters.passes)
        if relaxed.repair.affordable():
            relaxed.safe(live, f"descent from the {event} pattern")
    return relaxed.answer()


METHOD = Method(
    name="descent",
    summary="local search that publishes or swaps secondaries, first improvement",
    tables="any",
    source="Staggemeier et al., descent method of the ONS",
    parameters=DescentParameters,
    run=run_descent,
)
