"""Pools of workers: processes of this machine or of a cluster.

The tasks of a *pool* share an object, such as a table, which is sent to each worker
once. A task is a function of it and of one argument; randomness comes with the
argument, so that results depend neither on which worker runs a task nor on how many
there are. The task of a worker that is lost is run again by another one.
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
    """A number of processes of this machine or, with a Dask client, of a cluster."""

    count: int = 1
    client: Any = None

    @property
    def threads(self) -> int:
        """The number of threads for work that stays in this process."""
        here = self.count if self.client is None else os.cpu_count()
        return max(1, here or 1)

    def others(self, most: int) -> Workers:
        """Return the workers besides this process, at most so many."""
        others = self.count if self.client is not None else self.count - 1
        return replace(self, count=min(others, most))


@contextmanager
def open_workers(cluster: Any, most: int | None = None) -> Iterator[Workers]:
    """Connect to the workers of a cluster or of this machine, for a ``with`` block.

    Parameters
    ----------
    cluster
        The address of a scheduler, ``tcp://host:8786`` or ``tls://host:8786``, or a
        `distributed.Client`, which is left open; None for processes of this machine.
    most
        The number of workers at most; None for all, of a cluster up to 64.
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
    """A context manager that calls `close`, so that no workers are left over."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Stop all work and release the workers."""


class Task(Protocol[R_co]):
    """A task that was submitted."""

    def done(self) -> bool:
        """Whether there is a result, or an error."""
        ...

    def result(self) -> R_co:
        """Wait for the result and return it."""
        ...


class WorkerPool(Closing, Generic[S_co]):
    """Workers with an object that their tasks share; they end with the pool.

    `size` is the number of tasks run at a time, 0 if `submit` runs them itself.
    """

    size: int

    @abstractmethod
    def submit(
        self, function: Callable[[S_co, A], R], argument: A, *, alike: bool = False
    ) -> Task[R]:
        """Submit a task; tasks that are `alike` take about the same time."""

    def map(self, function: Callable[[S_co, A], R], arguments: Iterable[A]) -> list[R]:
        """Return the results of tasks that are alike, in the order of the arguments."""
        tasks = [self.submit(function, argument, alike=True) for argument in arguments]
        return [task.result() for task in tasks]

    def stream(
        self, function: Callable[[S_co, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        """Yield each result when it is available."""
        waiting = [self.submit(function, argument) for argument in arguments]
        while waiting:
            self._wait(waiting)
            # `done` submits lost tasks again.
            done = [task for task in waiting if task.done()]
            waiting = [task for task in waiting if task not in done]
            yield from (task.result() for task in done)

    def _wait(self, tasks: Sequence[Any]) -> None:
        """Wait until a task may be done."""


class SerialPool(WorkerPool[S]):
    """A pool that runs each task in this process when it is submitted."""

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


# A task that has lost so many workers is the cause of it. With one, a worker that was
# lost for other reasons ends the run; with six, memory is exhausted six times.
_MOST_LOST_WORKERS = 3


class LostWorkerError(EvosdcError):
    """A task repeatedly lost its worker."""

    def __init__(self, hint: str) -> None:
        super().__init__(
            f"a task lost {_MOST_LOST_WORKERS} worker processes, one after another",
            expected="workers that stay alive: was memory short?",
            hint=hint,
        )


class RetryingPool(WorkerPool[S]):
    """Workers that may be lost. They are started when the first task is submitted.

    Attributes
    ----------
    hint
        What to do if a task loses every worker.
    lost, given_up
        Errors of tasks that are submitted again, and of those that are not.
    """

    hint: ClassVar[str]
    lost: ClassVar[type[BaseException]]
    given_up: ClassVar[tuple[type[BaseException], ...]] = ()

    def __init__(self, size: int, shared: S) -> None:
        self.size, self._shared = size, shared
        self.closed = False
        self._source: Any = None

    def source(self) -> Any:
        """Return the executor that tasks are submitted to, with the shared object."""
        if self._source is None:
            self._source = self._open()
        return self._source

    def renew(self, lost: Any) -> None:
        """Discard a source that lost workers, unless another task has done so."""
        if self._source is lost:
            self._source = None

    @abstractmethod
    def _open(self) -> Any:
        """Return a new source."""

    @abstractmethod
    def start(
        self, source: Any, function: Callable[[S, A], R], argument: A, alike: bool, /
    ) -> Any:
        """Submit a task to a source and return its future."""

    @abstractmethod
    def has_lost(self, future: Any) -> bool:
        """Whether the worker of a task is lost, without waiting for it."""

    def submit(
        self, function: Callable[[S, A], R], argument: A, *, alike: bool = False
    ) -> Task[R]:
        return RetriedTask(self, function, argument, alike)


class RetriedTask(Generic[R]):
    """A task that is submitted again if its worker is lost.

    Tasks that raise an error are not run again: the error would be the same.
    """

    def __init__(self, pool: RetryingPool[Any], *asked: Any) -> None:
        self._pool, self._asked = pool, asked
        self._attempts_left = _MOST_LOST_WORKERS
        self._start()

    def _start(self) -> None:
        self._source = self._pool.source()
        self.future = self._pool.start(self._source, *self._asked)

    def _resubmit(self) -> None:
        self._attempts_left -= 1
        if not self._attempts_left:
            raise LostWorkerError(self._pool.hint)
        self._pool.renew(self._source)
        self._start()

    def done(self) -> bool:
        if not self._pool.closed and self._pool.has_lost(self.future):
            self._resubmit()
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
                self._resubmit()


def open_pool(workers: Workers, shared: S) -> WorkerPool[S]:
    """Return a pool of these workers; without any, tasks run in this process."""
    # Dask and loky are imported only if they are used.
    if workers.count < 1:
        return SerialPool(shared)
    if workers.client is not None:
        from evosdc.parallel.dask_pool import DaskPool

        return DaskPool(workers, shared)
    from evosdc.parallel.processes import ProcessPool

    return ProcessPool(workers.count, shared)


# Seconds of work in this process before workers are started, which takes two. At half
# of it small jobs wait for workers, at twice of it large ones have them later.
_SECONDS_BEFORE_WORKERS = 2.0
# Tasks submitted per worker: one to run, and one to start at once after it. With one,
# workers wait for the next; with four, the time left that a task was given is outdated.
_TASKS_PER_WORKER = 2
# Seconds between two checks for a result: half or twice makes no difference.
_SECONDS_BETWEEN_CHECKS = 0.001


def _never() -> bool:
    return False


class LazyPool(Closing, Generic[S]):
    """Runs tasks in this process and, if they take long, the next ones in a pool."""

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
        """Whether workers have been started."""
        return self._pool.size > 0

    def left(self) -> float | None:
        """Return the seconds until the deadline, which each process measures itself."""
        return None if self.deadline is None else self.deadline - moment()

    def map(
        self, function: Callable[[S, A], R], tasks: Iterable[A], many: int
    ) -> list[R]:
        """Return the results in the order of the tasks, at most `many`."""
        return list(self.each(function, tasks, many))

    def each(
        self,
        function: Callable[[S, A], R],
        tasks: Iterable[A],
        many: int,
        stopped: Callable[[], bool] = _never,
    ) -> Iterator[R]:
        """Yield the results in the order of the tasks, at most `many`, until stopped.

        A task is drawn from the iterable when a worker is about to start it, so that
        the seconds left in it are right, and a deadline holds for any number of tasks.
        """
        self._open_if_slow(many)
        under_way: deque[Task[R]] = deque()
        for argument in tasks:
            if stopped():
                return
            begun = moment()
            under_way.append(self._pool.submit(function, argument))
            self._spent += moment() - begun
            # Any task that ends makes room: a long one leaves no worker idle.
            most = _TASKS_PER_WORKER * self._pool.size
            while sum(not task.done() for task in under_way) > most:
                if stopped():
                    return
                time.sleep(_SECONDS_BETWEEN_CHECKS)
            while under_way and under_way[0].done():
                yield under_way.popleft().result()
        for task in under_way:
            while not task.done():
                if stopped():
                    return
                time.sleep(_SECONDS_BETWEEN_CHECKS)
            yield task.result()

    def _open_if_slow(self, tasks: int) -> None:
        """Start workers if the tasks so far have taken long."""
        several = min(tasks, self._workers.count) > 1
        slow = several and self._spent > _SECONDS_BEFORE_WORKERS
        # A small job ends before workers have started.
        if slow and not self.opened and not small_jobs.small():
            self._pool = open_pool(self._workers, self.shared)

    def close(self) -> None:
        self._pool.close()
