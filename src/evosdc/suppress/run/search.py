"""One run of a method: its budget, its randomness, its record and its best answer."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import numpy as np

from evosdc.compile.clock import moment
from evosdc.evolution.record import Entry, RunRecord
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    EvaluationLimit,
    Progress,
    TimeLimit,
    evaluations_left,
    seconds_left,
)
from evosdc.parallel import Workers
from evosdc.suppress.problem.problem import Pattern, Problem

Shrink = Callable[[Pattern], Pattern]


# Where a lower bound comes from: computed here from multipliers of cuts, which holds
# whatever a solver's tolerances are, or what a solver says of its tree.
DUALITY = "weak duality, computed from the multipliers of cuts"
TREE = "the tree of a solver of integer programmes"


class Search:
    """What a method is run with.

    A method reports complete, safe-by-its-own-check patterns with `offer`, counts
    evaluations with `count`, and asks `stopped` between steps. It draws randomness only
    from `rng`, so that the same seed gives the same answer for any number of workers.

    Parameters
    ----------
    seed
        Root of all randomness.
    stop
        When to end.
    workers
        Processes, or threads, that the method may use, this one among those here.
    branch
        Which one of several runs with the same seed this is: they draw differently.
    clock
        Seconds, for tests.
    outer
        The run that this one is a part of: it ends with that one.
    """

    def __init__(
        self,
        seed: int = 0,
        stop: Criterion | None = None,
        workers: Workers | None = None,
        record: RunRecord | None = None,
        branch: tuple[int, ...] = (),
        clock: Callable[[], float] = moment,
        outer: Search | None = None,
    ) -> None:
        self.seed = seed
        self.outer = outer
        self.stop = stop if stop is not None else AnyOf(())
        self.workers = workers or Workers()
        self.record = record if record is not None else RunRecord()
        self.best: Pattern | None = None
        self.bound: float | None = None
        self.bound_source = DUALITY
        self.evaluations = 0
        self.elsewhere = 0  # evaluations by other workers
        self.generations = 0
        self.reason: str | None = None
        # Called whenever the method asks whether to stop: between two of its steps.
        self.callbacks: list[Callable[[], None]] = []
        # What a run that was cut short had found.
        self.stored: Pattern | None = None
        self.resumed = False
        self.branch = branch
        self.clock = clock
        self._start = clock()
        self._first_cost = 0.0
        self._improved_at = 0
        self._ended_at = 0

    @property
    def cut_short(self) -> bool:
        """Whether the end came in the middle of a pattern, which was then hurried.

        What was counted after the end shows it. Such a pattern depends on the moment,
        and no number of evaluations repeats it.
        """
        return self.reason is not None and self.evaluations > self._ended_at

    def rng(self, *key: int) -> np.random.Generator:
        """Return the generator of one purpose in the run, named by numbers."""
        spawn = (*key, *self.branch)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=spawn))

    def resume(self, pattern: Pattern | None, seconds: float, evaluations: int) -> None:
        """Go on from a run that was cut short; what it spent counts.

        Its draws are not made again: they led to what is known already.
        """
        self.stored, self.resumed = pattern, True
        self.evaluations += evaluations
        self._start -= seconds
        if evaluations:
            self.branch = (*self.branch, evaluations)

    @property
    def found(self) -> Pattern:
        """The best pattern of a run that has one, as every method ends with."""
        assert self.best is not None
        return self.best

    @property
    def seconds(self) -> float:
        """Time since the start of the run."""
        return self.clock() - self._start

    def count(self, evaluations: int = 1, *, elsewhere: bool = False) -> None:
        """Count patterns built and relaxations solved, here or by another worker."""
        self.evaluations += evaluations
        if elsewhere:
            self.elsewhere += evaluations

    def offer(
        self, pattern: Pattern, event: str = "", diversity: float | None = None
    ) -> bool:
        """Keep a pattern that protects everything if it is the cheapest so far."""
        if not self._improves(pattern):
            return False
        self.note(event, diversity)
        return True

    def _improves(self, pattern: Pattern) -> bool:
        """Keep the cheapest pattern, and when and from what cost it was found."""
        if self.best is not None and pattern.cost >= self.best.cost:
            return False
        if self.best is None:
            self._first_cost = pattern.cost
        self.best = pattern
        self._improved_at = self.evaluations
        return True

    def raise_bound(self, bound: float, source: str = DUALITY) -> None:
        """Report a valid lower bound on the cost of any safe pattern."""
        if self.bound is None or bound > self.bound:
            self.bound, self.bound_source = bound, source
            self.note("bound")

    def note(self, event: str, diversity: float | None = None) -> None:
        """Write a line of the run record."""
        self.record.add(
            Entry(
                self.seconds,
                self.evaluations,
                None if self.best is None else self.best.cost,
                self.bound,
                diversity,
                event,
            )
        )

    def sub_run(self, seconds: float = inf) -> Search:
        """Return a run on something else that ends with this one.

        After so many seconds at most, and the evaluations that this one may still make.
        What it finds and counts is not known here.
        """
        limits = TimeLimit(seconds), EvaluationLimit(self.evaluations_left())
        return Search(self.seed, AnyOf(limits), clock=self.clock, outer=self)

    def origin(self, problem: Problem) -> tuple[Problem, Shrink]:
        """Return the problem that this run was asked for, and how it is contracted.

        The function turns a pattern of it into one of the problem that is searched.
        """
        return problem, lambda pattern: pattern

    def progress(self) -> Progress:
        """Return a snapshot for stopping criteria."""
        cost = None if self.best is None else self.best.cost
        return Progress(
            seconds=self.seconds,
            evaluations=self.evaluations,
            generations=self.generations,
            cost=cost,
            bound=self.bound,
            improved_at=self._improved_at,
            gained=0.0 if cost is None else self._first_cost - cost,
        )

    def seconds_left(self) -> float:
        """Time until the time limit, infinite where there is none."""
        return seconds_left(self.stop, self.progress())

    def evaluations_left(self) -> float:
        """Evaluations until their limit, infinite where there is none."""
        return evaluations_left(self.stop, self.progress())

    def go_on(self, stop: Criterion) -> None:
        """Let a run that was stopped go on until it is stopped again."""
        self.stop, self.reason = stop, None

    def call_back(self) -> None:
        """Do what is to be done between two steps."""
        for callback in tuple(self.callbacks):
            callback()

    def stopped(self) -> bool:
        """Whether the run is over; remembers why."""
        if self.reason is None:
            self.call_back()
        if self.reason is None:
            if self.outer is not None and self.outer.stopped():
                self.reason = self.outer.reason
            else:
                self.reason = self.stop.reason(self.progress())
            self._ended_at = self.evaluations
        return self.reason is not None
