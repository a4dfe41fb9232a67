"""The same search on other workers: what they find comes home, clocks aside nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from builders import UntilElsewhere, run_method
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.parallel import Workers
from evosdc.suppress.engine.base import WalkOptions
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.general.engine import GeneralEngine
from evosdc.suppress.engine.network.engine import NetworkEngine
from evosdc.suppress.methods.walking import Walk, WalkPlan
from evosdc.suppress.papers.order_search import OrderParameters
from evosdc.suppress.papers.orders import OrderSearch
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run import search as runs
from evosdc.suppress.run.search import Assignment, Exchange, Search, go_on

PLAN = WalkPlan(GeneralEngine, WalkOptions(4, 0.3, 8), 160, "rebuilt")
FLAT = WalkPlan(NetworkEngine, WalkOptions(3, 0.8, 8, 20, 400), 160, "ruined")


def cube() -> Problem:
    return Problem.of(make("random", 4, shape=(12, 10, 8), sensitive=0.05))


def flat() -> Problem:
    return Problem.of(make("class1", 3, rows=60, columns=60))


def covered(problem: Problem) -> Pattern:
    """A first pattern, with much to better."""
    state = engine_for(problem).start()
    state.cover()
    return state.pattern()


def given(first: Pattern, plan: WalkPlan = PLAN) -> Assignment:
    return Assignment(Walk, plan, 3, 1, 0, 300.0, (first,))


@pytest.mark.parametrize("plan", [PLAN, FLAT])
def test_another_search_goes_on_where_it_was(plan: WalkPlan):
    problem = cube() if plan is PLAN else flat()
    first = covered(problem)
    found = go_on(problem, given(first, plan))
    assert found.evaluations > 0
    (better,) = found.patterns
    assert better.cost < first.cost
    state = engine_for(problem).start(better.hidden)
    assert not state.repair()
    search, walk = problem.derived["ongoing"]
    assert isinstance(walk, Walk)
    walk._plan = replace(plan, steps=2 * plan.steps)
    again = go_on(problem, given(first, plan))
    assert again.evaluations > 0
    assert walk._walker is not None
    assert walk._walker.steps == search.evaluations
    assert again.evaluations == search.evaluations - found.evaluations
    assert again.patterns[0].cost <= better.cost


def test_another_search_goes_on_from_what_another_has_found():
    problem = cube()
    first = covered(problem)
    go_on(problem, given(first))
    search, walk = problem.derived["ongoing"]
    assert isinstance(walk, Walk)
    assert walk._walker is not None
    own = search.best
    assert own is not None
    # As if another one had found it: cheaper than anything here.
    gift = replace(own, cost=0.5 * own.cost)
    walk._stuck = True
    assert not go_on(problem, given(gift)).patterns
    assert np.array_equal(walk._walker.best().hidden, gift.hidden)


def test_other_searches_draw_differently():
    draws = [Search(seed=1, branch=(k,)).rng(1).random() for k in (1, 2)]
    assert draws[0] != draws[1]
    assert Search(seed=1).rng(1).random() not in draws


@pytest.mark.parametrize("name", ["ls-rebuild", "order-ga"])
def test_what_another_search_finds_comes_home(
    name: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runs, "SECONDS_BEFORE_WORKERS", 0.1)
    search = UntilElsewhere(seed=1, workers=Workers(2))
    pattern = run_method(name, cube(), search)
    assert search.reason == "helped"
    assert search.elsewhere < search.evaluations
    assert search.best is not None
    assert pattern.cost == search.best.cost
    assert not search.callbacks


@pytest.mark.parametrize("name", ["ls-ruin", "ls-rebuild", "order-ga"])
def test_runs_that_end_by_evaluations_have_none(name: str):
    problem = Problem.of(make("class1", 3, rows=12, columns=12))
    hidden = []
    for workers in (1, 2):
        search = Search(seed=2, stop=EvaluationLimit(300), workers=Workers(workers))
        hidden.append(run_method(name, problem, search).hidden)
        with Exchange(problem, search, Walk, PLAN):
            assert not search.callbacks
    assert np.array_equal(*hidden)


@pytest.mark.parametrize("kind", ["network", "general"])
def test_a_walk_goes_on_from_what_a_run_had(kind: str):
    network = kind == "network"
    problem = Problem.of(make("class1", 3, rows=12, columns=12)) if network else cube()
    best = covered(problem)
    search = Search()
    search.offer(best, "restored")
    name = "ls-ruin" if network else "ls-rebuild"
    assert run_method(name, problem, search, steps=5).cost <= best.cost
    built = ("shortest paths", "attacker programs")
    assert not any(e.event.startswith(built) for e in search.record.entries)


def test_orders_that_were_stopped_are_judged_when_it_goes_on():
    problem = Problem.of(make("class1", 3, rows=40, columns=40))
    search = Search(stop=EvaluationLimit(3))
    orders = OrderSearch(problem, OrderParameters(), search)
    orders.go_on()
    evolution = orders._evolution
    assert 0 < len(evolution.population) < OrderParameters().population
    search.go_on(EvaluationLimit(search.evaluations + OrderParameters().population))
    orders.go_on()
    assert len(evolution.population) == OrderParameters().population
