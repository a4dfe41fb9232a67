"""Tasks that are given again when their worker is lost, and when one is given up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

from evosdc.errors import EvosdcError

A = TypeVar("A")
R = TypeVar("R")
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
