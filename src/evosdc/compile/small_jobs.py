"""Small jobs need no compiler: Python runs their kernels as they are written.

Compiling takes longer than all of a search in a table of a few hundred cells. Answers
do not depend on who runs a kernel.

Each thread has its own job. Threads that help with one are given its context.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

# Measured: Python has a first pattern of a table of 405 cells in about a second.
_FEW_CELLS = 500

# How many cells the job under way has; infinite while that is not known.
_CELLS: ContextVar[float] = ContextVar("cells", default=math.inf)


@contextmanager
def job(cells: float = math.inf) -> Iterator[None]:
    """Say that the block, or the function, is one job; large until `has` says more."""
    before = _CELLS.set(cells)
    try:
        yield
    finally:
        _CELLS.reset(before)


def has(cells: float) -> None:
    """Say how many cells the table of the job has."""
    _CELLS.set(cells)


def size() -> float:
    """Return how many cells the job has, for the workers that it is shared with."""
    return _CELLS.get()


def small() -> bool:
    """Whether the job is so small that Python had better run its kernels."""
    return size() <= _FEW_CELLS
