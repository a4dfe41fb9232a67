"""GenSup: the genetic algorithm of Almeida, Schuetz & Carvalho (2008).

Individuals are safe patterns. The first generation comes from the shortest path
heuristic with its own costs and with costs guided by the row and column bound, and from
parallel bound and path. Each of the best is mated with another at random; four children
are repaired along cheapest paths.

Two steps differ where ours costs less; ``guide=zero`` and ``pruned=false`` put the
published ones back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.evolution.selection import elite
from evosdc.options import MethodOptions, option
from evosdc.suppress.bounds.cut_loop import node_bound
from evosdc.suppress.engine.base import AnyEngine, Mender, State, Stopped, never
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.methods.shortest_paths import bound_and_path
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import network_method
from evosdc.suppress.run.search import Search

GUIDES = ("share", "zero")
# A relaxation hides more than this of a cell, or none of it: a numerical tolerance.
_HIDDEN_FRACTION = 1e-9
# Cells dropped between two looks at the clock. At half of it the call itself is felt on
# small tables, at twice of it a limit of time is passed by more on large ones.
_CELLS_PER_CLOCK_CHECK = 64


@dataclass(frozen=True)
class GensupParameters(MethodOptions):
    """Options of GenSup, with the published defaults.

    Attributes
    ----------
    population
        Individuals (P).
    iterations
        Iterations in all (alpha).
    patience
        Iterations without a better best (beta).
    elite_share
        Share of the population whose members are each mated with one of the others.
    guide
        Cost of a cell in the guided individual: cheap to the extent that the relaxation
        hides it (share), or nothing where it hides any of it (zero, as published).
    pruned
        Publish what is redundant in the individuals of parallel bound and path and in
        children before they enter; the source does so only to the two individuals of
        the shortest path heuristic.
    best_share
        Chance of the fourth child to take a cell that only its better parent hides;
        those that only the other hides have the chance that is left.
    """

    population: int = option(20, least=2)
    iterations: int = 20
    patience: int = 10
    elite_share: float = option(0.25, above=0, below=1)
    best_share: float = 0.75
    guide: str = option("share", known=GUIDES)
    pruned: bool = True


class Population:
    """Patterns in order of cost, no two of the same cost."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.states: list[State] = []
        self.cost = np.zeros(0)

    def add(self, state: State) -> bool:
        """Admit a pattern; of equal cost the one with fewer cells stays.

        The most expensive gives way.
        """
        cost = state.cost
        at = int(np.searchsorted(self.cost, cost))
        for near in range(max(0, at - 1), min(at + 1, len(self.cost))):
            if abs(self.cost[near] - cost) <= 1e-9 * max(1.0, cost):
                if len(state.secondaries) >= len(self.states[near].secondaries):
                    return False
                self.states[near], self.cost[near] = state, cost
                return True
        if at >= self.size:
            return False
        self.states.insert(at, state)
        self.cost = np.insert(self.cost, at, cost)
        del self.states[self.size :]
        self.cost = self.cost[: self.size]
        return True

    def diversity(self) -> float:
        """Mean number of cells in which individuals differ from the best."""
        best = self.states[0].hidden
        return float(np.mean([np.sum(s.hidden != best) for s in self.states]))


def run_gensup(
    problem: Problem, parameters: GensupParameters, search: Search
) -> Pattern:
    """Run GenSup."""
    engine = NetworkEngine(problem)
    mender = engine.mender(search.rng(0))
    population = first_generation(engine, mender, parameters, search)
    rng = search.rng(1)
    held = 0
    for iteration in range(1, parameters.iterations + 1):
        if (
            search.stopped()
            or held >= parameters.patience
            or len(population.states) < 2
        ):
            break
        held += 1
        halfway = iteration == parameters.iterations // 2
        if breed(population, mender, parameters, rng, search, mutate_all=halfway):
            held = 0
    return search.found


def first_generation(
    engine: NetworkEngine,
    mender: Mender[Any],
    parameters: GensupParameters,
    search: Search,
) -> Population:
    """Make the first generation; the first pattern is always made in full."""
    size = parameters.population
    population = Population(size)
    state: State = engine.start()
    state.cover()
    state.clean_up(stopped=search.stopped)
    admit(population, state, search, "shortest paths")
    if not len(engine.demands) or search.stopped():
        return population
    bound = node_bound(engine.problem)
    search.raise_bound(bound.value)
    share = bound.fractions
    if parameters.guide == "zero":
        state = engine.start()
        state.cover(price=np.where(share > _HIDDEN_FRACTION, 0.0, engine.problem.cost))
        mender.prune(state)
    else:
        state = guided_state(engine, mender, share)
    admit(population, state, search, "shortest paths guided by the bound")
    # Shifts that lead to a pattern of a cost already there are passed over.
    for shift in range(2 * size):
        if search.stopped() or len(population.states) == size:
            break
        state = bound_and_path(engine.network, shift)
        if parameters.pruned:
            mender.prune(state)
        admit(population, state, search, "bound and path")
    return population


def guided_price(problem: Problem, fractions: Real) -> Real:
    """Make cells cheap to the extent a relaxation hides them.

    A cell hidden in full keeps a thousandth of its cost: of two ways through such cells
    the cheaper one is taken.
    """
    price: Real = problem.cost * (1.0 - 0.999 * np.clip(fractions, 0.0, 1.0))
    return price


def guided_state(
    engine: AnyEngine,
    mender: Mender[Any],
    fractions: Real,
    noise: Real | float = 1.0,
    stopped: Stopped = never,
    order: Long | None = None,
    max_cost: float = np.inf,
) -> State:
    """Cover everything with cells cheap to the extent a relaxation hides them.

    Demands are covered by weight unless an order is given. What costs more than
    `max_cost` before it is pruned is left as it is.
    """
    price = guided_price(engine.problem, fractions)
    state: State = engine.start()
    state.cover(order, price=price * noise, stopped=stopped)
    if state.cost <= max_cost:
        mender.prune(state)
    return state


def admit(population: Population, state: State, search: Search, event: str) -> bool:
    search.count()
    search.offer(state.pattern(), event)
    return population.add(state)


def breed(
    population: Population,
    mender: Mender[Any],
    parameters: GensupParameters,
    rng: np.random.Generator,
    search: Search,
    stopped: Stopped | None = None,
    mutate_all: bool = False,
) -> bool:
    """Breed one generation; return whether the best got better.

    With `mutate_all` each pair's best child is mutated, not only every new best.
    """
    until = search.stopped if stopped is None else stopped
    search.generations += 1
    count = len(population.states)
    leaders = elite(population.cost, max(1, int(parameters.elite_share * count)))
    others = np.setdiff1d(np.arange(count), leaders)
    pairs = [
        (
            population.states[i],
            population.states[int(others[rng.integers(len(others))])],
        )
        for i in leaders
    ]
    improved = False
    for better, other in pairs:
        children: list[State] = []
        for hidden in cross(better.hidden, other.hidden, parameters.best_share, rng):
            if until():
                return improved
            child = repaired(mender, better, hidden, parameters.pruned)
            improved |= admit_child(population, child, mender, search, until)
            children.append(child)
        if mutate_all:
            best = min(children, key=lambda state: state.cost).copy()
            mutate(best, mender, search, until)
            improved |= admit_child(population, best, mender, search, until)
    search.note("generation", population.diversity())
    return improved


def repaired(mender: Mender[Any], parent: State, hidden: Flags, pruned: bool) -> State:
    """Make the child that hides some cells safe along cheapest paths."""
    if pruned:
        return mender.child(parent, hidden)
    state = parent.copy()
    state.become(hidden)
    state.cover(state.uncovered)
    return state


def cross(
    better: Flags, other: Flags, best_share: float, rng: np.random.Generator
) -> list[Flags]:
    """Make the four children of two patterns, the first parent being the cheaper."""
    point = int(rng.integers(1, len(better)))
    first = np.concatenate([better[:point], other[point:]])
    second = np.concatenate([other[:point], better[point:]])
    shared = better & other
    lucky = rng.random(len(better)) < np.where(better, best_share, 1.0 - best_share)
    return [first, second, shared, shared | ((better ^ other) & lucky)]


def admit_child(
    population: Population,
    child: State,
    mender: Mender[Any],
    search: Search,
    stopped: Stopped,
) -> bool:
    """Admit a child; every new best is mutated too. Return whether it is one."""
    search.count()
    if not search.offer(child.pattern(), "child"):
        population.add(child)
        return False
    population.add(child)
    mutant = child.copy()
    mutate(mutant, mender, search, stopped)
    search.offer(mutant.pattern(), "mutant")
    population.add(mutant)
    return True


def mutate(state: State, mender: Mender[Any], search: Search, stopped: Stopped) -> None:
    """Drop each secondary in turn and run the shortest path heuristic."""
    cells = state.secondaries
    for first in range(0, len(cells), _CELLS_PER_CLOCK_CHECK):
        if stopped():
            return
        batch = cells[first : first + _CELLS_PER_CLOCK_CHECK]
        search.count(len(batch))
        mender.drop_in_turn(state, batch)


METHOD = network_method(
    name="gensup",
    summary="genetic algorithm on patterns, children repaired by cheapest paths",
    source="Almeida, Schuetz & Carvalho 2008",
    parameters=GensupParameters,
    run=run_gensup,
)
