"""Processes and clusters that work for a run: the one way in which work is spread.

A *pool* has something that all its tasks share, a table say, which travels to each
worker once. A task is a function of it and of one argument; randomness comes with the
argument, so that an answer depends neither on who works nor on how many. A worker that
is lost costs its task, which is given to another one.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from evosdc.compile import small_jobs
from evosdc.compile.clock import moment
from evosdc.errors import EvosdcError, MissingExtraError

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
A = TypeVar("A")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


@dataclass(frozen=True)
class Workers:
    """So many processes of this machine or, with a client of Dask, of a cluster."""

    count: int = 1
    client: Any = None

    @property
    def threads(self) -> int:
        """Threads of this process, for work that does not travel."""
        here = self.count if self.client is None else os.cpu_count()
        return max(1, here or 1)

    def others(self, most: int) -> Workers:
        """Return those that may work while this process works too, at most so many."""
        others = self.count if self.client is not None else self.count - 1
        return replace(self, count=min(others, most))


@contextmanager
def joined(cluster: Any, most: int | None = None) -> Iterator[Workers]:
    """Join a cluster for a while.

    Parameters
    ----------
    cluster
        The address of a scheduler, ``tcp://host:8786`` or ``tls://host:8786``, or a
        `distributed.Client`, which is left open; None for processes of this machine.
    most
        Most workers that are used; None for all, of a cluster up to 64.
    """
    if cluster is None:
        yield Workers(most or os.cpu_count() or 1)
        return
    # Dask is optional, and slow to import.
    try:
        from evosdc.parallel.dask_pool import connected
    except ImportError as error:
        raise MissingExtraError("distributed", "dask") from error
    with connected(cluster, most) as workers:
        yield workers


class Closing(AbstractContextManager[Any], ABC):
    """A context manager that closes itself: workers must not outlive who has them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """End what was begun, whatever it is doing."""


class Task(Protocol[R_co]):
    """Something that is being done."""

    def done(self) -> bool:
        """Whether the answer is there, or an error."""
        ...

    def result(self) -> R_co:
        """Wait for the answer."""
        ...


class WorkerPool(Closing, Generic[S_co]):
    """Workers with something that their tasks share; they end with the pool.

    `size` is how many tasks are done at a time, 0 where submitting one does it.
    """

    size: int

    @abstractmethod
    def submit(
        self, function: Callable[[S_co, A], R], argument: A, *, alike: bool = False
    ) -> Task[R]:
        """Give a task; those that are `alike` take about the same time."""

    def map(self, function: Callable[[S_co, A], R], arguments: Iterable[A]) -> list[R]:
        """Return the answers of tasks that are alike, in the order of the arguments."""
        tasks = [self.submit(function, argument, alike=True) for argument in arguments]
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


class SerialPool(WorkerPool[S]):
    """Everything in this process, when it is asked for."""

    size = 0

    def __init__(self, shared: S) -> None:
        self._shared = shared

    def submit(self, function: Callable[[S, A], R], argument: A, **_: bool) -> Task[R]:
        done: Future[R] = Future()
        done.set_result(function(self._shared, argument))
        return done

    def stream(
        self, function: Callable[[S, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        return (function(self._shared, argument) for argument in arguments)

    def close(self) -> None:
        return None


# A task that has lost so many workers is what kills them. With one, a worker that was
# lost for other reasons ends the run; with six, memory is exhausted six times.
_MOST_LOST_WORKERS = 3


class LostWorkerError(EvosdcError):
    """Workers were lost again and again with the same task."""

    def __init__(self, hint: str) -> None:
        super().__init__(
            f"a task lost {_MOST_LOST_WORKERS} worker processes, one after another",
            expected="workers that live: was memory short?",
            hint=hint,
        )


class RetryingPool(WorkerPool[S]):
    """Workers that may be lost. They begin when there is work.

    Attributes
    ----------
    hint
        What to do where a task loses every worker.
    lost, given_up
        Errors of tasks that are given again, and of those that are not.
    """

    hint: ClassVar[str]
    lost: ClassVar[type[BaseException]]
    given_up: ClassVar[tuple[type[BaseException], ...]] = ()

    def __init__(self, size: int, shared: S) -> None:
        self.size, self._shared = size, shared
        self.closed = False
        self._source: Any = None

    def source(self) -> Any:
        """Return what tasks are given to: it has what is shared."""
        if self._source is None:
            self._source = self._open()
        return self._source

    def renew(self, lost: Any) -> None:
        """Begin with a new source, unless another task has seen to it."""
        if self._source is lost:
            self._source = None

    @abstractmethod
    def _open(self) -> Any:
        """Return a new source."""

    @abstractmethod
    def start(
        self, source: Any, function: Callable[[S, A], R], argument: A, alike: bool, /
    ) -> Any:
        """Give a task to a source and return its future."""

    @abstractmethod
    def has_lost(self, future: Any) -> bool:
        """Whether the worker of a task is lost; does not wait for it."""

    def submit(
        self, function: Callable[[S, A], R], argument: A, *, alike: bool = False
    ) -> Task[R]:
        return RetriedTask(self, function, argument, alike)


class RetriedTask(Generic[R]):
    """A task that is given to another worker where its own is lost.

    Errors of the task itself are not tried again: they would be the same.
    """

    def __init__(self, pool: RetryingPool[Any], *asked: Any) -> None:
        self._pool, self._asked = pool, asked
        self._lives = _MOST_LOST_WORKERS
        self._give()

    def _give(self) -> None:
        self._source = self._pool.source()
        self.future = self._pool.start(self._source, *self._asked)

    def _give_again(self) -> None:
        self._lives -= 1
        if not self._lives:
            raise LostWorkerError(self._pool.hint)
        self._pool.renew(self._source)
        self._give()

    def done(self) -> bool:
        if not self._pool.closed and self._pool.has_lost(self.future):
            self._give_again()
        return bool(self.future.done())

    def result(self) -> R:
        while True:
            try:
                found: R = self.future.result()
                return found
            except self._pool.given_up as error:
                raise LostWorkerError(self._pool.hint) from error
            except self._pool.lost:
                if self._pool.closed:
                    raise
                self._give_again()


def open_pool(workers: Workers, shared: S) -> WorkerPool[S]:
    """Return a pool of these workers; of none, this process does the tasks."""
    # What is not used need not be installed, nor loaded.
    if workers.count < 1:
        return SerialPool(shared)
    if workers.client is not None:
        from evosdc.parallel.dask_pool import DaskPool

        return DaskPool(workers, shared)
    from evosdc.parallel.processes import ProcessPool

    return ProcessPool(workers.count, shared)


# Seconds of work in this process before others are asked: they need two to begin. At
# half of it small jobs wait for workers, at twice of it large ones have them later.
_SECONDS_BEFORE_WORKERS = 2.0
# Tasks given for each worker: one to do, and one to begin with at once after it. With
# one workers wait for the next, with four what a task says of the time left is old.
_TASKS_PER_WORKER = 2
# Seconds between two looks at whether an answer is there: half or twice is not noticed.
_SECONDS_BETWEEN_LOOKS = 0.001


def _never() -> bool:
    return False


class LazyPool(Closing, Generic[S]):
    """Does tasks here and, where they take long, opens a pool for the next ones."""

    def __init__(
        self,
        shared: S,
        deadline: float | None = None,
        workers: Workers | None = None,
    ) -> None:
        self.deadline = deadline
        self.shared = shared
        self._workers = workers or Workers()
        self._pool: WorkerPool[S] = SerialPool(shared)
        self._spent = 0.0

    @property
    def opened(self) -> bool:
        """Whether others work by now."""
        return self._pool.size > 0

    def left(self) -> float | None:
        """Return the seconds until the deadline, which every process counts itself."""
        return None if self.deadline is None else self.deadline - moment()

    def map(
        self, function: Callable[[S, A], R], tasks: Iterable[A], many: int
    ) -> list[R]:
        """Return the answers in the order of the tasks, so many at most."""
        return list(self.each(function, tasks, many))

    def each(
        self,
        function: Callable[[S, A], R],
        tasks: Iterable[A],
        many: int,
        stopped: Callable[[], bool] = _never,
    ) -> Iterator[R]:
        """Give the answers in the order of the tasks, so many at most, until stopped.

        A task is asked for when somebody is about to begin with it: what it says of the
        seconds left is true then, and a deadline holds however many tasks there are.
        """
        self._open_if_slow(many)
        under_way: deque[Task[R]] = deque()
        for argument in tasks:
            if stopped():
                return
            begun = moment()
            under_way.append(self._pool.submit(function, argument))
            self._spent += moment() - begun
            # Whichever ends first makes room: one that takes long keeps nobody idle.
            most = _TASKS_PER_WORKER * self._pool.size
            while sum(not task.done() for task in under_way) > most:
                if stopped():
                    return
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            while under_way and under_way[0].done():
                yield under_way.popleft().result()
        for task in under_way:
            while not task.done():
                if stopped():
                    return
                time.sleep(_SECONDS_BETWEEN_LOOKS)
            yield task.result()

    def _open_if_slow(self, tasks: int) -> None:
        """Open a pool where it is worth it: what has taken long will take longer."""
        several = min(tasks, self._workers.count) > 1
        slow = several and self._spent > _SECONDS_BEFORE_WORKERS
        # A small job is done sooner than others have begun.
        if slow and not self.opened and not small_jobs.small():
            self._pool = open_pool(self._workers, self.shared)

    def close(self) -> None:
        self._pool.close()
