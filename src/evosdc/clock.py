"""A clock that several steps of one job share; compiling stops it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self


class Clock:
    """Seconds since the start, without those that went into compiling kernels.

    Kernels are compiled once after an installation, in no relation to a limit that was
    set for the data. While a clock is entered, Numba tells it what it compiles.

    Parameters
    ----------
    limit
        Seconds, or None for no limit.
    on_compile
        Called once, when the first kernel is compiled.
    """

    def __init__(
        self,
        limit: float | None = None,
        on_compile: Callable[[], object] | None = None,
    ) -> None:
        self.limit = math.inf if limit is None else float(limit)
        self._on_compile = on_compile
        self._start = time.perf_counter()
        self._compiled = 0.0
        self._since = 0.0
        self._depth = 0
        self._guard: Any = None

    def spent(self) -> float:
        """Return the seconds that went by, compiling aside."""
        now = time.perf_counter()
        compiling = now - self._since if self._depth else 0.0
        return now - self._start - self._compiled - compiling

    def left(self) -> float:
        """Return the seconds that are left, 0 at least; infinite without a limit."""
        return max(0.0, self.limit - self.spent())

    def __enter__(self) -> Self:
        from numba.core import event

        clock = self

        class Ear(event.Listener):
            def on_start(self, event: Any) -> None:
                del event
                clock._begin()

            def on_end(self, event: Any) -> None:
                del event
                clock._end()

        self._guard = event.install_listener("numba:compile", Ear())
        self._guard.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._guard.__exit__(kind, error, trace)

    # Kernels call each other, so that compiling one begins inside another.
    def _begin(self) -> None:
        if self._depth == 0:
            self._since = time.perf_counter()
            if self._on_compile is not None:
                self._on_compile()
                self._on_compile = None
        self._depth += 1

    def _end(self) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._compiled += time.perf_counter() - self._since
