"""A crew of Dask workers, on this machine or on others."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakSet

from dask import config
from distributed import CancelledError, KilledWorker, wait

from evosdc.parallel.cluster import Cluster
from evosdc.parallel.crew import Crew, Given, LostWorkerError, Task

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")
# Searches keep caches with what is shared: a worker of several threads does one task
# at a time all the same.
_ALONE = threading.Lock()
# So often what is shared is sent to workers that are lost meanwhile, seconds apart.
_SENDINGS, _PAUSE = 5, 0.5
# Seconds between two looks at which workers there are.
_LOOK = 1.0
_HINT = "give the workers of the cluster more memory, or use fewer on a machine"


def _work(function: Callable[[S, A], R], shared: S, argument: A) -> R:
    with _ALONE:
        return function(shared, argument)


def _fetch(_: Any) -> None:
    """Have what is shared, which is all that is asked."""


class _Given(Given[R]):
    """A task given to the cluster.

    Dask gives the tasks of a lost worker to another one by itself. Only where the last
    worker that had what is shared is lost must that be sent, and the task given, again.
    Errors of a task are not tried again: they would be the same.
    """

    hint = _HINT

    def __init__(
        self,
        crew: DaskCrew[Any],
        function: Callable[[Any, A], R],
        argument: A,
        alike: bool,
    ) -> None:
        self._crew, self._alike = crew, alike
        super().__init__(function, argument)

    def _give(self) -> None:
        function, argument = self._asked
        self._sent = self._crew.sent()
        self.place = self._crew.place(self._alike)
        # Arguments may be large: a candidate of a synthesis is a whole file.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            self.future = self._crew.client.submit(
                _work,
                function,
                self._sent,
                argument,
                workers=None if self.place is None else [self.place],
                allow_other_workers=self.place is not None,
                pure=False,
            )

    def done(self) -> bool:
        if self.future.status in ("cancelled", "lost") and not self._crew.closed:
            self._again()
        return bool(self.future.done())

    def result(self) -> R:
        while True:
            try:
                found: R = self.future.result()
                return found
            except KilledWorker as error:
                raise LostWorkerError(_HINT) from error
            except CancelledError:
                if self._crew.closed:
                    raise
                self._again()

    def _renew(self) -> None:
        self._crew.renew(self._sent)


class DaskCrew(Crew[S]):
    """Workers of a cluster. What is shared is sent to each of them once."""

    def __init__(self, cluster: Cluster, size: int, shared: S) -> None:
        self.client = cluster.client
        self.size = size
        self.closed = False
        self._shared = shared
        self._sent: Any = None
        self._known: list[str] = []
        self._looked = -math.inf
        # Answers that were taken are forgotten, by the cluster as well.
        self._tasks: WeakSet[_Given[Any]] = WeakSet()

    def sent(self) -> Any:
        """Return what is shared, as the cluster has it."""
        if self._sent is None:
            self._sent = self._send()
        return self._sent

    def _send(self) -> Any:
        """Send what is shared; a worker may be lost on the way, or not be back yet."""
        for _ in range(_SENDINGS):
            with suppress(OSError, CancelledError):
                return self._send_to_all()
            time.sleep(_PAUSE)
        raise LostWorkerError(_HINT)

    def _send_to_all(self) -> Any:
        """Send what is shared to a worker, from which each of the others takes it.

        Dask's own broadcast waits for ever for a worker that is lost meanwhile; a task
        that fetches goes to another one.
        """
        # Without a hash: two crews with the same must not end each other's.
        sent = self.client.scatter(self._shared, hash=False)
        with self.client.as_current():
            fetching = [
                self.client.submit(
                    _fetch,
                    sent,
                    workers=[address],
                    allow_other_workers=True,
                    pure=False,
                )
                for address in self._workers()
            ]
            wait(fetching)
        return sent

    def renew(self, lost: Any) -> None:
        """Send what is shared again, unless another task has seen to it."""
        if self._sent is lost:
            self._sent = None

    def place(self, alike: bool) -> str | None:
        """Return the worker for the next task; None where Dask may choose.

        Dask by itself gives tasks to who has what is shared. It also lets workers that
        are idle for a moment forget it (its active memory manager), so that all tasks
        of the next moment would wait for one. Tasks that are `alike` are dealt out
        evenly; of others only idle workers are given one, and Dask sees to the rest.
        """
        given = Counter(task.place for task in self._tasks if not task.future.done())
        least = min(self._workers(), key=lambda address: given[address])
        return least if alike or not given[least] else None

    def _workers(self) -> list[str]:
        """Return the addresses of all workers, as they were a moment ago."""
        if time.monotonic() - self._looked < _LOOK:
            return self._known
        for _ in range(_SENDINGS):
            self._known, self._looked = list(self.client.ncores()), time.monotonic()
            if self._known:
                return self._known
            time.sleep(_PAUSE)
        raise LostWorkerError(_HINT)

    def submit(self, function: Callable[[S, A], R], argument: A) -> Task[R]:
        return self._give(function, argument)

    def _give(
        self, function: Callable[[S, A], R], argument: A, alike: bool = False
    ) -> _Given[R]:
        task = _Given(self, function, argument, alike)
        self._tasks.add(task)
        return task

    def map(self, function: Callable[[S, A], R], arguments: Iterable[A]) -> list[R]:
        tasks = [self._give(function, argument, alike=True) for argument in arguments]
        return [task.result() for task in tasks]

    def _wait(self, tasks: Sequence[Any]) -> None:
        with suppress(CancelledError), self.client.as_current():
            wait([task.future for task in tasks], return_when="FIRST_COMPLETED")

    def close(self) -> None:
        """Cancel what is asked for; the client and its workers go on.

        Dask cannot interrupt a function: a worker ends what it has begun, for nobody.
        """
        self.closed = True
        futures = [task.future for task in self._tasks if not task.future.done()]
        if self.client.status == "running":
            self.client.cancel(futures + ([self._sent] if self._sent else []))
        self._tasks.clear()
        self._sent = None
