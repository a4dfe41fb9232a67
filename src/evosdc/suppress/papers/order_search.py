"""The steady-state genetic algorithm over orders, and local search as its limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Real
from evosdc.evolution.replacement import worst
from evosdc.evolution.selection import tournament
from evosdc.options import option
from evosdc.suppress.engine.base import AnyEngine
from evosdc.suppress.engine.evaluator import Evaluator, Order, Prefix, PricedOrder
from evosdc.suppress.methods.constructions import (
    CLEAN,
    MOST_CELLS_ONE_BY_ONE,
    WeightParameters,
)
from evosdc.suppress.run.search import Search

# Operators on orders: Davis's crossover, three mutations, and genes that control them.
#
# As in Smith, Clark, Staggemeier and Serpell (2011); the self-adaptation of operator
# and rate is that of Serpell and Smith (2010).

Operator = Callable[[Order, int, int], Order]
# A new mutation rate lies between 1 / length and this. At half of it orders change more
# gently and a search leaves a bad one later; 1 makes an order at random of some.
_HIGHEST_RATE = 0.5
# Steps of ruin and recreate per place of an order: together they take as long as the
# order. At half of it the pattern gains less, at twice of it fewer orders are tried.
_RUIN_STEPS_PER_PLACE = 0.5
# Orders remembered, with the cells that each hides. With half of them long runs price
# some orders again, with twice as many they take twice the memory.
_MOST_REMEMBERED_ORDERS = 20_000


@dataclass(frozen=True)
class Genes:
    """Which mutation an individual undergoes, and how often at each place."""

    operator: str
    rate: float


def swap(order: Order, a: int, b: int) -> Order:
    """Exchange the groups at two places."""
    child = order.copy()
    child[a], child[b] = order[b], order[a]
    return child


def insert(order: Order, a: int, b: int) -> Order:
    """Move the group at place `b` to just behind the one at place `a`."""
    if a == b:
        return order.copy()
    rest = np.delete(order, b)
    return np.insert(rest, a + 1 if a < b else a, order[b])


def invert(order: Order, a: int, b: int) -> Order:
    """Reverse what stands from one place to the other."""
    low, high = min(a, b), max(a, b)
    child = order.copy()
    child[low : high + 1] = order[low : high + 1][::-1]
    return child


OPERATORS: dict[str, Operator] = {"swap": swap, "insert": insert, "invert": invert}


def davis(one: Order, other: Order, start: int, end: int) -> Order:
    """Keep ``one[start:end]``; the rest comes from the other parent, in its order.

    Both the filling and the reading begin at `end` and wrap round (Davis 1991).
    """
    child = one.copy()
    used = np.zeros(len(one), dtype=bool)
    used[one[start:end]] = True
    donor = np.roll(other, -end)
    places = np.roll(np.arange(len(one)), -end)[: len(one) - (end - start)]
    child[places] = donor[~used[donor]]
    return child


def mutate(order: Order, genes: Genes, rng: np.random.Generator) -> Order:
    """Apply the operator at each place with the individual's rate."""
    if len(order) < 2:
        return order
    operator = OPERATORS[genes.operator]
    for _ in range(int(rng.binomial(len(order), genes.rate))):
        a, b = rng.choice(len(order), 2, replace=False).tolist()
        order = operator(order, a, b)
    return order


def cross(one: Order, other: Order, rng: np.random.Generator) -> Order:
    """Davis's crossover between two random points."""
    if len(one) < 2:
        return one
    start, end = np.sort(rng.choice(len(one) + 1, 2, replace=False)).tolist()
    return davis(one, other, start, end)


def first_genes(length: int, operator: str, rng: np.random.Generator) -> Genes:
    """Genes of the first generation; `operator` names a fixed one, or ``adapt``."""
    if operator != "adapt":
        return Genes(operator, 1.0 / max(1, length))
    return Genes(_any_operator(rng), _any_rate(length, rng))


def adapt(genes: Genes, length: int, change: float, rng: np.random.Generator) -> Genes:
    """Draw each of the two genes again with probability `change`."""
    operator, rate = genes.operator, genes.rate
    if rng.random() < change:
        operator = _any_operator(rng)
    if rng.random() < change:
        rate = _any_rate(length, rng)
    return Genes(operator, rate)


def _any_operator(rng: np.random.Generator) -> str:
    return list(OPERATORS)[int(rng.integers(len(OPERATORS)))]


def _any_rate(length: int, rng: np.random.Generator) -> float:
    """A rate whose logarithm is uniform: one change in a sequence up to many."""
    low = min(_HIGHEST_RATE, 1.0 / max(1, length))
    return float(low * (_HIGHEST_RATE / low) ** rng.random())


# Options of the methods that evolve orders, with the published defaults.


@dataclass(frozen=True)
class OrderParameters(WeightParameters):
    """Options of the genetic algorithm over orders.

    Attributes
    ----------
    mutation
        swap, insert or invert; adapt lets each individual carry its own, and its rate.
    population
        Orders: falling weight, rising weight, the rest at random. One order makes it a
        local search.
    crossover
        Probability of Davis's order crossover.
    change
        Probability of each of the two genes of mutation to change, where they adapt;
        fixed operators are applied at each place with one over the length.
    evaluations
        Orders evaluated at most; a limit of the run may end it before.
    patience
        Offspring without a better best at most.
    converged
        Iterations in a row with the mean cost within `within` of the best at most; 0
        for no such limit. Smith et al. use 100 with fixed operators and none with
        genes that adapt; Staggemeier et al. use 5,000.
    within
        Share of the best cost.
    ties
        Whether offspring that costs as much as the most expensive order replaces it.
        The published rule requires less; a local search crosses plateaus with it.
    batch
        Offspring bred before the first of them is admitted; 1 as published, more keeps
        several workers busy.
    ruin
        Steps of ruin and recreate (as in ls-ruin and ls-rebuild) that the best pattern
        makes for every order evaluated, for each place of the order; 0 as published; -1
        for a half on networks of up to 30,000 cells and none elsewhere.
    """

    clean: str = option("best", known=CLEAN)
    mutation: str = option("adapt", known=("adapt", *OPERATORS))
    population: int = option(10, least=1)
    crossover: float = 0.7
    change: float = 0.1
    evaluations: int = 10_000
    patience: int = 1_000
    converged: int = 0
    within: float = 0.01
    ties: bool = False
    batch: int = option(1, least=1)
    ruin: float = option(-1.0, least=0, known=(-1,))

    def ruin_for(self, engine: AnyEngine) -> float:
        """Decide the steps of ruin and recreate where they are left to the table."""
        if self.ruin >= 0:
            return self.ruin
        small = len(engine.problem.table) <= MOST_CELLS_ONE_BY_ONE
        return _RUIN_STEPS_PER_PLACE if engine.is_network and small else 0.0


def preset(by: str, size: int = 10) -> type[OrderParameters]:
    """Return the options for one mutation; of one order it makes a local search."""

    @dataclass(frozen=True)
    class Preset(OrderParameters):
        """The genetic algorithm, or local search, with a fixed mutation."""

        mutation: str = option(by, known=("adapt", *OPERATORS))
        population: int = option(size, least=1)
        converged: int = 100
        ruin: float = option(0.0, least=0, known=(-1,))

    return Preset


@dataclass(frozen=True, eq=False)
class OrderIndividual(Prefix):
    """An order, what it is worth, and the genes of its mutation."""

    genes: Genes


@dataclass(frozen=True, eq=False)
class Child:
    """An order to be evaluated, and the parent whose beginning it may share."""

    order: Order
    genes: Genes
    parent: Prefix | None


class Evolution:
    """One run of the genetic algorithm.

    Offspring replaces the most expensive individual if it is cheaper, as published;
    with `ties` also if it costs the same, so that a local search can cross plateaus.

    Parameters
    ----------
    refine
        Called after each batch with the number of orders evaluated; it may offer the
        run something better.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        parameters: OrderParameters,
        search: Search,
        refine: Callable[[int], None] | None = None,
    ) -> None:
        self._evaluator = evaluator
        self._refine = refine
        self._parameters = parameters
        self._search = search
        self._rng = search.rng(0)
        self._known: dict[bytes, PricedOrder] = {}
        self.population: list[OrderIndividual] = []
        self._founders: list[Child] | None = None  # those that are not judged yet
        self._held = self._converged = 0  # offspring, iterations without progress
        self._best = np.inf
        self._evaluated = 0

    def run(self) -> None:
        """Breed until a limit is met; go on where the run was stopped before."""
        self._found()
        while self.population and not self._search.stopped() and not self.finished:
            before, evaluated = self._found_so_far(), self._evaluated
            children = [self._breed() for _ in range(self._parameters.batch)]
            for newcomer in self._judge(children):
                self._admit(newcomer)
            self._search.generations += 1
            if self._refine is not None:
                self._refine(self._evaluated - evaluated)
            better = self._found_so_far() < before
            self._held = 0 if better else self._held + len(children)
            self._converged = self._converged + 1 if self._is_converged() else 0

    @property
    def finished(self) -> bool:
        """Whether a limit of its own is met."""
        p = self._parameters
        return (
            self._evaluator.length < 2
            or self._evaluated >= p.evaluations
            or self._held >= p.patience
            or (p.converged > 0 and p.population > 1 and self._converged >= p.converged)
        )

    def _found_so_far(self) -> float:
        """Cost of the best order, or of what was made of it if that is less."""
        best = self._search.best
        return self._best if best is None else min(self._best, best.cost)

    def _found(self) -> None:
        """Judge the first population, as far as the run lets it."""
        if self._founders is None:
            self._founders = self._first()
        while self._founders:
            # The first alone, so that there is an answer soon; then as many as fit.
            step = self._search.workers.threads if self.population else 1
            if self.population and self._search.stopped():
                return
            judged = self._judge(self._founders[:step])
            if not judged:
                return
            self.population += judged
            del self._founders[:step]

    def _first(self) -> list[Child]:
        """Falling weight, rising weight, the rest at random."""
        length, p, rng = self._evaluator.length, self._parameters, self._rng
        orders = [np.arange(length), np.arange(length)[::-1].copy()]
        while len(orders) < p.population:
            orders.append(rng.permutation(length))
        return [
            Child(order, first_genes(length, p.mutation, rng), None)
            for order in orders[: p.population]
        ]

    def _breed(self) -> Child:
        p, rng = self._parameters, self._rng
        one, other = (self.population[i] for i in tournament(self._cost, 2, rng))
        order = one.order
        if len(self.population) > 1 and rng.random() < p.crossover:
            order = cross(one.order, other.order, rng)
        genes = one.genes
        if p.mutation == "adapt":
            genes = adapt(genes, len(order), p.change, rng)
        order = mutate(order, genes, rng)
        return Child(order, genes, one)

    def _judge(self, children: list[Child]) -> list[OrderIndividual]:
        """Evaluate what is new; offer what is better than anything before."""
        unknown: dict[bytes, Child] = {}
        for child in children:
            key = child.order.tobytes()
            if key not in self._known:
                unknown.setdefault(key, child)
        priced_orders = self._evaluator.evaluate(
            [(child.order, child.parent) for child in unknown.values()]
        )
        for key, priced in zip(unknown, priced_orders, strict=True):
            if priced is not None:
                self._remember(key, priced)
        return [
            OrderIndividual(child.order, priced, child.genes)
            for child in children
            if (priced := self._known.get(child.order.tobytes())) is not None
        ]

    def _remember(self, key: bytes, priced: PricedOrder) -> None:
        if len(self._known) >= _MOST_REMEMBERED_ORDERS:
            self._known.pop(next(iter(self._known)))
        self._known[key] = priced
        self._evaluated += 1
        self._search.count()
        if priced.cost >= self._best:
            return
        self._best = priced.cost
        pattern = self._evaluator.complete(priced, self._parameters.clean != "never")
        if pattern is not None:
            self._search.offer(pattern, "order")

    @property
    def _cost(self) -> Real:
        return np.array([one.priced.cost for one in self.population])

    def _admit(self, newcomer: OrderIndividual) -> None:
        cost = self._cost
        at = worst(cost, newcomer.priced.cost)
        if at < 0 and self._parameters.ties and newcomer.priced.cost == cost.max():
            at = int(cost.argmax())
        if at >= 0:
            self.population[at] = newcomer

    def _is_converged(self) -> bool:
        cost = self._cost
        return bool(cost.mean() <= cost.min() * (1 + self._parameters.within))
