"""Islands beside the one at home: stretches of search, done by other workers.

Under a limit of time islands live in their workers, are asked for short stretches and
never waited for: what has been found by then is taken in. Without a limit every stretch
begins anew from the patterns it is given, and is waited for at a fixed moment, so that
the same seed gives the same answer for any number of workers.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evosdc.evolution.stopping import AnyOf, Criterion, TimeLimit
from evosdc.parallel import Closing, Crew, Help, Task, open_crew
from evosdc.suppress.engine.general.programs import call_quick
from evosdc.suppress.methods import stretches
from evosdc.suppress.methods.island import Fractions, Habits, Island
from evosdc.suppress.methods.stretches import stretch_length
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

# A run that is long enough to have its first pattern built elsewhere, and the share of
# what is left by which it must be there.
_LONG_RUN, _IN_TIME = 15.0, 0.9
# Patterns that travel, and those taken in where taking one in is slow.
_TRAVEL, TAKEN = 6, 2
# Levels above which patterns, with what covers each level, are large.
_MANY = 2000
# Share of a stretch for patterns from scratch on tables that are no networks: less
# where boxes make walks quick or walks roam; others by programs get stuck.
_STEERING, _STEERING_LESS = 0.6, 0.1
# Share of the time left for the pattern of sub-tables, where walks are slow.
PARTS = 0.6
# A stretch is long enough for so many patterns, where any are built.
_ROOM = 2


@dataclass(frozen=True)
class Stretch:
    """What an island is asked for: to go on from some patterns for a while."""

    seed: int
    key: tuple[int, ...]
    habits: Habits
    patterns: tuple[Pattern, ...]
    fractions: Fractions | None
    seconds: float | None
    left: float
    parts: float = 0.0  # seconds for sub-tables, before anything else
    programs_pay: bool = False  # whether programs are known to be quick


@dataclass(frozen=True)
class Haul:
    """What it found: its best patterns, how many it looked at, what one takes."""

    patterns: tuple[Pattern, ...]
    evaluations: int
    building: float


def explore(problem: Problem, stretch: Stretch) -> Haul:
    """Search for a while, from given patterns on."""
    limits: list[Criterion] = []
    if stretch.seconds is not None:
        limits = [TimeLimit(stretch.seconds)]
    search = Search(seed=stretch.seed, stop=AnyOf(tuple(limits)))
    island = _island(problem, stretch, search)
    if not stretch.patterns and not island.population.states:
        # The first pattern may take as long as the run: it hurries at its end only.
        island.search = Search(seed=stretch.seed, stop=TimeLimit(stretch.left))
        island.horizon = island.search.seconds_left
        island.settle()
        return Haul(tuple(island.patterns(1)), 1, island.building)
    if stretch.programs_pay:
        call_quick(problem)
    for pattern in stretch.patterns:
        island.welcome(pattern)
    island.horizon = lambda: stretch.left - search.seconds
    fractions = stretch.fractions
    if fractions is None:
        fractions = np.zeros(len(problem.cost))
    if stretch.parts:
        island.solve_parts(stretch.parts)
    for turn in range(1_000_000 if stretch.seconds else 1):
        if search.stopped():
            break
        _turn(island, fractions, (*stretch.key, turn))
    few = len(problem.levels) > _MANY
    found = tuple(island.patterns(TAKEN if few else _TRAVEL))
    return Haul(found, search.evaluations, island.building)


def _island(problem: Problem, stretch: Stretch, search: Search) -> Island:
    if stretch.seconds is None:
        return Island(problem, stretch.habits, search)
    # Stretches are not bound to workers: whichever comes here goes on with the island
    # that is here.
    if "island" not in problem.derived:
        problem.derived["island"] = Island(problem, stretch.habits, search)
    island: Island = problem.derived["island"]
    island.search = search
    return island


def _turn(island: Island, fractions: Fractions, key: tuple[int, ...]) -> None:
    """Let each search have its turn."""
    search = island.search
    if island.engine.quick:
        size = island.population.size
        island.refill(fractions, search.rng(*key, 1), size // 2, search.stopped)
        island.breed(search.rng(*key, 2), search.stopped)
        island.walk(fractions, search.rng(*key, 3), search.stopped)
        return
    walks = island.engine.agile or island.engine.roaming is not None
    share = _STEERING_LESS if walks else _STEERING
    end = search.seconds + share * search.seconds_left()
    steered = search.rng(*key, 1)
    island.steer(fractions, steered, lambda: search.stopped() or search.seconds >= end)
    island.walk(fractions, search.rng(*key, 3), search.stopped)


class Islands(Closing):
    """The islands beside the one at home, which is told of what they find.

    Parameters
    ----------
    count
        How many; None for as many as there are workers beside this one.
    """

    def __init__(self, home: Island, count: int | None) -> None:
        self._home, self._search = home, home.search
        self._timed = bool(np.isfinite(self._search.seconds_left()))
        beside = self._search.beside
        self.count = (beside if self._timed else 0) if count is None else count
        if beside < 1 and self._timed:
            self.count = 0
        size = max(0, min(beside, self.count))
        self._crew: Crew[Problem] = open_crew(size, home.problem, self._search.cluster)
        self._tasks: dict[int, Task[Haul]] = {}
        self._own: dict[int, Sequence[Pattern]] = {}
        self._sent: dict[int, int] = {}

    def __bool__(self) -> bool:
        return self.count > 0

    @property
    def spare(self) -> Help:
        """Workers that no island has, this one among them where it is of this machine.

        They work while this process waits for them.
        """
        help = self._search.help
        return replace(help, workers=help.workers - self._crew.size)

    @property
    def busy(self) -> bool:
        """Whether any of them is out."""
        return bool(self._tasks)

    def ask_first(self) -> bool:
        """Have the first pattern built, where there is a worker and a while for it."""
        left = self._search.seconds_left()
        if not (self and self._timed) or left < _LONG_RUN:
            return False
        stretch = self._stretch(0, None, _IN_TIME * left)
        self._tasks[0] = self._crew.submit(explore, stretch)
        return True

    def send(self, fractions: Fractions) -> None:
        """Ask every island that has nothing to do for a stretch.

        Short runs are not worth a worker's start.
        """
        left = self._search.seconds_left()
        if self._timed and (
            left < stretches.SHORT or self._search.seconds < stretches.SHORT
        ):
            return
        for island in range(self.count):
            if island not in self._tasks:
                stretch = self._stretch(island, fractions, left)
                self._tasks[island] = self._crew.submit(explore, stretch)

    def _stretch(
        self, island: int, fractions: Fractions | None, left: float
    ) -> Stretch:
        number = self._sent[island] = self._sent.get(island, -1) + 1
        # Most of its own patterns live where the island does, unless it begins anew.
        own = tuple(self._own.get(island, ()))
        states = self._home.population.states[:_TRAVEL]
        if self._timed:
            # What it has brought home itself, and what is dearer, need not travel.
            costs = np.array([pattern.cost for pattern in own])
            states = [s for s in states if not len(costs) or s.cost < costs.min()]
            # A worker that is new begins with the best of them.
            own = () if states else own[:1]
        known = (*own, *(state.pattern() for state in states))
        longest = stretch_length(number)
        if not self._home.slow:
            longest = max(longest, _ROOM * self._home.building)
        parts = 0.0
        if self._timed and number == island == 0 and self._home.parts_pay:
            parts = PARTS * left
            longest = max(longest, parts)
        return Stretch(
            seed=self._search.seed,
            key=(island + 1, number),
            habits=self._home.habits,
            patterns=known,
            fractions=fractions,
            seconds=min(longest, left - stretches.HOMEWARD) if self._timed else None,
            left=left,
            parts=parts,
            programs_pay=self._home.engine.programs_pay,
        )

    def gather(self, *, wait: bool = False) -> None:
        """Take in what was found; wait for it where no clock runs."""
        for island, task in sorted(self._tasks.items()):
            if not (wait or not self._timed or task.done()):
                continue
            del self._tasks[island]
            haul = task.result()
            self._own[island] = haul.patterns
            self._search.count(haul.evaluations, elsewhere=True)
            # Islands that were given patterns have built none.
            self._home.building = haul.building or self._home.building
            taken = _TRAVEL if self._home.engine.quick else TAKEN
            for pattern in haul.patterns[:taken]:
                self._search.offer(pattern, "from another worker")
                self._home.welcome(pattern)

    def come_home(self) -> None:
        """Take in what islands bring at the end of a run, which is in a moment."""
        end = time.monotonic() + stretches.LATE
        while self._timed and self._tasks and time.monotonic() < end:
            self.gather()
            time.sleep(stretches.NAP)

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        self._crew.close()
