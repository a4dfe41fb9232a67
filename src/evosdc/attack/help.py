"""Who helps the judge: nobody at first, others where it takes long."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

from evosdc.clock import moment
from evosdc.parallel import Cluster, Crew, SerialCrew, open_crew

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")
# Seconds of work in this process before others are asked: they need two to begin.
_PATIENCE = 2.0


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


class Hands(Generic[S]):
    """Does tasks that share something, here or by others: the answers are the same."""

    def __init__(self, shared: S, deadline: float | None, help: Help) -> None:
        self.deadline = deadline
        self.shared = shared
        self._help = help
        self._crew: Crew[S] = SerialCrew(shared)
        self._spent = 0.0

    def left(self) -> float | None:
        """Return the seconds until the deadline, which every process counts itself."""
        return None if self.deadline is None else self.deadline - moment()

    def map(self, function: Callable[[S, A], R], tasks: Sequence[A]) -> list[R]:
        """Return the answers in the order of the tasks."""
        begun = moment()
        # What has taken long so far will take longer.
        slow = self._spent > _PATIENCE and min(len(tasks), self._help.workers) > 1
        if slow and not self._crew.size:
            self._crew = open_crew(self._help.workers, self.shared, self._help.cluster)
        answers = self._crew.map(function, tasks)
        self._spent += moment() - begun
        return answers

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._crew.close()
