"""The steady-state genetic algorithm over orders, and local search as its limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from evosdc.evolution.replacement import worst
from evosdc.evolution.selection import tournament
from evosdc.suppress.engine.evaluator import Evaluator, Order, Prefix, PricedOrder
from evosdc.suppress.methods.orders.operators import (
    Genes,
    adapt,
    cross,
    fresh_genes,
    mutate,
)
from evosdc.suppress.methods.orders.parameters import OrderParameters
from evosdc.suppress.search import Search

# Orders remembered; each holds the cells it hides.
_MEMORY = 20_000


@dataclass(frozen=True, eq=False)
class OrderIndividual:
    """An order, the genes that steer its mutation, and what it is worth."""

    order: Order
    genes: Genes
    priced: PricedOrder


@dataclass(frozen=True, eq=False)
class Child:
    """An order to be evaluated, and the parent whose beginning it may share."""

    order: Order
    genes: Genes
    parent: Prefix | None


class Evolution:
    """One run of the genetic algorithm.

    Offspring replaces the dearest individual if it is cheaper, as published; with
    `ties` also if it costs the same, so that a local search can cross plateaus.

    Parameters
    ----------
    refine
        Told after each batch how many orders were evaluated; it may offer the run
        something better.
    """

    def __init__(
        self,
        evaluator: Evaluator,
        parameters: OrderParameters,
        search: Search,
        refine: Callable[[int], None] = lambda _: None,
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
                self._let_in(newcomer)
            self._search.generations += 1
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
            step = max(1, self._search.workers) if self.population else 1
            if self.population and self._search.stopped():
                return
            judged = self._judge(self._founders[:step])
            if not judged:
                return
            self.population += judged
            del self._founders[:step]

    def _first(self) -> list[Child]:
        """Falling weight, rising weight, the rest at random."""
        length, size = self._evaluator.length, self._parameters.population
        orders = [np.arange(length), np.arange(length)[::-1].copy()]
        while len(orders) < size:
            orders.append(self._rng.permutation(length))
        return [Child(order, self._fresh(), None) for order in orders[:size]]

    def _breed(self) -> Child:
        p, rng = self._parameters, self._rng
        cost = np.array([one.priced.cost for one in self.population])
        one, other = (self.population[i] for i in tournament(cost, 2, rng).tolist())
        order = one.order
        if len(self.population) > 1 and rng.random() < p.crossover:
            order = cross(one.order, other.order, rng)
        genes = one.genes
        if p.mutation == "adapt":
            genes = adapt(genes, len(order), p.change, rng)
        order = mutate(order, genes, rng)
        return Child(order, genes, Prefix(one.order, one.priced))

    def _judge(self, children: list[Child]) -> list[OrderIndividual]:
        """Evaluate what is new; offer what is better than anything before."""
        fresh: dict[bytes, Child] = {}
        for child in children:
            key = child.order.tobytes()
            if key not in self._known:
                fresh.setdefault(key, child)
        priced_orders = self._evaluator.evaluate(
            [(child.order, child.parent) for child in fresh.values()]
        )
        for key, priced in zip(fresh, priced_orders, strict=True):
            if priced is not None:
                self._remember(key, priced)
        judged: list[OrderIndividual] = []
        for child in children:
            priced = self._known.get(child.order.tobytes())
            if priced is not None:
                judged.append(OrderIndividual(child.order, child.genes, priced))
        return judged

    def _remember(self, key: bytes, priced: PricedOrder) -> None:
        if len(self._known) >= _MEMORY:
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

    def _let_in(self, newcomer: OrderIndividual) -> None:
        cost = np.array([one.priced.cost for one in self.population])
        at = worst(cost, newcomer.priced.cost, np.zeros(0), self._rng)
        if at < 0 and self._parameters.ties and newcomer.priced.cost == cost.max():
            at = int(cost.argmax())
        if at >= 0:
            self.population[at] = newcomer

    def _is_converged(self) -> bool:
        cost = np.array([one.priced.cost for one in self.population])
        return bool(cost.mean() <= cost.min() * (1 + self._parameters.within))

    def _fresh(self) -> Genes:
        return fresh_genes(self._evaluator.length, self._parameters.mutation, self._rng)
