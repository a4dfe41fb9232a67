"""Ruin and recreate within a run: what local search, breeding and orders share.

A step publishes a few secondaries, covers the levels that broke under costs blurred at
random, and publishes what became redundant nearby. Ruin and recreate is due to
Schrimpf et al. (2000).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosdc.suppress.engine.base import AnyEngine, State, Stopped, Walker, WalkOptions
from evosdc.suppress.engine.finish import cover_and_finish
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.network_engine import NetworkEngine
from evosdc.suppress.methods.exchange import Companions
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class Plan:
    """A walk from a pattern: the engine, how it steps, how far, what it is called."""

    engine: type[NetworkEngine] | type[GeneralEngine]
    options: WalkOptions
    steps: int
    walked: str


class Walk:
    """A walk that can be stopped and go on, from a pattern of its own.

    Its run knows the best pattern of all: where the walk is stuck with a dearer one it
    goes on from that.
    """

    def __init__(self, problem: Problem, plan: Plan, search: Search) -> None:
        self._plan, self._search = plan, search
        self._engine: AnyEngine = plan.engine(problem)
        self._rng = search.rng(1)
        self._walker: Walker | None = None
        self._stuck = False

    def go_on(self) -> None:
        """Walk until stopped."""
        search, plan = self._search, self._plan
        if self._walker is None:
            self._walker = self._begin(self._first())
        elif self._stuck and search.best and search.best.cost < self._walker.best_cost:
            self._walker = self._begin(restored(self._engine, search.best, search))
        if self._walker is not None:
            before = self._walker.best_cost
            walk(self._walker, search, plan.steps, search.stopped, plan.walked)
            self._stuck = self._walker.best_cost >= before

    def _begin(self, state: State) -> Walker | None:
        return self._engine.walker(state, self._rng, self._plan.options)

    def _first(self) -> State:
        """A pattern whose levels are covered in any order."""
        state: State = self._engine.start()
        order = self._rng.permutation(len(self._engine.demands))
        state.cover(order, stopped=self._search.stopped)
        state.clean_up(stopped=self._search.stopped)
        return state


def restored(engine: AnyEngine, pattern: Pattern, search: Search) -> State:
    """Return a covered state of a pattern that was found elsewhere."""
    state: State = engine.restore(pattern)
    # Solvers differ in their last digits: what rests on them is asked again.
    state.repair(stopped=search.stopped)
    return state


def build_and_walk(
    problem: Problem, plan: Plan, search: Search, *, built: str
) -> Pattern:
    """Build a pattern and walk on from it, with companions on other workers.

    A run that was cut short walks on from what it had. The record says that a pattern
    was built.
    """
    engine: AnyEngine = plan.engine(problem)
    if search.best is None:
        state = engine.start()
        first = cover_and_finish(state, search, built)
    else:
        first = search.best
        state = restored(engine, first, search)
    walker = engine.walker(state, search.rng(1), plan.options)
    if walker is None:
        search.note("there is nothing to publish, or no dimensions to rebuild along")
        return first
    with Companions(problem, Walk, plan, search):
        walk(walker, search, plan.steps, search.stopped, plan.walked)
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
    """Make steps until there are so many or it is stopped; return the best pattern."""
    report = reporter(search, event, walker.steps)
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


def reporter(search: Search, event: str, counted: int = 0) -> Callable[[Walker], None]:
    """Return what counts a walker's steps in a run and offers what is better.

    So many of them are counted already.
    """

    def report(walker: Walker) -> None:
        nonlocal counted
        search.count(walker.steps - counted)
        counted = walker.steps
        if search.best is None or walker.best_cost < search.best.cost:
            search.offer(walker.best(), event)

    return report
