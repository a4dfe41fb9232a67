"""Ruin and recreate on tables without dimensions: the attacker's programs rebuild.

Boxes need dimensions, and the equations of some tables do not tell any: a code with
several breakdowns, tables linked in odd ways. There a step forgets the witnesses of
some sensitive cells, publishes what nobody needs any more, and covers these cells again
in another order under blurred costs. Publishing a few cells at a time, as boxes do,
gets stuck: a program takes milliseconds where a box takes microseconds, so each step
must be worth it.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Stopped, WalkOptions
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.pattern import Pattern

DEFAULT = WalkOptions(most=0, blur=0.3, turn=1)
# Share of the sensitive cells that a step covers anew, at least and at most.
_LEAST, _MOST = 0.05, 0.6


class ProgramWalker:
    """One pattern that is rebuilt by programs and never gets dearer."""

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        self._state = state
        self._problem = state.table.problem
        self._rng = rng
        self._options = options
        self._sensitive = np.unique(state.table.demands.cell)
        self.steps = 0
        self.best_cost = state.cost

    def best(self) -> Pattern:
        return self._state.pattern()

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        turn = self._options.turn
        for _ in range(turn if most is None else min(turn, most)):
            if not len(self._state.secondaries):
                return False
            self._step(stopped)
            self.steps += 1
            if stopped():
                break
        return True

    def _step(self, stopped: Stopped) -> None:
        """Cover some sensitive cells anew; keep the pattern unless it is dearer."""
        rng, demands = self._rng, self._state.table.demands
        share = rng.uniform(_LEAST, _MOST)
        many = max(1, round(share * len(self._sensitive)))
        drawn = rng.choice(self._sensitive, many, replace=False)
        trial = self._state.copy()
        trial.forget(np.flatnonzero(np.isin(demands.cell, drawn)))
        noise = rng.normal(0.0, self._options.blur, len(self._problem.cost))
        price = self._problem.cost * np.exp(noise)
        order = rng.permutation(trial.uncovered)
        if trial.cover_open(order, price=price, stopped=stopped) or stopped():
            return
        trial.clean_up(stopped=stopped)
        if trial.cost <= self.best_cost:
            self._state.become_like(trial)
            self.best_cost = trial.cost
