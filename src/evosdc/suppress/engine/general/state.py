"""Patterns of any table with their witnesses: programs, boxes and cycles cover demands.

`GeneralTable` is what all states of a table share; its programs stay loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evosdc.suppress.engine.base import Cells, Costs, Demands, Mask, Stopped, never
from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.cleanup import clean_up
from evosdc.suppress.engine.general.demands import demands_of, refuse_unreachable
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Programs, Question
from evosdc.suppress.engine.general.raising import raise_totals
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem

# Deviations that are remembered from one repair to the next.
_REMEMBERED = 5000


class GeneralTable:
    """A table with the attacker's programs, the demands, and boxes where it has any."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.programs: Programs = Programs(problem)
        self.demands: Demands = demands_of(self.programs)
        self.boxes: Boxes | None = boxes_of(problem, Witnesses(problem, self.demands))
        self.by_weight = self.demands.by_weight(problem.table.weight)

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
        self.witnesses = Witnesses(table.problem, table.demands)
        self.hidden: Mask = table.problem.primary.copy()
        if hidden is not None:
            self.hidden |= hidden & table.problem.hideable
        self._known: list[Move] = []
        if after is not None:
            self._known = after._known[-_REMEMBERED:]
            self._recall()

    @property
    def secondaries(self) -> Cells:
        return np.flatnonzero(self.hidden & ~self.table.problem.primary)

    @property
    def cost(self) -> float:
        return float(self.table.problem.cost[self.secondaries].sum())

    @property
    def uncovered(self) -> Cells:
        return np.flatnonzero(~self.witnesses.covered)

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

    def publish(self, cells: ArrayLike) -> Cells:
        """Publish cells again; return the demands that lost their cover by it.

        Among very many hidden cells a deviation may be overlooked: a demand is then
        said to be open which is not.
        """
        chosen = np.asarray(cells, dtype=np.int64)
        chosen = chosen[self.hidden[chosen] & ~self.table.problem.primary[chosen]]
        self.hidden[chosen] = False
        doubtful = self.witnesses.release(chosen)
        self.cover_free(doubtful)
        self.cover_by(self._among_hidden(), doubtful)
        return doubtful[~self.witnesses.covered[doubtful]]

    def become(self, hidden: Mask) -> None:
        self.hide(np.flatnonzero(hidden & ~self.hidden))
        self.publish(np.flatnonzero(self.hidden & ~hidden))

    def become_like(self, other: GeneralState) -> None:
        """Take over the hidden cells and witnesses of a state that is given up."""
        self.hidden, self.witnesses = other.hidden, other.witnesses

    def forget(self, rows: Cells) -> None:
        """Open demands again, and publish the secondaries that no other one needs."""
        self.witnesses.open(rows)
        self.publish_idle()

    def publish_idle(self) -> None:
        """Publish the secondaries that no witness uses."""
        idle = self.secondaries
        self.hidden[idle[~self.witnesses.used()[idle]]] = False

    def open_rows(self, order: Sequence[int] | Cells | None = None) -> list[int]:
        """Demands without a witness: all by weight, or those of an order."""
        rows = self.table.by_weight if order is None else np.asarray(order, np.int64)
        return rows[~self.witnesses.covered[rows]].tolist()

    def take(self, row: int, move: Move) -> None:
        """Hide the cells of a deviation that covers a demand."""
        self.hidden[move.cells] = True
        self.witnesses.add(move, row)

    def cover_by(
        self,
        question: Question,
        order: Sequence[int] | Cells | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> int:
        """Cover open demands one by one until the time is up; count the failures."""
        failed = 0
        # Kept up to date: working them out for every level takes longer than to answer.
        prices = self._prices(price)
        for row in self.open_rows(order):
            if self.witnesses.covered[row]:
                continue
            if stopped():
                break
            move = self._ask(question, row, prices)
            if move is None:
                failed += 1
            else:
                self.take(row, move)
                prices[move.cells] = 0.0
        return failed

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
        """Cover open demands, by boxes where they do; count the failures."""
        self.cover_free(order, stopped)
        boxes = self._boxes_at(price)
        if boxes is not None and self.table.by_boxes:
            self._box(boxes, order, False, stopped)
        return self.cover_by(
            self.table.programs.cheapest, order, price=price, stopped=stopped
        )

    def cover(
        self,
        order: ArrayLike | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> None:
        rows = None if order is None else np.asarray(order, dtype=np.int64)
        if self.cover_open(rows, price=price, stopped=stopped):
            self._cover_the_hard_way(self.open_rows(rows))
        if self.open_rows(rows):
            self._close_in_a_hurry(rows, price)

    def repair(self, price: Costs | None = None, stopped: Stopped = never) -> int:
        self.cover_free(stopped=stopped)
        within = self._among_hidden()
        by_boxes = self.table.by_boxes
        exposed = 0

        def question(cell: int, sign: int, amount: float, price: Costs) -> Move | None:
            nonlocal exposed
            move = within(cell, sign, amount, price)
            if move is None:
                exposed += 1
                if not by_boxes:
                    move = self.table.programs.cheapest(cell, sign, amount, price)
            if move is not None:
                self._known.append(move)
            return move

        self.cover_by(question, price=price, stopped=stopped)
        self.cover(price=price, stopped=stopped)
        return exposed

    def clean_up(
        self, order: ArrayLike | None = None, stopped: Stopped = never
    ) -> bool:
        self.hidden = clean_up(
            self.table.programs,
            self.hidden,
            self.witnesses,
            None if order is None else np.asarray(order, dtype=np.int64),
            stopped,
            self.table.boxes,
        )
        return not stopped()

    def _recall(self) -> None:
        """Take the deviations of earlier repairs whose cells are all hidden again."""
        for move in reversed(self._known):
            if self.witnesses.covered.all():
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

    def _among_hidden(self) -> Question:
        """Ask for deviations of the cells hidden now.

        Cheap ones first: clean-up then spares the dear ones.
        """
        ask = self.table.programs.among(self.hidden)
        within = np.where(self.hidden, self.table.problem.cost, np.inf)
        return lambda cell, sign, amount, _: ask(cell, sign, amount, within)

    def _prices(self, price: Costs | None) -> Costs:
        """Return what cells cost: nothing where hidden, no end where they must stay."""
        problem = self.table.problem
        cost = problem.cost if price is None else price
        return np.where(self.hidden, 0.0, np.where(problem.hideable, cost, np.inf))

    def _ask(self, question: Question, row: int, prices: Costs) -> Move | None:
        """Ask about a demand."""
        demands = self.table.demands
        return question(
            int(demands.cell[row]),
            int(demands.sign[row]),
            float(demands.amount[row]),
            prices,
        )

    def _cover_the_hard_way(self, rows: list[int]) -> None:
        """Demands that no program covered: out of reach, or lost to rounding."""
        programs, demands = self.table.programs, self.table.demands
        refuse_unreachable(programs, demands, rows)
        for row in rows:
            if self.witnesses.covered[row]:
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
                partial(raise_totals, self.table.programs), row, self._prices(price)
            )
            if move is None:
                everything = self.table.problem.hideable
                self.hidden |= everything
                self.witnesses.rely_on(np.flatnonzero(everything))
                return
            self.take(row, move)
