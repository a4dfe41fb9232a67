"""What every method gets, and the pattern it returns.

It gets costs, room to move, levels to reach and the cells it may hide.

An attacker sees deviations from the true table: ``d`` with ``M d = 0``, ``d = 0`` on
published cells and ``-down <= d <= up`` on hidden ones. A level requires a ``d`` that
moves one cell by at least so much one way. Attackers who know more than the public have
less room in some cells, 0 where they know them (Fischetti and Salazar 2001): each level
is required against each of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError, TableError
from evosdc.table import Network, Table
from evosdc.table.attackers import AttackerKnowledge, OwnShares, RespondentSums
from evosdc.table.knowledge import in_whole_numbers
from evosdc.table.status import FIXED, PRIMARY

# A level beyond a bound by no more than this factor is at the bound: a numerical
# tolerance.
_AT_BOUND = 1 + 1e-9
# Kind of the rows of `Problem.knowledge` that stand for sums.
SUM = "sum"


@dataclass(frozen=True, eq=False)
class Pattern:
    """Hidden cells (primaries included) and the cost of the secondaries among them.

    Attributes
    ----------
    hidden
        One entry per cell.
    cost
        What the secondaries cost.
    hints
        Deviations that the search relied on, as cells and steps, where it kept them:
        not evidence, but the judge may look there first.
    """

    hidden: NDArray[np.bool_]
    cost: float
    hints: tuple[tuple[NDArray[np.int64], NDArray[np.float64]], ...] = ()


@dataclass(frozen=True, eq=False)
class Levels:
    """Demands on the attacker's interval, one row each.

    `cell` must be movable by `amount` in direction `sign` (+1 up, -1 down). Only
    positive amounts are listed. A cell with a sliding level has a row in `slide` as
    well: its width ``up + down`` must reach `slide_amount`.
    """

    cell: NDArray[np.int64]
    sign: NDArray[np.int8]
    amount: NDArray[np.float64]
    slide: NDArray[np.int64]
    slide_amount: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.cell)


@dataclass(frozen=True, eq=False)
class Problem:
    """A cell suppression problem.

    Attributes
    ----------
    table
        The table to protect.
    cost
        What hiding each cell costs; primaries cost nothing more.
    up, down
        How far each cell can move before it hits an external bound.
    hideable
        Cells that may be hidden: all but the fixed ones.
    levels
        What must be reached against the public, strict margins included.
    attackers
        Who else must not reach it; the public alone unless given.
    sums
        Sums of cells of one respondent that must be protected as well, strict margins
        included.
    secondary
        Cells with demands that are not sensitive: secondaries that must be safe, too.
        They are protected against the public alone; None where there are none.
    falling
        Cells whose widths engines require downwards where they can, and not upwards.
        Both are sufficient, so that the cost of patterns depends on it and no bound.
    """

    table: Table
    cost: NDArray[np.float64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    hideable: NDArray[np.bool_]
    levels: Levels
    attackers: AttackerKnowledge = field(default_factory=AttackerKnowledge.public)
    sums: RespondentSums = field(default_factory=RespondentSums.none)
    secondary: NDArray[np.bool_] | None = None
    falling: frozenset[int] = frozenset()

    @classmethod
    def of(
        cls,
        table: Table,
        cost: NDArray[np.float64] | None = None,
        *,
        strict: bool = False,
        attackers: AttackerKnowledge | None = None,
        sums: RespondentSums | None = None,
        secondary: NDArray[np.bool_] | None = None,
    ) -> Problem:
        """Set up the problem of a table; `strict` requires more than each level.

        Strictly more means one unit more in tables of whole numbers, as ONS solves them
        (Smith et al. 2011), and otherwise more by a margin well above rounding errors.
        """
        price = np.array(table.weight if cost is None else cost, dtype=np.float64)
        if price.shape != (len(table),) or not np.all(
            np.isfinite(price) & (price >= 0)
        ):
            raise TableError(
                "costs that are negative, not finite or not one per cell",
                expected="one cost of 0 or more for each cell",
            )
        price[table.primaries] = 0.0
        table = _whole_bounds(table)
        up, down = room_of(table)
        problem = cls(
            table=table,
            cost=price,
            up=up,
            down=down,
            hideable=table.status != FIXED,
            levels=_levels(table, strict, secondary),
            attackers=AttackerKnowledge.public() if attackers is None else attackers,
            sums=_with_margins(table, sums, strict),
            secondary=secondary,
        )
        problem._refuse_levels_beyond_bounds()
        return problem

    @cached_property
    def network(self) -> Network | None:
        """The table as a network, where it is one."""
        return self.table.network

    @property
    def has_attackers(self) -> bool:
        """Whether there is more to protect against than the public and single cells."""
        return len(self.attackers) > 1 or len(self.sums) > 0

    @cached_property
    def for_public(self) -> Problem:
        """The same problem with the public as its only attacker, and without sums."""
        return replace(
            self, attackers=AttackerKnowledge.public(), sums=RespondentSums.none()
        )

    @cached_property
    def knowledge(self) -> AttackerKnowledge:
        """The attackers, followed by one row per sum that knows all cells but one.

        A deviation that moves one cell of a sum and leaves the others alone moves the
        sum by as much: that is what boxes look for. The cell with the most room comes
        first. Programs move all cells of a sum.
        """
        if not len(self.sums):
            return self.attackers
        sets = [np.array(cells, np.int64) for cells in self._sets]
        ends = self.attackers.start[-1] + np.cumsum([len(cells) for cells in sets])
        cell = np.concatenate([self.attackers.cell, *sets])
        room = np.concatenate(
            [np.where(np.arange(len(cells)) == 0, np.inf, 0.0) for cells in sets]
        )
        return AttackerKnowledge(
            np.concatenate([self.attackers.start, ends]).astype(np.int64),
            cell,
            np.concatenate([self.attackers.up, room]),
            np.concatenate([self.attackers.down, room]),
            self.attackers.kind + (SUM,) * len(self.sums),
        )

    @cached_property
    def _sets(self) -> list[tuple[int, ...]]:
        """The cells of each sum, the one with the most room first."""
        room = np.minimum(self.up, self.down)
        each = (self.sums.cells(s) for s in range(len(self.sums)))
        return [
            tuple(cells[np.argsort(-room[cells], kind="stable")].tolist())
            for cells in each
        ]

    @property
    def sum_levels(self) -> Iterator[tuple[tuple[int, ...], int, float]]:
        """How far sums must move, strict margins included: cells, sign and amount."""
        for number, cells in enumerate(self._sets):
            for sign, levels in ((1, self.sums.upl), (-1, self.sums.lpl)):
                if levels[number] > 0:
                    yield cells, sign, float(levels[number])

    def amount_against(
        self, attacker: int, cell: int, sign: int, amount: float
    ) -> float:
        """How much of a level is required against an attacker, net of its own part.

        Nothing of a cell that it knows, nor of a secondary.
        """
        if self.secondary is not None and self.secondary[cell]:
            return 0.0
        if attacker not in self._rooms:
            self._rooms[attacker] = (
                set(self.attackers.known(attacker).tolist()),
                self.attackers.room_below(self._shares, attacker),
            )
        known, below = self._rooms[attacker]
        if cell in known:
            return 0.0
        return amount if sign > 0 else min(amount, below.get(cell, amount))

    @cached_property
    def _shares(self) -> OwnShares:
        return OwnShares(self.table)

    @cached_property
    def _rooms(self) -> dict[int, tuple[set[int], dict[int, float]]]:
        return {}

    @property
    def shortfalls(self) -> dict[tuple[int, int, int], float]:
        """What no pattern gives, by attacker, cell and direction, as far as was found.

        The share of the level that can be had; engines fill it in.
        """
        found: dict[tuple[int, int, int], float] = self.derived.setdefault(
            "shortfalls", {}
        )
        return found

    @cached_property
    def derived(self) -> dict[str, Any]:
        """What others derive from the problem: kept with it, and freed with it."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is derived: workers make their own."""
        derived = ("derived", "for_public", "_shares", "_rooms")
        return {k: v for k, v in self.__dict__.items() if k not in derived}

    @cached_property
    def primary(self) -> NDArray[np.bool_]:
        """Which cells are sensitive."""
        return self.table.status == PRIMARY

    def pattern(self, hidden: NDArray[np.bool_]) -> Pattern:
        """Price a set of hidden cells; primaries are always among them."""
        full = hidden | self.primary
        return Pattern(full, float(self.cost[full].sum()))

    def _refuse_levels_beyond_bounds(self) -> None:
        room = np.where(
            self.levels.sign > 0, self.up[self.levels.cell], self.down[self.levels.cell]
        )
        short = np.flatnonzero(room < self.levels.amount)
        if len(short):
            raise unreachable(self, short.tolist(), room[short].tolist())


def room_of(table: Table) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how far each cell can move up and down within its external bounds."""
    up = np.maximum(table.upper - table.value, 0.0)
    return up, np.maximum(table.value - table.lower, 0.0)


def strict_margin(table: Table) -> NDArray[np.float64]:
    """How much more than its level a cell must reach in the strict reading."""
    if table.is_integer or table.origin.whole:
        return np.ones(len(table))
    scale = max(1.0, float(np.abs(table.value).max()))
    return 2e-6 * np.maximum(1.0, np.abs(table.value)) + 2e-10 * scale


def unreachable(problem: Problem, rows: list[int], best: list[float]) -> LevelError:
    """Describe levels that no pattern can give, with the best share that can be had."""
    levels = problem.levels
    shown = "; ".join(
        f"{problem.table.label(int(levels.cell[row]))} "
        f"({'upper' if levels.sign[row] > 0 else 'lower'} level: at most "
        f"{100 * most / levels.amount[row]:.4g} % of it can be had)"
        for row, most in list(zip(rows, best, strict=True))[:5]
    )
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    error = LevelError(
        f"{len(rows)} protection levels are beyond any pattern: {shown}{more}",
        expected="levels within the external bounds that hidden cells can reach",
        hint="lower these levels, widen the bounds, or free fixed cells",
    )
    error.cells = tuple(dict.fromkeys(levels.cell[rows].tolist()))
    return error


def _with_margins(
    table: Table, sums: RespondentSums | None, strict: bool
) -> RespondentSums:
    """Return sums with levels that must be exceeded, as the judge requires them."""
    if sums is None:
        return RespondentSums.none()
    if not strict:
        return sums
    margin = strict_margin(table)
    each = [sums.cells(s) for s in range(len(sums))]
    more = np.array([margin[cells].max() for cells in each])
    most = (np.array([room[cells].sum() for cells in each]) for room in room_of(table))
    up, down = (
        np.minimum(level + more, np.maximum(level, room))
        for level, room in zip((sums.upl, sums.lpl), most, strict=True)
    )
    return replace(sums, upl=up, lpl=down)


def _least_asked(
    table: Table, bare: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], ...]:
    """Return upper, lower and sliding levels, with what `bare` cells need.

    The judge only requires that their value is not given away: they must be able to
    move, the way that their bounds leave more room. Whatever is required here must be
    had by every pattern that it calls safe, or bounds would be above some of them.
    """
    if not bare.any():
        return table.upl, table.lpl, table.spl
    up, down = room_of(table)
    moves = (table.status != FIXED) & ((up > 0) | (down > 0))
    rooms = np.concatenate([up[moves & (up > 0)], down[moves & (down > 0)]])
    # In a network a cell that moves at all can move as far as the least room on its
    # way; elsewhere several may have to share that room.
    share = 1.0 if table.network is not None else 0.1
    most = 10.0 ** np.floor(np.log10(share * min(rooms, default=1.0)))
    # A power of ten: levels of many digits make exact arithmetic slow.
    least = np.minimum(10.0 ** np.ceil(np.log10(strict_margin(table))), most)
    least = np.minimum(least, np.maximum(up, down))
    upl = np.where(bare & (up >= down), least, table.upl)
    lpl = np.where(bare & (up < down), least, table.lpl)
    if np.all((up > 0) == (down > 0), where=moves):
        return upl, lpl, table.spl
    # Cells at a bound move one way only, and so may what they protect: either way will
    # do.
    spl = np.where(bare, np.maximum(upl, lpl), table.spl)
    return np.where(bare, 0.0, upl), np.where(bare, 0.0, lpl), spl


def _whole_bounds(table: Table) -> Table:
    """Return a table of whole numbers with those that its bounds allow.

    The judge lets attackers think of whole numbers only, so searches do too.
    """
    if not table.origin.counts:
        return in_whole_numbers(table)
    low = np.minimum(np.ceil(table.lower), table.value)
    high = np.maximum(np.floor(table.upper), table.value)
    if np.array_equal(low, table.lower) and np.array_equal(high, table.upper):
        return table
    return table.replace(lower=low, upper=high)


def _levels(table: Table, strict: bool, secondary: NDArray[np.bool_] | None) -> Levels:
    cells = table.primaries
    # Cells without levels, which must only not be worked out. Strictly more than a
    # level of 0 is required of those that are sensitive.
    bare = (table.upl == 0) & (table.lpl == 0) & (table.spl == 0)
    if strict:
        bare &= False if secondary is None else secondary
    bare &= table.status == PRIMARY
    margin = np.where(strict & ~bare, strict_margin(table), 0.0)[cells]
    upl, lpl, spl = (level[cells] for level in _least_asked(table, bare))
    cell = np.concatenate([cells, cells])
    sign = np.repeat(np.array([1, -1], dtype=np.int8), len(cells))
    # Nobody can be made to believe beyond a bound: a level there is reached at best.
    above, under = (room[cells] for room in room_of(table))
    up = np.minimum(upl + margin, np.maximum(upl, above))
    down = np.minimum(lpl + margin, np.maximum(lpl, under))
    # What only rounding keeps beyond a bound is at the bound.
    up = np.where(up <= above * _AT_BOUND, np.minimum(up, above), up)
    down = np.where(down <= under * _AT_BOUND, np.minimum(down, under), down)
    amount = np.concatenate([up, down])
    keep = amount > 0
    width = np.minimum(spl + margin, np.maximum(spl, above + under))
    # A width that both levels together imply needs no row of its own.
    slides = width > up + down
    return Levels(
        cell=cell[keep],
        sign=sign[keep],
        amount=amount[keep],
        slide=cells[slides],
        slide_amount=width[slides],
    )
