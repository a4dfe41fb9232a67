"""The memetic population: candidates annealed side by side, crossed while hot.

Each candidate may have its own goal. With goals of their own they make a whole front in
one run (decomposition, Zhang and Li 2007), and are not crossed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.synth.data.encoding import Codes, Ints
from evosdc.synth.objective.goal import CandidateGoal, cost_of, distance_of
from evosdc.synth.objective.risk import RiskIndex
from evosdc.synth.objective.tables import CRAMER, Target
from evosdc.synth.search.anneal import anneal
from evosdc.synth.search.population import CandidatePopulation, Tally, Team
from evosdc.synth.search.rng import streams

Floats = NDArray[np.float64]
# Distances are rounded off no higher than this, and in the last tenth not at all.
_SOFTEST, _HARD = 0.1, 0.9
# A run of moves that only improve, at least so many.
_FROZEN, _MENDING = 1e-15, 20_000
# So many moves are made before the clock is asked again.
_PIECE = 40_000


@dataclass(frozen=True)
class Cooling:
    """How candidates are annealed, scaled to a file.

    Temperatures are costs. `moves` are made by each candidate in a generation; a share
    `swaps` of them swap a value between two records, the others change one value. Where
    the full table is an objective, a share `whole` of all change a whole record.

    A Jensen-Shannon distance is infinitely steep at 0: once most tables are exact, no
    move may touch them any more for the sake of the others. So distances of one or two
    variables are rounded off at `soft` times their present mean, but for the end.
    """

    moves: int
    hot: float
    cold: float
    swaps: float = 0.5
    whole: float = 0.1
    late: int = 0
    crossover: int = 4
    crossover_rate: float = 0.1
    soft: float = 1.0

    def temperature(self, share: float) -> float:
        """Return the temperature when `share` of the budget is spent."""
        return float(self.hot * (self.cold / self.hot) ** min(1.0, share))

    def softness(self, share: float, distance: float) -> float:
        """Return where to round off distances that are `distance` on average."""
        return self.soft * min(_SOFTEST, distance) if share < _HARD else 0.0


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
        # Prices of Cramer cells hold only while margins do: swaps, no changes.
        fixed = (population.problem.target.kind == CRAMER).any()
        self._swaps = 1.0 if fixed else cooling.swaps
        self._whole = 0.0 if fixed else cooling.whole

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
        pieces = 1 if self.cooling.late else -(-moves // _PIECE)
        for piece in range(pieces):
            if piece > 0:
                part = piece / pieces
                share = self.pace(part) if self.pace else share + self._step / pieces
                if share >= 1.0:
                    break
            many = moves * (piece + 1) // pieces - moves * piece // pieces
            self._cool(share, self._step / pieces, states, many)
            self.evaluations += many * len(self.alive)

    def _cool(
        self, share: float, step: float, states: NDArray[np.uint64], moves: int
    ) -> None:
        """Anneal every candidate by so many moves, a `step` of the budget."""
        hot = self.cooling.temperature(share)
        cold = self.cooling.temperature(share + step)
        target, groups = self.population.problem.target, self.population.groups
        small = np.unique(target.group[target.small])

        def work(k: int) -> None:
            distance = groups[self.alive[k], small].mean() if len(small) else 0.0
            soft = target.softened(self.cooling.softness(share, distance))
            self._anneal(k, soft, states[k], hot, cold, moves)

        self._team.each(work, range(len(self.alive)))

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
                self._anneal(k, target, states[k], _FROZEN, _FROZEN, many)

    def prepare(self) -> None:
        """Compile the kernels, so that no clock runs meanwhile."""
        target = self.population.problem.target
        self._anneal(0, target, np.zeros(1, np.uint64), 1.0, 1.0, 0)
        self.population.compile_breeding()

    def _anneal(
        self,
        k: int,
        target: Target,
        state: NDArray[np.uint64],
        hot: float,
        cold: float,
        moves: int,
    ) -> None:
        slot, tally = int(self.alive[k]), self._tallies[k]
        codes, risk = self.population.codes[slot], self.population.problem.risk
        self._moves(k, target, risk, codes, tally, state, hot, cold, moves)
        self._priced(k)

    def _moves(
        self,
        k: int,
        target: Target,
        risk: RiskIndex,
        codes: Codes,
        tally: Tally,
        state: NDArray[np.uint64],
        hot: float,
        cold: float,
        moves: int,
    ) -> None:
        """Make moves on records of candidate `k`, counted by `tally`."""
        problem = self.population.problem
        anneal(
            target,
            risk,
            self.goals[k],
            problem.rules,
            problem.free,
            problem.sizes,
            codes,
            tally.counts,
            tally.outside,
            tally.weights,
            tally.keys,
            tally.products,
            state,
            moves,
            hot,
            cold,
            self._swaps,
            self._whole,
            problem.original,
            np.zeros(self.cooling.late),
        )

    def _priced(self, k: int) -> None:
        """Price candidate `k` from its counters."""
        slot, tally = int(self.alive[k]), self._tallies[k]
        if not self.goals[k].looks_at_risk:
            tally.count_keys(self.population.codes[slot])
        self.population.price(slot, tally)
