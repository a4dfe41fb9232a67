"""GAPN, the protection network algorithm of Ditrich (2010), as Herrington describes it.

Crossover exchanges the cells of simple rectangles around a sensitive cell; children
that are not safe are rejected. Mutation looks for redundant cells of the better child,
where most is hidden first. The description gives no sizes; the defaults are GenSup's
population and a patience to match.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Long
from evosdc.evolution.replacement import worst
from evosdc.evolution.selection import tournament
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.mend import Mender
from evosdc.suppress.papers.circuits import (
    CircuitIndividual,
    costs_of,
    hidden_at,
    publish_redundant,
    rectangles,
    simple_rectangles,
)
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class GapnParameters(MethodOptions):
    """Options of GAPN.

    Attributes
    ----------
    population
        Individuals.
    generations, patience
        Generations in all, and without a better best.
    removals
        Redundant cells that one mutation publishes at most.
    """

    population: int = option(20, least=2)
    generations: int = 500
    patience: int = 100
    removals: int = 4


def run_gapn(problem: Problem, parameters: GapnParameters, search: Search) -> Pattern:
    """Run GAPN."""
    network = TableNetwork(problem)
    mender, rng = Mender(network, search.rng(0)), search.rng(1)
    cells = np.unique(network.demands.cell)
    population: list[CircuitIndividual] = []
    for number in range(parameters.population):
        if number and search.stopped():
            break
        state, _ = rectangles(network, search.rng(2, number).permutation(cells))
        search.count()
        search.offer(state.pattern(), "first generation")
        population.append(CircuitIndividual(state, simple_rectangles(state)))
    held = 0
    for _ in range(parameters.generations if len(cells) and len(population) > 1 else 0):
        if search.stopped() or held >= parameters.patience:
            break
        search.generations += 1
        held += 1
        one, two = (population[i] for i in tournament(costs_of(population), 2, rng))
        for child in _offspring(one, two, parameters, mender, rng):
            search.count()
            if search.offer(child.state.pattern(), "child"):
                held = 0
            at = worst(costs_of(population), child.cost)
            if at >= 0:
                population[at] = child
    # What was never crossed away is still redundant in the best pattern.
    best = min(population, key=lambda individual: individual.cost).state.copy()
    mender.prune(best)
    search.count()
    search.offer(best.pattern(), "cleaned up")
    assert search.best is not None
    return search.best


def _offspring(
    one: CircuitIndividual,
    two: CircuitIndividual,
    parameters: GapnParameters,
    mender: Mender,
    rng: np.random.Generator,
) -> list[CircuitIndividual]:
    """Exchange rectangles of one sensitive cell and mutate the better child."""
    ready = [k for k in one.circuits if len(one.circuits[k]) and len(two.circuits[k])]
    if not ready:
        return []
    cell = ready[int(rng.integers(len(ready)))]
    both = (
        one.with_circuit(cell, two.circuits[cell]),
        two.with_circuit(cell, one.circuits[cell]),
    )
    children = [child for child in both if child is not None]
    if children:
        better = min(children, key=lambda child: child.cost)
        for _ in range(parameters.removals):
            order = crowded_first(better.state)
            if not publish_redundant(better, mender, order, len(order)):
                break
    return children


def crowded_first(state: PatternState) -> Long:
    """Order the secondaries by how much is hidden in their row and column."""
    arcs, crowd, cells = state.network.arcs, hidden_at(state), state.secondaries
    weight = crowd[arcs.tail[cells]] + crowd[arcs.head[cells]]
    return cells[np.argsort(-weight, kind="stable")]


METHOD = Method(
    name="gapn",
    summary="genetic algorithm that exchanges simple rectangles",
    tables="two-dimensional",
    source="Ditrich 2010, as described by Herrington 2015",
    parameters=GapnParameters,
    run=run_gapn,
    takes=networks_only,
)
