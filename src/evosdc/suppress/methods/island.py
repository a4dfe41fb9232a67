"""One population of patterns of a table, and the searches that better it.

The hybrid has one at home and, where it may use several workers, others beside it. They
differ in their randomness only; patterns travel between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.evolution.stopping import AnyOf, TimeLimit
from evosdc.suppress.engine.base import AnyEngine, Mender, State
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.programs import may_be_tried
from evosdc.suppress.methods.gensup import (
    GensupParameters,
    Population,
    admit,
    admit_child,
    breed,
    guided_state,
)
from evosdc.suppress.methods.hitas import run as run_hitas
from evosdc.suppress.methods.hitas_ahead import Together
from evosdc.suppress.methods.hitas_part import HitasParameters
from evosdc.suppress.methods.walking import restored, walk_from
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search
from evosdc.suppress.structure.subtables import subtables

Flags = NDArray[np.bool_]
Fractions = NDArray[np.float64]
Stopped = Callable[[], bool]
# Share of the time left above which building one more pattern does not pay.
_DEAR = 0.15
# The same for sub-tables.
_PARTS_PAY = 0.5
# Cells up to which walks that roam had a cheaper pattern than sub-tables in 15 seconds.
_ROAMED = 900
# So many times slower are steps by programs, where no limit of time ends them.
_SLOWER = 40
# Walks by programs begin at one of so many best patterns; those that roam, at the best
# one in this share of the cases.
_STARTS, _FROM_BEST = 4, 0.4
# How much cheaper a walk finds cells that the relaxation hides, at most.
_LURE = 0.95
# Where pruning takes programs, patterns that cost so many times the best are not worth
# it: it takes ten times as long as building one, and spares a tenth.
_HOPELESS = 1.15
# Patterns whose cells are made cheap for the next ones.
_TRAIL = 6
# Seconds that cleaning up the first pattern may take in any case, and the share of the
# time left that they are at most.
_TIDYING, _TIDYING_SHARE = 5.0, 0.1
# Share of the time left that programs over the whole table may take to build a pattern.
_PROGRAMS = 0.25
# Secondaries above which changing and mending a pattern is slow.
_LARGE = 1000


@dataclass(frozen=True)
class Habits:
    """How an island searches.

    Attributes
    ----------
    population
        Patterns kept.
    patience
        Generations without a better best before the next search has its turn.
    steps
        Steps of ruin and recreate in one turn.
    """

    population: int
    patience: int
    steps: int


class Island:
    """A population, and what changes it."""

    def __init__(self, problem: Problem, habits: Habits, search: Search) -> None:
        self.problem, self.habits, self.search = problem, habits, search
        self.engine: AnyEngine = engine_for(problem)
        self.population = Population(habits.population)
        self.building = 0.0  # seconds that the first pattern took
        # Seconds until the whole run ends, of which this may be a part.
        self.horizon: Callable[[], float] = search.seconds_left
        self._mender: Mender[Any] | None = None

    @property
    def mender(self) -> Mender[Any]:
        if self._mender is None:
            rng = self.search.rng(0)
            # The run may be another one by the time it is asked.
            self._mender = self.engine.mender(rng, lambda: self.search.stopped())
        return self._mender

    @property
    def heavy(self) -> bool:
        """Whether patterns are so large that integer programmes had better go first."""
        many = len(self.population.states[0].secondaries) > _LARGE
        return self.engine.quick and many

    @property
    def slow(self) -> bool:
        """Whether building one pattern takes a good part of the time that is left."""
        return self.building > _DEAR * self.horizon()

    def settle(self) -> None:
        """Build the first pattern.

        A safe pattern is worth more than a clean one: where publishing what is not
        needed takes longer than building, walks see to the rest.
        """
        search = self.search
        begun = search.seconds
        state: State = self.engine.start()
        state.cover(stopped=search.stopped)
        tidying = min(_TIDYING, _TIDYING_SHARE * self.horizon())
        end = search.seconds + max(tidying, search.seconds - begun)
        state.clean_up(stopped=lambda: search.stopped() or search.seconds >= end)
        admit(self.population, state, search, "first pattern")
        self.building = search.seconds - begun

    def try_programs(self) -> None:
        """Build a pattern by programs over the whole table, in a share of the time.

        What they hide is cheaper, often by half, but how long they take depends on how
        full the table is: it is measured. Where all of them are answered in time,
        programs build and change the patterns from then on.
        """
        search, engine = self.search, self.engine
        if engine.quick or not may_be_tried(self.problem):
            return
        end = search.seconds + _PROGRAMS * self.horizon()

        def stopped() -> bool:
            return search.stopped() or search.seconds >= end

        state = engine.build_by_programs(stopped)
        state.clean_up(stopped=stopped)
        admit(self.population, state, search, "by programs over the whole table")

    @cached_property
    def parted(self) -> bool:
        """Whether the table has sub-tables: hierarchies, or tables that are linked."""
        return not self.engine.quick and len(subtables(self.problem.table)) > 1

    @property
    def parts_pay(self) -> bool:
        """Whether there is time for sub-tables: they take less than whole patterns.

        Where walks roam in small tables they are soon beyond what sub-tables bring, and
        in contracted tables, which have lost their dimensions, other patterns are.
        """
        if self.engine.roaming is not None and len(self.problem.cost) <= _ROAMED:
            return False
        return (
            self.engine.agile
            and self.parted
            and self.building < _PARTS_PAY * self.horizon()
        )

    def solve_parts(self, seconds: float) -> None:
        """Let in the pattern of HiTaS, sub-table by sub-table from the top down.

        What is protected within a sub-table is hidden near the bottom, where it is
        cheap. The order of levels that other patterns follow does not see that.
        """
        limit = AnyOf((TimeLimit(seconds), Together(self.search)))
        run = Search(seed=self.search.seed, stop=limit)
        pattern = run_hitas(self.problem, HitasParameters(), run)
        self.search.count()
        self.search.offer(pattern, "by sub-tables")
        self.welcome(pattern)

    def welcome(self, pattern: Pattern) -> None:
        """Let in a pattern that was found elsewhere."""
        known = self.population.states
        if any(np.array_equal(pattern.hidden, state.hidden) for state in known):
            return
        self.population.add(restored(self.engine, pattern, self.search))

    def guide(
        self,
        fractions: Fractions,
        noise: Fractions | float = 1.0,
        order: NDArray[np.int64] | None = None,
    ) -> None:
        """Let in a pattern that follows the relaxation."""
        stopped, hopeless = self.search.stopped, np.inf
        if not self.engine.quick and self.population.states:
            hopeless = _HOPELESS * self.population.states[0].cost
        state = guided_state(
            self.engine, self.mender, fractions, noise, stopped, order, hopeless
        )
        admit(self.population, state, self.search, "guided by the bound")

    def attempt(self, hidden: Flags, stopped: Stopped) -> None:
        """Make a candidate safe and let it in."""
        parent = self.population.states[0]
        child = self.mender.child(parent, hidden | self.problem.primary)
        admit_child(self.population, child, self.mender, self.search, stopped)

    def steer(
        self, fractions: Fractions, rng: np.random.Generator, stopped: Stopped
    ) -> None:
        """Let in patterns steered by the relaxation and good patterns, in any order.

        Where covering a level takes a program, the order in which levels are covered
        matters more than what breeding can put together. Prices fall on the cells that
        good patterns hide, as the trails of ants do (Dorigo and Stuetzle 2004).
        """
        cells, levels = len(self.problem.cost), len(self.engine.demands)
        for _ in range(2 * self.population.size):
            if stopped() or self.slow:
                return
            states = self.population.states[:_TRAIL]
            share = rng.uniform(0.0, 0.6) * np.mean([s.hidden for s in states], axis=0)
            share += rng.uniform(0.0, 0.5) * fractions
            noise = np.exp(rng.normal(0.0, rng.uniform(0.05, 0.4), cells))
            self.guide(share, noise, rng.permutation(levels))

    def refill(
        self,
        fractions: Fractions,
        rng: np.random.Generator,
        keep: int,
        stopped: Stopped,
    ) -> None:
        """Keep some patterns and let in others, steered by the relaxation and noise."""
        population = self.population
        del population.states[keep:]
        population.cost = population.cost[:keep]
        for _ in range(2 * population.size):
            if len(population.states) == population.size or stopped():
                return
            noise = rng.uniform(0.6, 1.4, len(self.problem.cost))
            share = fractions * rng.uniform(0.5, 1.0)
            self.guide(share, noise)

    def breed(self, rng: np.random.Generator, stopped: Stopped) -> None:
        """Make generations until they no longer pay."""
        held = 0
        while not stopped() and held < self.habits.patience:
            if len(self.population.states) < 2:
                return
            better = breed(
                self.population,
                self.mender,
                GensupParameters(population=self.habits.population),
                rng,
                self.search,
                stopped,
                mutate_all=held == self.habits.patience // 2,
            )
            held = 0 if better else held + 1

    def walk(
        self, fractions: Fractions, rng: np.random.Generator, stopped: Stopped
    ) -> None:
        """Ruin and recreate from the best pattern."""
        far = self.engine.roaming
        if far is not None:
            far = replace(far, lure=_LURE * np.clip(fractions, 0.0, 1.0))
        # Steps by programs are few, and the best pattern may be stuck.
        best = self.engine.quick or (far is not None and rng.random() < _FROM_BEST)
        first = 0 if best else int(rng.integers(_STARTS))
        states = self.population.states
        state = states[min(first, len(states) - 1)].copy()
        steps = self.habits.steps
        if not (self.engine.quick or np.isfinite(self.search.seconds_left())):
            steps //= _SLOWER
        pattern = walk_from(self.engine, state, self.search, rng, steps, stopped, far)
        if pattern is None:
            return
        # Walks of networks may end beside the best pattern they met.
        if self.engine.quick:
            state = self.mender.child(states[0], pattern.hidden)
        self.population.add(state)

    def patterns(self, most: int) -> Sequence[Pattern]:
        """Return the best patterns, as many as asked for."""
        return [state.pattern() for state in self.population.states[:most]]
