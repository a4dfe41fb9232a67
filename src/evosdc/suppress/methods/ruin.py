"""Local search by ruin and recreate with late acceptance (``ls-ruin``).

The honest rival of the genetic methods: it works on one pattern, publishes a few of its
secondaries, covers the levels that broke along cheapest paths under costs blurred at
random, and publishes what became redundant nearby. Ruin and recreate is due to
Schrimpf et al. (2000), late acceptance to Burke & Bykov (2017).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.finish import finish
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.mend import make_log
from evosdc.suppress.engine.network.ruin_kernels import Walk, walk_on
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search

# Steps between two looks at the clock.
_PIECE = 20
# A step this share dearer than allowed is given up before it is tidied, since tidying
# rarely saves more.
_SLACK = 0.03


@dataclass(frozen=True)
class RuinParameters:
    """Options of ruin and recreate.

    Attributes
    ----------
    steps
        Steps in all; a time or evaluation limit may end the run before.
    most
        Cells a step publishes at most.
    memory
        Steps that late acceptance looks back.
    blur
        How far the costs that steer the paths stray: the standard deviation of their
        logarithms.
    turn
        Steps between two blurs.
    """

    steps: int = 100_000
    most: int = 3
    memory: int = 20
    blur: float = 0.8
    turn: int = 40


class Walker:
    """One pattern on its walk through ruin and recreate.

    Parameters
    ----------
    state
        Where to start; every level covered. It is changed.
    rng
        All randomness of the walk.
    guide
        Costs that steer the paths, before blurring; the problem's own unless given.
    """

    def __init__(
        self,
        state: PatternState,
        rng: np.random.Generator,
        parameters: RuinParameters,
        guide: NDArray[np.float64] | None = None,
    ) -> None:
        self.state = state
        self.parameters = parameters
        self._network = state.network
        self._rng = rng
        self._guide = state.network.problem.cost if guide is None else guide
        self._walk = _make_walk(state, rng, parameters.memory)
        self._log = make_log(state)

    @property
    def steps(self) -> int:
        """Steps made so far."""
        return int(self._walk.steps[0])

    @property
    def cost(self) -> float:
        """Cost of the present pattern."""
        return float(self._walk.cost[0])

    @property
    def best_cost(self) -> float:
        """Cost of the best pattern met."""
        return float(self._walk.cost[1])

    def best(self) -> Pattern:
        """Return the best pattern met."""
        problem = self._network.problem
        hidden = problem.primary.copy()
        hidden[self._walk.best[: self._walk.size[0]]] = True
        return problem.pattern(hidden)

    def turn(self, stopped: Callable[[], bool]) -> None:
        """Make the steps of one turn under freshly blurred costs, unless stopped."""
        network, cost = self._network, self._network.problem.cost
        arcs = self._blurred().arcs
        end = self.steps + self.parameters.turn
        while self.steps < end and not stopped():
            wanted = min(_PIECE, end - self.steps)
            made = walk_on(
                arcs,
                network.demands,
                self.state.live,
                network.work,
                self._log,
                self._walk,
                cost,
                self.parameters.most,
                wanted,
            )
            if made < wanted:
                self.state.make_room()
                self._log = make_log(self.state)

    def _blurred(self) -> TableNetwork:
        blur = self.parameters.blur
        noise = np.exp(self._rng.normal(0.0, blur, len(self._guide)))
        return self._network.with_cost(self._guide * noise)


def improve(
    state: PatternState,
    rng: np.random.Generator,
    stopped: Callable[[], bool],
    parameters: RuinParameters,
    guide: NDArray[np.float64] | None = None,
    heard: Callable[[Walker], None] = lambda _: None,
) -> Pattern:
    """Walk from a covered state and return the best pattern met.

    Ends after ``parameters.steps`` steps or when `stopped` says so; `heard` is told
    after each turn. The state is changed. Where no cell is hidden beside the primaries
    there is nothing to do.
    """
    if not len(state.secondaries):
        return state.pattern()
    walker = Walker(state, rng, parameters, guide)
    while walker.steps < parameters.steps and not stopped():
        walker.turn(stopped)
        heard(walker)
    return walker.best()


def improve_in(
    search: Search,
    state: PatternState,
    rng: np.random.Generator,
    parameters: RuinParameters,
    stopped: Callable[[], bool] | None = None,
    guide: NDArray[np.float64] | None = None,
    event: str = "ruin and recreate",
) -> Pattern:
    """Walk within a run: count the steps and offer what is better."""
    until = search.stopped if stopped is None else stopped
    return improve(state, rng, until, parameters, guide, reporter(search, event))


def reporter(search: Search, event: str) -> Callable[[Walker], None]:
    """Return what counts a walker's steps in a run and offers what is better."""
    counted = 0

    def hear(walker: Walker) -> None:
        nonlocal counted
        search.count(walker.steps - counted)
        counted = walker.steps
        if search.best is None or walker.best_cost < search.best.cost:
            search.offer(walker.best(), event)

    return hear


def _make_walk(state: PatternState, rng: np.random.Generator, memory: int) -> Walk:
    cost = state.cost
    cells = len(state.network.problem.table)
    best = np.zeros(cells, dtype=np.int32)
    secondaries = state.secondaries
    best[: len(secondaries)] = secondaries
    return Walk(
        state=rng.integers(0, 2**63, 1).astype(np.uint64),
        cost=np.array([cost, cost]),
        history=np.full(memory, cost),
        best=best,
        size=np.array([len(secondaries)], dtype=np.int64),
        steps=np.zeros(1, dtype=np.int64),
        slack=np.array([_SLACK * cost]),
        critic=np.zeros(cells, dtype=np.int32),
    )


def run_ruin(problem: Problem, parameters: RuinParameters, search: Search) -> Pattern:
    """Build a pattern by shortest paths and walk on from it."""
    network = TableNetwork(problem)
    state = PatternState(network)
    state.cover()
    finish(state, search, True, "shortest paths")
    improve_in(search, state, search.rng(1), parameters)
    assert search.best is not None
    return search.best


METHOD = Method(
    name="ls-ruin",
    summary="local search: ruin, recreate by cheapest paths, late acceptance",
    tables="two-dimensional",
    source="after Schrimpf et al. 2000; Burke & Bykov 2017",
    parameters=RuinParameters,
    run=run_ruin,
    takes=networks_only,
)
