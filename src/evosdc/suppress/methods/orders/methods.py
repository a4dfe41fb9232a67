"""Methods that order the sensitive cells: by weight, by evolution, by local search."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from evosdc.suppress.engine.base import AnyEngine
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.engine.evaluator import Evaluator
from evosdc.suppress.methods.exchange import Companions
from evosdc.suppress.methods.orders.genetic import Evolution
from evosdc.suppress.methods.orders.parameters import (
    InsertParameters,
    InvertParameters,
    LocalInsertParameters,
    LocalInvertParameters,
    LocalSwapParameters,
    OrderParameters,
    SwapParameters,
    WeightParameters,
)
from evosdc.suppress.methods.orders.refine import Refiner
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search

_SOURCE = "Smith, Clark, Staggemeier and Serpell 2011"


class OrderSearch:
    """A search for orders that can be stopped and go on."""

    def __init__(
        self, problem: Problem, parameters: OrderParameters, search: Search
    ) -> None:
        engine = engine_for(problem)
        self.evaluator = _evaluator(engine, parameters, search)
        ruin = parameters.ruin_for(engine)
        self._refiner: Refiner | None = None
        if ruin:
            self._refiner = Refiner(engine, search, ruin * self.evaluator.length)
        refine = self._refiner.work if self._refiner else lambda _: None
        self._evolution = Evolution(self.evaluator, parameters, search, refine)

    def go_on(self) -> None:
        """Breed orders; where these are done, walk on from the best pattern."""
        self._evolution.run()
        if self._refiner is not None:
            self._refiner.close()


def run_orders(
    problem: Problem, parameters: OrderParameters, search: Search
) -> Pattern:
    """Search for the order that leads to the cheapest pattern."""
    orders = OrderSearch(problem, parameters, search)
    # Batches keep threads of this process busy; companions would be in their way.
    with (
        Companions(problem, OrderSearch, parameters, search)
        if parameters.batch == 1
        else nullcontext()
    ):
        orders.go_on()
    return _answer(orders.evaluator, search)


def run_by_weight(
    problem: Problem, parameters: WeightParameters, search: Search
) -> Pattern:
    """Protect the cells in order of falling weight, as Fischetti & Salazar do."""
    evaluator = _evaluator(engine_for(problem), parameters, search)
    (priced,) = evaluator.evaluate([(np.arange(evaluator.length), None)])
    if priced is not None:
        search.count()
        pattern = evaluator.complete(priced, parameters.clean != "never")
        if pattern is not None:
            search.offer(pattern, "order of weight")
    return _answer(evaluator, search)


def _evaluator(
    engine: AnyEngine, parameters: WeightParameters, search: Search
) -> Evaluator:
    """Return what evaluates orders on this table."""
    grouping = parameters.grouping_for(engine)
    return engine.evaluator(grouping, search, parameters.clean == "every")


def _answer(evaluator: Evaluator, search: Search) -> Pattern:
    """The best pattern, or where the run ended before the first, one in a hurry."""
    if search.best is None:
        search.count()
        search.offer(evaluator.rescue(), "in a hurry")
    assert search.best is not None
    return search.best


def _method(name: str, summary: str, parameters: type[OrderParameters]) -> Method:
    return Method(
        name=name,
        summary=summary,
        tables="any",
        source=_SOURCE,
        parameters=parameters,
        run=run_orders,
    )


BY_WEIGHT = Method(
    name="order-by-weight",
    summary="incremental attacker, falling weight, no clean-up, as published",
    tables="any",
    source="Fischetti & Salazar 2001; " + _SOURCE,
    parameters=WeightParameters,
    run=run_by_weight,
)
GENETIC = _method(
    "order-ga", "genetic algorithm over orders that adapts itself", OrderParameters
)
GENETIC_SWAP = _method(
    "order-ga-swap", "genetic algorithm over orders, swap mutation", SwapParameters
)
GENETIC_INSERT = _method(
    "order-ga-insert",
    "genetic algorithm over orders, insert mutation",
    InsertParameters,
)
GENETIC_INVERT = _method(
    "order-ga-invert",
    "genetic algorithm over orders, invert mutation",
    InvertParameters,
)
LOCAL_SWAP = _method(
    "ls-swap", "local search over orders by swaps", LocalSwapParameters
)
LOCAL_INSERT = _method(
    "ls-insert", "local search over orders by insertions", LocalInsertParameters
)
LOCAL_INVERT = _method(
    "ls-invert", "local search over orders by inversions", LocalInvertParameters
)
