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

from evosdc.parallel import WorkerPool
from evosdc.synth.data.encoding import Ints
from evosdc.synth.objective.aim import Chosen
from evosdc.synth.objective.goal import CandidateGoal, cost_of, distance_of
from evosdc.synth.search.cooling import Cooling
from evosdc.synth.search.mover import (
    Candidate,
    Errand,
    Mover,
    Outpost,
    Piece,
    run_errand,
)
from evosdc.synth.search.population import CandidatePopulation, Tally, Team
from evosdc.synth.search.rng import streams

Floats = NDArray[np.float64]
# A run of moves that only improve, at least so many.
_FROZEN, _MENDING = 1e-15, 20_000
# So many moves are made before the clock is asked again.
PIECE = 40_000


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
        self.alive: Ints = np.arange(len(goals))
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
        outpost = Outpost(self._mover)
        self._pool = team.pool(outpost) if len(goals) > 1 else None
        self._chosen: Chosen = {}

    def costs(self) -> Floats:
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
        moves = self.cooling.moves
        pieces = 1 if self.cooling.late else -(-moves // PIECE)
        for piece in range(pieces):
            if piece > 0:
                part = piece / pieces
                share = self.pace(part) if self.pace else share + self._step / pieces
                if share >= 1.0:
                    break
            many = moves * (piece + 1) // pieces - moves * piece // pieces
            plan = [self._piece(share, self._step / pieces, many)]
            self._improve([plan] * len(self.alive), states)

    def _piece(self, share: float, step: float, moves: int) -> Piece:
        """Return so many moves on the whole of a candidate, a `step` of the budget."""
        hot = self.cooling.temperature(share)
        return Piece(share, hot, self.cooling.temperature(share + step), moves)

    def _improve(
        self,
        plans: Sequence[Sequence[Piece]],
        states: NDArray[np.uint64],
        seconds: float = math.inf,
    ) -> None:
        """Make the moves that are planned for each candidate."""
        many = range(len(self.alive))
        if self._pool is not None:
            made = self._improve_elsewhere(self._pool, plans, states, seconds)
        elif plans[0][0].streams:
            # Blocks of one candidate share the threads, not candidates.
            made = [self._improve_one(k, plans[k], states[k], self._team) for k in many]
        else:
            alone = Team(1)
            made = self._team.each(
                lambda k: self._improve_one(k, plans[k], states[k], alone), many
            )
        self.evaluations += sum(made)

    def _improve_one(
        self, k: int, plan: Sequence[Piece], state: NDArray[np.uint64], team: Team
    ) -> int:
        return self._mover.improve(k, self._candidate(k, state), plan, team)

    def _improve_elsewhere(
        self,
        pool: WorkerPool[Outpost],
        plans: Sequence[Sequence[Piece]],
        states: NDArray[np.uint64],
        seconds: float,
    ) -> list[int]:
        """Have every candidate moved by somebody else; return how many moves each."""
        candidates = [self._candidate(k, state) for k, state in enumerate(states)]
        errands = [
            Errand(k, self._chosen, plans[k], seconds, candidate.arrays)
            for k, candidate in enumerate(candidates)
        ]
        answers = pool.map(run_errand, errands)
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
        problem = self.population.problem
        self._tallies = [Tally(problem) for _ in self.goals]
        self._count()

    def _count(self) -> None:
        for slot, tally in zip(self.alive, self._tallies, strict=True):
            tally.count(self.population.codes[slot])

    def _cross(self, rate: float) -> None:
        size = len(self.alive)
        order = self._rng.permutation(size)[: size // 2 * 2]
        pairs = self.alive[order].reshape(-1, 2)
        used = np.zeros(len(self.population.codes), bool)
        used[self.alive] = True
        places = np.flatnonzero(~used)[: pairs.size].reshape(-1, 2)
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
        alive = self.population.restore(state)
        if len(alive) != len(self.goals):
            raise ValueError("another number of candidates")
        self.alive = alive
        self.evaluations, self.done = int(state["evaluations"]), str(state["done"])
        self._rng.bit_generator.state = state["random"]
        self._count()

    def finish(self) -> None:
        """Leave candidates as they are."""

    def mend(self, slots: Ints) -> None:
        """Make moves that only improve where a risk is above its limit again."""
        self._renew_tallies()
        states = streams(self._rng, len(self.alive))
        many = max(_MENDING, 2 * len(self.population.problem.original))
        target, risks = self.population.problem.target, self.population.risks
        for k, slot in enumerate(self.alive):
            goal = self.goals[k]
            over = (risks[slot] > goal.limit + 1e-12) & (goal.penalty > 0.0)
            if slot in slots and over.any():
                candidate = self._candidate(k, states[k])
                self._mover.anneal(k, candidate, target, _FROZEN, _FROZEN, many)

    def prepare(self) -> None:
        """Compile the kernels, so that no clock runs meanwhile."""
        target = self.population.problem.target
        candidate = self._candidate(0, np.zeros(1, np.uint64))
        self._mover.anneal(0, candidate, target, 1.0, 1.0, 0)
        self.population.compile_breeding()
