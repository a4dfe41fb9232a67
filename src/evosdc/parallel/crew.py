"""Workers beside the caller: the one way in which work is spread.

A *crew* knows one thing that all tasks share, a table say, which travels to each worker
once. A task is a function of it and of one argument; randomness comes with the
argument, so that an answer depends neither on who works nor on how many. A worker that
is lost costs its task, which is given to another one.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from evosdc import small_jobs
from evosdc.clock import moment
from evosdc.errors import EvosdcError
from evosdc.parallel.cluster import Cluster

# What ends with the block in which it was opened.


class Closing(ABC):
    """A context manager that closes itself: workers must not outlive who has them."""

    @abstractmethod
    def close(self) -> None:
        """End what was begun, whatever it is doing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
A = TypeVar("A")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Task(Protocol[R_co]):
    """Something that is being done."""

    def done(self) -> bool:
        """Whether the answer is there, or an error."""
        ...

    def result(self) -> R_co:
        """Wait for the answer."""
        ...


class Crew(Closing, Generic[S_co]):
    """Something that works; a context manager, so that workers end with it.

    `size` is how many tasks are done at a time, 0 where submitting one does it.
    """

    size: int

    @abstractmethod
    def submit(self, function: Callable[[S_co, A], R], argument: A) -> Task[R]:
        """Have a function of what is shared, and of an argument, worked out."""

    def map(self, function: Callable[[S_co, A], R], arguments: Iterable[A]) -> list[R]:
        """Return the answers in the order of the arguments."""
        tasks = [self.submit(function, argument) for argument in arguments]
        return [task.result() for task in tasks]

    def stream(
        self, function: Callable[[S_co, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        """Give each answer when it is there."""
        waiting = [self.submit(function, argument) for argument in arguments]
        while waiting:
            self._wait(waiting)
            # Where some are lost, asking whether they are done gives them again.
            done = [task for task in waiting if task.done()]
            waiting = [task for task in waiting if task not in done]
            yield from (task.result() for task in done)

    def _wait(self, tasks: Sequence[Any]) -> None:
        """Wait until a task may be done."""


class _Done(Generic[R]):
    """A task that was done when it was given."""

    def __init__(self, answer: R) -> None:
        self._answer = answer

    def done(self) -> bool:
        return True

    def result(self) -> R:
        return self._answer


class SerialCrew(Crew[S]):
    """Everything in this process, when it is asked for."""

    size = 0

    def __init__(self, shared: S) -> None:
        self._shared = shared

    def submit(self, function: Callable[[S, A], R], argument: A) -> Task[R]:
        return _Done(function(self._shared, argument))

    def stream(
        self, function: Callable[[S, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        return (function(self._shared, argument) for argument in arguments)

    def close(self) -> None:
        return None


# Tasks that are given again when their worker is lost, and when one is given up.

# A task that has lost so many workers is what kills them.
_LIVES = 3


class LostWorkerError(EvosdcError):
    """Workers were lost again and again with the same task."""

    def __init__(self, hint: str) -> None:
        super().__init__(
            f"a task lost {_LIVES} worker processes, one after another",
            expected="workers that live: was memory short?",
            hint=hint,
        )


class Given(ABC, Generic[R]):
    """A task given to a worker. `hint` is what to do where it kills every one."""

    hint: ClassVar[str]

    def __init__(self, function: Callable[[Any, A], R], argument: A) -> None:
        self._asked = function, argument
        self._lives = _LIVES
        self._give()

    @abstractmethod
    def _give(self) -> None:
        """Give the task to a worker."""

    @abstractmethod
    def _renew(self) -> None:
        """See to it that there are workers which have what is shared."""

    def _again(self) -> None:
        self._lives -= 1
        if not self._lives:
            raise LostWorkerError(self.hint)
        self._renew()
        self._give()


# Which crew does the work.


def open_crew(size: int, shared: S, cluster: Cluster | None = None) -> Crew[S]:
    """Return a crew that does so many tasks at a time; below one, this process does.

    They are done by processes of this machine or, where there is a cluster, by its
    workers.
    """
    # What is not used need not be installed, nor loaded.
    if size < 1:
        return SerialCrew(shared)
    if cluster is not None:
        from evosdc.parallel.dask_crew import DaskCrew

        return DaskCrew(cluster, size, shared)
    from evosdc.parallel.processes import ProcessCrew

    return ProcessCrew(size, shared)


# Work that nobody helps with at first, and others where it takes long.

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
