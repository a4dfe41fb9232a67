"""Neighbourhoods: small sets of cells in which a level can probably be covered.

A deviation found among few cells is a valid deviation of the whole table, and small
programs are solved hundreds of times faster than the whole. Where the equations say
"the parts make the total", a neighbourhood is the union of the up-sets of some inner
cells: those that add least to the price of what is there already. Every deviation of
these inner cells extends to all totals, so hardly any cell is in it for nothing. Other
tables give the cells that are nearest along the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.suppress.structure.unpick import nearest
from evosdc.suppress.structure.upsets import UpSets
from evosdc.table import Table

# Inner cells or cells in a neighbourhood, small ones first.
INNER = (60, 240, 960)
NEAREST = (150, 600, 2400)
# A neighbourhood is gathered in so many rounds: prices fall as totals come in.
ROUNDS = 4


class Neighbourhoods(Protocol):
    """Growing sets of cells around one cell."""

    def around(
        self, cell: int, price: NDArray[np.float64]
    ) -> Iterator[NDArray[np.int64]]:
        """Yield sorted cell numbers; `price` is 0 for hidden cells, inf for fixed."""
        ...


def neighbourhoods(table: Table, sets: UpSets | None) -> Neighbourhoods:
    """Return the kind of neighbourhood that fits the table."""
    return NearestCells(table) if sets is None else Unions(table, sets)


class Unions:
    """Unions of up-sets."""

    def __init__(self, table: Table, sets: UpSets) -> None:
        self._sets = sets
        self._touch = sparse.csc_array(table.matrix != 0)

    def around(
        self, cell: int, price: NDArray[np.float64]
    ) -> Iterator[NDArray[np.int64]]:
        steps = _with_steps(price)
        inner = self._sets.reach.shape[0]
        for most in INNER:
            if most >= inner:
                return
            active = self._gather(cell, steps, most)
            yield np.flatnonzero(active & np.isfinite(price))

    def _gather(
        self, cell: int, price: NDArray[np.float64], most: int
    ) -> NDArray[np.bool_]:
        reach = self._sets.reach
        below = self._sets.inner_below(cell)
        start = below[np.argsort((reach[below] @ price), kind="stable")]
        chosen = np.zeros(reach.shape[0], dtype=bool)
        chosen[start[: max(1, most // 8)]] = True
        active = self._union(chosen)
        for _ in range(ROUNDS):
            added = reach @ np.where(active, 0.0, price)
            added[chosen] = np.inf
            count = min(most // ROUNDS, len(added) - 1)
            chosen[np.argpartition(added, count)[:count]] = True
            chosen[self._partners(active, added)] = True
            active = self._union(chosen)
        return active

    def _union(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        # By the few rows that are chosen: a product would look at every cell.
        reach = self._sets.reach
        active = np.zeros(reach.shape[1], dtype=bool)
        active[reach[np.flatnonzero(chosen)].indices] = True
        return active

    def _partners(
        self, active: NDArray[np.bool_], added: NDArray[np.float64]
    ) -> list[int]:
        """For each equation whose total would move alone, the cheapest inner cell."""
        rows, counts = np.unique(
            self._touch[:, np.flatnonzero(active)].indices, return_counts=True
        )
        lone = rows[counts == 1]
        candidates = self._sets.candidates
        found: list[int] = []
        for row in lone.tolist():
            inner = candidates.indices[
                candidates.indptr[row] : candidates.indptr[row + 1]
            ]
            if len(inner):
                found.append(int(inner[np.argmin(added[inner])]))
        return found


class NearestCells:
    """The nearest cells along the equations."""

    def __init__(self, table: Table) -> None:
        self._equations = (
            table.matrix.indptr,
            table.matrix.indices,
            table.columns.indptr,
            table.columns.indices,
        )

    def around(
        self, cell: int, price: NDArray[np.float64]
    ) -> Iterator[NDArray[np.int64]]:
        usable = int(np.isfinite(price).sum())
        steps = _with_steps(price)
        for most in NEAREST:
            if most >= usable:
                return
            near = np.sort(nearest(cell, most, steps, *self._equations))
            yield near[np.isfinite(price[near])]


def _with_steps(price: NDArray[np.float64]) -> NDArray[np.float64]:
    """Let each cell cost something, near ones first, and fixed ones very much."""
    finite = np.isfinite(price)
    positive = price[finite & (price > 0)]
    step = 0.01 * float(np.median(positive)) if len(positive) else 1.0
    ceiling = 1e3 * (float(positive.max()) if len(positive) else 1.0)
    return np.where(finite, price, ceiling) + step
