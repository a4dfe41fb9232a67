"""Map a function over a list of tasks, in order, on one or several processes.

Results come back in the order of the tasks whatever the number of workers, so a search
that draws its randomness from the task gives the same answer on any machine.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Mapper(Protocol):
    """Something that maps; a context manager, so that workers end with it."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Apply `function` to each task and return the results in order."""
        ...

    def stream(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """Apply `function` to each task and give each result when it is there."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class SerialMapper:
    """Everything in this process."""

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        return [function(task) for task in tasks]

    def stream(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        return map(function, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        return None


class ProcessMapper:
    """Worker processes; `initial` runs once in each, to load what all tasks share."""

    def __init__(
        self,
        workers: int,
        initialiser: Callable[..., None] | None = None,
        initial: tuple[Any, ...] = (),
    ) -> None:
        # spawn: forked workers would inherit solver and Numba threads half alive.
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(
            workers, mp_context=context, initializer=initialiser, initargs=initial
        )

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        return list(self._pool.map(function, tasks))

    def stream(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        waiting = [self._pool.submit(function, task) for task in tasks]
        return (done.result() for done in as_completed(waiting))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)


def make_mapper(
    workers: int,
    initialiser: Callable[..., None] | None = None,
    initial: tuple[Any, ...] = (),
) -> Mapper:
    """Return a mapper for this many workers; one worker means this process."""
    if workers <= 1:
        if initialiser is not None:
            initialiser(*initial)
        return SerialMapper()
    return ProcessMapper(workers, initialiser, initial)
