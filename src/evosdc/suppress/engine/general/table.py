"""A table as all states of it share it: programs that stay loaded, demands, boxes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from evosdc.arrays import Flags
from evosdc.suppress.engine.base import Cells, Demands
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.demands import (
    demands_of,
    round_levels_up,
    with_sums,
)
from evosdc.suppress.engine.general.model import Demand
from evosdc.suppress.engine.general.pool import add_rows, make_knowledge, no_rows
from evosdc.suppress.engine.general.programs import Programs
from evosdc.suppress.engine.general.whole_walks import WholeWalks, walks_of
from evosdc.suppress.problem.problem import Problem


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
