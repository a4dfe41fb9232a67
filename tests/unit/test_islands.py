"""Islands beside the hybrid's own: the same answers for any number of workers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders import UntilHelped, run_method
from evosdc.evolution.stopping import EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods import islands
from evosdc.suppress.methods.contracted import ContractedSearch, contraction_for
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.methods.islands import Guide, Island, RemoteIsland, explore
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run import search as runs
from evosdc.suppress.run.search import Assignment, Search


def problem(kind: str) -> Problem:
    if kind == "network":
        return Problem.of(make("class1", 3, rows=50, columns=50))
    return Problem.of(make("random", 3, shape=(5, 4, 4), sensitive=0.15))


@pytest.mark.parametrize("kind", ["network", "general"])
def test_without_a_clock_workers_do_not_change_the_answer(kind: str):
    # No proof, which would end the run before the islands come back.
    few = HybridParameters(population=4, islands=2, rounds=0, tree=0)
    asked, some = problem(kind), EvaluationLimit(150)
    search = Search(seed=5, stop=some, workers=Workers(1))
    pattern = run_hybrid(asked, few, search)
    again = Search(seed=5, stop=some, workers=Workers(2))
    other = run_hybrid(asked, few, again)
    alone = Search(seed=5, stop=some)
    run_hybrid(asked, replace(few, islands=0), alone)
    assert search.elsewhere > 0 == alone.elsewhere
    assert np.array_equal(pattern.hidden, other.hidden)
    assert search.evaluations == again.evaluations
    assert search.bound == again.bound


@pytest.mark.parametrize("kind", ["network", "general"])
def test_an_island_goes_on_from_the_patterns_it_is_given(kind: str):
    asked = problem(kind)
    home = Island(asked, 6, Search(seed=1))
    home.build_first()
    first = home.patterns(1)
    guide = Guide(False, np.zeros(len(asked.cost)))
    given = Assignment(RemoteIsland, 6, 1, 1, 0, None, first, 40, guide)
    found = explore(asked, given)
    assert found.patterns[0].cost <= first[0].cost
    assert found.evaluations > 0
    for pattern in found.patterns:
        state = engine_for(asked).start(pattern.hidden)
        state.repair()
        assert state.cost == pytest.approx(pattern.cost)
    repeated = explore(asked, given)
    assert [p.cost for p in repeated.patterns] == [p.cost for p in found.patterns]


def test_an_island_runs_a_simple_method_for_the_problem_as_it_was_asked_for():
    """Contraction loses dimensions: boxes are had on the whole table only."""
    asked = Problem.of(make("random", 1, shape=(7, 6, 3), trees=2, zeros=0.8))
    contraction = contraction_for(asked)
    assert contraction is not None
    small = contraction.small
    search = ContractedSearch(Search(seed=1), contraction)
    home = Island(small, 6, search)
    home.build_first()
    guide = Guide(True, np.zeros(len(small.cost)), construction="hypercube")
    found = explore(asked, Assignment(RemoteIsland, 6, 1, 1, 0, None, (), 40, guide))
    simple = run_method("hypercube", asked)
    assert found.patterns[0].cost + contraction.base <= simple.cost * (1 + 1e-9)
    state = engine_for(small).start(found.patterns[0].hidden)
    assert not state.repair()


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
    monkeypatch.setattr(runs, "SECONDS_BEFORE_WORKERS", 0.5)
    monkeypatch.setattr(islands, "_LEAST_SECONDS_LEFT", np.inf)
    asked = Problem.of(make("random", 4, shape=(9, 8, 7), sensitive=0.15))
    search = UntilHelped(seed=1, workers=Workers(2))
    run_hybrid(asked, HybridParameters(), search)
    alone = Search(seed=1, stop=TimeLimit(0.0), workers=Workers(2))
    run_hybrid(asked, HybridParameters(), alone)
    assert search.helped
    assert search.best is not None
    assert alone.best is not None
    assert search.best.cost < alone.best.cost
    assert search.bound is not None
    assert search.bound <= search.best.cost * (1 + 1e-9)
