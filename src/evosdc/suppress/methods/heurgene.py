"""HeurGene: the genetic algorithm of Herrington (2015) on circuits of protection.

Crossover swaps the whole circuit of a sensitive cell between two patterns and keeps the
cells that other circuits share, so that children are safe as a rule; it is accepted
only where a child beats the cheaper parent. Mutation publishes a redundant cell and
joins the circuits that it stood in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import MethodError
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import SELECTIONS
from evosdc.evolution.stopping import CostBenefit
from evosdc.suppress.engine.network.engine import PatternState, TableNetwork
from evosdc.suppress.engine.network.mend import Mender
from evosdc.suppress.methods.circuits import (
    CircuitIndividual,
    publish_redundant,
    rectangles,
    renew,
    witness_circuit,
)
from evosdc.suppress.methods.pbp import bound_and_path
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, networks_only
from evosdc.suppress.search import Search

Cells = NDArray[np.int64]
PROBABILISTIC = "probabilistic"
# Selection and replacement of each strategy of the portfolio.
STRATEGIES = {
    "roulette/kill": ("roulette", "kill-tournament"),
    "roulette/similar": ("roulette", "most-similar"),
    "tournament/kill": ("tournament", "kill-tournament"),
    "tournament/similar": ("tournament", "most-similar"),
    "elite/elite": ("elite", "elite"),
}
DIVERSITIES = ("cells", "circuits")
SEEDINGS = ("random", "bound-and-path")


@dataclass(frozen=True)
class HeurgeneParameters:
    """Options of HeurGene, with the published defaults.

    Attributes
    ----------
    population
        Individuals.
    generations, patience
        Generations in all, and without a better best.
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
    cost_benefit
        Stop when the gain a second falls below this share of the cost (the author's
        wish); 0 never does.
    """

    population: int = 10
    generations: int = 1000
    patience: int = 100
    strategy: str = PROBABILISTIC
    circuit: int = 32
    tries: int = 100
    diversity: str = "cells"
    seeding: str = "random"
    cost_benefit: float = 0.0

    def __post_init__(self) -> None:
        for name, known in (
            ("strategy", (*STRATEGIES, PROBABILISTIC)),
            ("diversity", DIVERSITIES),
            ("seeding", SEEDINGS),
        ):
            if getattr(self, name) not in known:
                raise MethodError(
                    f"{name} {getattr(self, name)!r}",
                    expected=f"one of {', '.join(known)}",
                )
        if self.population < 2:
            raise MethodError(
                f"a population of {self.population}", expected="at least 2"
            )


class _Run:
    """One run: its population and how they mate."""

    def __init__(
        self, network: TableNetwork, parameters: HeurgeneParameters, search: Search
    ) -> None:
        self.network = network
        self.parameters = parameters
        self.search = search
        self.mender: Mender = Mender(network, search.rng(0))
        self.rng = search.rng(1)
        self.population: list[CircuitIndividual] = []
        self.open = np.unique(network.demands.cell)

    def settle(self) -> None:
        """Make the first generation; one individual is always made."""
        for number in range(self.parameters.population):
            if number and self.search.stopped():
                return
            state, circuits = self._first(number)
            self.mender.prune(state)
            kept = renew(state, circuits, self.parameters.circuit)
            self.population.append(CircuitIndividual.of(state, kept))
            self._report(self.population[-1], "first generation")

    def _first(self, number: int) -> tuple[PatternState, dict[int, Cells]]:
        if self.parameters.seeding == "random":
            order = self.search.rng(2, number).permutation(self.open)
            return rectangles(self.network, order)
        state = bound_and_path(self.network, number)
        most = self.parameters.circuit
        return state, {k: witness_circuit(state, k, most) for k in self.open.tolist()}

    def generation(self) -> bool:
        """Mate as many pairs as there are halves; return whether the best improved."""
        improved = False
        for _ in range(self.parameters.population // 2):
            if self.search.stopped():
                return improved
            select, replace = self._strategy()
            for child in self._cross(*self._parents(select)):
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
        cost = np.array([individual.cost for individual in self.population])
        by_circuits = self.parameters.diversity == "circuits"
        wanted = min(3 if by_circuits else 2, len(cost))
        chosen = SELECTIONS[select](cost, wanted, self.rng)
        first, *others = (self.population[int(i)] for i in chosen)
        # max keeps the first of equals, so the same seed mates the same pair.
        return first, max(others, key=first.differing) if by_circuits else others[0]

    def _cross(
        self, one: CircuitIndividual, two: CircuitIndividual
    ) -> list[CircuitIndividual]:
        """Swap a circuit where a child beats the cheaper parent; unsafe ones go."""
        least = min(one.cost, two.cost) * (1 - 1e-12)
        if one is two or not len(self.open):
            return []
        cost = self.network.problem.cost
        for cell in self.rng.permutation(self.open)[: self.parameters.tries].tolist():
            mine, theirs = one.circuits[cell], two.circuits[cell]
            # Circuits of the same cost are taken to be the same.
            if cost[mine].sum() == cost[theirs].sum():
                continue
            if min(one.swap(cell, theirs)[2], two.swap(cell, mine)[2]) < least:
                both = (one.with_circuit(cell, theirs), two.with_circuit(cell, mine))
                return [child for child in both if child is not None]
        return []

    def _mutate(self, child: CircuitIndividual) -> None:
        circuit = child.circuits[int(self.rng.choice(self.open))]
        publish_redundant(
            child, self.mender, self.rng.permutation(circuit), self.parameters.circuit
        )

    def _admit(self, child: CircuitIndividual, replace: str) -> None:
        cost = np.array([individual.cost for individual in self.population])
        measure = (
            child.differing
            if self.parameters.diversity == "circuits"
            else child.distance
        )
        similar = replace == "most-similar"
        distance = np.array([measure(p) if similar else 0 for p in self.population])
        at = REPLACEMENTS[replace](
            cost, child.cost, distance.astype(np.float64), self.rng
        )
        if at >= 0:
            self.population[at] = child

    def _report(self, individual: CircuitIndividual, event: str) -> bool:
        self.search.count()
        best = self.search.best
        if best is not None and individual.cost >= best.cost:
            return False
        return self.search.offer(individual.state.pattern(), event)

    def diversity(self) -> float:
        """Mean distance from the first individual, by the measure chosen."""
        first, *others = self.population
        by_circuits = self.parameters.diversity == "circuits"
        return float(
            np.mean(
                [
                    first.differing(p) if by_circuits else first.distance(p)
                    for p in others
                ]
            )
        )


def run_heurgene(
    problem: Problem, parameters: HeurgeneParameters, search: Search
) -> Pattern:
    """Run HeurGene."""
    run = _Run(TableNetwork(problem), parameters, search)
    run.settle()
    held = 0
    worth = CostBenefit(parameters.cost_benefit) if parameters.cost_benefit else None
    while len(run.population) > 1 and len(run.open) and not search.stopped():
        held = 0 if run.generation() else held + 1
        search.generations += 1
        if search.generations % 10 == 0:
            search.note("generation", run.diversity())
        if search.generations >= parameters.generations or held >= parameters.patience:
            break
        if worth is not None and worth.reason(search.progress()) is not None:
            break
    assert search.best is not None
    return search.best


METHOD = Method(
    name="heurgene",
    summary="genetic algorithm that swaps circuits of protection between patterns",
    tables="two-dimensional",
    source="Herrington 2015",
    parameters=HeurgeneParameters,
    run=run_heurgene,
    takes=networks_only,
)
