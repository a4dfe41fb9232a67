"""GenSup: the genetic algorithm of Almeida, Schuetz & Carvalho (2008).

Individuals are safe patterns. The first generation comes from the shortest path
heuristic with its own costs and with costs guided by the row and column bound, and from
parallel bound and path. Each of the best is mated with another at random; four children
are repaired along cheapest paths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import MethodError
from evosdc.evolution.selection import elite
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only, register
from evosdc.suppress.search import Search

if TYPE_CHECKING:
    from evosdc.suppress.evolve.mend import Mender
    from evosdc.suppress.network.engine import PatternState, TableNetwork

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class GensupParameters:
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
    best_share
        Chance of the fourth child to take a cell that only its better parent hides;
        those that only the other hides have the chance that is left.
    """

    population: int = 20
    iterations: int = 20
    patience: int = 10
    elite_share: float = 0.25
    best_share: float = 0.75

    def __post_init__(self) -> None:
        if self.population < 2 or not 0 < self.elite_share < 1:
            raise MethodError(
                f"a population of {self.population} with an elite of "
                f"{self.elite_share}",
                expected="at least 2 individuals and an elite share between 0 and 1",
            )


class Population:
    """Patterns in order of cost, no two of the same cost."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.states: list[PatternState] = []
        self.cost = np.zeros(0)

    def add(self, state: PatternState) -> bool:
        """Let a pattern in unless one of its cost is there; the dearest gives way."""
        cost = state.cost
        at = int(np.searchsorted(self.cost, cost))
        near = self.cost[max(0, at - 1) : at + 1]
        if np.any(np.abs(near - cost) <= 1e-9 * max(1.0, cost)):
            return False
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
    from evosdc.suppress.evolve.mend import Mender
    from evosdc.suppress.network.engine import TableNetwork

    network = TableNetwork(problem)
    mender = Mender(network, search.rng(0))
    people = first_generation(network, mender, parameters.population, search)
    rng = search.rng(1)
    held = 0
    for iteration in range(1, parameters.iterations + 1):
        if search.stopped() or held >= parameters.patience or len(people.states) < 2:
            break
        held += 1
        if _iterate(people, mender, parameters, iteration, rng, search):
            held = 0
        search.generations += 1
        search.note(f"iteration {iteration}", people.diversity())
    assert search.best is not None
    return search.best


def first_generation(
    network: TableNetwork, mender: Mender, size: int, search: Search
) -> Population:
    """Make the first generation; the first pattern is always made in full."""
    from evosdc.suppress.construct.pbp import bound_and_path
    from evosdc.suppress.exact.bounds import node_bound
    from evosdc.suppress.network.engine import PatternState

    people = Population(size)
    state = PatternState(network)
    state.cover()
    state.clean_up(stopped=search.stopped)
    _welcome(people, state, search, "shortest paths")
    if not len(network) or search.stopped():
        return people
    bound = node_bound(network.problem)
    search.raise_bound(bound.value)
    cost = network.problem.cost
    guided = PatternState(network.with_cost(cost * (1.0 - 0.999 * bound.fractions)))
    guided.cover()
    state = guided.with_network(network)
    mender.prune(state)
    _welcome(people, state, search, "shortest paths guided by the bound")
    # Shifts that lead to a pattern of a cost already there are passed over.
    for shift in range(2 * size):
        if search.stopped() or len(people.states) == size:
            break
        state = bound_and_path(network, shift)
        mender.prune(state)
        _welcome(people, state, search, "bound and path")
    return people


def _welcome(
    people: Population, state: PatternState, search: Search, event: str
) -> bool:
    search.count()
    search.offer(state.pattern(), event)
    return people.add(state)


def _iterate(
    people: Population,
    mender: Mender,
    parameters: GensupParameters,
    iteration: int,
    rng: np.random.Generator,
    search: Search,
) -> bool:
    """Breed one generation; return whether the best got better."""
    count = len(people.states)
    leaders = elite(people.cost, max(1, int(parameters.elite_share * count)))
    others = np.setdiff1d(np.arange(count), leaders)
    pairs = [
        (people.states[i], people.states[int(others[rng.integers(len(others))])])
        for i in leaders
    ]
    improved = False
    for better, other in pairs:
        children: list[PatternState] = []
        for hidden in cross(better.hidden, other.hidden, parameters.best_share, rng):
            if search.stopped():
                return improved
            child = mender.child(better, hidden)
            improved |= _judge(people, child, mender, search)
            children.append(child)
        if iteration == parameters.iterations // 2:
            best = min(children, key=lambda state: state.cost).copy()
            _mutate(best, mender, search)
            improved |= _judge(people, best, mender, search)
    return improved


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


def _judge(
    people: Population, child: PatternState, mender: Mender, search: Search
) -> bool:
    """Let a child in; every new best is mutated too. Return whether it is one."""
    search.count()
    if not search.offer(child.pattern(), "child"):
        people.add(child)
        return False
    people.add(child)
    mutant = child.copy()
    _mutate(mutant, mender, search)
    search.offer(mutant.pattern(), "mutant")
    people.add(mutant)
    return True


def _mutate(state: PatternState, mender: Mender, search: Search) -> None:
    """Drop each secondary in turn and run the shortest path heuristic."""
    search.count(len(state.secondaries))
    mender.drop_in_turn(state, state.secondaries)


register(
    Method(
        name="gensup",
        summary="genetic algorithm on patterns, children repaired by cheapest paths",
        tables="two-dimensional",
        source="Almeida, Schuetz & Carvalho 2008",
        parameters=GensupParameters,
        run=run_gensup,
        takes=networks_only,
    )
)
