"""The end of a run that does not end by itself."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn


class OutOfTime(BaseException):
    """A run went on long after its limit.

    Not an `Exception`, so that no method takes it for a failure of its own.
    """


@contextmanager
def hard_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block after so many CPU seconds of this process.

    Systems without such a timer let the block run on.
    """
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: Any) -> NoReturn:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, end)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
