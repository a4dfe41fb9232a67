"""Four greedy heuristics: give each equation of a sensitive cell room, and so outwards.

Staggemeier et al. describe the greedy heuristics of the ONS as choosing the cheapest
cells in the equations of a sensitive cell that leave enough slack; each cell chosen
needs slack in its other equations in turn. What makes a cell the best to take is all in
which the four differ. Slack in every equation is necessary but not sufficient, so what
the attacker can still undo is repaired by the strict check.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evosdc.options import MethodOptions, option
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.relaxed.options import CHECKS, ORDERS
from evosdc.suppress.relaxed.relaxed_search import RelaxedSearch
from evosdc.suppress.search import Search

# What each rule goes by.
VARIANTS = {
    "greedy": ("cheapest", "the cheapest cell"),
    "greedy-unit": ("per-unit", "the cell that is cheapest for the room it lends"),
    "greedy-few": ("largest", "the cell with most room, so that few are hidden"),
    "greedy-ahead": ("ahead", "the cell that is cheapest with what it opens"),
}


@dataclass(frozen=True)
class GreedyParameters(MethodOptions):
    """Options of the greedy heuristics.

    Attributes
    ----------
    order
        Order of the sensitive cells: weight (falling, as the attacker programs take
        them) or given (row by row).
    check
        The relaxed check: slack as published, or claims.
    """

    order: str = option("weight", known=ORDERS)
    check: str = option("slack", known=CHECKS)


def _run(rule: str) -> Callable[[Problem, GreedyParameters, Search], Pattern]:
    def run(problem: Problem, parameters: GreedyParameters, search: Search) -> Pattern:
        """Give each equation room by the rule, then repair by the strict check."""
        relaxed = RelaxedSearch(problem, search, parameters.check)
        cells = relaxed.in_order(parameters.order)
        relaxed.safe(relaxed.build(relaxed.choice(rule), cells), "greedy")
        return relaxed.answer()

    return run


def _method(name: str) -> Method:
    rule, words = VARIANTS[name]
    return Method(
        name=name,
        summary=f"takes {words}, outwards from sensitive cells",
        tables="any",
        source="Staggemeier et al., greedy heuristics of the ONS",
        parameters=GreedyParameters,
        run=_run(rule),
    )


GREEDY = _method("greedy")
GREEDY_UNIT = _method("greedy-unit")
GREEDY_FEW = _method("greedy-few")
GREEDY_AHEAD = _method("greedy-ahead")
