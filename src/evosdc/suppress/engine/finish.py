"""How a method offers a covered pattern: as it is, then cleaned up."""

from __future__ import annotations

from evosdc.suppress.engine.base import Costs, State
from evosdc.suppress.problem.problem import Pattern
from evosdc.suppress.run.search import Search


def finish(state: State, search: Search, clean_up: bool, event: str) -> Pattern:
    """Offer a covered state, clean it up if asked, and return its pattern."""
    pattern = state.pattern()
    search.count()
    search.offer(pattern, event)
    if clean_up:
        state.clean_up(stopped=search.stopped)
        pattern = state.pattern()
        search.count()
        search.offer(pattern, f"{event}, cleaned up")
    return pattern


def cover_and_finish(
    state: State, search: Search, event: str, *, price: Costs | None = None
) -> Pattern:
    """Cover what is open, offer the pattern, clean it up, and return it.

    `price` replaces the costs while demands are covered.
    """
    state.cover(price=price, stopped=search.stopped)
    return finish(state, search, True, event)
