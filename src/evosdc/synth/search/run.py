"""One run: generations until a reason to stop, and what was seen on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.compile.clock import Clock, moment
from evosdc.evolution.stopping import AnyOf, Criterion, Progress
from evosdc.synth.search.population import CandidatePopulation

# A run that is given generations may be behind the clock for this share of its time.
_GRACE_SHARE = 0.1


@dataclass(frozen=True)
class Generation:
    """One line of a run record: the best candidate and the population at a time."""

    seconds: float
    generation: int
    evaluations: int
    cost: float
    utility: float
    risks: tuple[float, float, float, float]
    mean_cost: float
    diversity: float


class EvolutionEngine(Protocol):
    """Something that makes generations of a population.

    `done` says why there is nothing left to do, if so.
    """

    population: CandidatePopulation
    alive: Long
    evaluations: int
    pace: Callable[[float], float] | None
    done: str

    def prepare(self) -> None:
        """Compile what a step needs."""

    def step(self, share: float) -> None:
        """Make one generation; `share` of the budget is spent."""

    def state(self) -> dict[str, Any]:
        """Return plain values and arrays from which another process can go on."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; raises `ValueError` where it is of another run."""

    def finish(self) -> None:
        """End what is under way."""

    def lower_risks(self, slots: Long) -> None:
        """Bring some candidates back within the limits of risk, after the search."""

    def costs(self) -> Real:
        """Return the cost of each living candidate."""


class StateError(Exception):
    """What was kept is not what a run of these records can have had."""


class Keeper(Protocol):
    """Keeps what a run has, so that it can go on where it was cut short."""

    stored: Mapping[str, Any] | None

    def keep(
        self, state: Callable[[], dict[str, Any]], seconds: float, *, last: bool
    ) -> None:
        """Hear of a generation; `state` gives what to go on from, if it is time."""


@dataclass
class _Standing:
    """How far a run has come."""

    spent: float = 0.0
    generation: int = 0
    improved: int = 0
    best: float = np.inf
    first: float = 0.0


@dataclass
class EvolutionRun:
    """Drive an engine; Ctrl-C ends a run with what it has.

    Without a number of `generations` the time limit alone is the budget.
    """

    engine: EvolutionEngine
    generations: int | None
    time_limit: float | None
    criteria: tuple[Criterion, ...] = ()
    listener: Callable[[Generation], None] | None = None
    clock: Clock = field(default_factory=Clock)
    keeper: Keeper | None = None
    record: list[Generation] = field(default_factory=list)
    reason: str = ""
    hurried: bool = False

    def go(self) -> None:
        """Make generations until there is a reason to stop."""
        self.engine.prepare()
        try:
            self._generations()
            self.engine.finish()
            self.engine.population.watch(self.engine.alive)
        except KeyboardInterrupt:
            # A kernel may have been cut off between its records and our counters.
            self.reason = "interrupted"
            for slot in self.engine.alive:
                self.engine.population.recount(int(slot))

    def _generations(self) -> None:
        at = self._standing()
        start = moment() - at.spent
        # What preparations took is not there for the search, nor as much again, which
        # measuring and reading its answer will take.
        left = self.time_limit
        if left is not None:
            left = max(0.1 * left, left - 2.0 * self.clock.spent(), 1e-3)
        stop = AnyOf(self.criteria)
        while True:
            costs = self.engine.costs()
            now = float(costs.min())
            if at.generation == 0:
                at.first = now
            if now < at.best:
                at.best, at.improved = now, at.generation
            at.spent = moment() - start
            self._note(at.spent, at.generation, costs)
            progress = Progress(
                at.spent,
                self.engine.evaluations,
                at.generation,
                now,
                improved_at=at.improved,
                gained=at.first - now,
            )
            share = self._share(at.spent, at.generation, left)
            self.reason = self.engine.done or stop.reason(progress) or ""
            if not self.reason and share >= 1.0:
                done = self.generations and at.generation >= self.generations
                self.reason = "generations" if done else "time limit"
            self._keep(at)
            if self.reason:
                return
            self.engine.pace = partial(self._spent_within, start, at.generation, left)
            self.engine.step(share)
            at.generation += 1

    def _standing(self) -> _Standing:
        """Return where the run begins: where another was cut short, or afresh."""
        stored = None if self.keeper is None else self.keeper.stored
        if stored is None:
            return _Standing()
        try:
            self.engine.restore(stored["engine"])
            return _Standing(
                float(stored["spent"]),
                int(stored["generation"]),
                int(stored["improved"]),
                float(stored["best"]),
                float(stored["first"]),
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StateError(str(error)) from error

    def _keep(self, at: _Standing) -> None:
        """Have what there is written down, if it is time to."""
        if self.keeper is not None:
            self.keeper.keep(
                lambda: {**vars(at), "engine": self.engine.state()},
                at.spent,
                last=bool(self.reason),
            )

    def _spent_within(
        self, start: float, generation: int, left: float | None, part: float
    ) -> float:
        """Return how much of the budget is spent after a part of a generation."""
        return self._share(moment() - start, generation + part, left)

    def _share(self, seconds: float, generation: float, left: float | None) -> float:
        """Return how much of the budget is spent.

        Generations decide where their number is given, so that a run can be repeated;
        where they would not end in time, and where none is given, the clock does.
        """
        spent = 0.0 if self.generations is None else generation / self.generations
        if left is None:
            return spent
        clock = seconds / left
        if self.generations is not None:
            clock = (clock - _GRACE_SHARE) / (1.0 - _GRACE_SHARE)
        behind = self.generations is not None and spent < clock
        self.hurried = self.hurried or behind
        return max(spent, clock)

    def _note(self, seconds: float, generation: int, costs: Real) -> None:
        engine = self.engine
        at = int(engine.alive[int(costs.argmin())])
        engine.population.watch([at])
        risks = engine.population.risks[at]
        entry = Generation(
            seconds,
            generation,
            engine.evaluations,
            float(costs.min()),
            float(engine.population.utility(np.array([at]))[0]),
            (float(risks[0]), float(risks[1]), float(risks[2]), float(risks[3])),
            float(costs.mean()),
            diversity(engine.population, engine.alive),
        )
        self.record.append(entry)
        if self.listener is not None:
            self.listener(entry)


def diversity(population: CandidatePopulation, alive: Long, sample: int = 8) -> float:
    """Return the mean share of elements in which neighbouring candidates differ."""
    if len(alive) < 2:
        return 0.0
    codes = population.codes[:, :2000]
    pairs = list(pairwise(alive[: sample + 1]))
    differ = sum(np.count_nonzero(codes[a] != codes[b]) for a, b in pairs)
    return differ / (len(pairs) * codes[0].size)
