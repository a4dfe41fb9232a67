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

# Seconds between two looks at whether the process that gives the work is there: workers
# outlive it by as much at most; half or twice is not noticed.
_SECONDS_BETWEEN_LOOKS = 1.0
# What every task of this process shares, where it is a worker.
_SHARED: list[Any] = []


def _begin(shared: Any, cells: float) -> None:
    # Ctrl-C reaches the whole group: who gave the work says when it ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    _SHARED[:] = [shared]
    # What this process need not compile, its workers need not either.
    small_jobs.has(cells)


def _end_with(parent: int) -> None:
    """End where the process that gave the work was killed: it has the table."""
    while os.getppid() == parent:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    os._exit(1)


def _work(function: Callable[[Any, A], R], argument: A) -> R:
    return function(_SHARED[0], argument)


class ProcessPool(RetryingPool[S]):
    """So many processes, each with what is shared.

    Loky starts them afresh: forked ones would inherit solver and Numba threads half
    alive, and those of the standard library run the caller's script again.
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
