"""Ruin and recreate within a run: what local search, breeding and orders share.

A step publishes a few secondaries, covers the levels that broke under costs blurred at
random, and publishes what became redundant nearby. Ruin and recreate is due to
Schrimpf et al. (2000).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evosdc.suppress.engine.base import AnyEngine, State, Stopped, Walker, WalkOptions
from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.search import Search


def build_and_walk(
    engine: AnyEngine,
    search: Search,
    steps: int,
    options: WalkOptions,
    *,
    built: str,
    walked: str,
) -> Pattern:
    """Build a pattern and walk on from it; the record calls these so."""
    state = engine.start()
    first = cover_and_finish(state, search, built)
    walker = engine.walker(state, search.rng(1), options)
    if walker is None:
        search.note("there is nothing to publish, or no dimensions to rebuild along")
        return first
    walk(walker, search, steps, search.stopped, walked)
    assert search.best is not None
    final = state.pattern()
    # The state has hints for the judge; late acceptance may have left the best.
    return final if final.cost == search.best.cost else search.best


def walk(
    walker: Walker,
    search: Search,
    steps: int,
    stopped: Stopped,
    event: str = "ruin and recreate",
) -> Pattern:
    """Make so many steps unless stopped; return the best pattern met."""
    report = reporter(search, event)
    while walker.steps < steps and not stopped():
        if not walker.turn(stopped, steps - walker.steps):
            break
        report(walker)
    return walker.best()


def walk_from(
    engine: AnyEngine,
    state: State,
    search: Search,
    rng: np.random.Generator,
    steps: int,
    stopped: Stopped,
    options: WalkOptions | None = None,
) -> Pattern | None:
    """Walk from a covered state, which is changed; None where it cannot."""
    walker = engine.walker(state, rng, options)
    return None if walker is None else walk(walker, search, steps, stopped)


def reporter(search: Search, event: str) -> Callable[[Walker], None]:
    """Return what counts a walker's steps in a run and offers what is better."""
    counted = 0

    def report(walker: Walker) -> None:
        nonlocal counted
        search.count(walker.steps - counted)
        counted = walker.steps
        if search.best is None or walker.best_cost < search.best.cost:
            search.offer(walker.best(), event)

    return report
