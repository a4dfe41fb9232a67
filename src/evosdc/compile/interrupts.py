"""Ctrl-C held back while an exception would be lost or do harm.

Compiled code that calls Python back cannot pass an exception on: in a callback of
ctypes, or in a finaliser, Python prints a KeyboardInterrupt and goes on. So it is
raised after such code.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def held_back() -> Iterator[list[int]]:
    """Yield a list that is not empty once Ctrl-C was pressed.

    After the block the signal is sent again, to whoever would have had it: where blocks
    are nested, to the outer one.
    """
    asked: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread gets signals; other programs' handlers cannot be put back.
    mine = threading.current_thread() is threading.main_thread()
    if not mine or before in (None, signal.SIG_IGN):
        yield asked
        return
    signal.signal(signal.SIGINT, lambda number, _frame: asked.append(number))
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)
        if asked:
            signal.raise_signal(signal.SIGINT)
