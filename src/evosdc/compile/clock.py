"""Time as limits count it: compiling kernels stops every clock.

Kernels are compiled once after an installation, in no relation to a limit that was set
for the data. One run may compile in several threads while its main thread waits, and
all compiling waits for one lock, so time stops for all runs of a process. Who is told
of it is a matter of each run: its threads have its context.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Self

from evosdc.compile.interrupts import held_back

_LOG = logging.getLogger(__name__)
# Seconds of compiling before a warning, and after which it is repeated.
_PATIENCE, _REMIND = 1.0, 10.0


class _Stopwatch:
    """What this process has spent on compiling."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = 0.0
        self._since = 0.0
        self._depth = 0
        self._next = _PATIENCE

    def spent(self) -> float:
        """Return how many seconds this process has spent on compiling and loading."""
        with self._lock:
            running = time.monotonic() - self._since if self._depth else 0.0
            return self._spent + running

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Stop all clocks while the block runs.

        Kernels call each other, so that compiling one begins inside another; threads
        wait for each other's.
        """
        with self._lock:
            if self._depth == 0:
                self._since = time.monotonic()
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if self._depth == 0:
                    self._spent += time.monotonic() - self._since

    def tell(self) -> None:
        """Report that a kernel is not on disk and has to be compiled."""
        for clock in _CLOCKS.get():
            clock.tell()
        spent = self.spent()
        if spent <= self._next:
            return
        # A warning is what Python shows to those who have not set up logging.
        if self._next == _PATIENCE:
            _LOG.warning(
                "compiling kernels, once per machine and version; "
                "no limit of time counts this"
            )
        else:
            _LOG.warning("still compiling: %.0f s so far", spent)
        self._next = spent + _REMIND


_STOPWATCH = _Stopwatch()
compiled = _STOPWATCH.spent
tell_of_compiling = _STOPWATCH.tell


@contextmanager
def stopped() -> Iterator[None]:
    """Stop all clocks, and hold Ctrl-C back, while a kernel is compiled or loaded."""
    # LLVM calls Python back, where the exception would be lost.
    with held_back(), _STOPWATCH.stopped():
        yield


def moment() -> float:
    """Return a time in seconds, to be compared with others; compiling stops it."""
    return time.monotonic() - _STOPWATCH.spent()


class Clock:
    """Seconds since the start, without those that went into compiling kernels.

    Parameters
    ----------
    limit
        Seconds, or None for no limit.
    on_compile
        Called once, when the first kernel is compiled while the clock is entered, by
        the thread that compiles it.
    """

    def __init__(
        self,
        limit: float | None = None,
        on_compile: Callable[[], object] | None = None,
    ) -> None:
        self.limit = math.inf if limit is None else float(limit)
        self._on_compile = on_compile
        self._start = moment()
        self._token: Token[tuple[Clock, ...]]

    def spent(self) -> float:
        """Return the seconds that went by, compiling aside."""
        return moment() - self._start

    def count(self, seconds: float) -> None:
        """Count time that a run which was cut short has spent."""
        self._start -= seconds

    def left(self) -> float:
        """Return the seconds that are left, 0 at least; infinite without a limit."""
        return max(0.0, self.limit - self.spent())

    def tell(self) -> None:
        """Report that a kernel has to be compiled, once."""
        on_compile, self._on_compile = self._on_compile, None
        if on_compile is not None:
            on_compile()

    def __enter__(self) -> Self:
        self._token = _CLOCKS.set((*_CLOCKS.get(), self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _CLOCKS.reset(self._token)


# The clocks that are entered in a run.
_CLOCKS: ContextVar[tuple[Clock, ...]] = ContextVar("clocks", default=())
