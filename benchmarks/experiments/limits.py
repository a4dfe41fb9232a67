"""The end of a run that does not end by itself."""

from __future__ import annotations

import ctypes
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

# Seconds between two looks at the CPU time of a thread's process.
_LOOK = 0.05


class OutOfTime(BaseException):
    """A run went on long after its limit.

    Not an `Exception`, so that no method takes it for a failure of its own.
    """


@contextmanager
def hard_limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` inside the block after so many CPU seconds of this process.

    A thread other than the first, as a Dask worker has, gets no signals: it is watched
    by another one. Systems without such a timer let the block run on.
    """
    if threading.current_thread() is not threading.main_thread():
        with _watched(seconds):
            yield
        return
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


@contextmanager
def _watched(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in this thread, between two steps of Python."""
    me, end = threading.get_ident(), time.process_time() + seconds
    told = threading.Event()

    def interrupt(error: type[BaseException] | None) -> None:
        what = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(me), what)

    def watch() -> None:
        while not told.wait(_LOOK):
            if time.process_time() >= end:
                interrupt(OutOfTime)
                return

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        told.set()
        watcher.join()
        # An interruption that came too late is no longer wanted.
        interrupt(None)
