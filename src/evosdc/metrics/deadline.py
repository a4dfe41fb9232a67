"""How long a measurement may take: slow loops ask, and stop where no time is left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

NO_TIME = "not measured: no time left"
# A metric may have its value and no baseline to read it by.
BASELINES = "the baselines of"
INTERRUPTED = "not measured: interrupted"


class OutOfTimeError(Exception):
    """There is no time left for this measurement."""


def _unlimited() -> float:
    return float("inf")


_left: ContextVar[Callable[[], float]] = ContextVar("left", default=_unlimited)


def check_time(needed: float = 0.0) -> None:
    """Stop where no time is left; slow loops call this in every turn.

    A step that cannot be interrupted says how many seconds it may need.
    """
    if _left.get()() <= needed:
        raise OutOfTimeError


@contextmanager
def within(left: Callable[[], float] | None) -> Iterator[None]:
    """Limit measurements in the block to the seconds that `left` returns."""
    token = _left.set(_unlimited if left is None else left)
    try:
        yield
    finally:
        _left.reset(token)
