"""The attacker's view in whole numbers, and the levels that are judged.

The view is which cells can move, how far, and how together; levels are how far each
judged cell must be movable, and how widely. Doubles are read as shortest decimals and
put over one scale, so that slacks and levels are whole numbers and every comparison is
exact.
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

from evosdc.errors import TableError
from evosdc.results import Exposure
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SECONDARY

# Parts of a unit of the scale: "not a single point" requires an interval at least one
# part wide. Vertices of tables in whole numbers have far smaller denominators.
_PARTS_PER_UNIT = 10**6
# How far above and below its value an attacker believes a cell to be at most.
Beliefs = Mapping[int, tuple[float, float]]


@dataclass(frozen=True, eq=False)
class JudgedLevels:
    """The levels of the judged cells, strict margins included, one row per cell.

    `up`, `down` and `width` are distances; 0 requires nothing. A row of `not_a_point`
    requires only that the attacker's interval is not a single point.
    """

    cells: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    width: NDArray[np.float64]
    not_a_point: NDArray[np.bool_]

    @cached_property
    def _row(self) -> dict[int, int]:
        return {cell: row for row, cell in enumerate(self.cells.tolist())}

    def exposure(
        self, table: Table, cell: int, low: float, high: float, reason: str = ""
    ) -> Exposure:
        """Describe a cell of which an attacker finds an interval."""
        row, value = self._row[cell], float(table.value[cell])
        return Exposure(
            cell=cell,
            label=table.label(cell),
            low=low,
            high=high,
            needed_low=value - float(self.down[row]),
            needed_high=value + float(self.up[row]),
            needed_width=float(self.width[row]),
            reason=reason,
        )


def strict_margin(table: Table) -> NDArray[np.float64]:
    """Return how far each cell must exceed its level in the strict reading.

    One unit in tables of whole numbers, as ONS solves them (Smith et al. 2011), and
    otherwise a margin well above rounding errors.
    """
    if table.is_integer or table.origin.whole:
        return np.ones(len(table))
    size = np.abs(table.value)
    return 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))


def judged_levels(
    table: Table,
    strict: bool,
    secondaries: bool,
    *,
    whole: bool = False,
    among: NDArray[np.bool_] | None = None,
    room: Mapping[int, float] | None = None,
) -> JudgedLevels:
    """Collect the levels of the primaries, and optionally of the secondaries.

    Parameters
    ----------
    whole
        Whether cells move by whole numbers only: levels are then rounded up.
    among
        The cells to judge; all where None.
    room
        How far down cells must be movable at most, for an attacker who contributes to
        them: see `evosdc.table.attackers.OwnShares`.
    """
    statuses = (PRIMARY, SECONDARY) if secondaries else (PRIMARY,)
    judged = np.isin(table.status, statuses) & table.shown
    cells = np.flatnonzero(judged if among is None else judged & among)
    margin = strict_margin(table)[cells] if strict else np.zeros(len(cells))
    levels = (table.upl[cells], table.lpl[cells], table.spl[cells])
    none = (levels[0] == 0) & (levels[1] == 0) & (levels[2] == 0)
    # A cell without levels must still not be determined. A sensitive cell whose levels
    # of 0 have to be exceeded needs more than that.
    not_a_point = none & (~(margin > 0) | (table.status[cells] == SECONDARY))
    margin[not_a_point] = 0.0
    # No deviation passes a bound, so a level at a bound can only be reached.
    above = np.maximum(table.upper - table.value, 0.0)[cells]
    below = np.maximum(table.value - table.lower, 0.0)[cells]
    up, down, width = (
        np.minimum(level + margin, np.maximum(level, to_bound))
        for level, to_bound in zip(levels, (above, below, above + below), strict=True)
    )
    not_a_point |= (up == 0) & (down == 0) & (width == 0)
    if whole:
        up, down, width = np.ceil(up), np.ceil(down), np.ceil(width)
    for i, cell in enumerate(cells.tolist() if room else ()):
        if room is not None and cell in room:
            most = np.floor(room[cell]) if whole else room[cell]
            down[i] = min(down[i], most)
            not_a_point[i] |= up[i] == down[i] == width[i] == 0
    return JudgedLevels(cells, up, down, width, not_a_point)


def no_levels() -> JudgedLevels:
    """Return the levels of no cells."""
    none = np.empty(0)
    return JudgedLevels(none.astype(np.int64), none, none, none, none.astype(bool))


def counts_whole(table: Table, whole: bool | None) -> bool:
    """Whether only whole numbers are possible: `whole`, else the table decides.

    Raises
    ------
    TableError
        For a table that is said to count people and holds fractions of one.
    """
    chosen = table.origin.in_whole if whole is None else whole
    # Whoever declared magnitudes to be whole knows of the cells that are not.
    if chosen and not table.origin.whole:
        broken = np.flatnonzero(table.value != np.rint(table.value))
        if len(broken):
            raise TableError(
                f"{len(broken)} cells of a table of counts are not whole numbers, the "
                f"first: {table.label(int(broken[0]))}",
                expected="whole numbers, or a table that is not said to hold counts",
                hint="tabulate the counts again, or judge with whole=False",
            )
    return chosen


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
        Whether a table with fractions is accepted as a witness where no whole one was
        found with little effort: for magnitudes, whose intervals are rounded inwards.
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
        levels: JudgedLevels,
        *,
        known: NDArray[np.bool_] | None = None,
        in_whole: bool = False,
        believes: Beliefs | None = None,
    ) -> AttackModel:
        """Return the attacker's view of a table.

        Parameters
        ----------
        known
            Hidden cells whose value the attacker knows nevertheless.
        in_whole
            Whether the attacker knows that all cells are whole numbers.
        believes
            How far up and down the attacker believes some cells to be at most.
        """
        needs = (levels.up, levels.down, levels.width)
        beliefs = np.array(list((believes or {}).values())).reshape(-1, 2)
        scale, numbers = over_one_scale(
            [*_table_decimals(table), *map(Decimals, (*needs, beliefs.ravel()))]
        )
        if levels.not_a_point.any() and not in_whole:
            scale *= _PARTS_PER_UNIT
            numbers = [a * _PARTS_PER_UNIT for a in numbers]
        value, lower, upper, need_up, need_down, need_width, _ = numbers
        up_open, down_open = np.isposinf(table.upper), np.isneginf(table.lower)
        up, down = np.maximum(upper - value, 0), np.maximum(value - lower, 0)
        above = np.maximum(table.upper - table.value, 0.0)
        below = np.maximum(table.value - table.lower, 0.0)
        if in_whole and scale > 1:
            # Deviations are whole numbers, so bounds and levels are rounded to them.
            up, down = up // scale, down // scale
            need_up, need_down, need_width = (
                -(-need // scale) for need in (need_up, need_down, need_width)
            )
            above = np.where(up_open, np.inf, up.astype(np.float64))
            below = np.where(down_open, np.inf, down.astype(np.float64))
            scale = 1
        need_width = np.where(levels.not_a_point, 1, need_width)
        if believes:
            up, down, above, below = up.copy(), down.copy(), above.copy(), below.copy()
            up_open, down_open = up_open.copy(), down_open.copy()
            _narrow(believes, scale, (up, up_open, above), (down, down_open, below))
        can_move = (up > 0) | up_open | (down > 0) | down_open
        matrix = sparse.csr_array(table.matrix)
        movable = table.hidden & can_move.astype(bool)
        free = fix_determined(matrix, movable if known is None else movable & ~known)
        columns = sparse.csc_array(matrix)
        columns.data = columns.data * np.repeat(free, np.diff(columns.indptr))
        columns.eliminate_zeros()
        # Equations are homogeneous: whole coefficients do as well as decimal ones.
        _, (factors,) = as_integers(columns.data)
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
            needs={
                cell: (up_by, down_by, wide)
                for cell, up_by, down_by, wide in zip(
                    levels.cells.tolist(),
                    need_up.tolist(),
                    need_down.tolist(),
                    need_width.tolist(),
                    strict=True,
                )
            },
        )

    def room(self, cell: int, sign: int) -> int | None:
        """How far a cell can move until its bound; None without a bound."""
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
        """Return the view of an attacker who knows some cells, and what follows.

        Only the equations of these cells, and of those that follow, are read. What it
        `believes` of other cells is rounded down to the scale.
        """
        view = (self._narrowed(believes) if believes else self)._fixing(own, needs)
        # The equations are the same, so are the results cached for them.
        vars(view).update(component=self.component, coefficients=self.coefficients)
        return view

    def _narrowed(self, believes: Beliefs) -> AttackModel:
        """Return the view with less room for some cells."""
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
        """Return the view with some cells fixed, and those that these determine."""
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
        return replace(
            self,
            free=free,
            up_size=np.where(free, self.up_size, 0.0),
            down_size=np.where(free, self.down_size, 0.0),
            needs=needs,
        )

    @cached_property
    def component(self) -> NDArray[np.int64]:
        """The connected component of each cell: components move independently."""
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
        _, (factors,) = as_integers(c.data)
        return c.indptr.tolist(), c.indices.tolist(), factors.tolist()

    def is_balanced(self, cells: Iterable[int], moves: Iterable[int]) -> bool:
        """Whether moves of free cells keep every equation."""
        indptr, rows, factors = self.coefficients
        sums: dict[int, int] = {}
        for cell, move in zip(cells, moves, strict=True):
            for i in range(indptr[cell], indptr[cell + 1]):
                sums[rows[i]] = sums.get(rows[i], 0) + move * factors[i]
        return not any(sums.values())

    def equations_over(self, cells: NDArray[np.int64]) -> Any:
        """Return the equations with some of the cells as their columns (CSR)."""
        rows = sparse.csr_array(self.rows[:, cells])
        return rows[np.flatnonzero(np.diff(rows.indptr))]


def _narrow(believes: Beliefs, scale: int, *sides: tuple[Any, Any, Any]) -> None:
    """Reduce the room of cells, up and then down, to what is believed of them."""
    for cell, beliefs in believes.items():
        for (room, is_open, size), most in zip(sides, beliefs, strict=True):
            if most == np.inf:
                continue
            steps = int(Fraction(repr(float(most))) * scale)
            if is_open[cell] or steps < room[cell]:
                room[cell], is_open[cell] = steps, False
                size[cell] = min(float(size[cell]), steps / scale)


def fix_determined(matrix: Any, free: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Fix cells that equations determine: each that is alone in one, repeatedly."""
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


def as_integers(*arrays: NDArray[np.float64]) -> tuple[int, list[Any]]:
    """Put doubles over one scale as integers: see `Decimals`."""
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
        """Return the numbers times a scale that makes them whole, cached."""
        # Read once: another thread may judge the same table with another scale.
        kept = self._over
        if kept is None or kept[0] != scale:
            factor = {d: scale // d for d in self.denominators}
            numbers = np.empty(len(self.array), dtype=object)
            numbers[:] = [n * factor[d] for n, d in self.ratios]
            self._over = kept = (scale, numbers)
        return kept[1]


def over_one_scale(columns: Sequence[Decimals]) -> tuple[int, list[Any]]:
    """Return the smallest power of ten that makes all numbers whole, and them."""
    if all(column.plain for column in columns):
        return 1, [column.array.astype(np.int64) for column in columns]
    denominators = frozenset().union(*(column.denominators for column in columns))
    scale = 1
    while any(scale % d for d in denominators):
        scale *= 10
    return scale, [column.over(scale) for column in columns]


# Decimals of values and bounds by table: each is judged once per lone respondent.
_DECIMALS: WeakKeyDictionary[Table, list[Decimals]] = WeakKeyDictionary()


def _table_decimals(table: Table) -> list[Decimals]:
    """Return values and bounds of a table, read once."""
    if table not in _DECIMALS:
        columns = (table.value, table.lower, table.upper)
        _DECIMALS[table] = [Decimals(column) for column in columns]
    return _DECIMALS[table]
