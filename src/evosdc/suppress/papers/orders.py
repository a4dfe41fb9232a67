"""Methods that order the sensitive cells: by evolution, by local search."""

from __future__ import annotations

from contextlib import nullcontext

from evosdc.suppress.engine.base import AnyEngine, Walker, reporter
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.methods.constructions import answer_of
from evosdc.suppress.papers.order_search import (
    Evolution,
    OrderParameters,
    preset,
)
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Exchange, Search

# Ruin and recreate between orders: the memetic step of ``order-ga``.
#
# An order decides what is hidden through the programs alone, which price a cell by the
# unit. What lies beyond is reached by changing the pattern itself: for every order
# evaluated, the best pattern walks a few steps on (`suppress.methods.walking`).

# The closing walk ends after so many steps without a better pattern. At half of it some
# tables end above what they reach, at twice of it runs without a limit take longer.
_CLOSING_STEPS_WITHOUT_GAIN = 15_000
_SOURCE = "Smith, Clark, Staggemeier and Serpell 2011"
_BY = {"swap": "swaps", "insert": "insertions", "invert": "inversions"}


class Refiner:
    """Walks on from the best pattern of a run, in step with its orders.

    Parameters
    ----------
    steps
        Steps for each order evaluated; fractions add up.
    """

    def __init__(self, engine: AnyEngine, search: Search, steps: float) -> None:
        self._engine, self._search, self._steps = engine, search, steps
        self._rng = search.rng(1)
        self._owed = 0.0
        self._walker: Walker | None = None

    def work(self, orders: int) -> None:
        """Make the steps that go with so many orders, in whole turns."""
        self._owed += self._steps * orders
        while self._owed > 0 and (made := self._turn()) is not None:
            self._owed -= made[0]

    def close(self) -> None:
        """Walk on once the orders are done, until nothing better is found for long.

        A table with few sensitive cells has few orders, and the steps that go with
        them are soon made.
        """
        held = 0
        while held < _CLOSING_STEPS_WITHOUT_GAIN and (made := self._turn()) is not None:
            held = 0 if made[1] else held + made[0]

    def _turn(self) -> tuple[int, bool] | None:
        """Make a turn; return its steps, at least one, and if it found better."""
        walker = None if self._search.stopped() else self._at_best()
        if walker is None:
            return None
        before, cost = walker.steps, walker.best_cost
        if not walker.turn(self._search.stopped):
            return None
        self._report(walker)
        return max(1, walker.steps - before), walker.best_cost < cost

    def _at_best(self) -> Walker | None:
        """The walker, started again where an order led to something better."""
        best = self._search.best
        if best is None:
            return None
        if self._walker is None or best.cost < self._walker.best_cost:
            state = self._engine.start(best.hidden)
            state.cover(stopped=self._search.stopped)
            self._walker = self._engine.walker(state, self._rng)
            if self._walker is None:
                self._search.note("nothing to ruin: no secondaries, or no dimensions")
            self._report = reporter(self._search, "ruin and recreate")
        return self._walker


class OrderSearch:
    """A search for orders that can be stopped and go on."""

    def __init__(
        self, problem: Problem, parameters: OrderParameters, search: Search
    ) -> None:
        engine = engine_for(problem)
        self.evaluator = parameters.evaluator(engine, search)
        ruin = parameters.ruin_for(engine)
        steps = ruin * self.evaluator.length
        self._refiner = Refiner(engine, search, steps) if ruin else None
        refine = self._refiner.work if self._refiner else None
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
    # Batches keep threads of this process busy; other searches would be in their way.
    with (
        Exchange(problem, search, OrderSearch, parameters)
        if parameters.batch == 1
        else nullcontext()
    ):
        orders.go_on()
    return answer_of(orders.evaluator, search)


def _method(
    name: str, summary: str, parameters: type[OrderParameters] = OrderParameters
) -> Method:
    return Method(name, summary, _SOURCE, parameters, run_orders)


GENETIC = _method("order-ga", "genetic algorithm over orders that adapts itself")
GENETIC_SWAP, GENETIC_INSERT, GENETIC_INVERT = (
    _method(
        f"order-ga-{mutation}",
        f"genetic algorithm over orders, {mutation} mutation",
        preset(mutation),
    )
    for mutation in _BY
)
LOCAL_SWAP, LOCAL_INSERT, LOCAL_INVERT = (
    _method(f"ls-{mutation}", f"local search over orders by {by}", preset(mutation, 1))
    for mutation, by in _BY.items()
)
