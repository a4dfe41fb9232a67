"""Patterns of any table with their witnesses: programs, boxes, cycles cover demands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from evosdc.suppress.engine.base import Cells, Costs, Mask, Stopped, never
from evosdc.suppress.engine.general.boxes import Boxes
from evosdc.suppress.engine.general.model import Demand, Move
from evosdc.suppress.engine.general.programs import Question
from evosdc.suppress.engine.general.table import (
    SHORT,
    GeneralTable,
    refuse_unreachable,
)
from evosdc.suppress.engine.general.witness import Witnesses, clean_up
from evosdc.suppress.problem.problem import Pattern

# Deviations that are remembered from one repair to the next. With half as many more
# levels are checked again, with twice as many looking through them takes longer.
_MOST_REMEMBERED = 5000
# A level that no pattern gives is lowered to what can be had less this share: a
# tolerance, well above that of a solver.
_SHARE_TAKEN_OFF_LEVELS = 1e-6
# Pairs of a demand and an attacker that are looked at once time is up; the judge looks
# at all. At half of it fewer patterns that were stopped are safe from all attackers, at
# twice of it a limit of time is passed by seconds more.
_MOST_PAIRS = 500_000


# Demands by number, in order; None stands for all.
Chosen = Sequence[int] | Cells | None


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
            self.remember(after._known[-_MOST_REMEMBERED:])

    @property
    def secondaries(self) -> Cells:
        return np.flatnonzero(self.hidden & ~self.table.problem.primary)

    @property
    def cost(self) -> float:
        return self.table.problem.pattern(self.hidden).cost

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

    def open_rows(self, order: Chosen = None) -> list[int]:
        """Demands without a witness: all by weight, or those of an order."""
        if order is None:
            rows, table = self.uncovered, self.table
            weight = table.problem.table.weight
            return rows[table.demands.by_weight(weight, rows)].tolist()
        self.witnesses.follow(self.table.rows)
        chosen = np.asarray(order, np.int64)
        uncovered = ~self.witnesses.covered[chosen] & (
            self.table.rows.amount[chosen] > 0
        )
        return chosen[uncovered].tolist()

    def take(self, row: int, move: Move) -> None:
        """Hide the cells of a deviation that covers a demand."""
        self.hidden[move.cells] = True
        self.witnesses.add(move, row)

    def cover_by(
        self,
        question: Question,
        order: Chosen = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> int:
        """Cover open demands against the public in a method's own way.

        One by one until the time is up; returns how many it had no deviation for.
        """
        attacker = self.table.rows.attacker
        rows = [row for row in self.open_rows(order) if attacker[row] == 0]
        return len(self._cover_rows(question, rows, price, stopped))

    def _cover_rows(
        self,
        question: Question,
        order: Chosen = None,
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
            move = question(self.table.demand(row), prices)
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

        With `by_boxes` by boxes first. Then a deviation is sought that serves all
        attackers of a level `together`, then one by one. With `known`, levels that the
        question has no answer for are lowered to what can be had.
        """
        table = self.table
        if not table.problem.has_attackers:
            return
        while not stopped():
            self._list_unguarded()
            rows = self.uncovered
            rows = rows[table.rows.attacker[rows] > 0]
            if not len(rows):
                return
            rows = rows[np.argsort(-table.rows.amount[rows], kind="stable")]
            before = len(table.rows.cell)
            boxes = self._boxes_at(price) if by_boxes else None
            if boxes is not None:
                self.cover_free(rows, stopped)
                self._box(boxes, rows, stopped=stopped)
                table.add(self.witnesses.unguarded())
                if len(table.rows.cell) > before:
                    continue  # boxes come first for those as well
                rows = rows[~self.witnesses.covered[rows]]
            self._cover_together(together or question, rows, price, stopped)
            failed = self._cover_rows(question, rows, price, stopped)
            if known:
                for row in failed:
                    if not stopped():
                        self._lower(row)
            elif failed and before == len(table.rows.cell):
                return

    def _list_unguarded(self, most: float = np.inf) -> None:
        """Add the demands of attackers against whom witnesses of the public fail."""
        self.table.add(self.witnesses.unguarded(most))
        self.witnesses.follow(self.table.rows)
        self._recall()

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
        for row in rows[~self.table.is_sum(rows)].tolist():
            key = int(demands.cell[row]), int(demands.sign[row])
            levels.setdefault(key, []).append(row)
        for together in levels.values():
            still = self.open_rows(together)
            if len(still) < 2 or stopped():
                continue
            move = question(self.table.demand(*still), prices)
            if move is not None:
                self.take(still[0], move)
                prices[move.cells] = 0.0

    def _lower(self, row: int) -> None:
        """Cover as much of a level against an attacker as any pattern gives."""
        if self.witnesses.covered[row]:
            return
        table, demand = self.table, self.table.demand(row)
        amount = demand.amount
        far, move = table.programs.farthest(demand)
        if far >= amount * (1 - SHORT) and move is not None:
            self.take(row, move)  # only rounding kept it from being covered
            return
        table.lower(
            row,
            far * (1 - _SHARE_TAKEN_OFF_LEVELS)
            if far > _SHARE_TAKEN_OFF_LEVELS * amount
            else 0.0,
        )
        self.witnesses.follow(table.rows)

    def cover_free(
        self,
        order: Chosen = None,
        stopped: Stopped = never,
    ) -> None:
        """Cover what boxes and cycles of hidden cells cover; hide nothing more."""
        self._box(self.table.boxes, order, only_hidden=True, stopped=stopped)

    def cover_open(
        self,
        order: Chosen = None,
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
        self._box(boxes, order, stopped=stopped)
        self._walk(order, price, stopped)
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
            self._cover_by_farthest(self._public(self.open_rows(rows)))
            self._cover_attackers(
                self.table.programs.cheapest, price, stopped, known=True
            )
        if self.open_rows(rows):
            self._close_quickly(rows, price)
        while stopped():
            # Who stops gets a pattern that is safe from every attacker all the same.
            self._list_unguarded(_MOST_PAIRS)
            if not len(self.uncovered):
                return
            self._close_quickly(None, price)

    def repair(self, price: Costs | None = None, stopped: Stopped = never) -> int:
        self.cover_free(stopped=stopped)
        within = self._among_hidden()
        by_boxes = self.table.by_boxes
        exposed = 0

        def question(demand: Demand, price: Costs) -> Move | None:
            nonlocal exposed
            move = within(demand, price)
            if move is None:
                exposed += 1
                if not by_boxes:
                    move = self.table.programs.cheapest(demand, price)
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
        boxes: Boxes | None,
        order: Chosen,
        *,
        only_hidden: bool = False,
        in_parts: bool = True,
        stopped: Stopped = never,
    ) -> None:
        """Cover open demands by boxes, where there are any."""
        if boxes is None:
            return
        boxes.cover(
            self.witnesses,
            self.hidden,
            np.array(self.open_rows(order), dtype=np.int64),
            only_hidden=only_hidden,
            in_parts=in_parts,
            stopped=stopped,
        )

    def _walk(self, order: Chosen, price: Costs | None, stopped: Stopped) -> None:
        """Cover open demands by walks, where there are any."""
        walks = self.table.walks
        if walks is not None:
            cost = self.table.problem.cost if price is None else price
            walks.cover(self, self.open_rows(order), cost, stopped)

    def _public(self, rows: list[int]) -> list[int]:
        """Those of some demands that are against the public, and those on sums."""
        attacker, of_sum = self.table.rows.attacker, self.table.is_sum(rows)
        return [
            row
            for row, is_sum in zip(rows, of_sum, strict=True)
            if is_sum or not attacker[row]
        ]

    def _among_hidden(self) -> Question:
        """Ask for deviations of the cells hidden now.

        Cheap ones first: clean-up can then publish the expensive ones.
        """
        ask = self.table.programs.among(self.hidden)
        within = np.where(self.hidden, self.table.problem.cost, np.inf)
        return lambda demand, _: ask(demand, within)

    def _prices(self, price: Costs | None) -> Costs:
        """Return what cells cost: nothing where hidden, infinite where fixed."""
        problem = self.table.problem
        cost = problem.cost if price is None else price
        return np.where(self.hidden, 0.0, np.where(problem.hideable, cost, np.inf))

    def _cover_by_farthest(self, rows: list[int]) -> None:
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
            _, move = programs.farthest(self.table.demand(row))
            if move is not None:
                self.take(row, move)

    def _close_quickly(self, order: Cells | None, price: Costs | None) -> None:
        """Cover demands when the time is up: by boxes, by totals, last by all cells.

        With everything hidden a demand is covered if any pattern covers it.
        """
        table = self.table
        self._box(self._boxes_at(price), order, in_parts=False)
        for row in self.open_rows(order):
            if self.witnesses.covered[row]:
                continue
            price_now = self._prices(price)
            move = table.programs.hide_totals(table.demand(row), price_now)
            if move is None:
                everything = table.problem.hideable
                self.hidden |= everything
                self.witnesses.rely_on(np.flatnonzero(everything))
                return
            self.take(row, move)
