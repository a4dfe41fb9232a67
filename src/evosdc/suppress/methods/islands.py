"""Islands beside the one at home: populations that other workers better."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evosdc.parallel import Workers
from evosdc.suppress.engine.general.programs import call_quick
from evosdc.suppress.methods.constructions import construct
from evosdc.suppress.methods.contracted import contraction_for
from evosdc.suppress.methods.island import Fractions, Island
from evosdc.suppress.methods.scheduler import Scheduler
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Assignment, Exchange, Findings, Search, resume

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
# fewer patterns of middling tables travel, at twice of it sending them is felt.
_LEVELS_OF_LARGE_PATTERNS = 2000


@dataclass(frozen=True, eq=False)
class Guide:
    """What an island is told beside the patterns of others.

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
        """Better the patterns until the run is stopped; build one where there is none.

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


def explore(asked: Problem, given: Assignment) -> Findings:
    """Search for a while, from given patterns on."""
    guide: Guide = given.guide
    found = contraction_for(asked) if guide.contracted else None
    problem = asked if found is None else found.small
    search, remote = resume(problem, given)
    island: Island = remote.island
    before = search.evaluations
    if guide.programs_pay:
        call_quick(problem)
    for pattern in given.patterns:
        search.offer(pattern)
        island.admit_pattern(pattern)
    island.fractions = guide.fractions
    if guide.construction:
        pattern = construct(
            asked, guide.construction, search.sub_run(search.seconds_left())
        )
        search.count()
        island.admit_pattern(pattern if found is None else found.shrink(pattern))
    else:
        remote.go_on()
    few = len(problem.levels) > _LEVELS_OF_LARGE_PATTERNS
    patterns = island.patterns(_MOST_TAKEN if few else _MOST_SENT)
    return Findings(patterns, search.evaluations - before)


class Islands(Exchange):
    """The islands beside the one at home, which is told of what they find.

    Parameters
    ----------
    count
        How many; None for as many as there are workers beside this one.
    """

    work = staticmethod(explore)

    def __init__(self, home: Island, count: int | None) -> None:
        self._asked, _ = home.search.origin(home.problem)
        self._home = home
        self._own: dict[int, tuple[Pattern, ...]] = {}
        # Simple methods that are still to be run, and until when, in seconds.
        self.constructions: list[str] = []
        self.until = 0.0
        size = home.population.size
        super().__init__(self._asked, home.search, RemoteIsland, size, count)

    @property
    def spare(self) -> Workers:
        """Workers that no island has, this process among them if it is one of them."""
        workers = self.search.workers
        return replace(workers, count=workers.count - self._pool.size)

    def ask_first(self) -> bool:
        """Have the first pattern built, where there is a worker and a while for it."""
        left = self.search.seconds_left()
        if not (self.count and self.timed) or left < _LEAST_SECONDS_LEFT:
            return False
        self._submit(0, {**self._told(()), "seconds": _FIRST_PATTERN_SHARE * left})
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
        told = self._told((*own, *(state.pattern() for state in states)))
        left = self.until - self.search.seconds
        if self.constructions and self.timed and left > 0:
            guide = replace(told["guide"], construction=self.constructions.pop(0))
            told |= {"guide": guide, "seconds": left}
        return told

    def _told(self, patterns: tuple[Pattern, ...]) -> dict[str, Any]:
        home = self._home
        guide = Guide(
            home.problem is not self._asked, home.fractions, home.engine.programs_pay
        )
        return {"patterns": patterns, "guide": guide}

    def take(self, number: int, found: tuple[Pattern, ...]) -> None:
        super().take(number, found)
        self._own[number] = found
        most = _MOST_SENT if self._home.engine.is_network else _MOST_TAKEN
        for pattern in found[:most]:
            self._home.admit_pattern(pattern)
