"""What is handed from one step of `protect` to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.api.checkpoint import Checkpoint
from evosdc.api.options import Attacker, Requests, Stop
from evosdc.api.running import Clock
from evosdc.api.sources import Known
from evosdc.attack.hints import Hint
from evosdc.errors import InputError
from evosdc.evolution.record import Entry
from evosdc.results import Certificate, Verdict
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.requests import CellRequests
from evosdc.suppress.search import Search
from evosdc.table import Table

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Task:
    """What `protect` was asked for, beside the table."""

    method: str
    cost: str
    stop: Stop
    attacker: Attacker
    requests: Requests
    seed: int
    workers: int | None
    options: Mapping[str, Any]
    on_progress: Callable[[Entry], None] | None
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        if self.seed < 0:
            raise InputError(
                f"seed is {self.seed}", expected="a whole number of 0 or more"
            )
        if self.workers is not None and self.workers < 1:
            raise InputError(
                f"workers is {self.workers}", expected="1 or more processes"
            )


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table with its requests granted, and the problem that the search gets.

    Attributes
    ----------
    given, granted
        The table as it came, and with requested cells sensitive or fixed.
    before
        What everyone has from earlier publications.
    kept, paid
        Secondaries that stay hidden, and what they cost: free to the search, and paid
        for by every pattern.
    insiders
        Whether lone respondents are attackers.
    notes
        What could not be asked of any pattern.
    """

    task: Task
    given: Table
    granted: Table
    before: Known
    requested: CellRequests
    kept: Mask
    paid: float
    insiders: bool
    problem: Problem
    clock: Clock
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Found:
    """What the search found; its problem may ask for less than the one it got.

    `rehearsed` is a pattern that was settled and judged on the way, if any.
    """

    method: Method
    search: Search
    problem: Problem
    pattern: Pattern
    notes: tuple[str, ...]
    rehearsed: Judged | None = None


@dataclass(frozen=True, eq=False)
class Settled:
    """The table with its final statuses, and which cells are hidden.

    `hints` and `seen` are what the judge may be told, and has seen while it was made.
    """

    table: Table
    hidden: Mask
    notes: tuple[str, ...]
    hints: tuple[Hint, ...] = ()
    seen: Certificate | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    """A pattern as it was found, as it was settled, and what the judge says of it."""

    pattern: Pattern
    settled: Settled
    verdict: Verdict
    certificate: Certificate

    def is_of(self, pattern: Pattern) -> bool:
        """Whether it is this pattern that was settled and judged."""
        return np.array_equal(self.pattern.hidden, pattern.hidden)
