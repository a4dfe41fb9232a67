"""Islands beside the hybrid's own: the same answers for any number of workers."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from builders import UntilHelped
from evosdc.evolution.stopping import TimeLimit
from evosdc.instances import make
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods import islands, stretches
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.methods.island import Habits, Island
from evosdc.suppress.methods.islands import Haul, Islands, Stretch, explore
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

HABITS = Habits(population=6, patience=2, steps=200)


def problem(kind: str) -> Problem:
    if kind == "network":
        return Problem.of(make("class1", 3, rows=50, columns=50))
    return Problem.of(make("random", 3, shape=(5, 4, 4), sensitive=0.15))


@pytest.mark.parametrize("kind", ["network", "general"])
def test_without_a_clock_workers_do_not_change_the_answer(kind: str):
    # No proof, which would end the run before the islands come back.
    few = HybridParameters(
        cycles=1, population=4, steps=80, islands=2, rounds=0, tree=0
    )
    asked = problem(kind)
    search = Search(seed=5, workers=1)
    pattern = run_hybrid(asked, few, search)
    again = Search(seed=5, workers=2)
    other = run_hybrid(asked, few, again)
    alone = Search(seed=5)
    run_hybrid(asked, replace(few, islands=0), alone)
    assert alone.evaluations < search.evaluations
    assert np.array_equal(pattern.hidden, other.hidden)
    assert search.evaluations == again.evaluations
    assert search.bound == again.bound


@pytest.mark.parametrize("kind", ["network", "general"])
def test_a_stretch_goes_on_from_the_patterns_it_is_given(kind: str):
    asked = problem(kind)
    home = Island(asked, HABITS, Search(seed=1))
    home.settle()
    first = home.patterns(1)[0]
    stretch = Stretch(1, (1, 0), HABITS, (first,), None, None, np.inf)
    haul = explore(asked, stretch)
    assert haul.patterns[0].cost <= first.cost
    assert haul.evaluations > 0
    for pattern in haul.patterns:
        state = engine_for(asked).start(pattern.hidden)
        state.repair()
        assert state.cost == pytest.approx(pattern.cost)
    repeated = explore(asked, stretch)
    assert [p.cost for p in repeated.patterns] == [p.cost for p in haul.patterns]


@pytest.mark.parametrize("kind", ["network", "general"])
def test_a_restored_pattern_is_covered_by_its_hints(kind: str):
    engine = engine_for(problem(kind))
    state = engine.start()
    state.cover()
    state.clean_up()
    again = engine.restore(state.pattern())
    assert np.array_equal(again.hidden, state.hidden)
    if kind == "general":
        assert not len(again.uncovered)
    again.cover()
    assert again.cost == state.cost


def test_what_another_worker_finds_comes_home(monkeypatch: pytest.MonkeyPatch):
    # As in a short run, though the limit is long: see UntilHelped.
    monkeypatch.setattr(stretches, "SHORT", 0.5)
    monkeypatch.setattr(islands, "_LONG_RUN", np.inf)
    asked = Problem.of(make("random", 4, shape=(9, 8, 7), sensitive=0.15))
    search = UntilHelped(seed=1, workers=2)
    run_hybrid(asked, HybridParameters(), search)
    alone = Search(seed=1, stop=TimeLimit(0.0), workers=2)
    run_hybrid(asked, HybridParameters(), alone)
    assert search.helped
    assert search.best is not None
    assert alone.best is not None
    assert search.best.cost < alone.best.cost
    assert search.bound is not None
    assert search.bound <= search.best.cost * (1 + 1e-9)


def test_islands_that_built_nothing_do_not_say_how_long_building_takes():
    """Given patterns, an island builds none: its 0 s made home think it quick."""
    home = Island(problem("general"), HABITS, Search(seed=1))
    home.settle()
    home.building = 7.0
    with Islands(home, 1) as others:
        for built, known in ((0.0, 7.0), (3.0, 3.0)):
            haul = Haul(tuple(home.patterns(1)), 1, built)
            task = SimpleNamespace(done=lambda: True, result=lambda haul=haul: haul)
            others._tasks[0] = task  # type: ignore[assignment]
            others.gather()
            assert home.building == known
