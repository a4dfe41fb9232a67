"""The same search on other workers, each from a randomness of its own.

Local search and evolution over orders go on for as long as there is time. Under a limit
of time every worker has such a search: its companions live in their workers, are asked
for short stretches and never waited for. What is best of all they are told with each
stretch, and may go on from it. Runs that end by evaluations have no companions: the
same seed gives the same answer for any number of workers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evosdc.evolution.stopping import TimeLimit
from evosdc.parallel import Closing, Task, open_crew
from evosdc.suppress.methods import stretches
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

# Seconds between two looks at what companions have found.
_LOOK = 0.2
# A stretch is long enough for so many first patterns.
_ROOM = 2.0
# Companions at most: patterns of all come to this process.
_MOST = 64


class Ongoing(Protocol):
    """A search that can be stopped and go on."""

    def go_on(self) -> None:
        """Search until its run is stopped; the run knows the best pattern of all."""
        ...


Begin = Callable[[Problem, Any, Search], Ongoing]


@dataclass(frozen=True, eq=False)
class Stretch:
    """What a companion is asked for: to go on for a while.

    `begin` makes the search where it does not live yet; `best` is the best pattern of
    all others.
    """

    begin: Begin
    parameters: Any
    seed: int
    number: int
    seconds: float
    best: Pattern


@dataclass(frozen=True, eq=False)
class Haul:
    """What it found, where that is better, and how many patterns it looked at."""

    better: Pattern | None
    evaluations: int


def go_on(problem: Problem, stretch: Stretch) -> Haul:
    """Search for a while."""
    if "companion" not in problem.derived:
        own = Search(seed=stretch.seed, branch=(stretch.number,))
        begun = stretch.begin(problem, stretch.parameters, own)
        problem.derived["companion"] = own, begun
    search, ongoing = problem.derived["companion"]
    search.go_on(TimeLimit(search.seconds + stretch.seconds))
    search.offer(stretch.best)
    before = search.evaluations
    ongoing.go_on()
    assert search.best is not None
    better = search.best if search.best.cost < stretch.best.cost else None
    return Haul(better, search.evaluations - before)


class Companions(Closing):
    """The companions of a run, which is told of what they find while it goes on."""

    def __init__(
        self, problem: Problem, begin: Begin, parameters: Any, search: Search
    ) -> None:
        self._begin, self._parameters, self._search = begin, parameters, search
        timed = bool(np.isfinite(search.seconds_left()))
        self._size = min(search.beside, _MOST) if timed else 0
        self._crew = open_crew(self._size, problem, search.cluster)
        self._tasks: dict[int, Task[Haul]] = {}
        self._sent = [0] * self._size
        self._building: float | None = None
        # Methods with threads ask whether to stop from those as well.
        self._thread = threading.get_ident()
        self._again = stretches.SHORT
        if self._size:
            search.between.append(self._exchange)

    def _exchange(self) -> None:
        """Take in what was found, and let companions go on."""
        search = self._search
        if search.best is None or threading.get_ident() != self._thread:
            return
        if self._building is None:
            self._building = search.seconds
        if search.seconds < self._again:
            return
        self._again = search.seconds + _LOOK
        self._gather()
        left = search.seconds_left()
        if left < stretches.SHORT:
            return
        for number in range(self._size):
            if number not in self._tasks:
                length = stretches.stretch_length(self._sent[number])
                length = max(length, _ROOM * self._building)
                self._sent[number] += 1
                stretch = Stretch(
                    begin=self._begin,
                    parameters=self._parameters,
                    seed=search.seed,
                    number=number + 1,
                    seconds=min(length, left - stretches.HOMEWARD),
                    best=search.best,
                )
                self._tasks[number] = self._crew.submit(go_on, stretch)

    def _gather(self) -> None:
        for number, task in list(self._tasks.items()):
            if task.done():
                del self._tasks[number]
                haul = task.result()
                self._search.count(haul.evaluations, elsewhere=True)
                if haul.better is not None:
                    self._search.offer(haul.better, "from another worker")

    def close(self) -> None:
        """Take in what comes home in a moment, and end the workers."""
        if not self._size:
            return
        self._search.between.remove(self._exchange)
        end = time.monotonic() + stretches.LATE
        late = self._search.reason == "time limit"
        while late and self._tasks and time.monotonic() < end:
            self._gather()
            time.sleep(stretches.NAP)
        self._crew.close()
