"""The run record: best cost and bound by time and by evaluations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Entry:
    """One line of a run record.

    `bound` is a valid lower bound on the optimum where one is known; `diversity` the
    mean distance between individuals where there is a population.
    """

    seconds: float
    evaluations: int
    cost: float | None
    bound: float | None
    diversity: float | None = None
    event: str = ""


@dataclass
class RunRecord:
    """Entries in order of time; listeners, such as the progress display, get each."""

    entries: list[Entry] = field(default_factory=list)
    listeners: list[Callable[[Entry], None]] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Append an entry and call the listeners with it."""
        self.entries.append(entry)
        for listener in self.listeners:
            listener(entry)
