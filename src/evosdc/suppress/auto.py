"""The best method the house has for a table."""

from __future__ import annotations

from evosdc.suppress.problem import Problem


def choose(problem: Problem) -> str:
    """Name the method that `auto` runs on this table."""
    if problem.network is not None:
        return "hybrid"
    return "attacker"
