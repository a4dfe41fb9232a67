"""A table as all states of it share it: programs that stay loaded, demands, boxes.

Demands are what a pattern must reach: one row per direction of a cell. A sliding level
is only a width. It is turned into ordinary levels by raising the upper level by
what is missing; where the cell cannot rise so far even with everything hidden, the
lower one; where that fails too, the cell must rise as far as it can and fall by the
rest. For cells of `Problem.falling` it is the other way round. Any pattern that covers
these rows covers the sliding level.

Levels have few digits, so that what covers them can be read exactly: a level such as
15 % of something, or one with a strict margin, has sixteen, and a deviation that shares
it out has steps that no rounding restores. A thousandth of the table's unit more costs
nothing worth naming and leaves steps of few digits, which the judge reads as meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evosdc.arrays import Flags, Real
from evosdc.errors import LevelError
from evosdc.suppress.engine.base import Cells, Demands
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.model import Demand
from evosdc.suppress.engine.general.pool import add_rows, make_knowledge, no_rows
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.engine.general.whole_walks import WholeWalks, digits_of, walks_of
from evosdc.suppress.problem.problem import Problem, unreachable

# A level counts as out of reach when it is missed by more than this share.
SHORT = 1e-8
# Digits of levels beyond those of values: with half of it more levels require more than
# was meant; twice as many are no longer read exactly.
_MORE_DIGITS = 3


def demands_of(programs: Programs) -> Demands:
    """List the demands of a problem, sliding levels turned into ordinary ones."""
    levels = programs.problem.levels
    wanted: dict[tuple[int, int], float] = {
        (int(c), int(s)): float(a)
        for c, s, a in zip(levels.cell, levels.sign, levels.amount, strict=True)
    }
    short: list[tuple[int, float]] = []
    for cell, width in zip(
        levels.slide.tolist(), levels.slide_amount.tolist(), strict=True
    ):
        up, down = wanted.get((cell, 1), 0.0), wanted.get((cell, -1), 0.0)
        way = -1 if cell in programs.problem.falling else 1
        first, other = (up, down)[::way]
        first, other, share = _split(programs, cell, way, width, first, other)
        if share < 1.0:
            short.append((cell, share))
            continue
        wanted.update({(cell, way): first, (cell, -way): other})
    if short:
        raise _too_wide(programs.problem, short)
    rows = [(c, s, a) for (c, s), a in wanted.items() if a > 0]
    return Demands(
        np.array([r[0] for r in rows], dtype=np.int64),
        np.array([r[1] for r in rows], dtype=np.int8),
        np.array([r[2] for r in rows], dtype=np.float64),
    )


def with_sums(problem: Problem, demands: Demands) -> Demands:
    """Add the demands on sums of cells of one respondent: rows of `Problem.knowledge`.

    Of a sum without levels nobody may learn the value: it must move by what one of its
    cells must, the way that the cell must.
    """
    real, known = len(problem.attackers), problem.knowledge
    rows: list[tuple[int, int, float, int]] = []
    amounts = {(cells, sign): amount for cells, sign, amount in problem.sum_levels}
    for who in range(real, len(known)):
        cells = known.cells(who).tolist()
        levels = {sign: amounts.get((tuple(cells), sign), 0.0) for sign in (1, -1)}
        if not any(levels.values()):
            inside = np.flatnonzero(np.isin(demands.cell, cells))
            if len(inside):
                least = inside[np.argmin(demands.amount[inside])]
                levels[int(demands.sign[least])] = float(demands.amount[least])
        rows += [(cells[0], sign, a, who) for sign, a in levels.items() if a > 0]
    if not rows:
        return demands
    return Demands(
        np.append(demands.cell, [r[0] for r in rows]),
        np.append(demands.sign, np.array([r[1] for r in rows], np.int8)),
        np.append(demands.amount, [r[2] for r in rows]),
        np.append(demands.attacker, [r[3] for r in rows]),
    )


def refuse_unreachable(programs: Programs, demands: Demands, among: list[int]) -> None:
    """Raise a `LevelError` that names every level no pattern can give, if any.

    Only the demands in `among` are checked; the others are known to be covered.
    """
    levels = programs.problem.levels
    row_of = {
        (int(c), int(s)): row
        for row, (c, s) in enumerate(zip(levels.cell, levels.sign, strict=True))
    }
    rows: list[int] = []
    best: list[float] = []
    for cell, sign, amount in zip(
        demands.cell[among].tolist(),
        demands.sign[among].tolist(),
        demands.amount[among].tolist(),
        strict=True,
    ):
        far, _ = programs.farthest(Demand(cell, sign, amount))
        if far < amount * (1 - SHORT) and (cell, sign) in row_of:
            rows.append(row_of[cell, sign])
            best.append(far)
    if rows:
        raise unreachable(programs.problem, rows, best)


def _split(
    programs: Programs, cell: int, way: int, width: float, first: float, other: float
) -> tuple[float, float, float]:
    """Share a width out, one way before the other.

    The third number is the share of it that can be had.
    """
    most, _ = programs.farthest(Demand(cell, way, width))
    # What the solver finds is off by rounding: require a little less.
    most *= 1 - SHORT
    if width - other <= most:
        return max(first, width - other), other, 1.0
    back, _ = programs.farthest(Demand(cell, -way, width))
    back *= 1 - SHORT
    if width - first <= back:
        return first, max(other, width - first), 1.0
    if most + back >= width:
        return most, width - most, 1.0
    return first, other, (most + back) / width


def _too_wide(problem: Problem, short: list[tuple[int, float]]) -> LevelError:
    shown = "; ".join(
        f"{problem.table.label(cell)} (at most {100 * share:.4g} % of the width)"
        for cell, share in short[:5]
    )
    more = f" and {len(short) - 5} more" if len(short) > 5 else ""
    return LevelError(
        f"{len(short)} sliding levels are beyond any pattern: {shown}{more}",
        expected="widths within what hidden cells can reach",
        hint="lower these levels, widen the bounds, or free fixed cells",
    )


def round_levels_up(problem: Problem, demands: Demands) -> Real:
    """Raise each amount to the next one with few digits that its cell has room for."""
    digits = digits_of(problem)
    if digits is None:
        return demands.amount
    places = digits + _MORE_DIGITS
    amount = demands.amount
    raised = np.round(np.ceil(amount * 10.0**places) / 10.0**places, places)
    room = np.where(
        demands.sign > 0, problem.up[demands.cell], problem.down[demands.cell]
    )
    # What a sum has room for is not known.
    room[demands.attacker >= len(problem.attackers)] = 0.0
    few = np.round(amount, places) == amount
    return np.where(few | (raised > room), amount, raised)


class GeneralTable:
    """A table with the attacker's programs, the demands, and boxes where it has any.

    There is one demand for each level against the public from the start. Those against
    other attackers are added when a deviation fails against one of them.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.programs: Programs = Programs(problem)
        known, cells = problem.knowledge, len(problem.table)
        # What no pattern gives of a level against an attacker, by cell and direction.
        self.shortfalls: dict[tuple[int, int, int], float] = {}
        # As kernels see them; another object after each change.
        self.rows = no_rows(make_knowledge(known, len(problem.attackers), cells))
        self._add(with_sums(problem, demands_of(self.programs)))
        self.boxes: Boxes | None = boxes_of(problem, self.rows)

    @property
    def demands(self) -> Demands:
        """The demands so far."""
        rows = self.rows
        return Demands(rows.cell, rows.sign.astype(np.int8), rows.amount, rows.attacker)

    def _add(self, demands: Demands) -> None:
        self.rows = add_rows(
            self.rows,
            demands.cell,
            demands.sign.astype(np.int64),
            round_levels_up(self.problem, demands),
            demands.attacker,
        )

    def demand(self, *rows: int) -> Demand:
        """Return a demand, or one for all attackers of some on a cell and direction."""
        demands, some = self.rows, list(rows)
        if self.is_sum(some)[0]:
            row = some[0]
            at = self.problem.knowledge.entries(int(demands.attacker[row]))
            return Demand(
                int(demands.cell[row]),
                int(demands.sign[row]),
                float(demands.amount[row]),
                more=tuple(self.problem.knowledge.cell[at][1:].tolist()),
            )
        return Demand(
            int(demands.cell[some[0]]),
            int(demands.sign[some[0]]),
            float(demands.amount[some].max()),
            self.programs.against(demands.attacker[some].tolist()),
        )

    def is_sum(self, rows: ArrayLike) -> Flags:
        """Which of some demands are on sums."""
        attackers = self.rows.attacker[np.asarray(rows, dtype=np.int64)]
        return np.asarray(attackers >= len(self.problem.attackers))

    def any_moves(self, rows: Cells, free: Flags) -> bool:
        """Whether of each of some demands a cell is among those that can move."""
        of_sum = self.is_sum(rows)
        if not free[self.rows.cell[rows[~of_sum]]].all():
            return False
        return all(free[self.demand(row).cells].any() for row in rows[of_sum].tolist())

    def add(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Add demands: rows against the public, each with another attacker."""
        if not pairs:
            return
        rows = np.array([row for row, _ in pairs], dtype=np.int64)
        old = self.rows
        cell, sign = old.cell[rows], old.sign[rows]
        levels = zip(cell.tolist(), sign.tolist(), old.amount[rows], strict=True)
        amount = [
            self.problem.amount_against(attacker, c, s, a)
            for (_, attacker), (c, s, a) in zip(pairs, levels, strict=True)
        ]
        who = np.array([attacker for _, attacker in pairs], dtype=np.int64)
        self._add(Demands(cell, sign.astype(np.int8), np.array(amount), who))
        self._renew_boxes()

    def lower(self, row: int, amount: float) -> None:
        """Ask for less of a demand against an attacker: no pattern gives more."""
        rows = self.rows
        key = int(rows.attacker[row]), int(rows.cell[row]), int(rows.sign[row])
        share = amount / float(rows.amount[row])
        self.shortfalls[key] = share * self.shortfalls.get(key, 1.0)
        known = self.problem.shortfalls
        known[key] = min(self.shortfalls[key], known.get(key, 1.0))
        less = rows.amount.copy()
        less[row] = amount
        self.rows = rows._replace(amount=less)
        self._renew_boxes()

    def _renew_boxes(self) -> None:
        if self.boxes is not None:
            self.boxes = self.boxes.with_rows(self.rows)

    @cached_property
    def walks(self) -> WholeWalks | None:
        """Walks that cover demands where there are no boxes and programs take long."""
        if self.boxes is not None or self.problem.has_attackers:
            return None
        if self.programs.quick or not self.programs.slow:
            return None
        return walks_of(self.problem)

    @property
    def by_boxes(self) -> bool:
        """Whether boxes and cycles build patterns, and programs only what is left.

        In small tables programs are quick, and cheaper in what they hide.
        """
        return self.boxes is not None and not self.programs.quick
