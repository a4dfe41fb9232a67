"""Cut and branch: proven optima, or the best pattern and bound within the time.

Fischetti and Salazar (1999) solve cell suppression by branch and cut. Here the cuts are
separated in rounds: an LP over capacity cuts gives a bound and steers the shortest path
heuristic; an integer programme over the same cuts gives a better bound and candidates;
candidates that fail a level yield new cuts and, repaired, new patterns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only, register
from evosdc.suppress.search import Search

if TYPE_CHECKING:
    from evosdc.suppress.exact.bounds import CutLoop
    from evosdc.suppress.network.engine import TableNetwork


@dataclass(frozen=True)
class OptimalParameters:
    """Options of cut and branch.

    Attributes
    ----------
    first_gap
        Relative gap of the first integer programmes; halved whenever one yields a
        candidate that protects everything.
    columns
        Most cells an integer programme may have; beyond that only cuts are used.
    """

    first_gap: float = 0.01
    columns: int = 20000


def run_optimal(
    problem: Problem, parameters: OptimalParameters, search: Search
) -> Pattern:
    """Run cut and branch."""
    from evosdc.suppress.exact.bounds import CutLoop
    from evosdc.suppress.network.engine import PatternState, TableNetwork

    assert problem.network is not None
    network = TableNetwork(problem)
    state = PatternState(network)
    state.cover()
    state.clean_up(stopped=search.stopped)
    search.count()
    search.offer(state.pattern(), "shortest paths")
    if not len(network):
        search.raise_bound(0.0)
        return state.pattern()
    loop = CutLoop(problem, problem.network)
    loop.run_nodes()
    search.raise_bound(loop.value)

    def follow(value: float) -> None:
        search.raise_bound(value)
        guided(network, loop.fractions, search)

    guided(network, loop.fractions, search)
    complete = loop.run_cuts(search.stopped, follow)
    if complete and not search.stopped():
        _branch(problem, network, loop, parameters, search)
    assert search.best is not None
    return search.best


def guided(
    network: TableNetwork, fractions: NDArray[np.float64], search: Search
) -> None:
    """Build a pattern with cells the relaxation hides made cheap (LB-guided costs)."""
    from evosdc.suppress.network.engine import PatternState

    price = network.problem.cost * (1.0 - 0.999 * np.clip(fractions, 0.0, 1.0))
    state = PatternState(network.with_cost(price))
    state.cover()
    state.clean_up(stopped=search.stopped)
    search.count()
    search.offer(state.pattern(), "guided by the bound")


def _branch(
    problem: Problem,
    network: TableNetwork,
    loop: CutLoop,
    parameters: OptimalParameters,
    search: Search,
) -> None:
    """Alternate integer programmes and cuts until the gap closes or time is up."""
    from evosdc.suppress.exact.branch import Branch
    from evosdc.suppress.network.engine import PatternState

    assert search.best is not None
    free = problem.hideable & ~problem.primary
    room = search.best.cost - loop.value
    open_cells = free & (loop.reduced <= room * (1 + 1e-9) + 1e-9)
    if open_cells.sum() > parameters.columns:
        return
    branch = Branch(loop, problem.cost, open_cells)
    gap = parameters.first_gap
    while not search.stopped():
        candidate = branch.solve(search.best.hidden, search.seconds_left(), gap)
        # Patterns outside these columns cost at least the best one.
        search.raise_bound(min(candidate.bound, search.best.cost))
        if candidate.hidden is None:
            return
        known = len(loop.master.cuts)
        violated = loop.separate(candidate.hidden.astype(np.float64), search.stopped)
        state = PatternState(network)
        state.become(candidate.hidden | problem.primary)
        state.cover()
        state.clean_up(stopped=search.stopped)
        search.count()
        search.offer(state.pattern(), "branch")
        if violated:
            for cut in loop.master.cuts[known:]:
                branch.add(cut)
        elif gap > 1e-9:
            gap = 0.0 if gap < 1e-5 else gap / 4
        else:
            return


register(
    Method(
        name="optimal",
        summary="cut and branch: proves the optimum, or ends with bound and gap",
        tables="two-dimensional",
        source="after Fischetti & Salazar 1999; Almeida, Schuetz & Carvalho 2008",
        parameters=OptimalParameters,
        run=run_optimal,
        takes=networks_only,
    )
)
