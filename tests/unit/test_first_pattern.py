"""What is judged first under a limit of time, and what the judge is told of it."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.evolution.stopping import AnyOf, EvaluationLimit, TimeLimit
from evosdc.instances import make
from evosdc.suppress.engine import choose
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search

solving = import_module("evosdc.api.solve")
LONG, EVALUATIONS = 1e6, 40


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem.of(make("random", 3, shape=(12, 8, 3), trees=2, sensitive=0.2))


def built(problem: Problem, name: str, search: Search) -> float:
    method = find_method(name)
    return method.run(problem, method.configure({}), search).cost


def test_what_is_judged_first_costs_no_more_than_simple_constructions(
    problem: Problem,
) -> None:
    def budget() -> Search:
        return Search(stop=AnyOf((TimeLimit(LONG), EvaluationLimit(EVALUATIONS))))

    first = solving._quick_pattern(problem, None, budget())
    for name in ("attacker", "hypercube"):
        assert first.cost <= built(problem, name, budget())


def test_large_tables_begin_with_the_quickest_method(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solving, "_CELLS_A_SECOND", 0)
    first = solving._quick_pattern(problem, None, Search(stop=TimeLimit(LONG)))
    assert first.cost == built(problem, "hypercube", Search())


def by_programs(problem: Problem) -> Pattern:
    state = GeneralEngine(problem).build_by_programs()
    assert state is not None
    return state.pattern()


def test_the_judge_is_told_of_simple_deviations_in_place_of_large_ones(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    pattern = by_programs(problem)
    monkeypatch.setattr(choose, "_LARGE", 10)
    monkeypatch.setattr(choose, "_CELLS_PER_LEVEL", 0.1)
    before = sum(map(choose._is_large, pattern.hints))
    told = choose.read_quickly(problem, pattern)
    assert sum(map(choose._is_large, told)) < before
    assert all(pattern.hidden[cells].all() for cells, _ in told)
    # Each of them keeps the equations, and the judge finds the pattern as safe.
    matrix = problem.table.matrix
    for cells, by in told:
        assert np.abs(matrix[:, cells] @ by).max() <= 1e-6 * np.abs(by).max()
    verdict, _ = judge(problem.table.with_pattern(pattern.hidden), hints=told)
    assert verdict.ok


def test_hints_that_are_small_are_left_as_they_are(problem: Problem) -> None:
    pattern = by_programs(problem)
    assert not any(map(choose._is_large, pattern.hints))
    assert choose.read_quickly(problem, pattern) is pattern.hints
