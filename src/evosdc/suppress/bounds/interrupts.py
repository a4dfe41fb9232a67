"""Let Ctrl-C end a solver that must not be left by an exception.

An exception must not travel through compiled code that calls back, so for the time of a
run the interrupt only raises a flag that the callbacks ask for; it is raised after it.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Yield a list that is not empty once Ctrl-C was pressed."""
    asked: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before = signal.signal(signal.SIGINT, lambda number, _frame: asked.append(number))
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt
