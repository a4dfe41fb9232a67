"""Ruin and recreate on tables without dimensions: the attacker's programs rebuild.

Boxes need dimensions, and the equations of some tables do not tell any: a code with
several breakdowns, tables linked in odd ways. There a step publishes some secondaries
near one another and covers the levels that broke by cheapest deviations under blurred
costs. A program takes milliseconds where a box takes microseconds, so steps are larger
and what they rebuild is cleaned up before it is judged.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Mask, Stopped, WalkOptions
from evosdc.suppress.engine.general.cleanup import clean_up
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.structure.movable import nearest

DEFAULT = WalkOptions(most=12, blur=0.3, turn=4)
# What hiding a cell again costs, in its own costs, that the step has just published.
_AGAIN = 1.5


class ProgramWalker:
    """One pattern that is rebuilt by programs and never gets dearer."""

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        self._state = state
        self._table = state.table
        self._problem = state.table.problem
        self._rng = rng
        self._options = options
        table = self._problem.table
        self._equations = (
            table.matrix.indptr,
            table.matrix.indices,
            table.columns.indptr,
            table.columns.indices,
        )
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
        """Publish some secondaries, cover what broke, keep it unless it is dearer."""
        problem, rng, options = self._problem, self._rng, self._options
        targets = self._targets()
        noise = rng.normal(0.0, options.blur, len(problem.cost))
        price = problem.cost * np.exp(noise)
        price[targets] *= _AGAIN
        trial = self._state.copy()
        before = trial.hidden.copy()
        trial.hidden[targets] = False
        broken = trial.witnesses.release(targets)
        failed = trial.cover_by(
            self._table.programs.cheapest,
            rng.permutation(broken),
            price=price,
            stopped=stopped,
        )
        if failed or len(trial.uncovered):
            return
        _forget_idle(trial)
        if trial.cost > self.best_cost * 1.02:
            return
        self._tidy(trial, before, stopped)
        if trial.cost <= self.best_cost:
            self._state.hidden, self._state.witnesses = trial.hidden, trial.witnesses
            self.best_cost = trial.cost

    def _tidy(self, trial: GeneralState, before: Mask, stopped: Stopped) -> None:
        """Publish what the step made redundant: new cells, and dear ones near them."""
        secondaries = trial.secondaries
        fresh = secondaries[~before[secondaries]]
        few = self._rng.choice(secondaries, min(8, len(secondaries)), replace=False)
        chosen = np.unique(np.concatenate([fresh, few]))
        order = chosen[np.argsort(-self._problem.cost[chosen], kind="stable")]
        trial.hidden = clean_up(
            self._table.programs,
            trial.hidden,
            trial.witnesses,
            order,
            stopped,
            None,
        )
        _forget_idle(trial)

    def _targets(self) -> Cells:
        """Draw a secondary, dear ones more often, and others that are near it."""
        problem, rng, state = self._problem, self._rng, self._state
        secondaries = state.secondaries
        pair = secondaries[rng.integers(len(secondaries), size=2)]
        cell = int(pair[np.argmax(problem.cost[pair])])
        many = 1 + int(rng.integers(self._options.most))
        if many >= len(secondaries):
            return secondaries
        # Distances along hidden cells only, at random lengths.
        steps = np.where(state.hidden, rng.uniform(0.5, 1.5, len(state.hidden)), 1e6)
        near = nearest(cell, 3 * many, steps, *self._equations)
        near = near[state.hidden[near] & ~problem.primary[near]]
        return np.unique(np.append(cell, near[: many - 1])).astype(np.int64)


def _forget_idle(state: GeneralState) -> None:
    """Publish the secondaries that no witness uses."""
    idle = state.secondaries
    state.hidden[idle[~state.witnesses.used()[idle]]] = False
