"""A crew of processes on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any, TypeVar

from loky import ProcessPoolExecutor

from evosdc import small_jobs
from evosdc.parallel.crew import Crew, Given, Task

S = TypeVar("S")
A = TypeVar("A")
R = TypeVar("R")
# Seconds between two looks at whether the process that gives the work is there.
_WATCH = 1.0
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
        time.sleep(_WATCH)
    os._exit(1)


def _work(function: Callable[[Any, A], R], argument: A) -> R:
    return function(_SHARED[0], argument)


class _Given(Given[R]):
    """A task given to a process, and given again where that one was lost."""

    hint = "try fewer of them (--workers 1 uses this process alone)"

    def __init__(
        self, crew: ProcessCrew[Any], function: Callable[[Any, A], R], argument: A
    ) -> None:
        self._crew = crew
        super().__init__(function, argument)

    def _give(self) -> None:
        self._pool = self._crew.pool()
        self.future: Future[R] = self._pool.submit(_work, *self._asked)

    def done(self) -> bool:
        return self.future.done() and not self._lost()

    def result(self) -> R:
        while True:
            try:
                return self.future.result()
            except BrokenProcessPool:
                self._again()

    def _lost(self) -> bool:
        """Whether its worker is gone; the task has another one then."""
        if not isinstance(self.future.exception(), BrokenProcessPool):
            return False
        self._again()
        return True

    def _renew(self) -> None:
        self._crew.renew(self._pool)


class ProcessCrew(Crew[S]):
    """So many processes. They begin when there is work, each with what is shared.

    Loky starts them afresh: forked ones would inherit solver and Numba threads half
    alive, and those of the standard library run the caller's script again.
    """

    def __init__(self, size: int, shared: S) -> None:
        self.size = size
        self._shared = shared
        self._pool: ProcessPoolExecutor | None = None

    def pool(self) -> ProcessPoolExecutor:
        """Return the processes, started where there are none."""
        if self._pool is None:
            known = (self._shared, small_jobs.size())
            self._pool = ProcessPoolExecutor(
                self.size, initializer=_begin, initargs=known
            )
        return self._pool

    def renew(self, broken: ProcessPoolExecutor) -> None:
        """Begin with new processes, unless another task has seen to it."""
        if self._pool is broken:
            self._pool = None

    def submit(self, function: Callable[[S, A], R], argument: A) -> Task[R]:
        return _Given(self, function, argument)

    def _wait(self, tasks: Sequence[Any]) -> None:
        wait([task.future for task in tasks], return_when=FIRST_COMPLETED)

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, kill_workers=True)
            self._pool = None
