"""The memetic population: candidates annealed side by side, crossed while hot.

Each candidate may have its own goal. With goals of their own they make a whole front in
one run (decomposition, Zhang and Li 2007), and are not crossed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.arrays import Long, Real
from evosdc.parallel import WorkerPool
from evosdc.synth.objective.cost import CandidateGoal, cost_of, distance_of
from evosdc.synth.objective.objective import Chosen
from evosdc.synth.search.mover import (
    Candidate,
    Cooling,
    Mover,
    MoveTask,
    Segment,
    WorkerState,
    run_task,
)
from evosdc.synth.search.population import CandidatePopulation, Tally, Team
from evosdc.synth.search.rng import streams

# Moves that only improve, to bring a risk below its limit: a temperature, and how many.
_FROZEN, _MIN_FROZEN_MOVES = 1e-15, 20_000
# So many moves are made before the clock is asked again.
MAX_MOVES_AT_ONCE = 40_000


class Memetic:
    """Candidates that anneal; hot ones with one goal exchange whole records."""

    def __init__(
        self,
        population: CandidatePopulation,
        goals: Sequence[CandidateGoal],
        cooling: Cooling,
        rng: np.random.Generator,
        team: Team,
        generations: int,
    ) -> None:
        self.population = population
        self.goals = list(goals)
        self.alive: Long = np.arange(len(goals))
        self.cooling = cooling
        self.evaluations = len(goals)
        self.pace: Callable[[float], float] | None = None
        self.done = ""
        self._rng = rng
        self._team = team
        self._step = 1.0 / max(1, generations)
        self._renew_tallies()
        # Records of a candidate below the noise floor would carry others below it.
        apart = any(len(goal.mix) for goal in goals)
        self._rate = 0.0 if apart else cooling.crossover_rate
        # A single candidate has nobody to share the work with: it stays here.
        shared = WorkerState(self._mover)
        self._pool = team.pool(shared) if len(goals) > 1 else None
        self._chosen: Chosen = {}

    def costs(self) -> Real:
        """Return the cost of each candidate by its own goal."""
        floor = self.population.problem.target.floor
        groups, risks = self.population.groups, self.population.risks
        return np.array(
            [
                cost_of(goal, distance_of(goal, groups[slot], floor), risks[slot])
                for slot, goal in zip(self.alive, self.goals, strict=True)
            ]
        )

    def step(self, share: float) -> None:
        """Cross neighbours while it is hot, then anneal every candidate."""
        rate = self._rate * max(0.0, 1.0 - 2.0 * share)
        if rate > 0.0 and len(self.alive) > 1:
            self._cross(rate)
        states = streams(self._rng, len(self.alive))
        pieces = self._pieces
        for k, moves in enumerate(parts(self.cooling.moves, pieces)):
            if k > 0:
                share = (
                    self.pace(k / pieces) if self.pace else share + self._step / pieces
                )
                if share >= 1.0:
                    break
            segment = self._segment(share, self._step / pieces, moves)
            self._improve([[segment]] * len(self.alive), states)

    @property
    def _pieces(self) -> int:
        """In how many pieces the moves of a generation are made on a whole candidate.

        Late acceptance remembers costs within one piece.
        """
        return 1 if self.cooling.late else -(-self.cooling.moves // MAX_MOVES_AT_ONCE)

    def _segment(self, share: float, step: float, moves: int) -> Segment:
        """Return so many moves on the whole of a candidate, a `step` of the budget."""
        hot = self.cooling.temperature(share)
        return Segment(share, hot, self.cooling.temperature(share + step), moves)

    def _improve(
        self,
        plans: Sequence[Sequence[Segment]],
        states: NDArray[np.uint64],
        seconds: float = math.inf,
    ) -> None:
        """Make the moves that are planned for each candidate."""
        many = range(len(self.alive))
        candidates = [self._candidate(k, states[k]) for k in many]

        def improve(k: int, team: Team) -> int:
            return self._mover.improve(k, candidates[k], plans[k], team)

        if self._pool is not None:
            made = self._improve_elsewhere(self._pool, candidates, plans, seconds)
        elif plans[0][0].streams:
            # Blocks of one candidate share the threads, not candidates.
            made = [improve(k, self._team) for k in many]
        else:
            alone = Team(1)
            made = self._team.each(lambda k: improve(k, alone), many)
        self.evaluations += sum(made)

    def _improve_elsewhere(
        self,
        pool: WorkerPool[WorkerState],
        candidates: Sequence[Candidate],
        plans: Sequence[Sequence[Segment]],
        seconds: float,
    ) -> list[int]:
        """Have every candidate moved by a worker; return how many moves each."""
        tasks = [
            MoveTask(k, self._chosen, plans[k], seconds, candidate.arrays)
            for k, candidate in enumerate(candidates)
        ]
        answers = pool.map(run_task, tasks)
        for candidate, (arrays, _) in zip(candidates, answers, strict=True):
            candidate.become(arrays)
        return [made for _, made in answers]

    @property
    def _mover(self) -> Mover:
        return Mover(self.population.problem, self.goals, self.cooling)

    def _candidate(self, k: int, state: NDArray[np.uint64]) -> Candidate:
        """Return candidate `k` as moves change it, in its slot."""
        slot, population = int(self.alive[k]), self.population
        return Candidate(
            population.codes[slot],
            self._tallies[k],
            population.groups[slot],
            population.risks[slot],
            state,
        )

    def _renew_tallies(self) -> None:
        self._tallies = [Tally(self.population.problem) for _ in self.goals]
        self._count()

    def _count(self) -> None:
        for slot, tally in zip(self.alive, self._tallies, strict=True):
            tally.count(self.population.codes[slot])

    def _cross(self, rate: float) -> None:
        size = len(self.alive)
        order = self._rng.permutation(size)[: size // 2 * 2]
        pairs = self.alive[order].reshape(-1, 2)
        places = self.population.unused(self.alive, pairs.size).reshape(-1, 2)
        self.population.breed(
            self._team,
            self.cooling.crossover,
            pairs,
            places,
            np.full(len(pairs), rate),
            np.zeros(pairs.shape),
            streams(self._rng, len(pairs)),
            way=0,
        )
        self.alive = self.alive.copy()
        self.alive[order] = places.ravel()
        self._count()

    def state(self) -> dict[str, Any]:
        """Return what another process needs to go on from here."""
        return {
            **self.population.state(self.alive),
            "evaluations": self.evaluations,
            "done": self.done,
            "random": self._rng.bit_generator.state,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from where a run was cut short."""
        self.alive = self.population.restore(state, len(self.goals))
        self.evaluations, self.done = int(state["evaluations"]), str(state["done"])
        self._rng.bit_generator.state = state["random"]
        self._count()

    def finish(self) -> None:
        """Leave candidates as they are."""

    def lower_risks(self, slots: Long) -> None:
        """Make moves that only improve where a risk is above its limit again."""
        self._renew_tallies()
        states = streams(self._rng, len(self.alive))
        many = max(_MIN_FROZEN_MOVES, 2 * len(self.population.problem.original))
        for k, slot in enumerate(self.alive):
            if slot in slots and self.exceeds_limits(k):
                segment = Segment(1.0, _FROZEN, _FROZEN, many)
                self._anneal(k, states[k], segment)

    def exceeds_limits(self, k: int) -> bool:
        """Whether a risk of candidate `k` is above its limit."""
        goal, risks = self.goals[k], self.population.risks[self.alive[k]]
        return bool(((risks > goal.limit + 1e-12) & (goal.penalty > 0.0)).any())

    def prepare(self) -> None:
        """Compile the kernels, so that no clock runs meanwhile."""
        self._anneal(0, np.zeros(1, np.uint64), Segment(0.0, 1.0, 1.0, 0))
        self.population.compile_breeding()

    def _anneal(self, k: int, state: NDArray[np.uint64], segment: Segment) -> None:
        target = self.population.problem.target
        self._mover.anneal(k, self._candidate(k, state), target, segment)


def parts(moves: int, many: int) -> list[int]:
    """Return moves in so many parts of equal size, nearly."""
    return [moves * (k + 1) // many - moves * k // many for k in range(many)]
