"""Which crew does the work."""

from __future__ import annotations

from typing import TypeVar

from evosdc.parallel.crew import Crew, SerialCrew
from evosdc.parallel.processes import ProcessCrew

S = TypeVar("S")


def open_crew(size: int, shared: S) -> Crew[S]:
    """Return a crew that does so many tasks at a time; below one, this process does."""
    return ProcessCrew(size, shared) if size > 0 else SerialCrew(shared)
