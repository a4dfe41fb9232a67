"""Walks in whole units, in tables where there are no boxes and programs are slow."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.engine.general import programs
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.general.walker import StepWalker
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search

engines = import_module("evosdc.suppress.engine.general.engine")
tables = import_module("evosdc.suppress.engine.general.table")
EVALUATIONS = 200


@pytest.fixture
def problem(monkeypatch: pytest.MonkeyPatch) -> Problem:
    """A table in which there are walks: no dimensions, and programs called slow."""
    monkeypatch.setattr(engines, "dimensions_of", lambda _: None)
    monkeypatch.setattr(tables, "boxes_of", lambda *_: None)
    monkeypatch.setattr(programs, "_MOST_LEVELS_TIMES_CELLS", 0)
    found = Problem.of(make("random", 5, shape=(5, 4, 4), trees=1, sensitive=0.1))
    found.derived[programs._SLOW] = True
    return found


def is_safe(problem: Problem, pattern: Pattern) -> bool:
    published = problem.table.with_pattern(pattern.hidden)
    verdict, _ = judge(published, hints=pattern.hints)
    return bool(verdict.ok)


def test_walks_cover_most_demands_by_whole_deviations(problem: Problem) -> None:
    state = GeneralEngine(problem).start()
    walks, matrix = state.table.walks, problem.table.matrix
    assert walks is not None
    walks.cover(state, state.open_rows(), problem.cost)
    assert len(state.uncovered) <= 0.1 * len(state.table.rows.cell)
    for cells, by in state.pattern().hints:
        change = np.zeros(len(problem.table))
        change[cells] = by
        assert not (matrix @ change).any()
        assert np.array_equal(by, np.rint(by))
        assert (by <= problem.up[cells]).all()
        assert (-by <= problem.down[cells]).all()


def test_a_pattern_never_gets_more_expensive_and_stays_safe(problem: Problem) -> None:
    engine = GeneralEngine(problem)
    state = engine.start()
    state.cover()
    before = state.cost
    walker = engine.walker(state, np.random.default_rng(1))
    assert isinstance(walker, StepWalker)
    walker.turn(lambda: False)
    walker.turn(lambda: False)
    assert walker.best_cost == state.cost < before
    assert not len(state.uncovered)
    assert is_safe(problem, walker.best())


def test_what_cannot_be_done_without_changes_nothing(problem: Problem) -> None:
    state = GeneralEngine(problem).start()
    state.cover()
    walks, hidden = state.table.walks, state.hidden.copy()
    assert walks is not None
    nothing = np.where(problem.primary, 0.0, np.inf)
    assert not walks.replace(state, state.secondaries, nothing, 0)
    assert np.array_equal(state.hidden, hidden)
    assert not len(state.uncovered)


def test_the_flagship_betters_a_pattern_by_walks(problem: Problem) -> None:
    def built(name: str, evaluations: int) -> Pattern:
        search = Search(seed=1, stop=EvaluationLimit(evaluations))
        method = find_method(name)
        return method.run(problem, method.configure({}), search)

    first, found = built("attacker", EVALUATIONS), built("hybrid", EVALUATIONS)
    assert found.cost < first.cost
    assert is_safe(problem, found)
    assert found.cost == built("hybrid", EVALUATIONS).cost
