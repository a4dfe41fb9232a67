"""The best method the house has for a table."""

from __future__ import annotations

from evosdc.suppress.contracted import contraction_for
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.problem import Problem

# Beyond these, a round of cuts of a general table takes longer than it is worth.
_CELLS = 3000
_LEVELS = 1500


def choose(problem: Problem) -> str:
    """Name the method that `auto` runs on this table."""
    found = contraction_for(problem)
    problem = problem if found is None else found.small
    if engine_for(problem).quick:
        return "hybrid"
    if problem.hideable.sum() <= _CELLS and len(problem.levels) <= _LEVELS:
        return "optimal"
    return "ls-rebuild"
