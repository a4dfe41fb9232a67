"""Ruin and recreate on any table: patterns are rebuilt by boxes, walks or programs.

Boxes need dimensions; a step takes microseconds, so tables of 200,000 cells take
hundreds of steps a second. Programs take milliseconds, but what they find is so much
cheaper that in tables of some hundred cells they get further in the same time.
"""

from __future__ import annotations

import numpy as np

from evosdc.suppress.engine.base import Cells, Costs, Mask, Stopped, WalkOptions
from evosdc.suppress.engine.general.state import GeneralState
from evosdc.suppress.problem.problem import Pattern, Problem

BY_BOXES = WalkOptions(most=4, blur=0.3, turn=32)
BY_PROGRAMS = WalkOptions(most=0, blur=0.3, turn=1)
BY_STEPS = WalkOptions(most=1, blur=0.3, turn=16)
RECORD_TO_RECORD = WalkOptions(most=4, blur=0.3, turn=24, slack=0.2)
# Secondaries drawn each turn of a walk by boxes and published if nothing needs them.
# With half as many, idle cells stay longer; twice as many take time from the steps.
_PRUNED_PER_TURN = 8
# Share of the sensitive cells that a step covers again, at least and at most. Half of
# either makes quicker, smaller steps; with twice of it steps rebuild nearly everything.
_LEAST_SHARE, _MOST_SHARE = 0.05, 0.6
# Patterns that cost more than the best by no more than this share are cleaned up. At
# half of it some that would become the best are missed, at twice of it most of the time
# goes into patterns that will not.
_PRUNED_WITHIN = 0.03
# A walk that is stuck takes patterns that cost ever more: the slack grows by this
# factor each turn (`_GROWTH`), until so many turns have gone by and it begins again
# from the best pattern. Half as many turns hardly leave a valley; twice as many walk at
# the largest slack, `_PRUNED_WITHIN`, for most of the time.
_GROWTH, _PATIENCE_TURNS = 1.5, 10
# Share of the steps in which cells that a relaxation hides are cheaper. At half of it
# the walk hardly follows the relaxation; all steps would never leave it.
_DISCOUNTED_STEPS = 0.5
# What cells published in a step cost in it, times their cost. Half of it lets most of
# them back in; with twice as much the last one is not hidden again in either case.
_PUBLISHED_TIMES = (2.0, 10.0, 100.0)


def expensive_and_near(
    problem: Problem,
    hidden: Mask,
    secondaries: Cells,
    most: int,
    rng: np.random.Generator,
) -> Cells:
    """Draw a secondary, expensive ones more often, and others of an equation of it."""
    table = problem.table
    # The more expensive of two draws: quick, and no cell is left out.
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


class ProgramWalker:
    """One pattern that is rebuilt by programs and never gets more expensive.

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
        """Cover some sensitive cells again; keep the pattern if it costs no more."""
        rng, demands = self._rng, self._now.table.rows
        sensitive = np.unique(demands.cell)
        many = max(1, round(rng.uniform(_LEAST_SHARE, _MOST_SHARE) * len(sensitive)))
        drawn = rng.choice(sensitive, many, replace=False)
        trial = self._now.copy()
        trial.forget(np.flatnonzero(np.isin(demands.cell, drawn)))
        price = self._problem.cost * self._blur()
        order = rng.permutation(trial.uncovered)
        if trial.cover_open(order, price=price, stopped=stopped) or stopped():
            return
        trial.clean_up(stopped=stopped)
        if trial.cost <= self.best_cost:
            self._best.become_like(trial)
            self.best_cost = trial.cost

    def _blur(self) -> Costs:
        """Factors by which costs stray while levels are covered."""
        noise = self._rng.normal(0.0, self._options.blur, len(self._problem.cost))
        return np.exp(noise)


class BoxWalker(ProgramWalker):
    """One pattern that is rebuilt in place by boxes and never gets more expensive."""

    def best(self) -> Pattern:
        return self._best.pattern()

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        state, problem, rng = self._best, self._problem, self._rng
        secondaries = state.secondaries
        if not len(secondaries):
            return False
        boxes = state.table.boxes
        assert boxes is not None
        blurred = boxes.with_price(problem.cost * self._blur())
        shuffle = rng.random(len(state.table.rows.cell))
        turn = self._options.turn
        for _ in range(turn if most is None else min(turn, most)):
            targets = expensive_and_near(
                problem, state.hidden, secondaries, self._options.most, rng
            )
            blurred.rebuild(
                state.witnesses, state.hidden, targets, shuffle, problem.cost
            )
            self.steps += 1
            if stopped():
                break
        many = min(_PRUNED_PER_TURN, len(secondaries))
        few = rng.choice(secondaries, many, replace=False)
        boxes.drop(state.witnesses, state.hidden, few[state.hidden[few]])
        self.best_cost = state.cost
        return True


class StepWalker(ProgramWalker):
    """One pattern that is rebuilt in place by walks and never gets more expensive.

    A step does without an expensive secondary and some others of an equation of it.
    """

    def best(self) -> Pattern:
        return self._best.pattern()

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        state, problem, rng = self._best, self._problem, self._rng
        walks = state.table.walks
        if walks is None:
            return super().turn(stopped, most)
        state.publish_idle()
        cost = problem.cost * self._blur()
        turn = self._options.turn
        for _ in range(turn if most is None else min(turn, most)):
            secondaries = state.secondaries
            if not len(secondaries):
                return False
            cells = expensive_and_near(
                problem, state.hidden, secondaries, self._options.most, rng
            )
            price = walks.prices(state.hidden, cost)
            seed = int(rng.integers(1 << 31))
            walks.replace(state, cells, price, seed, stopped)
            self.steps += 1
            if stopped():
                break
        self.best_cost = state.cost
        return True


class RecordWalker(ProgramWalker):
    """The best pattern met, which is the state given, and the one it walks with.

    A step publishes an expensive secondary and some others of an equation of it, and
    covers all levels that rested on them by the cheapest deviations under blurred
    costs, in any order. The next step starts from the new pattern unless that costs
    more than the best one met by more than a small share: record-to-record travel
    (Dueck 1993).
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
        if self._stalled == _PATIENCE_TURNS:
            self._stalled, self._now = 0, self._best.copy()
        if self.best_cost < before:
            self._stalled = 0
            # Cells that nothing needs are looked for once per turn: it takes programs.
            self._best.clean_up(stopped=stopped)
            self.best_cost = self._best.cost
            self._now = self._best.copy()
        return True

    def _step(self, stopped: Stopped) -> None:
        rng, now, options = self._rng, self._now, self._options
        problem = self._problem
        cells = expensive_and_near(
            problem, now.hidden, now.secondaries, options.most, rng
        )
        rows = np.unique(np.concatenate([now.witnesses.users(c) for c in cells]))
        trial = now.copy()
        trial.forget(rows)
        price = problem.cost * self._blur()
        if options.discount is not None and rng.random() < _DISCOUNTED_STEPS:
            price *= 1.0 - rng.random() * options.discount
        price[cells] *= rng.choice(_PUBLISHED_TIMES)
        order = rng.permutation(trial.uncovered)
        if trial.cover_open(order, price=price, stopped=stopped) or stopped():
            return
        trial.publish_idle()
        if trial.cost <= self.best_cost * (1.0 + _PRUNED_WITHIN):
            new_cells = np.flatnonzero(trial.hidden & ~now.hidden)
            by_cost = np.argsort(-problem.cost[new_cells], kind="stable")
            trial.clean_up(new_cells[by_cost], stopped=stopped)
        new = trial.cost
        slack = options.slack / len(now.secondaries) * _GROWTH**self._stalled
        if new <= self.best_cost * (1.0 + min(slack, _PRUNED_WITHIN)):
            self._now = trial
        if new < self.best_cost:
            self._best.become_like(trial.copy())
            self.best_cost = new
