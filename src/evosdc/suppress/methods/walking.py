"""Local search by ruin and recreate, by itself and within other methods.

A step publishes a few secondaries, covers the levels that broke under costs blurred at
random, and publishes what became redundant nearby. Ruin and recreate is due to
Schrimpf et al. (2000). ``ls-ruin`` covers levels of networks along cheapest paths, with
the late acceptance of Burke & Bykov (2017); ``ls-rebuild`` covers those of any table by
the cheapest boxes and cycles, and keeps what is not more expensive.
"""

from __future__ import annotations

from dataclasses import dataclass

from evosdc.options import MethodOptions
from evosdc.suppress.engine.base import (
    AnyEngine,
    State,
    Walker,
    WalkOptions,
    cover_and_finish,
    reporter,
    restored,
)
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method, network_method
from evosdc.suppress.run.search import Exchange, Search

# Steps under one blur of the costs. At half of it drawing costs takes a larger part of
# the time, at twice of it walks stay longer near the same cells.
_STEPS_PER_BLUR = 32


@dataclass(frozen=True)
class WalkPlan:
    """A walk from a pattern: the engine, how it steps, how far, what it is called."""

    engine: type[NetworkEngine] | type[GeneralEngine]
    options: WalkOptions
    steps: int
    walked: str


class Walk:
    """A walk that can be stopped and go on, from a pattern of its own.

    Its run knows the best pattern of all: where the walk is stuck with a more expensive
    one it goes on from that.
    """

    def __init__(self, problem: Problem, plan: WalkPlan, search: Search) -> None:
        self._plan, self._search = plan, search
        self.engine: AnyEngine = plan.engine(problem)
        self._rng = search.rng(1)
        self._walker: Walker | None = None
        self._stuck = False

    def begin(self, state: State) -> bool:
        """Walk on from a state; False where it cannot."""
        self._walker = self.engine.walker(state, self._rng, self._plan.options)
        return self._walker is not None

    def go_on(self) -> None:
        """Walk until stopped."""
        search, plan = self._search, self._plan
        if self._walker is None:
            self.begin(self._first())
        elif self._stuck and search.best and search.best.cost < self._walker.best_cost:
            self.begin(restored(self.engine, search.best, search))
        walker = self._walker
        if walker is None:
            return
        before = walker.best_cost
        report = reporter(search, plan.walked, walker.steps)
        while walker.steps < plan.steps and not search.stopped():
            if not walker.turn(search.stopped, plan.steps - walker.steps):
                break
            report(walker)
        self._stuck = walker.best_cost >= before

    def _first(self) -> State:
        """A pattern whose levels are covered in any order."""
        state: State = self.engine.start()
        order = self._rng.permutation(len(self.engine.demands))
        state.cover(order, stopped=self._search.stopped)
        state.clean_up(stopped=self._search.stopped)
        return state


def build_and_walk(
    problem: Problem, plan: WalkPlan, search: Search, *, built: str
) -> Pattern:
    """Build a pattern and walk on from it, with the same walk on other workers.

    A run that was cut short walks on from what it had. The record says that a pattern
    was built.
    """
    here = Walk(problem, plan, search)
    if search.best is None:
        state: State = here.engine.start()
        first = cover_and_finish(state, search, built)
    else:
        first = search.best
        state = restored(here.engine, first, search)
    if not here.begin(state):
        search.note("there is nothing to publish, or no dimensions to rebuild along")
        return first
    with Exchange(problem, search, Walk, plan):
        here.go_on()
    final = state.pattern()
    # The state has hints for the judge; late acceptance may have left the best.
    return final if final.cost == search.found.cost else search.found


@dataclass(frozen=True)
class RebuildParameters(MethodOptions):
    """Options of ruin and recreate on any table.

    Attributes
    ----------
    steps
        Steps in all; a time or evaluation limit may end the run before.
    most
        Cells a step publishes at most.
    blur
        How far the costs that guide the search vary: the standard deviation of their
        logarithms.
    """

    steps: int = 1_000_000
    most: int = 4
    blur: float = 0.3


@dataclass(frozen=True)
class RuinParameters(RebuildParameters):
    """Options of ruin and recreate on networks.

    Attributes
    ----------
    memory
        Steps that late acceptance looks back.
    turn
        Steps between two blurs.
    patience
        Steps without a better pattern after which the walk begins again from one that
        is largely rebuilt, and at least twenty per secondary; 0 for never.
    """

    steps: int = 100_000
    most: int = 3
    blur: float = 0.8
    memory: int = 20
    turn: int = 40
    patience: int = 400


def run_ruin(problem: Problem, parameters: RuinParameters, search: Search) -> Pattern:
    """Build a pattern by shortest paths and walk on from it."""
    p = parameters
    options = WalkOptions(p.most, p.blur, p.turn, p.memory, p.patience)
    plan = WalkPlan(NetworkEngine, options, p.steps, "ruin and recreate")
    return build_and_walk(problem, plan, search, built="shortest paths")


RUIN = network_method(
    name="ls-ruin",
    summary="local search: ruin, recreate by cheapest paths, late acceptance",
    source="after Schrimpf et al. 2000; Burke & Bykov 2017",
    parameters=RuinParameters,
    run=run_ruin,
)


def run_rebuild(
    problem: Problem, parameters: RebuildParameters, search: Search
) -> Pattern:
    """Build a pattern by the incremental attacker and rebuild it bit by bit."""
    options = WalkOptions(parameters.most, parameters.blur, _STEPS_PER_BLUR)
    plan = WalkPlan(GeneralEngine, options, parameters.steps, "rebuilt")
    return build_and_walk(problem, plan, search, built="attacker programs")


REBUILD = Method(
    name="ls-rebuild",
    summary="local search: ruin, recreate by cheapest boxes and cycles",
    tables="any; quickest where there are dimensions, labelled or found",
    source="after Schrimpf et al. 2000",
    parameters=RebuildParameters,
    run=run_rebuild,
)
