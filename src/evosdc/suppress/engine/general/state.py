"""Patterns of any table with their witnesses: programs, boxes and cycles cover demands.

`GeneralTable` is what all states of a table share; its programs stay loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evosdc.suppress.engine.base import Cells, Costs, Demands, Mask, Stopped, never
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.cleanup import clean_up
from evosdc.suppress.engine.general.demands import (
    SHORT,
    demands_of,
    refuse_unreachable,
    with_sums,
)
from evosdc.suppress.engine.general.hide_totals import hide_totals
from evosdc.suppress.engine.general.model import Move, Tight
from evosdc.suppress.engine.general.pool import RowList, Rows, make_knowledge
from evosdc.suppress.engine.general.programs import (
    Programs,
    PublicQuestion,
    Question,
)
from evosdc.suppress.engine.general.units import round_levels_up
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem

# Deviations that are remembered from one repair to the next.
_REMEMBERED = 5000
# Pairs of a demand and an attacker that are looked at once time is up; the judge looks
# at all. At half of it fewer patterns that were stopped are safe from all attackers, at
# twice of it a limit of time is passed by seconds more.
_MOST_PAIRS = 500_000
# A level that no pattern gives is lowered to what can be had less this share, which is
# well above the tolerance of a solver.
_LESS = 1e-6


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
        self._list = RowList(make_knowledge(known, len(problem.attackers), cells))
        self._add(with_sums(problem, demands_of(self.programs)))
        self.boxes: Boxes | None = boxes_of(problem, self.rows)

    @property
    def rows(self) -> Rows:
        """The demands as kernels see them; another object after each change."""
        return self._list.rows

    @property
    def demands(self) -> Demands:
        """The demands so far."""
        rows = self._list.rows
        return Demands(rows.cell, rows.sign.astype(np.int8), rows.amount, rows.attacker)

    def _add(self, demands: Demands) -> None:
        self._list.add(
            demands.cell,
            demands.sign.astype(np.int64),
            round_levels_up(self.problem, demands),
            demands.attacker,
        )

    def add(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Add demands: rows against the public, each with another attacker."""
        if not pairs:
            return
        rows = np.array([row for row, _ in pairs], dtype=np.int64)
        old = self._list.rows
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
        rows = self._list.rows
        key = int(rows.attacker[row]), int(rows.cell[row]), int(rows.sign[row])
        share = amount / float(rows.amount[row])
        self.shortfalls[key] = share * self.shortfalls.get(key, 1.0)
        known = self.problem.shortfalls
        known[key] = min(self.shortfalls[key], known.get(key, 1.0))
        self._list.lower(row, amount)
        self._renew_boxes()

    def _renew_boxes(self) -> None:
        if self.boxes is not None:
            self.boxes = self.boxes.with_rows(self.rows)

    @property
    def by_boxes(self) -> bool:
        """Whether boxes and cycles build patterns, and programs only what is left.

        In small tables programs are quick, and cheaper in what they hide.
        """
        return self.boxes is not None and not self.programs.quick


class GeneralState:
    """Hidden cells of a table and a deviation for each demand that they cover.

    Methods may cover demands in their own way with `cover_by`; `cover` covers what they
    left open.

    Parameters
    ----------
    hidden
        Cells hidden from the start; the primaries always are.
    after
        An earlier state, whose deviations are taken where all their cells are hidden.
    """

    def __init__(
        self,
        table: GeneralTable,
        hidden: Mask | None = None,
        after: GeneralState | None = None,
    ) -> None:
        self.table = table
        self.witnesses = Witnesses(table.problem, table.rows)
        self.hidden: Mask = table.problem.primary.copy()
        if hidden is not None:
            self.hidden |= hidden & table.problem.hideable
        self._known: list[Move] = []
        if after is not None:
            self.remember(after._known[-_REMEMBERED:])

    @property
    def secondaries(self) -> Cells:
        return np.flatnonzero(self.hidden & ~self.table.problem.primary)

    @property
    def cost(self) -> float:
        return float(self.table.problem.cost[self.secondaries].sum())

    @property
    def uncovered(self) -> Cells:
        self.witnesses.follow(self.table.rows)
        return np.flatnonzero(~self.witnesses.covered & (self.table.rows.amount > 0))

    def pattern(self) -> Pattern:
        """Return what is hidden now, with the deviations it rests on as hints."""
        found = self.table.problem.pattern(self.hidden)
        return replace(found, hints=self.witnesses.hints())

    def copy(self) -> GeneralState:
        other = GeneralState.__new__(GeneralState)
        other.table = self.table
        other.witnesses = self.witnesses.copy()
        other.hidden = self.hidden.copy()
        other._known = list(self._known)
        return other

    def hide(self, cells: ArrayLike) -> None:
        chosen = np.asarray(cells, dtype=np.int64)
        self.hidden[chosen[self.table.problem.hideable[chosen]]] = True

    def publish(self, cells: ArrayLike, stopped: Stopped = never) -> Cells:
        """Publish cells again; return the demands that lost their cover by it.

        Among very many hidden cells, or where it is stopped, a deviation may be
        overlooked: a demand is then said to be open which is not.
        """
        chosen = np.asarray(cells, dtype=np.int64)
        chosen = chosen[self.hidden[chosen] & ~self.table.problem.primary[chosen]]
        self.hidden[chosen] = False
        self.witnesses.follow(self.table.rows)
        doubtful = self.witnesses.release(chosen)
        self.cover_free(doubtful, stopped)
        within = self._among_hidden()
        self._cover_rows(within, doubtful, stopped=stopped)
        self._cover_attackers(within, stopped=stopped)
        return self.uncovered

    def become(self, hidden: Mask, stopped: Stopped = never) -> None:
        self.hide(np.flatnonzero(hidden & ~self.hidden))
        self.publish(np.flatnonzero(self.hidden & ~hidden), stopped)

    def become_like(self, other: GeneralState) -> None:
        """Take over the hidden cells and witnesses of a state that is given up."""
        self.hidden, self.witnesses = other.hidden, other.witnesses

    def forget(self, rows: Cells) -> None:
        """Open demands again, and publish the secondaries that no other one needs."""
        self.witnesses.follow(self.table.rows)
        self.witnesses.open(rows)
        self.publish_idle()

    def publish_idle(self) -> None:
        """Publish the secondaries that no witness uses."""
        idle = self.secondaries
        self.hidden[idle[~self.witnesses.used()[idle]]] = False

    def open_rows(self, order: Sequence[int] | Cells | None = None) -> list[int]:
        """Demands without a witness: all by weight, or those of an order."""
        if order is None:
            rows, table = self.uncovered, self.table
            weight = table.problem.table.weight
            return rows[table.demands.by_weight(weight, rows)].tolist()
        self.witnesses.follow(self.table.rows)
        chosen = np.asarray(order, np.int64)
        asked = ~self.witnesses.covered[chosen] & (self.table.rows.amount[chosen] > 0)
        return chosen[asked].tolist()

    def take(self, row: int, move: Move) -> None:
        """Hide the cells of a deviation that covers a demand."""
        self.hidden[move.cells] = True
        self.witnesses.add(move, row)

    def cover_by(
        self,
        question: PublicQuestion,
        order: Sequence[int] | Cells | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> int:
        """Cover open demands against the public in a method's own way.

        One by one until the time is up; returns how many it had no deviation for.
        """

        def ask(*level: Any, **_: Any) -> Move | None:
            return question(*level[:4])

        attacker = self.table.rows.attacker
        rows = [row for row in self.open_rows(order) if attacker[row] == 0]
        return len(self._cover_rows(ask, rows, price, stopped))

    def _cover_rows(
        self,
        question: Question,
        order: Sequence[int] | Cells | None = None,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> list[int]:
        """Cover open demands one by one until the time is up; list the failures."""
        failed: list[int] = []
        # Kept up to date: working them out for every level takes longer than to answer.
        prices = self._prices(price)
        for row in self.open_rows(order):
            if self.witnesses.covered[row]:
                continue
            if stopped():
                break
            move = self._ask(question, row, prices)
            if move is None:
                failed.append(row)
            else:
                self.take(row, move)
                prices[move.cells] = 0.0
        return failed

    def _cover_attackers(
        self,
        question: Question,
        price: Costs | None = None,
        stopped: Stopped = never,
        *,
        by_boxes: bool = False,
        together: Question | None = None,
        known: bool = False,
    ) -> None:
        """Cover what deviations found so far leave open to attackers, until nothing is.

        With `by_boxes` by boxes first. Then a deviation is asked for that serves all
        attackers of a level `together`, then one by one. With `known`, levels that the
        question has no answer for are lowered to what can be had.
        """
        table = self.table
        if not table.problem.has_attackers:
            return
        while not stopped():
            table.add(self.witnesses.unguarded())
            self.witnesses.follow(table.rows)
            self._recall()
            rows = self.uncovered
            rows = rows[table.rows.attacker[rows] > 0]
            if not len(rows):
                return
            rows = rows[np.argsort(-table.rows.amount[rows], kind="stable")]
            before = len(table.rows.cell)
            boxes = self._boxes_at(price) if by_boxes else None
            if boxes is not None:
                self.cover_free(rows, stopped)
                self._box(boxes, rows, False, stopped)
                table.add(self.witnesses.unguarded())
                if len(table.rows.cell) > before:
                    continue  # boxes are asked first about those as well
                rows = rows[~self.witnesses.covered[rows]]
            self._cover_together(together or question, rows, price, stopped)
            failed = self._cover_rows(question, rows, price, stopped)
            if known:
                for row in failed:
                    if not stopped():
                        self._lower(row)
            elif failed and before == len(table.rows.cell):
                return

    def _cover_together(
        self,
        question: Question,
        rows: Cells,
        price: Costs | None,
        stopped: Stopped,
    ) -> None:
        """Ask for one deviation for all open attackers of a cell and direction.

        The largest of some rows come first.
        """
        demands, prices = self.table.rows, self._prices(price)
        levels: dict[tuple[int, int], list[int]] = {}
        for row in rows.tolist():
            key = int(demands.cell[row]), int(demands.sign[row])
            levels.setdefault(key, []).append(row)
        for (cell, sign), together in levels.items():
            still = [row for row in together if not self.witnesses.covered[row]]
            if len(still) < 2 or stopped():
                continue
            tight = self.table.programs.against(demands.attacker[still].tolist())
            amount = float(demands.amount[still].max())
            move = question(cell, sign, amount, prices, tight)
            if move is not None:
                self.take(still[0], move)
                prices[move.cells] = 0.0

    def _lower(self, row: int) -> None:
        """Cover as much of a level against an attacker as any pattern gives."""
        if self.witnesses.covered[row]:
            return
        table, demands = self.table, self.table.rows
        cell, sign = int(demands.cell[row]), int(demands.sign[row])
        tight = table.programs.against([int(demands.attacker[row])])
        amount = float(demands.amount[row])
        far, move = table.programs.farthest(cell, sign, amount, tight)
        if far >= amount * (1 - SHORT) and move is not None:
            self.take(row, move)  # only rounding kept it from being covered
            return
        table.lower(row, far * (1 - _LESS) if far > _LESS * amount else 0.0)
        self.witnesses.follow(table.rows)

    def cover_free(
        self,
        order: Sequence[int] | Cells | None = None,
        stopped: Stopped = never,
    ) -> None:
        """Cover what boxes and cycles of hidden cells cover; hide nothing more."""
        if self.table.boxes is not None:
            self._box(self.table.boxes, order, True, stopped)

    def cover_open(
        self,
        order: Sequence[int] | Cells | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> int:
        """Cover open demands, by boxes where they do; count the failures.

        Whatever the order, what is open to attackers after that is covered as well.
        """
        self.cover_free(order, stopped)
        by_boxes = self.table.by_boxes
        boxes = self._boxes_at(price) if by_boxes else None
        if boxes is not None:
            self._box(boxes, order, False, stopped)
        cheapest = self.table.programs.cheapest
        public = self._public(self.open_rows(order))
        failed = self._cover_rows(cheapest, public, price, stopped)
        if not failed:
            self._cover_attackers(
                cheapest, price, stopped, by_boxes=by_boxes, known=True
            )
        return len(failed)

    def cover(
        self,
        order: ArrayLike | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> None:
        rows = None if order is None else np.asarray(order, dtype=np.int64)
        if self.cover_open(rows, price=price, stopped=stopped):
            self._cover_the_hard_way(self._public(self.open_rows(rows)))
            self._cover_attackers(
                self.table.programs.cheapest, price, stopped, known=True
            )
        if self.open_rows(rows):
            self._close_in_a_hurry(rows, price)
        while stopped():
            # Whoever stops gets a pattern that is safe from everyone all the same.
            self.table.add(self.witnesses.unguarded(_MOST_PAIRS))
            self.witnesses.follow(self.table.rows)
            self._recall()
            if not len(self.uncovered):
                return
            self._close_in_a_hurry(None, price)

    def repair(self, price: Costs | None = None, stopped: Stopped = never) -> int:
        self.cover_free(stopped=stopped)
        within = self._among_hidden()
        by_boxes = self.table.by_boxes
        exposed = 0

        def question(
            cell: int,
            sign: int,
            amount: float,
            price: Costs,
            tight: Tight | None = None,
        ) -> Move | None:
            nonlocal exposed
            move = within(cell, sign, amount, price, tight)
            if move is None:
                exposed += 1
                if not by_boxes:
                    cheapest = self.table.programs.cheapest
                    move = cheapest(cell, sign, amount, price, tight)
            if move is not None:
                self._known.append(move)
            return move

        self._cover_rows(question, self._public(self.open_rows()), price, stopped)
        # What takes more cells for all attackers together may do for each of them.
        self._cover_attackers(question, price, stopped, together=within)
        self.cover(price=price, stopped=stopped)
        return exposed

    def clean_up(
        self, order: ArrayLike | None = None, stopped: Stopped = never
    ) -> bool:
        self.hidden = clean_up(
            self,
            None if order is None else np.asarray(order, dtype=np.int64),
            stopped,
        )
        return not stopped()

    def remember(self, moves: Sequence[Move]) -> None:
        """Take deviations that were found before, now and for demands to come."""
        self._known = list(moves)
        self._recall()

    def _recall(self) -> None:
        """Take the deviations of earlier repairs whose cells are all hidden again."""
        for move in reversed(self._known):
            if not len(self.uncovered):
                return
            if self.hidden[move.cells].all():
                self.witnesses.add(move)

    def _boxes_at(self, price: Costs | None) -> Boxes | None:
        boxes = self.table.boxes
        return boxes if boxes is None or price is None else boxes.with_price(price)

    def _box(
        self,
        boxes: Boxes,
        order: Sequence[int] | Cells | None,
        only_hidden: bool,
        stopped: Stopped,
    ) -> None:
        boxes.cover(
            self.witnesses,
            self.hidden,
            np.array(self.open_rows(order), dtype=np.int64),
            only_hidden=only_hidden,
            stopped=stopped,
        )

    def _public(self, rows: list[int]) -> list[int]:
        """Those of some demands that are against the public, and those on sums."""
        attacker, real = self.table.rows.attacker, len(self.table.problem.attackers)
        return [row for row in rows if not 0 < attacker[row] < real]

    def _among_hidden(self) -> Question:
        """Ask for deviations of the cells hidden now.

        Cheap ones first: clean-up then spares the dear ones.
        """
        ask = self.table.programs.among(self.hidden)
        within = np.where(self.hidden, self.table.problem.cost, np.inf)
        return lambda cell, sign, amount, _, tight=None: ask(
            cell, sign, amount, within, tight
        )

    def _prices(self, price: Costs | None) -> Costs:
        """Return what cells cost: nothing where hidden, infinite where fixed."""
        problem = self.table.problem
        cost = problem.cost if price is None else price
        return np.where(self.hidden, 0.0, np.where(problem.hideable, cost, np.inf))

    def _ask(self, question: Question, row: int, prices: Costs) -> Move | None:
        """Ask about a demand."""
        demands = self.table.rows
        return question(
            int(demands.cell[row]),
            int(demands.sign[row]),
            float(demands.amount[row]),
            prices,
            self.table.programs.against([int(demands.attacker[row])]),
        )

    def _cover_the_hard_way(self, rows: list[int]) -> None:
        """Demands that no program covered: out of reach, or lost to rounding."""
        programs, demands = self.table.programs, self.table.demands
        public = [row for row in rows if not demands.attacker[row]]
        refuse_unreachable(programs, demands, public)
        for row in rows:
            if self.witnesses.covered[row]:
                continue
            if demands.attacker[row]:
                self._lower(row)
                continue
            cell, sign = int(demands.cell[row]), int(demands.sign[row])
            _, move = programs.farthest(cell, sign, float(demands.amount[row]))
            if move is not None:
                self.take(row, move)

    def _close_in_a_hurry(self, order: Cells | None, price: Costs | None) -> None:
        """Time is up: boxes, then totals, and last all that may be hidden.

        With everything hidden a demand is covered if any pattern covers it.
        """
        boxes = self._boxes_at(price)
        if boxes is not None:
            rows = np.array(self.open_rows(order), dtype=np.int64)
            boxes.cover(self.witnesses, self.hidden, rows, in_parts=False)
        for row in self.open_rows(order):
            if self.witnesses.covered[row]:
                continue
            move = self._ask(
                partial(hide_totals, self.table.programs), row, self._prices(price)
            )
            if move is None:
                everything = self.table.problem.hideable
                self.hidden |= everything
                self.witnesses.rely_on(np.flatnonzero(everything))
                return
            self.take(row, move)
