"""What an order is worth: the protocol between the search for orders and the engines.

An order is a permutation of groups of sensitive cells, most often of one cell each.
Evaluating it protects one group after another by the incremental attacker and prices
what was hidden.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from evosdc.arrays import Int, Long
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import (
    UNPICKED,
    Grouping,
    by_weight,
    group_cells,
    unpick,
)

Order = Long


@dataclass(frozen=True, eq=False)
class PricedOrder:
    """An order with what it hides and costs.

    Attributes
    ----------
    cost
        What is minimised: the cost of the secondaries.
    secondaries
        In the order in which they were hidden.
    upto
        How many of them were hidden once the group at each place was protected.
    """

    cost: float
    secondaries: Long
    upto: Int


@dataclass(frozen=True, eq=False)
class Prefix:
    """An order known already, to begin where a new one leaves it."""

    order: Order
    priced: PricedOrder

    def shared(self, order: Order) -> int:
        """How many groups both orders begin with."""
        differ = np.flatnonzero(self.order != order)
        return int(differ[0]) if len(differ) else len(order)


class Evaluator(Protocol):
    """Evaluates orders of the groups it was made for."""

    @property
    def length(self) -> int:
        """Number of groups."""
        ...

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[PricedOrder | None]:
        """Protect the groups in order; None for what the end of the run cut off."""
        ...

    def complete(self, priced: PricedOrder, clean: bool) -> Pattern | None:
        """Protect what the order left open, clean up if `clean`, return the pattern.

        None where the end of the run left levels open.
        """
        ...

    def rescue(self) -> Pattern:
        """Return a safe pattern quickly: the run is over and has none."""
        ...


class GroupEvaluator(ABC):
    """What the evaluators of all engines share.

    Parameters
    ----------
    with_levels
        Sensitive cells with levels to cover.
    grouping
        Which cells are protected and in what groups.
    search
        The run that orders are evaluated for.
    clean
        Whether an order is worth what is left after clean-up.

    Attributes
    ----------
    groups
        The cells of each group, heaviest group first.
    closing
        Cells that are protected last and have no place in an order.
    together
        Whether there is one program for a whole group.
    """

    def __init__(
        self,
        problem: Problem,
        with_levels: Long,
        grouping: Grouping,
        search: Search,
        clean: bool,
    ) -> None:
        self._problem, self._search, self._clean = problem, search, clean
        chosen = self._chosen(with_levels, grouping.cells)
        self.groups = group_cells(problem, chosen, grouping.groups, grouping.by)
        rest = np.setdiff1d(with_levels, chosen)
        closes = grouping.cells in UNPICKED
        self.closing = by_weight(problem, rest if closes else rest[:0])
        self.together = grouping.together and grouping.groups > 0

    @property
    def length(self) -> int:
        return len(self.groups)

    def _chosen(self, with_levels: Long, cells: str) -> Long:
        """The sensitive cells whose order is sought."""
        if cells == "all":
            return np.flatnonzero(self._problem.primary)
        if cells == "exposed":
            return self._exposed(with_levels)
        found = unpick(self._problem)
        alone = found.follows if cells == "unpicked" else found.exposed
        return with_levels[alone[with_levels]]

    @abstractmethod
    def _exposed(self, with_levels: Long) -> Long:
        """The cells that the primaries alone leave short."""

    def _price(self, secondaries: Long) -> float:
        # By number, so that equal patterns cost the same to the last digit.
        return float(self._problem.cost[np.sort(secondaries)].sum())


def known_beginning(order: Order, prefix: Prefix | None) -> tuple[int, Long, Int]:
    """Return where an order leaves a known one, and what is hidden until then.

    The last array has a place for each group, filled in up to there.
    """
    begin = 0 if prefix is None else prefix.shared(order)
    upto = np.zeros(len(order), dtype=np.int32)
    if prefix is None or not begin:
        return 0, np.zeros(0, dtype=np.int64), upto
    upto[:begin] = prefix.priced.upto[:begin]
    return begin, prefix.priced.secondaries[: upto[begin - 1]], upto
