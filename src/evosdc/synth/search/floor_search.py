"""The search for a single answer: annealed in rounds, each with the tables it needs.

A round looks which deeper tables have most to gain, cools down, and keeps what it began
with where that was better. The first rounds are short, so that easy files are done at
once; a run ends when every table that was asked for is at its noise floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.cost import CandidateGoal
from evosdc.synth.objective.objective import Objective
from evosdc.synth.search.blocks import blocks_at, moves_between, worth_cutting
from evosdc.synth.search.memetic import Memetic, parts
from evosdc.synth.search.mover import Cooling, Segment
from evosdc.synth.search.population import CandidatePopulation, Team
from evosdc.synth.search.rng import streams

# Where rounds end, as shares of the budget.
_ROUND_ENDS = (0.02, 0.07, 0.2, 0.5, 1.0)
# From this share of a round on a candidate is annealed as one block: no risk may be
# over its limit because two blocks did not know of each other.
_BLOCKS_UNTIL = 0.95
# Where a clock is the budget, a task of a worker is so many generations, those that are
# begun within so many seconds.
_GENERATIONS_PER_TASK, _SECONDS_PER_TASK = 20, 1.0
# A cost that is no higher is one at the floor of all objectives.
_MAX_COST_AT_FLOOR = 1e-4


class FloorSearch(Memetic):
    """Candidates that approach the noise floor of every table, round by round."""

    def __init__(
        self,
        population: CandidatePopulation,
        goals: Sequence[CandidateGoal],
        cooling: Cooling,
        rng: np.random.Generator,
        team: Team,
        generations: int,
        objective: Objective,
    ) -> None:
        super().__init__(population, goals, cooling, rng, team, generations)
        self._objective = objective
        # Late acceptance remembers costs of the whole candidate.
        self._cut = worth_cutting(len(population.problem.original)) and not cooling.late
        self._turn = 0
        self._round = -1
        self._kept: list[tuple[Codes, float]] = []

    def step(self, share: float) -> None:
        """Anneal every candidate; begin a new round where one is over."""
        due = int(np.searchsorted(_ROUND_ENDS, share, "right"))
        if due > self._round:
            self._end_round()
            if self.done:
                return
            self._begin_round(due)
        begin = _ROUND_ENDS[self._round - 1] if self._round else 0.0
        width = _ROUND_ENDS[self._round] - begin
        states = streams(self._rng, len(self.alive))
        part = (share - begin) / width
        step = self._step / width
        blocks = self._cut and part < _BLOCKS_UNTIL
        plans: list[list[Segment]] = [[] for _ in self.alive]
        # Short tasks are not worth sending.
        longer = self._pool is not None and self.cooling.by_clock
        for _ in range(_GENERATIONS_PER_TASK if longer else 1):
            if blocks:
                self._plan_blocks(plans, part, step)
            else:
                for plan in plans:
                    plan += self._whole_segments(part, step)
        if self._pool is not None:
            self._improve(plans, states, _SECONDS_PER_TASK if longer else math.inf)
            return
        # A generation of many moves must not outlast a limit of time, nor Ctrl-C.
        turns = list(zip(*plans, strict=True))
        for number, turn in enumerate(turns):
            if number and self.pace and self.pace(number / len(turns)) >= 1.0:
                break
            self._improve([[piece] for piece in turn], states)

    def _whole_segments(self, share: float, step: float) -> list[Segment]:
        """Return the moves of a generation on the whole of a candidate, in pieces."""
        many = self._pieces
        return [
            self._segment(share + step * k / many, step / many, moves)
            for k, moves in enumerate(parts(self.cooling.moves, many))
        ]

    def _plan_blocks(
        self, plans: list[list[Segment]], share: float, step: float
    ) -> None:
        """Plan the moves of a generation for the blocks of every candidate."""
        problem, cooling = self.population.problem, self.cooling
        records = len(problem.original)
        between = moves_between(records, len(problem.target.original))
        pieces = -(-cooling.moves // between)
        for k, moves in enumerate(parts(cooling.moves, pieces)):
            hot = cooling.temperature(share + step * k / pieces)
            cold = cooling.temperature(share + step * (k + 1) / pieces)
            self._turn += 1
            blocks = blocks_at(records, self._turn)
            for plan in plans:
                drawn = streams(self._rng, blocks).ravel().tolist()
                plan.append(Segment(share, hot, cold, moves, self._turn, tuple(drawn)))

    def state(self) -> dict[str, Any]:
        """Return what another process needs to go on, its round included."""
        return {
            **super().state(),
            "round": self._round,
            "turn": self._turn,
            "chosen": {str(order): t for order, t in self._chosen.items()},
            "kept": [codes for codes, _ in self._kept],
            "kept_costs": [cost for _, cost in self._kept],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on in the middle of a round, with the tables that it follows."""
        self._round, self._turn = int(state["round"]), int(state["turn"])
        self._chosen = {
            int(order): tuple(tuple(map(int, table)) for table in tables)
            for order, tables in state["chosen"].items()
        }
        variables = range(len(self._objective.sizes))
        if any(
            order not in self._objective.followed_orders
            or any(len(t) != order or not set(t) <= set(variables) for t in tables)
            for order, tables in self._chosen.items()
        ):
            raise ValueError("a table of other variables")
        if self._round >= 0:
            self._retarget()
        super().restore(state)
        self._kept = [
            (np.asarray(codes, np.int16), float(cost))
            for codes, cost in zip(state["kept"], state["kept_costs"], strict=True)
        ]
        shape, sizes = self.population.codes.shape[1:], self._objective.sizes
        for codes, _ in self._kept:
            if codes.shape != shape or (codes < 0).any() or (codes >= sizes).any():
                raise ValueError("records of another file")

    def finish(self) -> None:
        """Keep the better of what the last round began with and made."""
        self._end_round()

    def _begin_round(self, due: int) -> None:
        self._round = due
        best = self.population.codes[self.alive[int(self.costs().argmin())]]
        for order in self._objective.followed_orders:
            found = self._objective.select(order, best, self._chosen, self._rng)
            self._chosen = {**self._chosen, order: found.tables}
        self._retarget()
        costs = self.costs()
        self._kept = [
            (self.population.codes[slot].copy(), float(cost))
            for slot, cost in zip(self.alive, costs, strict=True)
        ]

    def _retarget(self) -> None:
        """Aim at the tables chosen last."""
        problem = self.population.problem
        target = self._objective.target(self._chosen)
        self.population.aim_at(replace(problem, target=target), self.alive)
        self._renew_tallies()

    def _end_round(self) -> None:
        """Take back what became worse, and say whether the floor is reached."""
        for k, (codes, cost) in enumerate(self._kept):
            if self.costs()[k] > cost:
                self.population.put(int(self.alive[k]), codes)
        self._kept = []
        if self._round >= 0:
            self._renew_tallies()
            if self._at_floor():
                self.done = "noise floor reached"

    def _at_floor(self) -> bool:
        """Whether the best candidate is at the floor of every table looked at."""
        if not self._objective.noise or self.costs().min() > _MAX_COST_AT_FLOOR:
            return False
        at = int(self.costs().argmin())
        if self.exceeds_limits(at):
            return False
        best = self.population.codes[self.alive[at]]
        return all(
            self._objective.select(order, best, self._chosen, self._rng).reached
            for order in self._objective.chosen_orders
        )
