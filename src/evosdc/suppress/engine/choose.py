"""Which engine serves a table: the only place that decides."""

from __future__ import annotations

from evosdc.suppress.engine.base import AnyEngine
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.problem.problem import Problem


def engine_for(problem: Problem) -> AnyEngine:
    """Return an engine of the kind that suits the table, for one run.

    Each run has its own: solvers that are warm from another one could lead to another
    of several equally good answers. An engine sets up its parts when they are first
    used.
    """
    if problem.network is not None and not problem.has_attackers:
        return NetworkEngine(problem)
    return GeneralEngine(problem)
