"""Windows: programs around one cell whose cost does not grow with the table.

As in `local.py` a neighbourhood is the union of the up-sets of some inner cells, those
that add least to the price of what is there. There every inner cell of the table is
looked at; here only those that share a small equation with what is chosen already.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Programs

# Inner cells in a window, small ones first, gathered in so many rounds.
_INNER = (60, 240, 960)
_ROUNDS = 4
# Inner cells that are looked at for each that is chosen.
_CHOICE = 16

Cells = NDArray[np.int64]


class Windows:
    """Asks the questions of `Programs` in windows first.

    Parameters
    ----------
    price
        What moving each cell costs: 0 for hidden cells, infinite for those that must
        stay. It is looked at, not copied: who asks keeps it up to date.
    """

    def __init__(self, programs: Programs, price: NDArray[np.float64]) -> None:
        self._programs = programs
        self._price = price
        known = price[np.isfinite(price) & (price > 0)]
        # Each cell costs something, so that near ones come first, and fixed ones much.
        self._step = 0.01 * float(np.median(known)) if len(known) else 1.0
        self._ceiling = 1e3 * (float(known.max()) if len(known) else 1.0)
        self._columns = programs.problem.table.columns
        if programs.sets is not None:
            self._many = np.diff(programs.sets.candidates.indptr)

    def cheapest(self, cell: int, sign: int, amount: float) -> Move | None:
        """Find a cheap deviation as `Programs.cheapest` does; None: there is none."""
        for cells in self._around(cell):
            move = self._programs.within(cells, cell, sign, amount, self._price)
            if move is not None:
                return move
        return self._programs.cheapest(cell, sign, amount, self._price)

    def _around(self, cell: int) -> Iterator[Cells]:
        sets = self._programs.sets
        if sets is None or self._programs.quick or not np.isfinite(self._price[cell]):
            return
        for most in _INNER:
            if most >= sets.reach.shape[0]:
                return
            active = self._gather(cell, most)
            yield active[np.isfinite(self._price[active])]

    def _gather(self, cell: int, most: int) -> Cells:
        """The cells of a window, in order."""
        sets = self._programs.sets
        assert sets is not None
        below = sets.inner_below(cell)[: _CHOICE * most]
        nothing = np.empty(0, dtype=np.int64)
        first = np.argsort(self._added(below, nothing), kind="stable")
        chosen = below[first[: max(1, most // 8)]]
        active = _entries(sets.reach, chosen)
        for _ in range(_ROUNDS):
            rows, counts = np.unique(
                _entries(self._columns, active, once=False), return_counts=True
            )
            pool = self._pool(rows, _CHOICE * most)
            pool = np.setdiff1d(pool, chosen, assume_unique=True)
            added = self._added(pool, active)
            best = np.argsort(added, kind="stable")[: most // _ROUNDS]
            lone = rows[(counts == 1) & (self._many[rows] <= _CHOICE * most)]
            partners = self._partners(lone, pool, added)
            chosen = np.union1d(chosen, np.concatenate([pool[best], partners]))
            active = _entries(sets.reach, chosen)
        return active

    def _pool(self, rows: Cells, most: int) -> Cells:
        """Inner cells that move a part of some equations, small ones first."""
        sets = self._programs.sets
        assert sets is not None
        size = self._many[rows]
        order = np.argsort(size, kind="stable")
        few = order[np.cumsum(size[order]) <= most]
        return _entries(sets.candidates, rows[few])

    def _added(self, inner: Cells, active: Cells) -> NDArray[np.float64]:
        """What the up-sets of inner cells cost beyond what is there already."""
        sets = self._programs.sets
        assert sets is not None
        start = sets.reach.indptr
        size = start[inner + 1] - start[inner]
        cells = _entries(sets.reach, inner, once=False)
        price = np.minimum(self._price[cells], self._ceiling) + self._step
        if len(active):
            at = np.minimum(np.searchsorted(active, cells), len(active) - 1)
            price[active[at] == cells] = 0.0
        ends = np.concatenate([[0.0], np.cumsum(price)])[np.cumsum(size)]
        added: NDArray[np.float64] = np.diff(ends, prepend=0.0)
        return added

    def _partners(self, lone: Cells, pool: Cells, added: NDArray[np.float64]) -> Cells:
        """For each equation whose total would move alone, the cheapest inner cell."""
        sets = self._programs.sets
        assert sets is not None
        if not len(pool):
            return lone[:0]
        found: list[int] = []
        for row in lone.tolist():
            inner = _entries(sets.candidates, np.array([row]))
            at = np.minimum(np.searchsorted(pool, inner), len(pool) - 1)
            at = at[pool[at] == inner]
            if len(at):
                found.append(int(pool[at[np.argmin(added[at])]]))
        return np.array(found, dtype=np.int64)


def _entries(matrix: Any, which: Cells, *, once: bool = True) -> Cells:
    """What compressed rows or columns contain: in order and once, or as it stands."""
    start = matrix.indptr[which].astype(np.int64)
    size = matrix.indptr[which + 1] - start
    ends = np.cumsum(size)
    total = int(ends[-1]) if len(ends) else 0
    places = np.repeat(start - (ends - size), size) + np.arange(total)
    found = matrix.indices[places].astype(np.int64)
    return np.unique(found) if once else found
