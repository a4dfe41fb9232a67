"""Details of the genetic methods: children, populations, portfolio, stopping."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.errors import MethodError
from evosdc.instances import make
from evosdc.suppress.draw import draw
from evosdc.suppress.methods.gensup import (
    GensupParameters,
    Population,
    cross,
    run_gensup,
)
from evosdc.suppress.methods.heurgene import (
    PROBABILISTIC,
    STRATEGIES,
    HeurgeneParameters,
    run_heurgene,
)
from evosdc.suppress.methods.hybrid import HybridParameters, run_hybrid
from evosdc.suppress.methods.optimal import OptimalParameters, run_optimal
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search


@pytest.fixture(scope="module")
def problem() -> Problem:
    return Problem.of(make("class1", seed=3, rows=20, columns=20))


class FakeState:
    def __init__(self, cost: float, cells: int = 1) -> None:
        self.cost = cost
        self.secondaries = np.arange(cells)


def test_population_is_sorted_and_has_no_two_of_a_cost():
    people = Population(3)
    costs = [5.0, 3.0, 5.0, 4.0, 9.0, 1.0]
    let_in = [people.add(FakeState(cost)) for cost in costs]
    assert let_in == [True, True, False, True, False, True]
    assert people.cost.tolist() == [1.0, 3.0, 4.0]
    assert [state.cost for state in people.states] == [1.0, 3.0, 4.0]


def test_of_equal_cost_the_smaller_pattern_stays():
    people = Population(3)
    let_in = [people.add(FakeState(5.0, cells)) for cells in (4, 6, 3, 3)]
    assert let_in == [True, False, True, False]
    assert [len(state.secondaries) for state in people.states] == [3]


def test_four_children_as_published():
    rng = np.random.default_rng(1)
    better = rng.random(4000) < 0.5
    other = rng.random(4000) < 0.5
    first, second, shared, mixed = cross(better, other, 0.75, rng)
    point = int(np.flatnonzero(first != better)[0])
    np.testing.assert_array_equal(first[point:], other[point:])
    np.testing.assert_array_equal(second[point:], better[point:])
    np.testing.assert_array_equal(shared, better & other)
    assert mixed[shared].all()
    assert not mixed[~better & ~other].any()
    assert mixed[better & ~other].mean() == pytest.approx(0.75, abs=0.06)
    assert mixed[other & ~better].mean() == pytest.approx(0.25, abs=0.06)


def test_draws_are_even():
    state = np.array([7], dtype=np.uint64)
    drawn = np.array([draw(state, 6) for _ in range(6000)])
    assert np.bincount(drawn, minlength=6).min() > 850
    assert drawn.max() == 5


def test_published_defaults():
    gensup, heurgene = GensupParameters(), HeurgeneParameters()
    assert (gensup.population, gensup.iterations, gensup.patience) == (20, 20, 10)
    assert (heurgene.population, heurgene.circuit, heurgene.tries) == (10, 32, 100)
    assert (heurgene.generations, heurgene.patience) == (1000, 100)


@pytest.mark.parametrize("strategy", [*STRATEGIES, PROBABILISTIC])
def test_every_strategy_runs(problem, strategy):
    options = HeurgeneParameters(strategy=strategy, patience=20)
    search = Search(1)
    pattern = run_heurgene(problem, options, search)
    first = next(e.cost for e in search.record.entries if e.cost is not None)
    assert pattern.cost <= first
    assert search.generations >= 20


def test_wishes_of_the_author(problem):
    plain = run_heurgene(problem, HeurgeneParameters(patience=20), Search(1))
    wished = HeurgeneParameters(
        patience=20, seeding="bound-and-path", diversity="circuits"
    )
    # Bound and path starts far below what rectangles reach.
    assert run_heurgene(problem, wished, Search(1)).cost < plain.cost


def test_cost_benefit_ends_the_run():
    problem = Problem.of(make("class1", seed=3, rows=12, columns=12))
    clock = iter(np.arange(0.0, 1e6, 0.1).tolist())
    search = Search(1, clock=lambda: next(clock))
    options = HeurgeneParameters(cost_benefit=10.0)
    run_heurgene(problem, options, search)
    assert search.generations < 100


@pytest.mark.parametrize(
    "options", [{"strategy": "best"}, {"diversity": "none"}, {"seeding": "mine"}]
)
def test_unknown_choices_are_refused(options):
    with pytest.raises(MethodError):
        HeurgeneParameters(**options)


def test_hybrid_finds_what_cut_and_branch_proves(problem):
    proof = Search(0)
    best = run_optimal(problem, OptimalParameters(), proof)
    assert proof.bound == pytest.approx(best.cost, rel=1e-5)
    search = Search(0)
    found = run_hybrid(problem, HybridParameters(), search)
    assert found.cost == pytest.approx(best.cost)
    assert search.bound == pytest.approx(best.cost, rel=1e-5)


def test_gensup_raises_a_valid_bound(problem):
    search = Search(0)
    pattern = run_gensup(problem, GensupParameters(iterations=3), search)
    assert 0 < search.bound <= pattern.cost
