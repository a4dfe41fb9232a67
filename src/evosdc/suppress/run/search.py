"""One run of a method: budget, randomness, record, best answer, and other workers.

Multistart under a limit of time: searches live in their workers, are given one
assignment after another, each for a while, and are never waited for; what has been
found by then is taken in. They draw differently from the search at home. Runs that end
by evaluations have none unless the user sets them; then every assignment begins from
the patterns that come with it and is waited for at a fixed moment, so that the same
seed gives the same answer for any number of workers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Protocol

import numpy as np

from evosdc.compile.clock import moment
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    Entry,
    EvaluationLimit,
    Progress,
    RunRecord,
    TimeLimit,
    evaluations_left,
    seconds_left,
)
from evosdc.parallel import Closing, Task, Workers, open_pool
from evosdc.suppress.problem.problem import Pattern, Problem

Shrink = Callable[[Pattern], Pattern]


# Where a lower bound comes from: computed here from multipliers of cuts, which holds
# whatever a solver's tolerances are, or what a solver says of its tree.
DUALITY = "weak duality, computed from the multipliers of cuts"
TREE = "the tree of a solver of integer programmes"
# Seconds of the first assignment, by how much each one is longer than the one before,
# and seconds of the longest: short ones first, so that what is found travels soon. At
# half of them more time goes into travel, at twice of them searches know less of one
# another.
_FIRST_SECONDS, _GROWTH, _LONGEST_SECONDS = 2.0, 1.5, 10.0
# Before this many seconds, and with less left, no worker is called: they need two to
# start. At half of it they start in vain, at twice of it short runs use one process.
SECONDS_BEFORE_WORKERS = 3.0
# Seconds before the end at which all end their work. At half of it what a slow worker
# has found comes too late, at twice of it that much searching is lost.
_LAST_SECONDS = 1.0
# Seconds that they are waited for after the end. At half of it a busy machine loses
# answers, at twice of it the limit is passed by as much.
_MOST_SECONDS_LATE = 2.0
# Seconds between two looks meanwhile: half or twice is not noticed.
_SECONDS_BETWEEN_LOOKS = 0.02
# Seconds between two looks at what others have found. At half of it looking is felt
# where steps are short, at twice of it patterns travel later.
_SECONDS_BETWEEN_EXCHANGES = 0.2
# An assignment is long enough for so many first patterns. With one, a worker that is
# slower than this one returns nothing; with four it reports later.
_FIRST_PATTERNS_PER_ASSIGNMENT = 2.0
# Searches at most: patterns of all come to this process, which is busy with them at
# twice of it; with half of them it could take in more.
_MOST_SEARCHES = 64


class Search:
    """What a method is run with.

    A method reports complete, safe-by-its-own-check patterns with `offer`, counts
    evaluations with `count`, and calls `stopped` between steps. It draws randomness
    only from `rng`, so that the same seed gives the same answer for any number of
    workers.

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
        # Called whenever the method checks whether to stop: between two of its steps.
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
        """Return the problem that was posed, and how it is contracted.

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


class Ongoing(Protocol):
    """A search that can be stopped and go on."""

    def go_on(self) -> None:
        """Search until its run is stopped; the run knows the best pattern of all."""
        ...


Begin = Callable[[Problem, Any, Search], Ongoing]


@dataclass(frozen=True, eq=False)
class Assignment:
    """A task for another worker: to search for a while.

    Attributes
    ----------
    begin, parameters
        Make the search where it does not live yet.
    seed, number, turn
        Whose randomness it is: search and assignment.
    seconds
        How long; None where it ends by `evaluations`.
    patterns
        What others have found, the best first.
    guide
        What else the search at home knows.
    """

    begin: Begin
    parameters: Any
    seed: int
    number: int
    turn: int
    seconds: float | None
    patterns: tuple[Pattern, ...]
    evaluations: int = 0
    guide: Any = None


@dataclass(frozen=True, eq=False)
class SearchFindings:
    """The patterns that are better than those given, and how many were looked at."""

    patterns: tuple[Pattern, ...]
    evaluations: int


def resume(problem: Problem, given: Assignment) -> tuple[Search, Any]:
    """Return the search that lives here, or where no clock runs one for this alone."""
    if given.seconds is None:
        stop = EvaluationLimit(given.evaluations)
        own = Search(seed=given.seed, stop=stop, branch=(given.number, given.turn))
        return own, given.begin(problem, given.parameters, own)
    if "ongoing" not in problem.derived:
        own = Search(seed=given.seed, branch=(given.number,))
        begun = given.begin(problem, given.parameters, own)
        problem.derived["ongoing"] = own, begun
    search, ongoing = problem.derived["ongoing"]
    search.go_on(TimeLimit(search.seconds + given.seconds))
    return search, ongoing


def go_on(problem: Problem, given: Assignment) -> SearchFindings:
    """Search for a while."""
    search, ongoing = resume(problem, given)
    known = given.patterns[0]
    search.offer(known)
    before = search.evaluations
    ongoing.go_on()
    better = (search.found,) if search.found.cost < known.cost else ()
    return SearchFindings(better, search.evaluations - before)


class Exchange(Closing):
    """The same search on other workers, each with a randomness of its own.

    The run takes in what they find while it goes on. Each assignment brings them the
    best pattern of all, from which they may go on.

    Parameters
    ----------
    problem
        What every worker has.
    begin, parameters
        What makes the search of a worker.
    count
        How many searches; None for one per worker under a limit of time, else none.
    """

    # What workers do with an assignment.
    work: Callable[[Problem, Assignment], SearchFindings] = staticmethod(go_on)

    def __init__(
        self,
        problem: Problem,
        search: Search,
        begin: Begin,
        parameters: Any,
        count: int | None = None,
    ) -> None:
        self.search = search
        self._begin, self._parameters = begin, parameters
        self.timed = isfinite(search.seconds_left())
        usual = search.workers.others(_MOST_SEARCHES).count if self.timed else 0
        self.count = usual if count is None or (self.timed and not usual) else count
        self._pool = open_pool(search.workers.others(self.count), problem)
        self._tasks: dict[int, Task[SearchFindings]] = {}
        self._given = [0] * self.count
        self._first: float | None = None  # seconds that the first pattern took
        # What others have gained for this run, as a share of the cost.
        self.gained = 0.0
        # Methods with threads call `stopped` from those as well.
        self._thread = threading.get_ident()
        self._again = SECONDS_BEFORE_WORKERS
        if self.count and self.timed:
            search.callbacks.append(self._exchange)

    def describe(self, _: int) -> dict[str, Any]:
        """Return what is particular to the next assignment of a search."""
        return {"patterns": (self.search.found,)}

    def take(self, _: int, found: tuple[Pattern, ...]) -> None:
        """Take in what the search of that number has found."""
        for pattern in found:
            self.search.offer(pattern, "from another worker")

    def _exchange(self) -> None:
        """Take in what was found, and let others go on."""
        search = self.search
        if search.best is None or threading.get_ident() != self._thread:
            return
        if self._first is None:
            self._first = search.seconds
        if search.seconds < self._again:
            return
        self._again = search.seconds + _SECONDS_BETWEEN_EXCHANGES
        self.gather()
        if search.seconds_left() >= SECONDS_BEFORE_WORKERS:
            self.hand_out()

    def hand_out(self, evaluations: int = 0) -> None:
        """Give an assignment to every search that has none."""
        for number in range(self.count):
            if number not in self._tasks:
                self._submit(number, self.describe(number), evaluations)

    def _submit(
        self, number: int, fields: dict[str, Any], evaluations: int = 0
    ) -> None:
        turn = self._given[number]
        self._given[number] += 1
        given = Assignment(
            self._begin,
            self._parameters,
            self.search.seed,
            number + 1,
            turn,
            evaluations=evaluations,
            **{"seconds": self._seconds(turn), **fields},
        )
        self._tasks[number] = self._pool.submit(self.work, given)

    def _seconds(self, turn: int) -> float | None:
        if not self.timed:
            return None
        length = max(
            min(_LONGEST_SECONDS, _FIRST_SECONDS * _GROWTH**turn),
            _FIRST_PATTERNS_PER_ASSIGNMENT * (self._first or 0),
        )
        return min(length, self.search.seconds_left() - _LAST_SECONDS)

    def gather(self) -> None:
        """Take in what was found; wait for it where no clock runs."""
        for number, task in sorted(self._tasks.items()):
            if self.timed and not task.done():
                continue
            del self._tasks[number]
            findings = task.result()
            self.search.count(findings.evaluations, elsewhere=True)
            before = self.search.best
            self.take(number, findings.patterns)
            best = self.search.best
            if before is not None and best is not None and before.cost > 0:
                self.gained += (before.cost - best.cost) / before.cost

    def close(self) -> None:
        """Take in what is found in a moment, and end the workers."""
        search = self.search
        if self._exchange in search.callbacks:
            search.callbacks.remove(self._exchange)
        end = time.monotonic() + _MOST_SECONDS_LATE
        late = self.timed and search.reason == "time limit"
        while late and self._tasks and time.monotonic() < end:
            self.gather()
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        self._pool.close()
