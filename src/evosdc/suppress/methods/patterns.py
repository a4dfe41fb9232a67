"""Safe patterns from hints: the upper half of cut and branch, for any table."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.state import Builder
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search


class Patterns(Protocol):
    """A heuristic that can be steered."""

    def build(
        self,
        event: str,
        *,
        price: NDArray[np.float64] | None = None,
        start: NDArray[np.bool_] | None = None,
    ) -> Pattern:
        """Build, clean up and offer a safe pattern.

        `price` replaces the costs while levels are covered; `start` is hidden first.
        """
        ...


class NetworkPatterns:
    """Shortest paths on network tables."""

    def __init__(self, problem: Problem, search: Search) -> None:
        self._search = search
        self._primary = problem.primary
        self._network = TableNetwork(problem)

    def build(
        self,
        event: str,
        *,
        price: NDArray[np.float64] | None = None,
        start: NDArray[np.bool_] | None = None,
    ) -> Pattern:
        network = self._network if price is None else self._network.with_cost(price)
        state = PatternState(network)
        if start is not None:
            state.become(start | self._primary)
        state.cover()
        state.clean_up(stopped=self._search.stopped)
        pattern = state.pattern()
        self._search.count()
        self._search.offer(pattern, event)
        return pattern


class LinearPatterns:
    """Incremental attacker programs on any table."""

    def __init__(self, problem: Problem, search: Search) -> None:
        self._search = search
        self._problem = problem
        self._first = Builder(problem, search)

    def build(
        self,
        event: str,
        *,
        price: NDArray[np.float64] | None = None,
        start: NDArray[np.bool_] | None = None,
    ) -> Pattern:
        return Builder(
            self._problem, self._search, like=self._first, start=start, cost=price
        ).finish(event)


def patterns(problem: Problem, search: Search) -> Patterns:
    """Return the heuristic for a table."""
    if problem.network is not None:
        return NetworkPatterns(problem, search)
    return LinearPatterns(problem, search)
