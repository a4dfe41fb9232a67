"""HeurGene and GAPN: genetic algorithms that exchange circuits of protection.

In HeurGene (Herrington 2015) crossover swaps the whole circuit of a sensitive cell
between two patterns and keeps the cells that other circuits share, so that children are
safe as a rule; it is accepted only where a child beats the cheaper parent. Mutation
publishes a redundant cell and joins the circuits that it stood in.

The defaults are as published but for four steps where ours is cheaper; options put
the published ones back: ``rectangles=further``, ``crowded``, ``redraw`` and
``replace_best``. What the author proposes in his last chapter has options too:
`diversity`, `seeding`, `crossover`, `mutation` and `cost_benefit`.

GAPN, the protection network algorithm of Ditrich (2010), as Herrington describes it:
crossover exchanges the cells of simple rectangles around a sensitive cell; children
that are not safe are rejected. Mutation looks for redundant cells of the better child,
where most is hidden first. The description gives no sizes; the defaults are GenSup's
population and a patience to match.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.evolution.replacement import REPLACEMENTS, worst
from evosdc.evolution.selection import SELECTIONS, tournament
from evosdc.evolution.stopping import CostBenefit
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.network.engine import NetworkMender
from evosdc.suppress.engine.network.state import PatternState, TableNetwork
from evosdc.suppress.methods.shortest_paths import bound_and_path
from evosdc.suppress.papers.circuits import (
    CircuitIndividual,
    Circuits,
    add_and_publish,
    costs_of,
    exchanged,
    met_at,
    publish_crowded,
    publish_redundant,
    rectangles,
    renew,
    simple_rectangles,
    witness_circuit,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import network_method
from evosdc.suppress.run.search import Search

PROBABILISTIC = "probabilistic"
# Selection and replacement of each strategy of the portfolio.
STRATEGIES = {
    "roulette/kill": ("roulette", "kill-tournament"),
    "roulette/similar": ("roulette", "most-similar"),
    "tournament/kill": ("tournament", "kill-tournament"),
    "tournament/similar": ("tournament", "most-similar"),
    "elite/elite": ("elite", "elite"),
}
# "Several" individuals are drawn for a place, says the source, without a number. With
# one or two the newcomer replaces more at random, with six nearly always the same.
_DRAWS_PER_PLACE = 3


@dataclass(frozen=True)
class HeurgeneParameters(MethodOptions):
    """Options of HeurGene, with the published defaults.

    Attributes
    ----------
    population
        Individuals; one is not bred, and is the hypercube method of the source.
    generations, patience
        Generations in all, and without a better best.
    rectangles
        each: the cheapest rectangle for each level of a cell (published), the cheapest
        paths where none takes it. further: where none does, rectangles are added until
        they do together (published). both: one rectangle takes both levels of a cell.
    pruned
        Publish what is redundant in the first generation.
    crowded
        Look for it only in rows and columns that hide more than two cells, in the
        order of the table (published). Otherwise everywhere, most expensive first.
    safe
        exact: a cell is redundant where all that is hidden protects without it.
        circuits: where the circuit kept with each sensitive cell does, a reading of
        the source's words, in crowded clean-up and in mutation.
    redraw
        A generation mates one pair; where that fails new parents are drawn, and so
        many failures in a row as `patience` says end the run (published). Otherwise a
        generation mates half the population and failures are let be.
    replace_best
        A newcomer may take the place of the best (published): of several drawn, the
        one most like it, or the most expensive if the newcomer is cheaper. Otherwise
        the best stays, and all are looked at for the one most like the newcomer.
    strategy
        A pair of selection and replacement, or probabilistic: roulette and tournament,
        kill tournament and most similar for 45 % each, elite for the rest.
    circuit
        Cells of a circuit at most.
    tries
        Circuits tried until a child beats the cheaper parent.
    diversity
        What most similar looks at: cells (published), or circuits, which also mates
        the one of two that differs in more circuits (the author's wish).
    seeding
        The first generation: rectangles over a random order (published) or the
        non-random patterns of parallel bound and path (the author's wish).
    crossover
        random: the first circuit of a random order whose swap makes a cheaper child
        (published). directed: the swap of all circuits that makes the cheapest child,
        as long as the child is safe (the author's wish).
    mutation
        publish: a redundant cell is published (published). add: a cell that closes a
        rectangle with hidden cells of a circuit is hidden first, where more can be
        published for it (the author's wish). none: no mutation, to measure the others.
    cost_benefit
        Stop when the gain per second falls below this share of the cost (the author's
        wish); 0 never does.
    """

    population: int = option(10, least=1)
    generations: int = 1000
    patience: int = 100
    strategy: str = option(PROBABILISTIC, known=(*STRATEGIES, PROBABILISTIC))
    circuit: int = 32
    tries: int = 100
    diversity: str = option("cells", known=("cells", "circuits"))
    seeding: str = option("random", known=("random", "bound-and-path"))
    rectangles: str = option("each", known=("each", "further", "both"))
    pruned: bool = True
    crowded: bool = False
    safe: str = option("exact", known=("exact", "circuits"))
    redraw: bool = False
    replace_best: bool = False
    crossover: str = option("random", known=("random", "directed"))
    mutation: str = option("publish", known=("publish", "add", "none"))
    cost_benefit: float = 0.0


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


P = TypeVar("P", bound=HeurgeneParameters | GapnParameters)


class _Breeding(ABC, Generic[P]):
    """A population of patterns with circuits, and how it breeds."""

    def __init__(self, problem: Problem, parameters: P, search: Search) -> None:
        self.network = TableNetwork(problem)
        self.parameters = parameters
        self.search = search
        self.mender = NetworkMender(self.network, search.rng(0))
        self.rng = search.rng(1)
        self.population: list[CircuitIndividual] = []
        self.open = np.unique(self.network.demands.cell)

    def run(self) -> None:
        """Make the first generation and breed until a limit is met.

        One individual is always made.
        """
        parameters, search, held = self.parameters, self.search, 0
        for number in range(parameters.population):
            if number and search.stopped():
                return
            self.population.append(self._first(number))
            self._report(self.population[-1], "first generation")
        while (
            len(self.population) > 1
            and len(self.open)
            and search.generations < parameters.generations
            and held < parameters.patience
            and not search.stopped()
        ):
            held = 0 if self._generation() else held + 1
            search.generations += 1
            if self._is_over():
                return

    @abstractmethod
    def _first(self, number: int) -> CircuitIndividual:
        """Make an individual of the first generation."""

    @abstractmethod
    def _generation(self) -> bool:
        """Make a generation; return whether the best improved."""

    def _is_over(self) -> bool:
        """Whether the method has limits of its own that are met."""
        return False

    def _random_order(self, number: int) -> Long:
        return self.search.rng(2, number).permutation(self.open)

    def _report(self, individual: CircuitIndividual, event: str) -> bool:
        self.search.count()
        return self.search.offer(individual.state.pattern(), event)


class _HeurGene(_Breeding[HeurgeneParameters]):
    def __init__(
        self, problem: Problem, parameters: HeurgeneParameters, search: Search
    ) -> None:
        super().__init__(problem, parameters, search)
        self.exact = parameters.safe == "exact"
        self.by_circuits = parameters.diversity == "circuits"
        self.childless = False  # the last pair

    def _first(self, number: int) -> CircuitIndividual:
        state, circuits = self._protected(number)
        if self.parameters.pruned and self.parameters.crowded:
            publish_crowded(state, self.mender, None if self.exact else circuits)
        elif self.parameters.pruned:
            self.mender.prune(state)
        return CircuitIndividual(state, renew(state, circuits, self.parameters.circuit))

    def _protected(self, number: int) -> tuple[PatternState, Circuits]:
        if self.parameters.seeding == "random":
            order = self._random_order(number)
            return rectangles(self.network, order, self.parameters.rectangles)
        state = bound_and_path(self.network, number)
        most = self.parameters.circuit
        return state, {k: witness_circuit(state, k, most) for k in self.open.tolist()}

    def _generation(self) -> bool:
        """Mate one pair, or half as many pairs as there are individuals."""
        improved = False
        redraw = self.parameters.redraw
        for _ in range(1 if redraw else self.parameters.population // 2):
            select, replace = self._strategy()
            children: list[CircuitIndividual] = []
            for _ in range(self.parameters.patience if redraw else 1):
                if self.search.stopped():
                    return improved
                children = self._cross(*self._parents(select))
                if children:
                    break
            self.childless = not children
            for child in children:
                self._mutate(child)
                improved |= self._report(child, "child")
                self._admit(child, replace)
        return improved

    def _strategy(self) -> tuple[str, str]:
        if self.parameters.strategy != PROBABILISTIC:
            return STRATEGIES[self.parameters.strategy]
        names = (("roulette", "tournament"), ("kill-tournament", "most-similar"))
        draw = self.rng.random(2)
        if draw[0] >= 0.9:
            return STRATEGIES["elite/elite"]
        return names[0][int(draw[0] >= 0.45)], names[1][int(draw[1] >= 0.5)]

    def _parents(self, select: str) -> tuple[CircuitIndividual, CircuitIndividual]:
        wanted = min(3 if self.by_circuits else 2, len(self.population))
        chosen = SELECTIONS[select](costs_of(self.population), wanted, self.rng)
        first, *others = (self.population[i] for i in chosen.tolist())
        # max keeps the first of equals, so the same seed mates the same pair.
        mate = max(others, key=first.differing) if self.by_circuits else others[0]
        return first, mate

    def _cross(
        self, one: CircuitIndividual, two: CircuitIndividual
    ) -> list[CircuitIndividual]:
        """Swap a circuit where a child beats the cheaper parent; unsafe ones go."""
        least = min(one.cost, two.cost) * (1 - 1e-12)
        if one is two or not len(self.open):
            return []
        if self.parameters.crossover == "directed":
            return self._cross_directed(one, two, least)
        cost = self.network.problem.cost
        for cell in self.rng.permutation(self.open)[: self.parameters.tries].tolist():
            mine, theirs = one.circuits[cell], two.circuits[cell]
            # Circuits of the same cost are taken to be the same.
            if cost[mine].sum() == cost[theirs].sum():
                continue
            if min(one.swap(cell, theirs)[2], two.swap(cell, mine)[2]) < least:
                return exchanged(one, two, cell)
        return []

    def _cross_directed(
        self, one: CircuitIndividual, two: CircuitIndividual, least: float
    ) -> list[CircuitIndividual]:
        """Swap the circuit that makes the cheapest safe child below `least`."""
        swaps = []
        for cell in self.open.tolist():
            mine, theirs = one.circuits[cell], two.circuits[cell]
            if not np.array_equal(mine, theirs):
                swaps.append((one.swap(cell, theirs)[2], cell, one, theirs))
                swaps.append((two.swap(cell, mine)[2], cell, two, mine))
        for cost, cell, parent, circuit in sorted(swaps, key=lambda swap: swap[:2]):
            if cost >= least:
                break
            child = parent.with_circuit(cell, circuit)
            if child is not None:
                return [child]
        return []

    def _mutate(self, child: CircuitIndividual) -> None:
        if self.parameters.mutation == "none":
            return
        cell, most = int(self.rng.choice(self.open)), self.parameters.circuit
        if self.parameters.mutation == "add":
            add_and_publish(child, self.mender, cell, self.parameters.tries, most)
        circuit = self.rng.permutation(child.circuits[cell])
        publish_redundant(child, self.mender, circuit, most, not self.exact)

    def _admit(self, child: CircuitIndividual, replace: str) -> None:
        cost = costs_of(self.population)
        similar = replace == "most-similar"
        if self.parameters.replace_best and replace != "elite":
            drawn = self.rng.integers(0, len(cost), min(_DRAWS_PER_PLACE, len(cost)))
            if similar:
                far = self._distances(child, [self.population[n] for n in drawn])
                at = int(drawn[np.argmin(far)])
            else:
                at = int(drawn[np.argmax(cost[drawn])])
                at = at if child.cost < cost[at] else -1
        else:
            # Only most similar looks at distances.
            far = self._distances(child, self.population) if similar else 0 * cost
            at = REPLACEMENTS[replace](cost, child.cost, far, self.rng)
        if at >= 0:
            self.population[at] = child

    def _is_over(self) -> bool:
        if self.parameters.redraw and self.childless:
            return True
        if self.search.generations % 10 == 0:
            first, *others = self.population
            diversity = float(self._distances(first, others).mean())
            self.search.note("generation", diversity)
        least = self.parameters.cost_benefit
        stop = CostBenefit(least).reason(self.search.progress()) if least else None
        return stop is not None

    def _distances(
        self, one: CircuitIndividual, others: list[CircuitIndividual]
    ) -> Real:
        """How far others are from an individual, by the measure chosen."""
        measure = one.differing if self.by_circuits else one.distance
        return np.array([measure(other) for other in others], dtype=np.float64)


def run_heurgene(
    problem: Problem, parameters: HeurgeneParameters, search: Search
) -> Pattern:
    """Run HeurGene."""
    _HeurGene(problem, parameters, search).run()
    return search.found


HEURGENE = network_method(
    name="heurgene",
    summary="genetic algorithm that swaps circuits of protection between patterns",
    source="Herrington 2015",
    parameters=HeurgeneParameters,
    run=run_heurgene,
)


class _Gapn(_Breeding[GapnParameters]):
    def _first(self, number: int) -> CircuitIndividual:
        state, _ = rectangles(self.network, self._random_order(number))
        return CircuitIndividual(state, simple_rectangles(state))

    def _generation(self) -> bool:
        improved = False
        for child in self._offspring(
            *tournament(costs_of(self.population), 2, self.rng)
        ):
            improved |= self._report(child, "child")
            at = worst(costs_of(self.population), child.cost)
            if at >= 0:
                self.population[at] = child
        return improved

    def _offspring(self, first: int, second: int) -> list[CircuitIndividual]:
        """Exchange rectangles of one sensitive cell and mutate the better child."""
        one, two = self.population[first], self.population[second]
        ready = [k for k, c in one.circuits.items() if len(c) and len(two.circuits[k])]
        if not ready:
            return []
        children = exchanged(one, two, ready[int(self.rng.integers(len(ready)))])
        if children:
            better = min(children, key=lambda child: child.cost)
            for _ in range(self.parameters.removals):
                order = crowded_first(better.state)
                if not publish_redundant(better, self.mender, order, len(order)):
                    break
        return children


def crowded_first(state: PatternState) -> Long:
    """Order the secondaries by how much is hidden in their row and column."""
    arcs, cells = state.network.arcs, state.secondaries
    crowd = met_at(state.network, np.flatnonzero(state.hidden))
    weight = crowd[arcs.tail[cells]] + crowd[arcs.head[cells]]
    return cells[np.argsort(-weight, kind="stable")]


def run_gapn(problem: Problem, parameters: GapnParameters, search: Search) -> Pattern:
    """Run GAPN."""
    breeding = _Gapn(problem, parameters, search)
    breeding.run()
    # What was never crossed away is still redundant in the best pattern.
    best = min(breeding.population, key=lambda one: one.cost).state.copy()
    breeding.mender.prune(best)
    search.count()
    search.offer(best.pattern(), "cleaned up")
    return search.found


GAPN = network_method(
    name="gapn",
    summary="genetic algorithm that exchanges simple rectangles",
    source="Ditrich 2010, as described by Herrington 2015",
    parameters=GapnParameters,
    run=run_gapn,
)
