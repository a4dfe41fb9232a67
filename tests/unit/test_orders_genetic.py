"""The genetic algorithm over orders, on a toy evaluator that counts what is asked."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import numpy as np
import pytest

from builders import run_method
from evosdc.attack import judge
from evosdc.errors import MethodError
from evosdc.evolution.stopping import EvaluationLimit
from evosdc.instances import make
from evosdc.suppress.engine.evaluator import Order, Prefix, PricedOrder
from evosdc.suppress.methods import constructions
from evosdc.suppress.papers.order_search import (
    Evolution,
    OrderParameters,
    preset,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping, group_cells


class Displacement:
    """Costs how far each element is from a hidden goal."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.goal = np.random.default_rng(5).permutation(length)
        self.asked: list[tuple[int, ...]] = []

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[PricedOrder | None]:
        found: list[PricedOrder | None] = []
        for order, prefix in tasks:
            assert sorted(order.tolist()) == list(range(self.length))
            if prefix is not None:
                shared = prefix.shared(order)
                assert np.array_equal(order[:shared], prefix.order[:shared])
            self.asked.append(tuple(order.tolist()))
            cost = float(np.abs(np.argsort(order) - np.argsort(self.goal)).sum())
            empty = np.zeros(0, dtype=np.int64)
            found.append(PricedOrder(cost, empty, np.zeros(self.length, np.int32)))
        return found

    def complete(self, priced: PricedOrder, clean: bool) -> Pattern | None:
        del clean
        return Pattern(np.zeros(1, dtype=bool), priced.cost)

    def rescue(self) -> Pattern:
        raise AssertionError


def evolve(parameters: OrderParameters, length: int = 12, **limits: int) -> tuple:
    toy = Displacement(length)
    stop = EvaluationLimit(limits["most"]) if limits else None
    search = Search(seed=4, stop=stop)
    run = Evolution(toy, parameters, search)
    run.run()
    return toy, search, run


def test_the_first_orders_are_falling_and_rising_weight() -> None:
    toy, _, run = evolve(OrderParameters(evaluations=10))
    assert toy.asked[0] == tuple(range(12))
    assert toy.asked[1] == tuple(range(11, -1, -1))
    assert len(run.population) == 10


@pytest.mark.parametrize(
    "parameters",
    [
        OrderParameters(evaluations=1500, converged=0),
        preset("invert")(evaluations=1500, converged=0),
        preset("swap", 1)(evaluations=1500),
        OrderParameters(evaluations=1500, converged=0, batch=4),
    ],
)
def test_it_finds_better_orders(parameters: OrderParameters) -> None:
    toy, search, run = evolve(parameters)
    start = float(np.abs(np.arange(12) - np.argsort(toy.goal)).sum())
    assert search.best is not None
    assert search.best.cost < 0.6 * start
    assert len(run.population) == parameters.population
    assert min(one.priced.cost for one in run.population) == search.best.cost


def test_no_order_is_evaluated_twice() -> None:
    toy, search, _ = evolve(OrderParameters(converged=0, patience=300), length=4)
    assert len(toy.asked) == len(set(toy.asked)) == search.evaluations <= 24


def test_stops() -> None:
    toy, _, _ = evolve(OrderParameters(evaluations=37, converged=0))
    assert len(toy.asked) == 37
    # One order is the best at once: nothing better comes.
    _, search, _ = evolve(OrderParameters(patience=50, converged=0), length=2)
    assert search.generations == 50
    # With a tolerance of 100 % any population has converged.
    _, search, _ = evolve(OrderParameters(converged=20, within=10.0))
    assert search.generations == 20
    # A local search has one order, which is always its own mean.
    _, search, _ = evolve(preset("swap", 1)(converged=20, within=10.0, patience=60))
    assert search.generations >= 60


def test_same_seed_same_orders() -> None:
    first, _, _ = evolve(OrderParameters(evaluations=60))
    second, _, _ = evolve(OrderParameters(evaluations=60))
    assert first.asked == second.asked


def test_groups_partition_the_cells() -> None:
    table = make("random", seed=1, shape=(8, 7), sensitive=0.3)
    problem = Problem.of(table)
    cells = table.primaries
    for grouping in ("weight", "row", "column"):
        for groups in (0, 1, 3, 1000):
            parts = group_cells(problem, cells, groups, grouping)
            assert sorted(np.concatenate(parts).tolist()) == sorted(cells.tolist())
            assert all(len(part) for part in parts)
            if 0 < groups < len(cells):
                assert len(parts) <= groups
            for part in parts:
                assert np.all(np.diff(table.weight[part]) <= 0)
    rows = group_cells(problem, cells, 9, "row")
    for part in rows:
        assert len(np.unique(table.codes[part, 0])) == 1


@pytest.mark.parametrize(("quick", "cells"), [(True, "unpicked"), (False, "by-bounds")])
def test_large_tables_take_groups_of_unpicked_cells(
    monkeypatch: pytest.MonkeyPatch, quick: bool, cells: str
) -> None:
    asked: list[Grouping] = []
    engine = SimpleNamespace(
        is_network=quick,
        problem=SimpleNamespace(table=range(11)),
        evaluator=lambda grouping, *_: asked.append(grouping),
    )
    OrderParameters().evaluator(engine, Search())
    monkeypatch.setattr(constructions, "MOST_CELLS_ONE_BY_ONE", 10)
    OrderParameters().evaluator(engine, Search())
    assert asked == [
        Grouping("exposed", 0, "weight", together=True),
        Grouping(cells, 20, "weight", together=quick),
    ]


def test_ruin_goes_on_from_the_best_order_by_default() -> None:
    table = make("ons", seed=5, table="A")
    problem = Problem.of(table)
    plain, ruined = (
        run_method("order-ga", problem, Search(seed=1), evaluations=20, **chosen)
        for chosen in ({"ruin": 0}, {})
    )
    assert ruined.cost < plain.cost
    assert judge(table.with_pattern(ruined.hidden))[0].safe
    for options in ({"ruin": -5}, {"ruin": -0.5}, {"groups": -2}):
        with pytest.raises(MethodError, match="at least 0, or -1"):
            run_method("order-ga", table, **options)


def test_the_closing_walk_finds_what_few_orders_miss() -> None:
    """Four sensitive cells have 24 orders; 201 is optimal (proven by `hybrid`)."""
    problem = Problem.of(make("random", seed=1, shape=(6, 6)))
    plain, closed = (
        run_method("order-ga", problem, Search(seed=1), **chosen)
        for chosen in ({"ruin": 0}, {})
    )
    assert closed.cost == 201 < plain.cost


def test_ruin_on_tables_of_three_dimensions() -> None:
    table = make("random", seed=5, shape=(5, 4, 4))
    searches = Search(seed=1), Search(seed=1)
    plain, ruined = (
        run_method("order-ga", table, search, evaluations=12, ruin=ruin)
        for ruin, search in zip((0, 5), searches, strict=True)
    )
    assert searches[1].evaluations > searches[0].evaluations + 32
    assert ruined.cost <= plain.cost
    assert judge(table.with_pattern(ruined.hidden))[0].safe


def test_falling_weight_alone_does_not_clean_up() -> None:
    problem = Problem.of(make("ons", seed=1, table="B"))
    costs = [
        run_method("order-by-weight", problem, clean=clean).cost
        for clean in ("never", "best", "every")
    ]
    assert costs[0] > costs[1] == costs[2]


def test_the_closing_group_is_protected_by_every_best() -> None:
    """Surrogate fitness looks at unpicked cells; what is offered covers the others."""
    table = make("ons", seed=3, table="A")
    problem = Problem.of(table)
    options = {"cells": "unpicked", "groups": 20, "evaluations": 30, "clean": "never"}
    pattern = run_method("order-ga", problem, Search(seed=1), **options)
    assert judge(table.with_pattern(pattern.hidden))[0].safe
