"""Work that nobody helps with at first, and others where it takes long."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from evosdc import small_jobs
from evosdc.clock import moment
from evosdc.parallel.closing import Closing
from evosdc.parallel.cluster import Cluster
from evosdc.parallel.crew import Crew, SerialCrew, Task
from evosdc.parallel.open import open_crew

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")
# Seconds of work in this process before others are asked: they need two to begin.
_PATIENCE = 2.0
# Tasks given for each worker: one to do, and one to begin with at once after it.
_AHEAD = 2
# Seconds between two looks at whether an answer is there.
_NAP = 0.001


@dataclass(frozen=True)
class Help:
    """So many processes of this machine, or workers of a cluster."""

    workers: int = 1
    cluster: Cluster | None = None

    @classmethod
    def of(cls, workers: int | None, cluster: Cluster | None) -> Help:
        """Take so many of this machine, all its cores where None, or a cluster."""
        if cluster is not None:
            return cls(cluster.size, cluster)
        return cls(workers or os.cpu_count() or 1)


class Hands(Closing, Generic[S]):
    """Does tasks that share something, here or by others: the answers are the same."""

    def __init__(
        self, shared: S, deadline: float | None = None, help: Help | None = None
    ) -> None:
        self.deadline = deadline
        self.shared = shared
        self._help = help or Help()
        self._crew: Crew[S] = SerialCrew(shared)
        self._spent = 0.0

    @property
    def helped(self) -> bool:
        """Whether others work by now."""
        return self._crew.size > 0

    def left(self) -> float | None:
        """Return the seconds until the deadline, which every process counts itself."""
        return None if self.deadline is None else self.deadline - moment()

    def map(
        self, function: Callable[[S, A], R], tasks: Iterable[A], many: int
    ) -> list[R]:
        """Return the answers in the order of the tasks, so many at most.

        A task is asked for when somebody is about to begin with it: what it says of the
        seconds left is true then, and a deadline holds however many tasks there are.
        """
        begun = moment()
        self._call(many)
        given: list[Task[R]] = []
        under_way: list[Task[R]] = []
        for argument in tasks:
            given.append(self._crew.submit(function, argument))
            under_way = [task for task in (*under_way, given[-1]) if not task.done()]
            # Whichever ends first makes room: one that takes long keeps nobody idle.
            while len(under_way) > _AHEAD * self._crew.size:
                time.sleep(_NAP)
                under_way = [task for task in under_way if not task.done()]
        answers = [task.result() for task in given]
        self._spent += moment() - begun
        return answers

    def each(
        self,
        function: Callable[[S, A], R],
        tasks: Sequence[A],
        stopped: Callable[[], bool],
    ) -> Iterator[R]:
        """Give the answers in the order of the tasks, until it is stopped.

        Where nobody helps a task is done when its answer is asked for.
        """
        self._call(len(tasks))
        if not self.helped:
            for argument in tasks:
                if stopped():
                    return
                begun = moment()
                answer = function(self.shared, argument)
                self._spent += moment() - begun
                yield answer
            return
        for task in [self._crew.submit(function, argument) for argument in tasks]:
            while not task.done():
                if stopped():
                    return
                time.sleep(_NAP)
            yield task.result()

    def _call(self, tasks: int) -> None:
        """Open a crew where it is worth it: what has taken long will take longer."""
        slow = self._spent > _PATIENCE and min(tasks, self._help.workers) > 1
        # A small job is done sooner than others have begun.
        if slow and not self.helped and not small_jobs.small():
            self._crew = open_crew(self._help.workers, self.shared, self._help.cluster)

    def close(self) -> None:
        self._crew.close()
