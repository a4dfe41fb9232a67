"""Populations of patterns: the flagship's own, and those of other workers.

The flagship has one population of its own and, where it may use several workers, one
more in each of them. They differ in their randomness only; patterns travel between
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.parallel import Workers
from evosdc.suppress.engine.base import (
    AnyEngine,
    Mender,
    State,
    Stopped,
    restored,
)
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.programs import call_quick
from evosdc.suppress.methods.constructions import construct
from evosdc.suppress.methods.contracted import contraction_for
from evosdc.suppress.methods.gensup import (
    Population,
    admit,
    admit_child,
    guided_state,
)
from evosdc.suppress.methods.scheduler import (
    Breeding,
    Guided,
    Operator,
    PatternWalk,
    Scheduler,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import (
    Assignment,
    Exchange,
    Search,
    SearchFindings,
    resume,
)

Flags = NDArray[np.bool_]
Fractions = NDArray[np.float64]
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
# Seconds left from which the first pattern is built elsewhere. With half of them the
# worker starts too late to be of use, with twice as many this process waits for it more
# often.
_LEAST_SECONDS_LEFT = 15.0
# Share of what is left by which it must be there. At half of it large tables are built
# in a hurry, at 1 nothing is left to take it in.
_FIRST_PATTERN_SHARE = 0.9
# Patterns that travel, and those taken in where taking one in is slow. With half of
# them islands learn less of one another, with twice as many they become alike, and
# sending them takes longer.
_MOST_SENT, _MOST_TAKEN = 6, 2
# Levels above which patterns, with what covers each level, are large. At half of it
# fewer patterns of middling tables travel, at twice of it sending them delays a run.
_LEVELS_OF_LARGE_PATTERNS = 2000


class Island:
    """A population, and how patterns come into it."""

    def __init__(self, problem: Problem, size: int, search: Search) -> None:
        self.problem, self.search = problem, search
        self.engine: AnyEngine = engine_for(problem)
        self.population = Population(size)
        # The relaxation that guides patterns.
        self.fractions: Fractions = np.zeros(len(problem.cost))
        self.building = 0.0  # seconds that a pattern by programs took
        self._mender: Mender[Any] | None = None

    @property
    def mender(self) -> Mender[Any]:
        if self._mender is None:
            rng = self.search.rng(0)
            # The run may be another one by the time this is called.
            self._mender = self.engine.mender(rng, lambda: self.search.stopped())
        return self._mender

    def build_first(self) -> None:
        """Build the first pattern.

        A safe pattern is worth more than a clean one: where publishing what is not
        needed takes longer than building, walks publish the rest.
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
        """Admit a pattern that was found elsewhere."""
        known = self.population.states
        if any(np.array_equal(pattern.hidden, state.hidden) for state in known):
            return
        self.population.add(restored(self.engine, pattern, self.search))

    def repair_candidate(self, hidden: Flags, stopped: Stopped) -> None:
        """Make a candidate safe and admit it."""
        parent = self.population.states[0]
        child = self.mender.child(parent, hidden | self.problem.primary)
        admit_child(self.population, child, self.mender, self.search, stopped)

    def build_guided(
        self,
        share: Fractions,
        noise: Fractions | float = 1.0,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        """Admit a pattern whose cells are cheap to the extent that a share says."""
        max_cost = _MOST_COST_TO_PRUNE * self.population.states[0].cost
        stopped = self.search.stopped
        state = guided_state(
            self.engine, self.mender, share, noise, stopped, order, max_cost
        )
        admit(self.population, state, self.search, "guided by the bound")

    def build_randomised(self, rng: np.random.Generator) -> None:
        """Admit a pattern guided by the relaxation and by good patterns, with noise.

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
        """Keep the best half of the patterns and admit others."""
        population = self.population
        del population.states[population.size // 2 :]
        population.cost = population.cost[: population.size // 2]
        for _ in range(population.size):
            if len(population.states) == population.size or stopped():
                return
            self.build_randomised(rng)

    def patterns(self, most: int) -> tuple[Pattern, ...]:
        """Return the best patterns, at most so many."""
        return tuple(state.pattern() for state in self.population.states[:most])

    def operators(self) -> tuple[Operator, ...]:
        """Return the operators that improve these patterns.

        Where walks build them, only what changes few cells at a time: each of the
        others builds whole patterns, for which programs take most of a minute.
        """
        if self.engine.has_walks:
            return (PatternWalk(self, boxes=False),)
        return (
            Guided(self),
            PatternWalk(self, boxes=True),
            PatternWalk(self, boxes=False),
            Breeding(self),
        )


@dataclass(frozen=True, eq=False)
class Guide:
    """What an island receives with the patterns of others.

    Attributes
    ----------
    contracted
        Whether the search is on the contracted problem.
    fractions
        The relaxation that steers patterns.
    programs_pay
        Whether programs over the whole table are known to be quick.
    construction
        A simple method to be run before anything else, if any.
    """

    contracted: bool
    fractions: Fractions
    programs_pay: bool = False
    construction: str = ""


class RemoteIsland:
    """An island that lives in a worker."""

    def __init__(self, problem: Problem, size: int, search: Search) -> None:
        self.island = Island(problem, size, search)
        self._scheduler: Scheduler | None = None

    def go_on(self) -> None:
        """Improve the patterns until the run is stopped; build one where there is none.

        The first pattern may take as long as the run.
        """
        search = self.island.search
        if not self.island.population.states:
            self.island.build_first()
            return
        if self._scheduler is None:
            self._scheduler = Scheduler(self.island.operators(), search, (2,))
        while not search.stopped() and self._scheduler.turn():
            pass


def explore(posed: Problem, assignment: Assignment) -> SearchFindings:
    """Search for a while, from given patterns on."""
    guide: Guide = assignment.guide
    found = contraction_for(posed) if guide.contracted else None
    problem = posed if found is None else found.small
    search, remote = resume(problem, assignment)
    island: Island = remote.island
    before = search.evaluations
    if guide.programs_pay:
        call_quick(problem)
    for pattern in assignment.patterns:
        search.offer(pattern)
        island.admit_pattern(pattern)
    island.fractions = guide.fractions
    if guide.construction:
        pattern = construct(
            posed, guide.construction, search.sub_run(search.seconds_left())
        )
        search.count()
        island.admit_pattern(pattern if found is None else found.shrink(pattern))
    else:
        remote.go_on()
    few = len(problem.levels) > _LEVELS_OF_LARGE_PATTERNS
    patterns = island.patterns(_MOST_TAKEN if few else _MOST_SENT)
    return SearchFindings(patterns, search.evaluations - before)


class Islands(Exchange):
    """Islands in other workers, and the one in this process that takes their patterns.

    Parameters
    ----------
    count
        How many; None for as many as there are other workers.
    """

    work = staticmethod(explore)

    def __init__(self, home: Island, count: int | None) -> None:
        self._posed, _ = home.search.origin(home.problem)
        self._home = home
        self._own: dict[int, tuple[Pattern, ...]] = {}
        # Simple methods that are still to be run, and until when, in seconds.
        self.constructions: list[str] = []
        self.until = 0.0
        size = home.population.size
        super().__init__(self._posed, home.search, RemoteIsland, size, count)

    @property
    def spare(self) -> Workers:
        """Workers that no island has, this process among them if it is one of them."""
        workers = self.search.workers
        return replace(workers, count=workers.count - self._pool.size)

    def submit_first_pattern(self) -> bool:
        """Have the first pattern built, where there is a worker and a while for it."""
        left = self.search.seconds_left()
        if not (self.count and self.timed) or left < _LEAST_SECONDS_LEFT:
            return False
        self._submit(
            0, {**self._assignment_fields(()), "seconds": _FIRST_PATTERN_SHARE * left}
        )
        return True

    def describe(self, number: int) -> dict[str, Any]:
        # Most of its own patterns live where the island does, unless no clock runs.
        own = self._own.get(number, ())
        states = self._home.population.states[:_MOST_SENT]
        if self.timed:
            # What it has found itself, and what costs more, need not travel.
            costs = np.array([pattern.cost for pattern in own])
            states = [s for s in states if not len(costs) or s.cost < costs.min()]
            # A worker that is new begins with the best of them.
            own = () if states else own[:1]
        fields = self._assignment_fields((*own, *(state.pattern() for state in states)))
        left = self.until - self.search.seconds
        if self.constructions and self.timed and left > 0:
            guide = replace(fields["guide"], construction=self.constructions.pop(0))
            fields |= {"guide": guide, "seconds": left}
        return fields

    def _assignment_fields(self, patterns: tuple[Pattern, ...]) -> dict[str, Any]:
        home = self._home
        guide = Guide(
            home.problem is not self._posed, home.fractions, home.engine.programs_pay
        )
        return {"patterns": patterns, "guide": guide}

    def take(self, number: int, found: tuple[Pattern, ...]) -> None:
        super().take(number, found)
        self._own[number] = found
        most = _MOST_SENT if self._home.engine.is_network else _MOST_TAKEN
        for pattern in found[:most]:
            self._home.admit_pattern(pattern)
