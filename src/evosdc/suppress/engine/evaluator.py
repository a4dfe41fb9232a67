"""What an order is worth: the protocol between the search for orders and the engines.

An order is a permutation of *elements*: sensitive cells, or groups of them. Evaluating
it protects one element after another by the incremental attacker and prices what was
hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.pattern import Pattern

Order = NDArray[np.int64]
Cells = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PricedOrder:
    """An order with what it hides and costs.

    Attributes
    ----------
    cost
        What is minimised: the cost of the secondaries.
    secondaries
        Cells hidden beside the sensitive ones, in the order they were hidden.
    upto
        How many of them were hidden once the element at each place was protected.
    """

    cost: float
    secondaries: Cells
    upto: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Prefix:
    """An order known already, to begin where a new one leaves it."""

    order: Order
    priced: PricedOrder

    def shared(self, order: Order) -> int:
        """How many elements both orders begin with."""
        differ = np.flatnonzero(self.order != order)
        return int(differ[0]) if len(differ) else len(order)


class Evaluator(Protocol):
    """Evaluates orders of the elements it was made for."""

    @property
    def length(self) -> int:
        """Number of elements."""
        ...

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[PricedOrder | None]:
        """Protect the elements in order; None for what the end of the run cut off."""
        ...

    def complete(self, priced: PricedOrder, clean: bool) -> Pattern | None:
        """Protect what the order left open, clean up if asked, return the pattern.

        None where the end of the run left levels open.
        """
        ...

    def rescue(self) -> Pattern:
        """Return a safe pattern quickly: the run is over and has none."""
        ...
