"""A pair of minimum cost flows for each sensitive cell (Kelly, Golden & Assad 1992)."""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.methods.sp import cell_order
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class KellyParameters:
    """Options of the minimum cost flow heuristic.

    Attributes
    ----------
    order
        Order of the sensitive cells: given, descending, ascending or random.
    clean_up
        Publish what is not needed in the end.
    """

    order: str = "given"
    clean_up: bool = True


def run_kelly(problem: Problem, parameters: KellyParameters, search: Search) -> Pattern:
    """Send each level at least cost a unit; what the flow moves is hidden."""
    network = TableNetwork(problem)
    state = PatternState(network)
    cells = cell_order(problem, parameters.order, search.rng(0))
    state.cover_by_flows(network.level_order(cells, by_side=False))
    state.cover()
    return finish(state, search, parameters.clean_up, "minimum cost flows")


METHOD = Method(
    name="kelly",
    summary="a pair of minimum cost flows for each sensitive cell",
    tables="two-dimensional",
    source="Kelly, Golden & Assad 1992",
    parameters=KellyParameters,
    run=run_kelly,
    takes=networks_only,
)
