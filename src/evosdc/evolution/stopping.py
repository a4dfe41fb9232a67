"""Stopping criteria, which keep no state between runs, and the run record.

Criteria depend only on a `Progress`, a snapshot of the run, so that one criterion may
be used by many runs at once and decides the same for the same run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Progress:
    """The state of a run that stopping criteria depend on.

    `improved_at` is when the best cost last fell, `gained` by how much it fell since
    the first answer.
    """

    seconds: float
    evaluations: int
    generations: int = 0
    cost: float | None = None
    bound: float | None = None
    improved_at: int = 0
    gained: float = 0.0


class Criterion(Protocol):
    """A criterion: why to stop now, or None to go on."""

    def reason(self, progress: Progress) -> str | None: ...


def _parts(stop: Criterion) -> Iterator[Criterion]:
    """Yield a criterion, or the parts of a combined one."""
    if isinstance(stop, AnyOf):
        for part in stop.criteria:
            yield from _parts(part)
    else:
        yield stop


def seconds_left(stop: Criterion, progress: Progress) -> float:
    """Return the seconds until the first time limit, infinite without one."""
    limits = (one.seconds for one in _parts(stop) if isinstance(one, TimeLimit))
    return max(0.0, min(limits, default=math.inf) - progress.seconds)


def evaluations_left(stop: Criterion, progress: Progress) -> float:
    """Return the evaluations until the first limit, infinite without one."""
    limits = (e.evaluations for e in _parts(stop) if isinstance(e, EvaluationLimit))
    return max(0.0, min(limits, default=math.inf) - progress.evaluations)


def gap(cost: float | None, bound: float | None) -> float | None:
    """Return the largest possible distance from the optimum, as a share of the cost."""
    if cost is None or bound is None:
        return None
    if cost <= bound:
        return 0.0
    return (cost - bound) / cost


@dataclass(frozen=True)
class TimeLimit:
    """Stop after so many seconds, never if they are infinite."""

    seconds: float

    def reason(self, progress: Progress) -> str | None:
        return "time limit" if progress.seconds >= self.seconds else None


@dataclass(frozen=True)
class EvaluationLimit:
    """Stop after so many evaluations, which is reproducible; never if infinite."""

    evaluations: float

    def reason(self, progress: Progress) -> str | None:
        return "evaluations" if progress.evaluations >= self.evaluations else None


@dataclass(frozen=True)
class TargetGap:
    """Stop when the answer is proven close enough to the optimum."""

    share: float

    def reason(self, progress: Progress) -> str | None:
        now = gap(progress.cost, progress.bound)
        return "target gap" if now is not None and now <= self.share else None


@dataclass(frozen=True)
class AnyOf:
    """Stop as soon as one of the criteria is met."""

    criteria: tuple[Criterion, ...]

    def reason(self, progress: Progress) -> str | None:
        reasons = (criterion.reason(progress) for criterion in self.criteria)
        return next((why for why in reasons if why is not None), None)


@dataclass(frozen=True)
class CostBenefit:
    """Stop when the improvement per second is too small (Herrington 2015).

    The improvement since the first answer, divided by the time of the run, must be at
    least this share of the cost per second; the run lasts at least `patience` seconds.
    """

    share_per_second: float
    patience: float = 1.0

    def reason(self, progress: Progress) -> str | None:
        if progress.cost is None or progress.seconds < self.patience:
            return None
        gain_per_second = progress.gained / max(progress.seconds, 1e-9)
        if gain_per_second < self.share_per_second * progress.cost:
            return "cost-benefit"
        return None


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
