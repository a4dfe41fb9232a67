"""Workers beside the caller: the one way in which work is spread.

A *crew* knows one thing that all tasks share, a table say, which travels to each worker
once. A task is a function of it and of one argument; randomness comes with the
argument, so that an answer depends neither on who works nor on how many. A worker that
is lost costs its task, which is given to another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from evosdc.parallel.closing import Closing

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


class Crew(Protocol[S_co]):
    """Something that works; a context manager, so that workers end with it.

    `size` is how many tasks are done at a time, 0 where submitting one does it.
    """

    @property
    def size(self) -> int: ...

    def submit(self, function: Callable[[S_co, A], R], argument: A) -> Task[R]:
        """Have a function of what is shared, and of an argument, worked out."""
        ...

    def map(self, function: Callable[[S_co, A], R], arguments: Iterable[A]) -> list[R]:
        """Return the answers in the order of the arguments."""
        ...

    def stream(
        self, function: Callable[[S_co, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        """Give each answer when it is there."""
        ...

    def close(self) -> None:
        """End the workers, whatever they are doing."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


class _Done(Generic[R]):
    """A task that was done when it was given."""

    def __init__(self, answer: R) -> None:
        self._answer = answer

    def done(self) -> bool:
        return True

    def result(self) -> R:
        return self._answer


class SerialCrew(Closing, Generic[S]):
    """Everything in this process, when it is asked for."""

    size = 0

    def __init__(self, shared: S) -> None:
        self._shared = shared

    def submit(self, function: Callable[[S, A], R], argument: A) -> Task[R]:
        return _Done(function(self._shared, argument))

    def map(self, function: Callable[[S, A], R], arguments: Iterable[A]) -> list[R]:
        return [function(self._shared, argument) for argument in arguments]

    def stream(
        self, function: Callable[[S, A], R], arguments: Iterable[A]
    ) -> Iterator[R]:
        return (function(self._shared, argument) for argument in arguments)

    def close(self) -> None:
        return None
