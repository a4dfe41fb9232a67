"""A pool of processes on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from loky import ProcessPoolExecutor

from evosdc.compile import small_jobs
from evosdc.parallel.pool import A, R, RetryingPool, S

# Seconds between two checks that the parent process is alive: workers outlive it by as
# much at most; half or twice makes no difference.
_SECONDS_BETWEEN_CHECKS = 1.0
# The object that the tasks of this process share, if it is a worker.
_SHARED: list[Any] = []


def _begin(shared: Any, cells: float) -> None:
    # Ctrl-C reaches all processes of the group: the parent decides when work ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _SHARED[:] = [shared]
    # A job too small to be compiled in the parent is too small in its workers.
    small_jobs.has(cells)


def _end_with(parent: int) -> None:
    """Exit if the parent was killed: a worker must not go on holding the table."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_CHECKS)
    os._exit(1)


def _work(function: Callable[[Any, A], R], argument: A) -> R:
    return function(_SHARED[0], argument)


class ProcessPool(RetryingPool[S]):
    """Processes of this machine, each with the shared object.

    Loky starts new processes: forked ones would inherit broken threads of solvers and
    of Numba, and those of the standard library run the caller's script again.
    """

    hint = "try fewer of them (--workers 1 uses this process alone)"
    lost = BrokenProcessPool

    def _open(self) -> ProcessPoolExecutor:
        known = (self._shared, small_jobs.size())
        return ProcessPoolExecutor(self.size, initializer=_begin, initargs=known)

    def start(
        self,
        source: ProcessPoolExecutor,
        function: Callable[[S, A], R],
        argument: A,
        _: bool,
        /,
    ) -> Future[R]:
        future: Future[R] = source.submit(_work, function, argument)
        return future

    def has_lost(self, future: Future[Any]) -> bool:
        return future.done() and isinstance(future.exception(), self.lost)

    def _wait(self, tasks: Sequence[Any]) -> None:
        wait([task.future for task in tasks], return_when=FIRST_COMPLETED)

    def close(self) -> None:
        self.closed = True
        if self._source is not None:
            self._source.shutdown(wait=False, kill_workers=True)
            self._source = None
