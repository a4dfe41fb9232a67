"""Take up what a run that was cut short had found."""

from __future__ import annotations

from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search


def take_up(problem: Problem, search: Search) -> None:
    """Offer the stored pattern, made safe where it is not.

    It is no evidence: somebody may have changed the file. So it is priced anew, its
    demands are covered again, and what must be published is. Where there is no time for
    that, it is offered as it is, and the judge says what it is worth.
    """
    if search.stored is None:
        return
    begun = search.seconds
    stored = problem.pattern(search.stored.hidden & problem.hideable)
    state = engine_for(problem).restore(stored)
    more = state.repair(stopped=search.stopped)
    search.restoring = search.seconds - begun
    if search.stopped():
        search.offer(stored, "taken up from the checkpoint, not looked at again")
    elif more:
        search.offer(state.pattern(), "taken up from the checkpoint, and mended")
    else:
        search.offer(state.pattern(), "taken up from the checkpoint")
