"""Simple methods that the flagship runs itself, so that it is never above any of them.

They are made for the problem as it was asked for: boxes and sub-tables need dimensions,
which contraction may lose.
"""

from __future__ import annotations

from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods.contracted import run_contracted, run_for_public
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import FLAGSHIP, find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.subtables import subtables

# Those that take longest come last: each may have the time that the others left.
NAMES = ("sp", "hypercube", "order-by-weight", "hitas", FLAGSHIP)
# More evaluations than any budget has: what asks for them is run under a clock only.
_CLOCK_ONLY_EVALUATIONS = 10**9


def constructions(problem: Problem) -> list[str]:
    """Return the names of those that take this problem."""
    return [
        name
        for name in NAMES
        if find_method(name).takes(problem) is None
        and (name != "hitas" or _tables(problem))
        and (name != FLAGSHIP or _for_public_first(problem))
    ]


def construct(problem: Problem, name: str, search: Search) -> Pattern:
    """Run one of them to its end, or until its run is over."""
    method = find_method(name)
    if name == FLAGSHIP:
        # Flows solve a network for the public alone in no time.
        return run_for_public(problem, method, method.configure({}), search)
    return run_contracted(problem, method, method.configure({}), search)


def evaluations(problem: Problem, name: str) -> int:
    """How many patterns, of parts or of the whole, a construction builds at least."""
    if name == FLAGSHIP:
        return _CLOCK_ONLY_EVALUATIONS
    return _tables(problem) if name == "hitas" else 1


def _for_public_first(problem: Problem) -> bool:
    """Whether flows find a pattern for the public, to be made safe from the others."""
    return problem.has_attackers and engine_for(problem.for_public).is_network


def _tables(problem: Problem) -> int:
    """How many sub-tables with sensitive cells there are; 0 where it is the only one.

    The single sub-table of a flat table is solved by the flagship.
    """
    parts = subtables(problem.table)
    if len(parts) < 2:
        return 0
    return sum(bool(problem.primary[part.cells].any()) for part in parts)
