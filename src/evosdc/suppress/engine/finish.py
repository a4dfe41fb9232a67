"""How a method hands a covered pattern over: as it is, then cleaned up."""

from __future__ import annotations

from evosdc.suppress.engine.network.engine import PatternState
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.search import Search


def finish(state: PatternState, search: Search, clean_up: bool, event: str) -> Pattern:
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
