"""Cut and branch ends at the optimum of small tables and says so."""

from __future__ import annotations

import pytest
from exact_enumeration import optimum

from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.methods.optimal import OptimalParameters, run_optimal
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.search import Search


@pytest.mark.parametrize("seed", range(4))
def test_small_networks_are_solved(seed: int) -> None:
    problem = Problem.of(make("random", seed, shape="3,3", sensitive=0.2))
    search = Search(stop=EvaluationLimit(200))
    pattern = run_optimal(problem, OptimalParameters(), search)
    assert pattern.cost == pytest.approx(optimum(problem), rel=1e-6)
    assert search.bound is not None
    assert search.bound == pytest.approx(pattern.cost, rel=1e-5)


@pytest.mark.parametrize("options", [{"trees": 1}, {}])
def test_small_general_tables_are_solved(options: dict[str, object]) -> None:
    table = make("random", 1, shape="4,3,2", sensitive=0.15, **options)
    problem = Problem.of(table)
    assert problem.network is None
    search = Search(stop=EvaluationLimit(40))
    pattern = run_optimal(problem, OptimalParameters(), search)
    assert search.bound is not None
    assert search.bound <= pattern.cost * (1 + 1e-9)
    assert search.bound >= 0.5 * pattern.cost


def test_the_same_seed_gives_the_same_pattern() -> None:
    problem = Problem.of(make("class1", 5, rows=12, columns=12))
    first, second = (
        run_optimal(problem, OptimalParameters(), Search(stop=EvaluationLimit(40)))
        for _ in range(2)
    )
    assert (first.hidden == second.hidden).all()
