"""A pool of Dask workers, on a cluster that runs independently of this process."""

from __future__ import annotations

import importlib.metadata
import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any
from weakref import WeakKeyDictionary

import distributed
from dask import config
from distributed import CancelledError, KilledWorker, wait

from evosdc.errors import EvosdcError
from evosdc.parallel.pool import A, LostWorkerError, R, RetryingPool, S, Workers

# Seconds within which a scheduler must answer, and have a worker. At half of them a
# busy cluster is refused, at twice of them a wrong address is reported later.
_SECONDS_TO_ANSWER, _SECONDS_FOR_WORKERS = 6.0, 5.0
# Workers used by default: each reports to this process, which twice as many keep busy
# and half as many do not.
_MOST_WORKERS = 64
# Searches keep caches with the shared object: a worker with several threads still runs
# one task at a time.
_ALONE = threading.Lock()
# How often the shared object is sent if workers are lost meanwhile, and the seconds
# between. At half of either a cluster that restarts a worker is given up, at twice of
# them a cluster that is gone is waited for longer.
_MOST_SENDINGS, _SECONDS_BETWEEN_SENDINGS = 5, 0.5
# Seconds between two queries for the list of workers. At half of it the scheduler is
# asked more often, at twice of it new workers are used later.
_SECONDS_BETWEEN_QUERIES = 1.0


class ClusterError(EvosdcError):
    """A cluster that does not answer, or that cannot do this work."""


@contextmanager
def connected(cluster: Any, most: int | None) -> Iterator[Workers]:
    """Connect to a cluster for a ``with`` block: see `evosdc.parallel.open_workers`."""
    if isinstance(cluster, distributed.Client):
        yield _checked(cluster, most)
        return
    client = _client_of(cluster)
    try:
        yield _checked(client, most)
    finally:
        client.close()


def _client_of(address: Any) -> Any:
    wanted = "the address of a Dask scheduler, such as tcp://host:8786, or a Client"
    if not isinstance(address, str) or "://" not in address:
        raise ClusterError(f"cluster is {address!r}", expected=wanted)
    try:
        # Keys and certificates of tls:// come from Dask's own configuration.
        return distributed.Client(
            address, timeout=_SECONDS_TO_ANSWER, set_as_default=False
        )
    except Exception as error:
        # Each transport has errors of its own, down to those of its TLS files.
        said = str(error).split("\n")[0]
        raise ClusterError(
            f"no scheduler answers at {address!r} ({type(error).__name__}: {said})",
            expected=wanted,
            hint="start one with: dask scheduler; or leave the cluster out",
        ) from error


def _own_version() -> str:
    return importlib.metadata.version("evosdc")


def _checked(client: Any, most: int | None) -> Workers:
    """Return the workers of a client, which must have this version of the package."""
    if client.asynchronous or client.status != "running":
        raise ClusterError(
            f"the client given as cluster is {client.status}"
            + (" and asynchronous" if client.asynchronous else ""),
            expected="a connected client that is not asynchronous",
            hint="make one with: distributed.Client('tcp://host:8786')",
        )
    where = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
    except TimeoutError as error:
        raise ClusterError(
            f"the scheduler at {where} has no workers",
            expected="one or more",
            hint=f"start some with: dask worker {where} --nthreads 1",
        ) from error
    own = _own_version()
    # A function of the standard library: workers may lack this package.
    found = client.run(importlib.metadata.version, "evosdc", on_error="return")
    for worker, version in sorted(found.items()):
        if version != own:
            has = "no evosdc" if isinstance(version, Exception) else f"evosdc {version}"
            raise ClusterError(
                f"the worker at {worker} has {has}",
                expected=f"evosdc {own}, as here: another may give another answer",
                hint=f"on that machine run: pip install evosdc=={own}",
            )
    return Workers(min(len(found), most or _MOST_WORKERS), client)


def _work(function: Callable[[S, A], R], shared: S, argument: A) -> R:
    with _ALONE:
        return function(shared, argument)


def _fetch(_: Any) -> None:
    """Do nothing but receive the shared object."""


class DaskPool(RetryingPool[S]):
    """Workers of a cluster, each of which receives the shared object once.

    Dask itself runs the tasks of a lost worker on another one. Only if the last worker
    with the shared object is lost, that must be sent and the task submitted again.
    """

    hint = "give the workers of the cluster more memory, or use fewer on a machine"
    lost = CancelledError
    given_up = (KilledWorker,)

    def __init__(self, workers: Workers, shared: S) -> None:
        super().__init__(workers.count, shared)
        self._client = workers.client
        self._known: list[str] = []
        self._looked = -math.inf
        # The worker of each task. Results that were read are released, here and on the
        # cluster.
        self._places: WeakKeyDictionary[Any, str | None] = WeakKeyDictionary()

    def _open(self) -> Any:
        """Send the shared object, again if a worker is lost meanwhile."""
        for _ in range(_MOST_SENDINGS):
            with suppress(OSError, CancelledError):
                return self._send_to_all()
            time.sleep(_SECONDS_BETWEEN_SENDINGS)
        raise LostWorkerError(self.hint)

    def _send_to_all(self) -> Any:
        """Send the shared object to one worker, from which the others fetch it.

        Dask's own broadcast waits for ever for a worker that is lost meanwhile; a task
        that fetches is run by another one.
        """
        # Without a hash: pools with equal objects must not release each other's.
        sent = self._client.scatter(self._shared, hash=False)
        with self._client.as_current():
            wait([self._submit(place, _fetch, sent) for place in self._addresses()])
        return sent

    def _submit(self, place: str | None, *task: Any) -> Any:
        """Submit a task for a worker or, if that is lost, for any."""
        return self._client.submit(
            *task,
            workers=None if place is None else [place],
            allow_other_workers=place is not None,
            pure=False,
        )

    def start(
        self, source: Any, function: Callable[[S, A], R], argument: A, alike: bool, /
    ) -> Any:
        place = self._place(alike)
        # Arguments may be large: a candidate of a synthesis is a complete file.
        with config.set({"distributed.admin.large-graph-warning-threshold": "1TB"}):
            future = self._submit(place, _work, function, source, argument)
        self._places[future] = place
        return future

    def has_lost(self, future: Any) -> bool:
        return future.status in ("cancelled", "lost")

    def _place(self, alike: bool) -> str | None:
        """Return the worker for the next task; None if Dask is to choose.

        Dask prefers workers that have the shared object. Its active memory manager also
        removes the object from idle workers, so that all later tasks would wait for one
        worker. Tasks that are `alike` are distributed evenly; others are assigned to
        idle workers only, and Dask distributes the rest.
        """
        given = Counter(p for task, p in self._places.items() if not task.done())
        least = min(self._addresses(), key=lambda address: given[address])
        return least if alike or not given[least] else None

    def _addresses(self) -> list[str]:
        """Return the addresses of all workers, queried at most once a second."""
        if time.monotonic() - self._looked < _SECONDS_BETWEEN_QUERIES:
            return self._known
        for _ in range(_MOST_SENDINGS):
            self._known, self._looked = list(self._client.ncores()), time.monotonic()
            if self._known:
                return self._known
            time.sleep(_SECONDS_BETWEEN_SENDINGS)
        raise LostWorkerError(self.hint)

    def _wait(self, tasks: Sequence[Any]) -> None:
        with suppress(CancelledError), self._client.as_current():
            wait([task.future for task in tasks], return_when="FIRST_COMPLETED")

    def close(self) -> None:
        """Cancel all tasks; the client and its workers stay connected.

        Dask cannot interrupt a function: workers finish what they are running.
        """
        self.closed = True
        futures = [future for future in self._places if not future.done()]
        if self._client.status == "running":
            self._client.cancel(futures + ([self._source] if self._source else []))
        self._places.clear()
        self._source = None
