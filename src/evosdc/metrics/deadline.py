"""How long a measurement may take: slow loops ask, and give up together."""

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


def _for_ever() -> float:
    return float("inf")


_left: ContextVar[Callable[[], float]] = ContextVar("left", default=_for_ever)


def check_time(needed: float = 0.0) -> None:
    """Give up where no time is left; slow loops call this in every turn.

    What cannot be stopped half-way says how many seconds it may need.
    """
    if _left.get()() <= needed:
        raise OutOfTimeError


@contextmanager
def within(left: Callable[[], float] | None) -> Iterator[None]:
    """Let measurements inside the block take the seconds that `left` still returns."""
    token = _left.set(_for_ever if left is None else left)
    try:
        yield
    finally:
        _left.reset(token)
