"""Ruin and recreate by programs that lets a pattern get a little dearer for a while.

A step publishes a dear secondary and some others on one of its lines, and covers all
levels that leaned on them by the cheapest deviations under blurred costs, in any order.
The new pattern is the next to start from unless it is dearer than the best one met by
more than a small share: record-to-record travel (Dueck 1993). Boxes take microseconds
where programs take milliseconds, but in tables of some hundred cells what programs find
is so much cheaper that they get further in the same time.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Stopped, WalkOptions
from evosdc.suppress.engine.general.ruin import dear_and_near
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.pattern import Pattern

DEFAULT = WalkOptions(most=4, blur=0.3, turn=24, slack=0.2)
# Patterns that are dearer than the best by no more than this share are tidied up.
_NEAR = 0.03
# A walk that is stuck may get dearer and dearer, by so much each turn, until it begins
# again from the best pattern.
_WIDENS, _PATIENCE = 1.5, 10
# Share of the steps that follow the relaxation; the others go where it does not.
_LURED = 0.5
# What a cell that was published costs in its step, times its cost.
_DEARER = (2.0, 10.0, 100.0)


class RecordWalker:
    """The best pattern met, which is the state given, and the one it walks with."""

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        self._best, self._now = state, state.copy()
        self._rng, self._options = rng, options
        self._stalled = 0  # turns since the last record
        self.steps = 0
        self.best_cost = state.cost

    def best(self) -> Pattern:
        return self._best.pattern()

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        turn = self._options.turn
        before = self.best_cost
        for _ in range(turn if most is None else min(turn, most)):
            if not len(self._now.secondaries):
                return False
            self._step(stopped)
            self.steps += 1
            if stopped():
                break
        self._stalled += 1
        if self._stalled == _PATIENCE:
            self._stalled, self._now = 0, self._best.copy()
        if self.best_cost < before:
            self._stalled = 0
            # Cells that nothing needs are looked for once a turn: it takes programs.
            self._best.clean_up(stopped=stopped)
            self.best_cost = self._best.cost
            self._now = self._best.copy()
        return True

    def _step(self, stopped: Stopped) -> None:
        rng, now = self._rng, self._now
        cost = now.table.problem.cost
        cells = dear_and_near(
            now.table.problem, now.hidden, now.secondaries, self._options.most, rng
        )
        rows = np.unique(np.concatenate([now.witnesses.users(c) for c in cells]))
        trial = now.copy()
        trial.forget(rows)
        price = cost * np.exp(rng.normal(0.0, self._options.blur, len(cost)))
        if self._options.lure is not None and rng.random() < _LURED:
            price *= 1.0 - rng.random() * self._options.lure
        price[cells] *= rng.choice(_DEARER)
        order = rng.permutation(trial.uncovered)
        if trial.cover_open(order, price=price, stopped=stopped) or stopped():
            return
        trial.publish_idle()
        if trial.cost <= self.best_cost * (1.0 + _NEAR):
            new_cells = np.flatnonzero(trial.hidden & ~now.hidden)
            dearest = new_cells[np.argsort(-cost[new_cells], kind="stable")]
            trial.clean_up(dearest, stopped=stopped)
        new = trial.cost
        each = self._options.slack / len(now.secondaries)
        slack = each * _WIDENS**self._stalled
        if new <= self.best_cost * (1.0 + min(slack, _NEAR)):
            self._now = trial
        if new < self.best_cost:
            self._best.become_like(trial.copy())
            self.best_cost = new
