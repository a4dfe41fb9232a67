"""Small jobs need no compiler: Python runs their kernels as they are written.

Compiling takes longer than all of a search in a table of a few hundred cells. Answers
do not depend on who runs a kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

# Measured: Python has a first pattern of a table of 405 cells in about a second.
_FEW_CELLS = 500

# The jobs under way by number of cells, the innermost last.
_JOBS: list[float] = []


@contextmanager
def job(cells: float = math.inf) -> Iterator[None]:
    """Say that the block, or the function, is one job; large until `has` says more."""
    _JOBS.append(cells)
    try:
        yield
    finally:
        _JOBS.pop()


def has(cells: int) -> None:
    """Say how many cells the table of the job has."""
    _JOBS[-1] = cells


def size() -> float:
    """Return how many cells the job has, for the workers that it is shared with."""
    return _JOBS[-1] if _JOBS else math.inf


def begin(cells: float) -> None:
    """Say in a worker how large the one job is that it works for."""
    _JOBS[:] = [cells]


def small() -> bool:
    """Whether the job is so small that Python had better run its kernels."""
    return bool(_JOBS) and _JOBS[-1] <= _FEW_CELLS
