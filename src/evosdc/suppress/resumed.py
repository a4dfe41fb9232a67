"""Patterns of another run or another method, made safe by the engine of a problem."""

from __future__ import annotations

from dataclasses import replace

from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search


def completed(
    problem: Problem, pattern: Pattern, search: Search, event: str = "completed"
) -> Pattern:
    """Return a pattern with what a problem asks for beyond it, cleaned up.

    It may have been made for another problem of the same table: without attackers, or
    with lower levels.
    """
    hidden = pattern.hidden & problem.hideable
    start = Pattern(hidden, 0.0, pattern.hints)
    state = engine_for(problem).restore(start)
    if state.repair(stopped=search.stopped):
        state.clean_up(stopped=search.stopped)
    found: Pattern = state.pattern()
    search.count()
    search.offer(found, event)
    return found


def take_up(problem: Problem, search: Search) -> None:
    """Offer the stored pattern, made safe where it is not.

    It is no evidence: somebody may have changed the file. So it is priced anew, its
    demands are covered again, and what must be published is. Where there is no time for
    that, it is offered as it is, and the judge says what it is worth.
    """
    if search.stored is None:
        return
    begun = search.seconds
    stored = replace(
        problem.pattern(search.stored.hidden & problem.hideable),
        hints=search.stored.hints,
    )
    state = engine_for(problem).restore(stored)
    more = state.repair(stopped=search.stopped)
    search.restoring = search.seconds - begun
    if search.stopped():
        search.offer(stored, "taken up from the checkpoint, not looked at again")
    elif more:
        search.offer(state.pattern(), "taken up from the checkpoint, and mended")
    else:
        search.offer(state.pattern(), "taken up from the checkpoint")
