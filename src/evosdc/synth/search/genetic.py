"""The genetic algorithm of the thesis: whole data sets that select, cross and mutate.

Modes: one weighted cost (SOGA), the best utility under a risk limit (constraint), and
two objectives at once (NPGA, NSGA-II).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.evolution.pareto import (
    crowding_distance,
    gaps_between,
    niche_count,
    non_dominated_fronts,
)
from evosdc.evolution.rates import Moment, Rate, self_adapted
from evosdc.evolution.replacement import REPLACEMENTS
from evosdc.evolution.selection import parse_selection
from evosdc.synth.objective.copy_distances import mean_distances
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.search.breeding import CROSSOVERS, MUTATIONS
from evosdc.synth.search.options import Operators, SelfAdaptive, parse_rate
from evosdc.synth.search.population import CandidatePopulation, Team, costs
from evosdc.synth.search.rng import streams

# The niched Pareto algorithm: radius of a niche, and rivals of a tournament.
_NICHE_RADIUS, _RIVALS = 0.05, 5
# Copies are compared by so many tables, and are neighbours within this share of their
# mean distance.
_MAX_TABLES, _NICHE_SHARE = 10, 0.5


class Genetic:
    """A population that breeds; `alive` are the slots of the living.

    Where a `front` is asked for, it ranks by two objectives, else by the goal's cost.
    """

    def __init__(
        self,
        population: CandidatePopulation,
        size: int,
        goal: CandidateGoal,
        operators: Operators,
        rng: np.random.Generator,
        team: Team,
        *,
        front: bool = False,
    ) -> None:
        self.population = population
        self.alive: Long = np.arange(size)
        self.goal = goal
        self.operators = operators
        self.pace: Callable[[float], float] | None = None
        self.done = ""
        self.evaluations = size
        self._rng = rng
        self._team = team
        self._generation = 0
        self._held = 0
        self._best = np.inf
        self._pareto = operators.algorithm if front else ""
        self._select = parse_selection(operators.selection)
        self._crossing = operators.crossing
        self._mutating = parse_rate(operators.mutation_rate)
        self._genes = {
            "crossover": self._first_genes(self._crossing),
            "mutation": self._first_genes(self._mutating),
        }

    def prepare(self) -> None:
        """Compile the kernels, so that no clock runs meanwhile."""
        self.population.compile_breeding()

    def _first_genes(self, rate: Rate) -> Real:
        slots = len(self.population.codes)
        if isinstance(rate, SelfAdaptive):
            return self._rng.uniform(rate.low, rate.high, slots)
        return np.zeros(slots)

    def lower_risks(self, slots: Long) -> None:
        """Leave candidates as they are: the genetic algorithm knows no record moves."""

    def state(self) -> dict[str, Any]:
        """Return what another process needs to go on from here."""
        return {
            **self.population.state(self.alive),
            "evaluations": self.evaluations,
            "random": self._rng.bit_generator.state,
            "generation": self._generation,
            "held": self._held,
            "best": None if np.isinf(self._best) else self._best,
            "genes": self._genes,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from where a run was cut short."""
        self.alive = self.population.restore(state, len(self.alive))
        self.evaluations = int(state["evaluations"])
        self._rng.bit_generator.state = state["random"]
        self._generation, self._held = int(state["generation"]), int(state["held"])
        self._best = np.inf if state["best"] is None else float(state["best"])
        for name, genes in self._genes.items():
            genes[:] = state["genes"][name]

    def finish(self) -> None:
        """Leave candidates as they are."""

    def costs(self) -> Real:
        """Return the cost of each living candidate."""
        return self.costs_of(self.alive)

    def costs_of(self, slots: Long) -> Real:
        """Return the cost of some slots."""
        return costs(self.goal, self.population, slots)

    def points(self, slots: Long) -> Real:
        """Return utility and weighted risk of some slots."""
        risk = self.population.risks[slots] @ self.goal.share
        return np.column_stack([self.population.utility(slots), risk])

    def step(self, share: float) -> None:
        """Make one generation."""
        cost = self.costs()
        self._held = 0 if cost.min() < self._best else self._held + 1
        self._best = min(self._best, float(cost.min()))
        moment = Moment(cost, self._generation, self._held, share)
        parents = self._parents(cost)
        # An odd population's last parent crosses with the first.
        pairs = np.resize(parents, (len(parents) + 1) // 2 * 2).reshape(-1, 2)
        places = self.population.unused(self.alive, pairs.size).reshape(-1, 2)
        crossing = self._rates("crossover", self._crossing, moment)
        changing = self._rates("mutation", self._mutating, moment)
        self._inherit(pairs, places)
        self.population.breed(
            self._team,
            CROSSOVERS.index(self.operators.crossover),
            self.alive[pairs],
            places,
            np.minimum(crossing[pairs[:, 0]], crossing[pairs[:, 1]]),
            changing[pairs],
            streams(self._rng, len(pairs)),
            MUTATIONS.index(self.operators.mutation),
        )
        children = places.ravel()[: len(self.alive)]
        self.evaluations += len(children)
        self._generation += 1
        self.alive = self._survivors(cost, children)

    def _rates(self, name: str, rate: Rate, moment: Moment) -> Real:
        if isinstance(rate, SelfAdaptive):
            return self._genes[name][self.alive]
        return rate.of(moment)

    def _inherit(self, pairs: Long, places: Long) -> None:
        for name, rate in (("crossover", self._crossing), ("mutation", self._mutating)):
            if isinstance(rate, SelfAdaptive):
                mine = self._genes[name][self.alive[pairs]].ravel()
                self._genes[name][places.ravel()] = self_adapted(
                    mine, self._rng, low=rate.low, high=rate.high
                )

    def _parents(self, cost: Real) -> Long:
        size = len(self.alive)
        if self._pareto == "npga":
            return self._niched(self.points(self.alive), size)
        if self._pareto == "nsga2":
            cost = self._crowded(self.alive)
        return self._select(cost, size, self._rng)

    def _niched(self, points: Real, count: int) -> Long:
        """Choose by domination tournaments, ties by niche (Horn et al. 1994)."""
        size = len(points)
        crowd = self._crowd(self.alive)
        pair = self._rng.integers(0, size, (count, 2))
        rivals = self._rng.integers(0, size, (count, _RIVALS))
        beaten = np.empty((count, 2), bool)
        for side in range(2):
            mine = points[pair[:, side]][:, None, :]
            theirs = points[rivals]
            no_worse = np.all(theirs <= mine, axis=2)
            better = np.any(theirs < mine, axis=2)
            beaten[:, side] = np.any(no_worse & better, axis=1)
        first = np.where(
            beaten[:, 0] != beaten[:, 1],
            ~beaten[:, 0],
            crowd[pair[:, 0]] <= crowd[pair[:, 1]],
        )
        return np.where(first, pair[:, 0], pair[:, 1])

    def _crowd(self, slots: Long) -> Real:
        """Return how crowded the niche of each candidate is."""
        if self.operators.niche == "points":
            return niche_count(gaps_between(self.points(slots)), _NICHE_RADIUS)
        problem = self.population.problem
        pairs = list(combinations(np.flatnonzero(problem.sizes > 1).tolist(), 2))
        if len(pairs) > _MAX_TABLES:
            drawn = self._rng.choice(len(pairs), _MAX_TABLES, replace=False)
            pairs = [pairs[k] for k in np.sort(drawn)]
        if not pairs:
            return np.ones(len(slots))
        gaps = mean_distances(list(self.population.codes[slots]), problem.sizes, pairs)
        # Copies come closer to each other while a run goes on; so do niches.
        mean = gaps.sum() / max(1, gaps.size - len(gaps))
        return niche_count(gaps, max(_NICHE_SHARE * mean, 1e-12))

    def _crowded(self, slots: Long) -> Real:
        """Return places by front, those of a front by isolation."""
        points = self.points(slots)
        if self.operators.niche == "points":
            return crowded_rank(points, lambda front: crowding_distance(points[front]))
        crowd = self._crowd(slots)
        return crowded_rank(points, lambda front: -crowd[front])

    def _survivors(self, cost: Real, children: Long) -> Long:
        size = len(self.alive)
        if self._pareto == "nsga2":
            both = np.concatenate([self.alive, children])
            rank = self._crowded(both)
            return both[np.argsort(rank, kind="stable")[:size]]
        if self.operators.replacement != "generational":
            return self._one_by_one(cost, children)
        if self.operators.elitism == 0:
            return children
        kept = self.alive[np.argsort(cost, kind="stable")[: self.operators.elitism]]
        order = np.argsort(self.costs_of(children), kind="stable")
        return np.concatenate([kept, children[order]])[:size]

    def _one_by_one(self, cost: Real, children: Long) -> Long:
        """Let children replace individuals one at a time (steady state)."""
        replace = REPLACEMENTS[self.operators.replacement]
        alive = self.alive.copy()
        cost = cost.copy()
        newcomers = self.costs_of(children)
        codes = self.population.codes
        for child, newcomer in zip(children, newcomers, strict=True):
            distance = np.zeros(len(alive))
            if self.operators.replacement == "most-similar":
                distance = np.array([(codes[child] != codes[a]).mean() for a in alive])
            at = replace(cost, float(newcomer), distance, self._rng)
            if at >= 0:
                alive[at] = child
                cost[at] = newcomer
        return alive


def crowded_rank(points: Real, isolation: Callable[[Long], Real]) -> Real:
    """Return places by front, those of a front by their `isolation` (Deb 2002)."""
    place = np.empty(len(points))
    at = 0
    for front in non_dominated_fronts(points):
        order = front[np.argsort(-isolation(front), kind="stable")]
        place[order] = np.arange(at, at + len(order))
        at += len(order)
    return place
