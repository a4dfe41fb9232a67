"""The attacker's view in whole numbers: which cells can move, how far, how together.

Doubles are read as shortest decimals and put over one scale, so that slacks and levels
are whole numbers and every comparison is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.attack.demands import JudgedLevels
from evosdc.table import Table

# Parts of a unit in which "not a single point" is asked for: a vertex of a table in
# whole numbers moves by fractions with far smaller denominators than this.
_FINE = 10**6

# How far above and below its value an attacker believes a cell at most.
Beliefs = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class AttackModel:
    """The free cells of a table and their room, in whole numbers over `scale`.

    Attributes
    ----------
    free
        Hidden cells that can move: not known, not fixed by their bounds, nor by an
        equation in which every other cell is fixed.
    whole
        Whether cells move by whole numbers only; bounds and needs are rounded to them
        and `scale` is 1.
    fractions
        Whether a table with fractions is taken for a witness where no whole one was
        found with little effort: magnitudes, of which intervals are rounded inwards.
    up, down
        Room of each cell; where `up_open` or `down_open` is set there is no bound.
    up_size, down_size
        The same as doubles, infinite where open.
    rows, columns
        The equations over the free cells (CSR and CSC of all cells' numbers).
    needs
        For each judged cell ``(up, down, width)`` over `scale`.
    """

    table: Table
    free: NDArray[np.bool_]
    whole: bool
    fractions: bool
    scale: int
    up: list[int]
    down: list[int]
    up_open: NDArray[np.bool_]
    down_open: NDArray[np.bool_]
    up_size: NDArray[np.float64]
    down_size: NDArray[np.float64]
    rows: Any
    columns: Any
    needs: dict[int, tuple[int, int, int]]

    @classmethod
    def of(
        cls,
        table: Table,
        demands: JudgedLevels,
        *,
        known: NDArray[np.bool_] | None = None,
        in_whole: bool = False,
        believes: Beliefs | None = None,
    ) -> AttackModel:
        """Look at a table as an attacker does.

        Parameters
        ----------
        known
            Hidden cells whose value the attacker knows all the same.
        in_whole
            Whether the attacker knows that all cells are whole numbers.
        believes
            How far up and down some cells can be believed to be at most.
        """
        asked = (demands.up, demands.down, demands.width)
        beliefs = np.array(list((believes or {}).values())).reshape(-1, 2)
        scale, numbers = over_one_scale(
            [*_table_decimals(table), *map(Decimals, (*asked, beliefs.ravel()))]
        )
        if demands.apart.any() and not in_whole:
            scale *= _FINE
            numbers = [a * _FINE for a in numbers]
        value, lower, upper, need_up, need_down, need_width, _ = numbers
        up_open, down_open = np.isposinf(table.upper), np.isneginf(table.lower)
        up, down = np.maximum(upper - value, 0), np.maximum(value - lower, 0)
        above = np.maximum(table.upper - table.value, 0.0)
        below = np.maximum(table.value - table.lower, 0.0)
        if in_whole and scale > 1:
            # Deviations are whole numbers, and so is all that can be asked of them.
            up, down = up // scale, down // scale
            need_up, need_down, need_width = (
                -(-need // scale) for need in (need_up, need_down, need_width)
            )
            above = np.where(up_open, np.inf, up.astype(np.float64))
            below = np.where(down_open, np.inf, down.astype(np.float64))
            scale = 1
        need_width = np.where(demands.apart, 1, need_width)
        if believes:
            up, down, above, below = up.copy(), down.copy(), above.copy(), below.copy()
            up_open, down_open = up_open.copy(), down_open.copy()
            _narrow(believes, scale, (up, up_open, above), (down, down_open, below))
        can_move = (up > 0) | up_open | (down > 0) | down_open
        matrix = sparse.csr_array(table.matrix)
        movable = table.hidden & can_move.astype(bool)
        free = unpick(matrix, movable if known is None else movable & ~known)
        columns = sparse.csc_array(matrix)
        columns.data = columns.data * np.repeat(free, np.diff(columns.indptr))
        columns.eliminate_zeros()
        # Equations are homogeneous: whole coefficients do as well as decimal ones.
        _, (factors,) = whole(columns.data)
        if not len(factors) or np.abs(factors).max() < 2**53:
            columns.data = factors.astype(np.float64)
        return cls(
            table=table,
            free=free,
            whole=in_whole,
            fractions=in_whole and bool(table.origin.whole) and not table.origin.counts,
            scale=scale,
            up=up.tolist(),
            down=down.tolist(),
            up_open=up_open,
            down_open=down_open,
            up_size=above,
            down_size=below,
            rows=sparse.csr_array(columns),
            columns=columns,
            needs=dict(
                zip(
                    demands.cells.tolist(),
                    zip(
                        need_up.tolist(),
                        need_down.tolist(),
                        need_width.tolist(),
                        strict=True,
                    ),
                    strict=True,
                )
            ),
        )

    def room(self, cell: int, sign: int) -> int | None:
        """How far a cell can go before it meets its bound; None without one."""
        if sign > 0:
            return None if self.up_open[cell] else self.up[cell]
        return None if self.down_open[cell] else self.down[cell]

    def has_room(self, cell: int, sign: int, amount: int) -> bool:
        """Whether a cell is free and its own bound allows a move."""
        room = self.room(cell, sign)
        return bool(self.free[cell]) and (room is None or room >= amount)

    def knowing(
        self,
        own: Iterable[int],
        needs: dict[int, tuple[int, int, int]],
        believes: Beliefs | None = None,
    ) -> AttackModel:
        """Return the view of an attacker who knows more cells, and what that fixes.

        Looks at the equations around these cells only. What it `believes` of others is
        rounded down to the scale.
        """
        seen = (self._narrowed(believes) if believes else self)._fixing(own, needs)
        # The same equations: what was read of them once holds here as well.
        vars(seen).update(component=self.component, coefficients=self.coefficients)
        return seen

    def _narrowed(self, believes: Beliefs) -> AttackModel:
        """Return the view of an attacker who believes less of some cells."""
        sides = (
            (self.up.copy(), self.up_open.copy(), self.up_size.copy()),
            (self.down.copy(), self.down_open.copy(), self.down_size.copy()),
        )
        _narrow(believes, self.scale, *sides)
        (up, up_open, above), (down, down_open, below) = sides
        return replace(
            self,
            up=up,
            down=down,
            up_open=up_open,
            down_open=down_open,
            up_size=above,
            down_size=below,
        )

    def _fixing(
        self, own: Iterable[int], needs: dict[int, tuple[int, int, int]]
    ) -> AttackModel:
        """Return the view with some cells fixed, and with those that follow."""
        free = self.free.copy()
        queue = [cell for cell in own if free[cell]]
        free[queue] = False
        rows, columns = self.rows, self.columns
        while queue:
            start, end = columns.indptr[queue.pop() :][:2]
            for row in columns.indices[start:end].tolist():
                cells = rows.indices[rows.indptr[row] : rows.indptr[row + 1]]
                alone = cells[free[cells]]
                if len(alone) == 1:
                    free[alone] = False
                    queue += alone.tolist()
        seen = replace(
            self,
            free=free,
            up_size=np.where(free, self.up_size, 0.0),
            down_size=np.where(free, self.down_size, 0.0),
            needs=needs,
        )
        return seen

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """The part of the table each cell belongs to: parts move independently."""
        m, n = self.rows.shape
        graph = sparse.bmat([[None, abs(self.rows)], [abs(self.rows).T, None]])
        if graph.shape != (m + n, m + n):
            return np.arange(n)
        _, label = connected_components(graph, directed=False)
        return np.asarray(label[m:], dtype=np.int64)

    @cached_property
    def coefficients(self) -> tuple[list[int], list[int], list[Any]]:
        """The equations of each free cell as lists: starts, rows, exact factors."""
        c = self.columns
        _, (factors,) = whole(c.data)
        return c.indptr.tolist(), c.indices.tolist(), factors.tolist()


def _narrow(believes: Beliefs, scale: int, *sides: tuple[Any, Any, Any]) -> None:
    """Take what is believed of cells for their room: up, then down."""
    for cell, beliefs in believes.items():
        for (room, is_open, size), most in zip(sides, beliefs, strict=True):
            if most == np.inf:
                continue
            steps = int(Fraction(repr(float(most))) * scale)
            if is_open[cell] or steps < room[cell]:
                room[cell], is_open[cell] = steps, False
                size[cell] = min(float(size[cell]), steps / scale)


def unpick(matrix: Any, free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fix every cell that is alone in an equation, and what that fixes in turn."""
    occurs = sparse.csr_array(
        (np.ones(len(matrix.data), np.int64), matrix.indices, matrix.indptr),
        shape=matrix.shape,
    )
    occurs.data[matrix.data == 0] = 0
    free = free.copy()
    while True:
        alone = occurs @ free.astype(np.int64) == 1
        fixed = free & (occurs.T @ alone.astype(np.int64) > 0)
        if not fixed.any():
            return free
        free[fixed] = False


def whole(*arrays: NDArray[np.float64]) -> tuple[int, list[Any]]:
    """Put doubles, read as shortest decimals, over one scale; infinities become 0."""
    return over_one_scale([Decimals(a) for a in arrays])


class Decimals:
    """Doubles read as shortest decimals; infinities become 0."""

    def __init__(self, array: NDArray[np.float64]) -> None:
        self.array = np.where(np.isfinite(array), array, 0.0)
        self.plain = bool(
            np.all((self.array == np.rint(self.array)) & (np.abs(self.array) < 2.0**50))
        )
        self._over: tuple[int, Any] | None = None

    @cached_property
    def ratios(self) -> list[tuple[int, int]]:
        """Numerator and denominator of each, in lowest terms."""
        return [Decimal(repr(x)).as_integer_ratio() for x in self.array.tolist()]

    @cached_property
    def denominators(self) -> frozenset[int]:
        """The denominators that occur."""
        return frozenset(d for _, d in self.ratios)

    def over(self, scale: int) -> Any:
        """Return the numbers times a scale that makes them whole; kept for the next."""
        # Read once: another thread may judge the same table in another scale.
        kept = self._over
        if kept is None or kept[0] != scale:
            factor = {d: scale // d for d in self.denominators}
            numbers = np.empty(len(self.array), dtype=object)
            numbers[:] = [n * factor[d] for n, d in self.ratios]
            self._over = kept = (scale, numbers)
        return kept[1]


def over_one_scale(columns: Sequence[Decimals]) -> tuple[int, list[Any]]:
    """Return the smallest power of ten that makes all numbers whole, and these."""
    if all(column.plain for column in columns):
        return 1, [column.array.astype(np.int64) for column in columns]
    denominators = frozenset().union(*(column.denominators for column in columns))
    scale = 1
    while any(scale % d for d in denominators):
        scale *= 10
    return scale, [column.over(scale) for column in columns]


# What a table is in decimals is asked for once for each lone respondent.
_READ: WeakKeyDictionary[Table, list[Decimals]] = WeakKeyDictionary()


def _table_decimals(table: Table) -> list[Decimals]:
    """Values and bounds of a table, read once."""
    if table not in _READ:
        _READ[table] = [Decimals(a) for a in (table.value, table.lower, table.upper)]
    return _READ[table]
