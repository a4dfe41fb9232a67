"""One population of patterns of a table, and the operators that better it.

The hybrid has one at home and, where it may use several workers, others beside it. They
differ in their randomness only; patterns travel between them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.base import (
    AnyEngine,
    Mender,
    State,
    Stopped,
    Walker,
    WalkOptions,
)
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods.gensup import (
    GensupParameters,
    Population,
    admit,
    admit_child,
    breed,
    guided_state,
)
from evosdc.suppress.methods.scheduler import Budget, Operator, Slice
from evosdc.suppress.methods.walking import reporter, restored
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search

Flags = NDArray[np.bool_]
Fractions = NDArray[np.float64]
# Walks begin at one of so many best patterns, at the best one in this share of the
# cases. At half of them more walks repeat one another, at twice more begin at patterns
# that cost more.
_STARTS, _FROM_BEST = 4, 0.4
# Turns of a walk without a better pattern after which it begins elsewhere. With one or
# two good places are left early, with six walks stay where nothing is found.
_TURNS_WITHOUT_GAIN = 3
# How much cheaper a walk finds cells that the relaxation hides, at most. At half of it
# walks follow the relaxation less; 1 would make its cells free.
_WALK_DISCOUNT = 0.95
# How much cheaper cells are for programs over the whole table where the relaxation
# suppresses them. At half of it patterns cost some per cent more; 1 would be free.
_DISCOUNT = 0.9
# Share of the time left for demands against attackers where programs are quick. With
# half of it boxes cover the rest, which doubles the cost of tables with many.
_SHARE_AGAINST_ATTACKERS = 0.85
# Patterns that cost so many times the best before they are pruned are not pruned:
# pruning by programs takes ten times as long as building, and spares a tenth. With half
# of the excess some that would become the best are missed, with twice more are pruned
# in vain.
_MOST_COST_TO_PRUNE = 1.15
# Patterns whose cells are made cheap for the next ones. With half of them the next ones
# resemble the best more, with twice as many they follow worse ones too.
_PATTERNS_FOLLOWED = 6
# Seconds that cleaning up the first pattern may take in any case, and the share of the
# time left that they are at most. At half of either the first pattern costs more, at
# twice of it what follows begins later.
_CLEAN_UP_SECONDS, _CLEAN_UP_SHARE = 5.0, 0.1
# Generations without a better best after which half of the patterns are replaced; every
# child is mutated in the one halfway. With half as many a population is given up while
# it still gains, with twice as many breeding goes on in vain.
_GENERATIONS_WITHOUT_GAIN = 4


class Island:
    """A population, and how patterns come into it."""

    def __init__(self, problem: Problem, size: int, search: Search) -> None:
        self.problem, self.search = problem, search
        self.engine: AnyEngine = engine_for(problem)
        self.population = Population(size)
        # What patterns are steered by: a relaxation.
        self.fractions: Fractions = np.zeros(len(problem.cost))
        self.building = 0.0  # seconds that a pattern by programs took
        self._mender: Mender[Any] | None = None

    @property
    def mender(self) -> Mender[Any]:
        if self._mender is None:
            rng = self.search.rng(0)
            # The run may be another one by the time it is asked.
            self._mender = self.engine.mender(rng, lambda: self.search.stopped())
        return self._mender

    def build_first(self) -> None:
        """Build the first pattern.

        A safe pattern is worth more than a clean one: where publishing what is not
        needed takes longer than building, walks see to the rest.
        """
        search = self.search
        begun = search.seconds
        state: State = self.engine.start()
        state.cover(stopped=search.stopped)
        tidying = min(_CLEAN_UP_SECONDS, _CLEAN_UP_SHARE * search.seconds_left())
        end = search.seconds + max(tidying, search.seconds - begun)
        state.clean_up(stopped=lambda: search.stopped() or search.seconds >= end)
        admit(self.population, state, search, "first pattern")

    def build_by_programs(self, seconds: float) -> None:
        """Build a pattern by programs over the whole table, which are measured by it.

        What they hide is cheaper, often by half, but how long they take depends on how
        full the table is. Where all of them are answered in time, programs build and
        change the patterns from then on.
        """
        search = self.search
        begun = search.seconds
        end = begun + seconds
        last = begun + _SHARE_AGAINST_ATTACKERS * search.seconds_left()

        def stopped() -> bool:
            return search.stopped() or search.seconds >= end

        def late() -> bool:
            return search.stopped() or search.seconds >= last

        price = self.problem.cost * (1.0 - _DISCOUNT * np.clip(self.fractions, 0, 1))
        state = self.engine.build_by_programs(stopped, price, late)
        self.building = search.seconds - begun
        if state is None:
            return
        # Whoever judges what is found meanwhile learns how long that takes.
        search.offer(state.pattern(), "by programs over the whole table")
        # Worth a tenth of the cost where there are many attackers.
        state.clean_up(stopped=late if self.engine.programs_pay else stopped)
        admit(self.population, state, search, "by programs over the whole table")

    def admit_pattern(self, pattern: Pattern) -> None:
        """Let in a pattern that was found elsewhere."""
        known = self.population.states
        if any(np.array_equal(pattern.hidden, state.hidden) for state in known):
            return
        self.population.add(restored(self.engine, pattern, self.search))

    def repair_candidate(self, hidden: Flags, stopped: Stopped) -> None:
        """Make a candidate safe and let it in."""
        parent = self.population.states[0]
        child = self.mender.child(parent, hidden | self.problem.primary)
        admit_child(self.population, child, self.mender, self.search, stopped)

    def build_guided(
        self,
        share: Fractions,
        noise: Fractions | float = 1.0,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        """Let in a pattern whose cells are cheap to the extent that a share says."""
        hopeless = _MOST_COST_TO_PRUNE * self.population.states[0].cost
        stopped = self.search.stopped
        state = guided_state(
            self.engine, self.mender, share, noise, stopped, order, hopeless
        )
        admit(self.population, state, self.search, "guided by the bound")

    def build_randomised(self, rng: np.random.Generator) -> None:
        """Let in a pattern guided by the relaxation and by good patterns, with noise.

        The order in which levels are covered matters more than what breeding can put
        together. Prices fall on the cells that good patterns hide, as the trails of
        ants do (Dorigo and Stuetzle 2004).
        """
        states = self.population.states[:_PATTERNS_FOLLOWED]
        share = rng.uniform(0.0, 0.6) * np.mean([s.hidden for s in states], axis=0)
        share += rng.uniform(0.0, 1.0) * self.fractions
        cells, levels = len(self.problem.cost), len(self.engine.demands)
        noise = np.exp(rng.normal(0.0, rng.uniform(0.05, 0.4), cells))
        self.build_guided(share, noise, rng.permutation(levels))

    def renew(self, rng: np.random.Generator, stopped: Stopped) -> None:
        """Keep the best half of the patterns and let in others."""
        population = self.population
        del population.states[population.size // 2 :]
        population.cost = population.cost[: population.size // 2]
        for _ in range(population.size):
            if len(population.states) == population.size or stopped():
                return
            self.build_randomised(rng)

    def patterns(self, most: int) -> tuple[Pattern, ...]:
        """Return the best patterns, as many as asked for."""
        return tuple(state.pattern() for state in self.population.states[:most])

    def operators(self) -> tuple[Operator, ...]:
        """Return what betters these patterns.

        Where walks build them only what changes few cells at a time: each of the others
        makes whole patterns, for which programs take most of a minute.
        """
        if self.engine.has_walks:
            return (PatternWalk(self, boxes=False),)
        return (
            Guided(self),
            PatternWalk(self, boxes=True),
            PatternWalk(self, boxes=False),
            Breeding(self),
        )


class _Measured:
    """An operator that makes whole patterns: it knows what the last one took."""

    bounds = proves = False

    def __init__(self, island: Island) -> None:
        self.island = island
        self._takes = 0.0

    @property
    def affordable(self) -> bool:
        """Whether another pattern fits into the first half of what is left."""
        budget = Budget(self.island.search)
        takes = max(self._takes, self.island.building if budget.timed else 0.0)
        return 2 * takes <= budget.left


class Guided(_Measured):
    """Patterns built with prices guided by the relaxation, then with noise as well."""

    def __init__(self, island: Island) -> None:
        super().__init__(island)
        self._followed: Fractions | None = None

    def applies(self) -> bool:
        return self.affordable

    def turn(self, slice: Slice) -> None:
        island = self.island
        budget = Budget(island.search)
        while not slice.stopped():
            begun = budget.spent
            if self._followed is island.fractions:
                island.build_randomised(slice.rng)
            else:
                self._followed = island.fractions
                # The largest first: what they move far covers many others.
                amount = island.engine.demands.amount
                order = np.argsort(-amount, kind="stable")
                island.build_guided(island.fractions, order=order)
                island.build_guided(island.fractions)
            self._takes = budget.spent - begun


class Breeding(_Measured):
    """Generations of GenSup; where they no longer pay, half of the patterns is new."""

    def __init__(self, island: Island) -> None:
        super().__init__(island)
        self._held = 0

    def applies(self) -> bool:
        return len(self.island.population.states) > 1 and self.affordable

    def turn(self, slice: Slice) -> None:
        island = self.island
        budget = Budget(island.search)
        options = GensupParameters(population=island.population.size)
        while not slice.stopped() and len(island.population.states) > 1:
            begun = budget.spent
            if self._held >= _GENERATIONS_WITHOUT_GAIN:
                self._held = 0
                island.renew(slice.rng, slice.stopped)
            better = breed(
                island.population,
                island.mender,
                options,
                slice.rng,
                island.search,
                slice.stopped,
                mutate_all=self._held == _GENERATIONS_WITHOUT_GAIN // 2,
            )
            self._held = 0 if better else self._held + 1
            self._takes = (budget.spent - begun) / len(island.population.states)


class PatternWalk:
    """Ruin and recreate from good patterns, by boxes and paths or by programs."""

    bounds = proves = False

    def __init__(self, island: Island, *, boxes: bool) -> None:
        self._island, self._boxes = island, boxes
        self._walker: Walker | None = None
        self._state: State | None = None
        self._held = 0  # turns without a better pattern

    def applies(self) -> bool:
        engine = self._island.engine
        if self._boxes:
            return engine.has_boxes
        return engine.program_walk is not None or not engine.has_boxes

    def turn(self, slice: Slice) -> None:
        island = self._island
        search, best = island.search, island.population.states[0].cost
        walker = self._walker
        behind = walker is not None and walker.best_cost > best * (1 + 1e-9)
        elsewhere = behind and slice.rng.random() < _FROM_BEST
        if walker is None or self._held >= _TURNS_WITHOUT_GAIN or elsewhere:
            walker = self._begin(slice.rng)
        if walker is None:
            search.count()
            return
        before = walker.best_cost
        report = reporter(search, "ruin and recreate", walker.steps)
        left = slice.nodes
        while not slice.stopped():
            steps = walker.steps
            if not walker.turn(slice.stopped, left):
                self._walker = None
                break
            report(walker)
            if left is not None:
                left -= walker.steps - steps
                if left <= 0:
                    break
        self._held = 0 if walker.best_cost < before else self._held + 1
        if walker.best_cost < before:
            self._admit(walker)

    def _begin(self, rng: np.random.Generator) -> Walker | None:
        island = self._island
        states = island.population.states
        first = 0 if rng.random() < _FROM_BEST else int(rng.integers(_STARTS))
        self._state = states[min(first, len(states) - 1)].copy()
        self._held = 0
        self._walker = island.engine.walker(self._state, rng, self._options())
        return self._walker

    def _options(self) -> WalkOptions | None:
        program_walk = self._island.engine.program_walk
        if self._boxes or program_walk is None:
            return None
        return replace(
            program_walk,
            discount=_WALK_DISCOUNT * np.clip(self._island.fractions, 0.0, 1.0),
        )

    def _admit(self, walker: Walker) -> None:
        """Let the best pattern in; walks of networks may have gone on from it."""
        assert self._state is not None
        island = self._island
        if island.engine.is_network:
            parent = island.population.states[0]
            state = island.mender.child(parent, walker.best().hidden)
        else:
            state = self._state.copy()
        island.population.add(state)
