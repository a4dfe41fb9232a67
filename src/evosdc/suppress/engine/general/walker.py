"""Ruin and recreate on any table: a pattern is rebuilt by boxes, or by programs.

Boxes need dimensions; a step takes microseconds, so tables of 200,000 cells take
hundreds of steps a second. Programs take milliseconds, but what they find is so much
cheaper that in tables of some hundred cells they get further in the same time.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Mask, Stopped, WalkOptions
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.problem.problem import Pattern, Problem

BY_BOXES = WalkOptions(most=4, blur=0.3, turn=32)
BY_PROGRAMS = WalkOptions(most=0, blur=0.3, turn=1)
FAR = WalkOptions(most=4, blur=0.3, turn=24, slack=0.2)
# Secondaries drawn each turn of a walk by boxes and published if nothing needs them.
_TIDIED = 8
# Share of the sensitive cells that a step covers again, at least and at most.
_LEAST, _MOST = 0.05, 0.6
# Patterns that are dearer than the best by no more than this share are tidied up.
_NEAR = 0.03
# A walk that is stuck may get dearer and dearer, by so much each turn, until it begins
# again from the best pattern.
_WIDENS, _PATIENCE = 1.5, 10
# Share of the steps that follow the relaxation; the others go where it does not.
_LURED = 0.5
# What a cell that was published costs in its step, times its cost.
_DEARER = (2.0, 10.0, 100.0)


def dear_and_near(
    problem: Problem,
    hidden: Mask,
    secondaries: Cells,
    most: int,
    rng: np.random.Generator,
) -> Cells:
    """Draw a secondary, dear ones more often, and others on one of its lines."""
    table = problem.table
    # The dearest of two draws: quick, and no cell is left out.
    pair = secondaries[rng.integers(len(secondaries), size=2)]
    cell = int(pair[np.argmax(problem.cost[pair])])
    start, end = table.columns.indptr[cell : cell + 2]
    if end == start:
        return np.array([cell])
    row = int(table.columns.indices[rng.integers(start, end)])
    line = table.matrix.indices[table.matrix.indptr[row] : table.matrix.indptr[row + 1]]
    line = line[hidden[line] & ~problem.primary[line]]
    more = int(rng.integers(0, most))
    near = rng.permutation(line)[:more]
    return np.append(cell, near).astype(np.int64)


class BoxWalker:
    """One pattern that is rebuilt in place and never gets dearer."""

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
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


class ProgramWalker:
    """One pattern that is rebuilt by programs and never gets dearer.

    A step forgets the witnesses of some sensitive cells, publishes what nobody needs
    any more, and covers these cells in another order under blurred costs. Publishing a
    few cells at a time, as boxes do, gets stuck: each step must be worth its programs.
    """

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        self._best = self._now = state
        self._problem = state.table.problem
        self._rng, self._options = rng, options
        self._sensitive = np.unique(state.table.demands.cell)
        self.steps = 0
        self.best_cost = state.cost

    def best(self) -> Pattern:
        return self._best.pattern()

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        turn = self._options.turn
        for _ in range(turn if most is None else min(turn, most)):
            if not len(self._now.secondaries):
                return False
            self._step(stopped)
            self.steps += 1
            if stopped():
                break
        return True

    def _step(self, stopped: Stopped) -> None:
        """Cover some sensitive cells anew; keep the pattern unless it is dearer."""
        rng, demands = self._rng, self._now.table.demands
        share = rng.uniform(_LEAST, _MOST)
        many = max(1, round(share * len(self._sensitive)))
        drawn = rng.choice(self._sensitive, many, replace=False)
        trial = self._now.copy()
        trial.forget(np.flatnonzero(np.isin(demands.cell, drawn)))
        noise = rng.normal(0.0, self._options.blur, len(self._problem.cost))
        price = self._problem.cost * np.exp(noise)
        order = rng.permutation(trial.uncovered)
        if trial.cover_open(order, price=price, stopped=stopped) or stopped():
            return
        trial.clean_up(stopped=stopped)
        if trial.cost <= self.best_cost:
            self._best.become_like(trial)
            self.best_cost = trial.cost


class RecordWalker(ProgramWalker):
    """The best pattern met, which is the state given, and the one it walks with.

    A step publishes a dear secondary and some others on one of its lines, and covers
    all levels that leaned on them by the cheapest deviations under blurred costs, in
    any order. The new pattern is the next to start from unless it is dearer than the
    best one met by more than a small share: record-to-record travel (Dueck 1993).
    """

    def __init__(
        self, state: GeneralState, rng: np.random.Generator, options: WalkOptions
    ) -> None:
        super().__init__(state, rng, options)
        self._now = state.copy()
        self._stalled = 0  # turns since the last record

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        before = self.best_cost
        if not super().turn(stopped, most):
            return False
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
