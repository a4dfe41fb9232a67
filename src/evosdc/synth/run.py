"""One run: generations until a reason to stop, and what was seen on the way."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.stopping import AnyOf, Progress, Stop
from evosdc.synth.encoding import Ints
from evosdc.synth.population import Population


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


class Engine(Protocol):
    """Something that makes generations of a population."""

    population: Population
    alive: Ints
    evaluations: int

    def prepare(self) -> None:
        """Compile what a step needs."""
        ...

    def step(self, share: float) -> None:
        """Make one generation; `share` of the budget is spent."""
        ...

    def costs(self) -> NDArray[np.float64]:
        """Return the cost of each living candidate."""
        ...


@dataclass
class Run:
    """Drive an engine; Ctrl-C ends a run with what it has."""

    engine: Engine
    generations: int
    time_limit: float | None
    criteria: tuple[Stop, ...] = ()
    listener: Callable[[Generation], None] | None = None
    record: list[Generation] = field(default_factory=list)
    reason: str = ""
    hurried: bool = False

    def go(self) -> None:
        """Make generations until there is a reason to stop."""
        self.engine.prepare()
        start = time.perf_counter()
        stop = AnyOf(self.criteria)
        best, improved, first = np.inf, 0, None
        generation = 0
        while not self.reason:
            costs = self.engine.costs()
            now = float(costs.min())
            first = now if first is None else first
            if now < best:
                best, improved = now, generation
            seconds = time.perf_counter() - start
            self._note(seconds, generation, costs)
            progress = Progress(
                seconds,
                self.engine.evaluations,
                generation,
                now,
                improved_at=improved,
                gained=first - now,
            )
            share = self._share(seconds, generation)
            self.reason = stop.reason(progress) or (
                "" if share < 1.0 else self._end(generation)
            )
            if self.reason:
                return
            try:
                self.engine.step(share)
            except KeyboardInterrupt:
                self.reason = "interrupted"
                for slot in self.engine.alive:
                    self.engine.population.recount(int(slot))
                return
            generation += 1

    def _share(self, seconds: float, generation: int) -> float:
        """Return how much of the budget is spent.

        Generations decide, so that a run can be repeated. A run that is still too
        early in its schedule after half its time hurries to finish it in the rest.
        """
        spent = generation / max(1, self.generations)
        if self.time_limit is None:
            return spent
        late = 2.0 * seconds / max(self.time_limit, 1e-9) - 1.0
        self.hurried = self.hurried or spent < late
        return max(spent, late)

    def _end(self, generation: int) -> str:
        return "generations" if generation >= self.generations else "time limit"

    def _note(
        self, seconds: float, generation: int, costs: NDArray[np.float64]
    ) -> None:
        engine = self.engine
        at = int(engine.alive[int(costs.argmin())])
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


def diversity(population: Population, alive: Ints, sample: int = 8) -> float:
    """Return the mean share of elements in which neighbouring candidates differ."""
    if len(alive) < 2:
        return 0.0
    rows = slice(0, min(2000, population.codes.shape[1]))
    pairs = zip(alive[:sample], alive[1 : sample + 1], strict=False)
    return float(
        np.mean(
            [
                (population.codes[a, rows] != population.codes[b, rows]).mean()
                for a, b in pairs
            ]
        )
    )
