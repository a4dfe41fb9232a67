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
from evosdc.synth.objective.aim import Aim
from evosdc.synth.objective.goal import CandidateGoal
from evosdc.synth.search.blocks import blocks_at, moves_between, worth_cutting
from evosdc.synth.search.cooling import Cooling
from evosdc.synth.search.memetic import PIECE, Memetic
from evosdc.synth.search.mover import Piece
from evosdc.synth.search.population import CandidatePopulation, Team
from evosdc.synth.search.rng import streams

# Where rounds end, as parts of the budget.
_ENDS = (0.02, 0.07, 0.2, 0.5, 1.0)
# The last part of a round is annealed as one block: no risk may be over its limit
# because two blocks did not know of each other.
_WHOLE = 0.95
# Where a clock is the budget, an errand elsewhere is so many generations, those that
# are begun within so many seconds.
_TOGETHER, _SECONDS = 20, 1.0
# Objectives that are so little above their floors on average are at them.
_REACHED = 1e-4


class ClosingMemetic(Memetic):
    """Candidates that close in on the noise floor of every table, round by round."""

    def __init__(
        self,
        population: CandidatePopulation,
        goals: Sequence[CandidateGoal],
        cooling: Cooling,
        rng: np.random.Generator,
        team: Team,
        generations: int,
        aim: Aim,
    ) -> None:
        super().__init__(population, goals, cooling, rng, team, generations)
        self._aim = aim
        # Late acceptance remembers costs of the whole candidate.
        self._cut = worth_cutting(len(population.problem.original)) and not cooling.late
        self._turn = 0
        self._round = -1
        self._kept: list[tuple[Codes, float]] = []

    def step(self, share: float) -> None:
        """Anneal every candidate; begin a new round where one is over."""
        due = int(np.searchsorted(_ENDS, share, "right"))
        if due > self._round:
            self._end_round()
            if self.done:
                return
            self._begin_round(due)
        begin = _ENDS[self._round - 1] if self._round else 0.0
        width = _ENDS[self._round] - begin
        states = streams(self._rng, len(self.alive))
        part = (share - begin) / width
        step = self._step / width
        blocks = self._cut and part < _WHOLE
        plans: list[list[Piece]] = [[] for _ in self.alive]
        # Short errands are not worth their way.
        longer = self._pool is not None and self.cooling.by_clock
        for _ in range(_TOGETHER if longer else 1):
            if blocks:
                self._plan_blocks(plans, part, step)
            else:
                for plan in plans:
                    plan += self._whole_pieces(part, step)
        if self._pool is not None:
            self._improve(plans, states, _SECONDS if longer else math.inf)
            return
        # A generation of many moves must not outlast a limit of time, nor Ctrl-C.
        turns = list(zip(*plans, strict=True))
        for number, turn in enumerate(turns):
            if number and self.pace and self.pace(number / len(turns)) >= 1.0:
                break
            self._improve([[piece] for piece in turn], states)

    def _whole_pieces(self, share: float, step: float) -> list[Piece]:
        """Return the moves of a generation on the whole of a candidate, in pieces."""
        moves = self.cooling.moves
        pieces = 1 if self.cooling.late else -(-moves // PIECE)
        return [
            self._piece(
                share + step * k / pieces,
                step / pieces,
                moves * (k + 1) // pieces - moves * k // pieces,
            )
            for k in range(pieces)
        ]

    def _plan_blocks(self, plans: list[list[Piece]], share: float, step: float) -> None:
        """Plan the moves of a generation for the blocks of every candidate."""
        moves, problem = self.cooling.moves, self.population.problem
        records = len(problem.original)
        between = moves_between(records, len(problem.target.original))
        pieces = -(-moves // between)
        for piece in range(pieces):
            hot = self.cooling.temperature(share + step * piece / pieces)
            cold = self.cooling.temperature(share + step * (piece + 1) / pieces)
            many = moves * (piece + 1) // pieces - moves * piece // pieces
            self._turn += 1
            blocks = blocks_at(records, self._turn)
            for plan in plans:
                drawn = streams(self._rng, blocks).ravel().tolist()
                plan.append(Piece(share, hot, cold, many, self._turn, tuple(drawn)))

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
        variables = range(len(self._aim.sizes))
        if any(
            order not in self._aim.followed_orders
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
        shape, sizes = self.population.codes.shape[1:], self._aim.sizes
        for codes, _ in self._kept:
            if codes.shape != shape or (codes < 0).any() or (codes >= sizes).any():
                raise ValueError("records of another file")

    def finish(self) -> None:
        """Keep the better of what the last round began with and made."""
        self._end_round()

    def _begin_round(self, due: int) -> None:
        self._round = due
        best = self.population.codes[self.alive[int(self.costs().argmin())]]
        for order in self._aim.followed_orders:
            found = self._aim.choose(order, best, self._chosen, self._rng)
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
        target = self._aim.target(self._chosen)
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
        if not self._aim.noise or self.costs().min() > _REACHED:
            return False
        at = int(self.costs().argmin())
        goal, slot = self.goals[at], self.alive[at]
        over = self.population.risks[slot] > goal.limit + 1e-12
        if (over & (goal.penalty > 0.0)).any():
            return False
        best = self.population.codes[slot]
        return all(
            self._aim.choose(order, best, self._chosen, self._rng).reached
            for order in self._aim.chosen_orders
        )
