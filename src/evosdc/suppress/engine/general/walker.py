"""Ruin and recreate on any table with dimensions: cheapest boxes and cycles.

No program is solved on the way, so tables of 200,000 cells take hundreds of steps a
second.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Stopped, WalkOptions
from evosdc.suppress.engine.general.ruin import dear_and_near
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.pattern import Pattern

DEFAULT = WalkOptions(most=4, blur=0.3, turn=32)
# Secondaries drawn each turn and published if nothing needs them.
_TIDIED = 8


class GeneralWalker:
    """One pattern that is rebuilt in place and never gets dearer."""

    def __init__(
        self,
        state: GeneralState,
        rng: np.random.Generator,
        options: WalkOptions,
    ) -> None:
        self._state = state
        self._problem = state.table.problem
        self._rng = rng
        self._options = options
        self.steps = 0
        self.best_cost = self._problem.pattern(state.hidden).cost

    def best(self) -> Pattern:
        return self._problem.pattern(self._state.hidden.copy())

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        state, problem, rng = self._state, self._problem, self._rng
        secondaries = state.secondaries
        if not len(secondaries):
            return False
        boxes = state.table.boxes
        assert boxes is not None
        noise = rng.normal(0.0, self._options.blur, len(state.hidden))
        blurred = boxes.with_price(problem.cost * np.exp(noise))
        shuffle = rng.random(len(state.table.demands))
        turn = self._options.turn
        for _ in range(turn if most is None else min(turn, most)):
            blurred.rebuild(
                state.witnesses,
                state.hidden,
                dear_and_near(
                    problem, state.hidden, secondaries, self._options.most, rng
                ),
                shuffle,
                problem.cost,
            )
            self.steps += 1
            if stopped():
                break
        few = rng.choice(secondaries, min(_TIDIED, len(secondaries)), replace=False)
        boxes.drop(state.witnesses, state.hidden, few[state.hidden[few]])
        self.best_cost = problem.pattern(state.hidden).cost
        return True
