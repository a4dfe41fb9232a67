"""What the constructive methods share: cover all demands in order, then clean up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.boxes import Boxes, boxes_of
from evosdc.suppress.engine.general.cleanup import clean_up
from evosdc.suppress.engine.general.demands import (
    Demands,
    demands_of,
    refuse_unreachable,
)
from evosdc.suppress.engine.general.model import Move
from evosdc.suppress.engine.general.programs import Engine
from evosdc.suppress.engine.general.raising import raise_totals
from evosdc.suppress.engine.general.witness import Witnesses
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search

Cover = Callable[[int, int, float, NDArray[np.float64]], Move | None]


class Builder:
    """A pattern under construction.

    Methods cover demands in their own way with `cover_all`; `finish` covers what they
    left open, takes out what is redundant and hands the pattern over.
    """

    def __init__(
        self,
        problem: Problem,
        search: Search,
        *,
        like: Builder | None = None,
        start: NDArray[np.bool_] | None = None,
        cost: NDArray[np.float64] | None = None,
    ) -> None:
        """Start a pattern.

        Parameters
        ----------
        like
            Another builder of the same problem, whose engine is used again.
        start
            Cells hidden from the start; the primaries always are.
        cost
            What hiding a cell costs while covering; clean-up goes by the problem's.
        """
        self.problem = problem
        self.search = search
        self.engine: Engine = Engine(problem) if like is None else like.engine
        self.demands: Demands = (
            demands_of(self.engine) if like is None else like.demands
        )
        self.witnesses = Witnesses(problem, self.demands)
        self.boxes: Boxes | None = (
            boxes_of(problem, self.witnesses) if like is None else like.boxes
        )
        self.hidden = problem.primary.copy()
        if start is not None:
            self.hidden |= start & problem.hideable
        self.cost = problem.cost if cost is None else cost
        if self.boxes is not None and cost is not None:
            self.boxes = self.boxes.with_price(cost)
        self.order = self.demands.by_weight(problem.table.weight)

    def price(self) -> NDArray[np.float64]:
        """What moving each cell costs now: nothing for hidden cells."""
        return np.where(self.hidden, 0.0, self.cost)

    def open_rows(self) -> list[int]:
        """Demands without a witness, in order of weight."""
        return self.order[~self.witnesses.covered[self.order]].tolist()

    def take(self, row: int, move: Move) -> None:
        """Hide the cells of a deviation that covers a demand."""
        self.hidden[move.cells] = True
        self.witnesses.add(move, row)

    def cover_all(self, cover: Cover) -> int:
        """Cover open demands one by one until the time is up; count the failures."""
        failed = 0
        for row in self.open_rows():
            if self.witnesses.covered[row]:
                continue
            if self.search.stopped():
                break
            move = self._apply(cover, row)
            if move is None:
                failed += 1
            else:
                self.take(row, move)
        return failed

    @property
    def by_boxes(self) -> bool:
        """Whether boxes and cycles build the pattern, and programs only what is left.

        In small tables programs are quick, and cheaper in what they hide.
        """
        return self.boxes is not None and not self.engine.is_small

    def cover_free(self) -> None:
        """Cover what boxes and cycles of hidden cells cover; hide nothing more."""
        self._box_open_rows(only_hidden=True)

    def cover_open(self) -> int:
        """Cover all open demands, by boxes where they do; count the failures."""
        self.cover_free()
        if self.by_boxes:
            self._box_open_rows(only_hidden=False)
        return self.cover_all(self.engine.cheapest)

    def finish(self, event: str) -> Pattern:
        """Cover what is open, clean up, and offer the pattern to the search."""
        if self.cover_open():
            self._cover_the_hard_way()
        if self.open_rows():
            self._close_in_a_hurry()
        first = self.pattern()
        self.search.count()
        self.search.offer(first, event)
        self.hidden = clean_up(
            self.engine, self.hidden, self.witnesses, self.search, self.boxes
        )
        final = self.pattern()
        self.search.count()
        self.search.offer(final, f"{event}, cleaned up")
        return final

    def _box_open_rows(self, only_hidden: bool) -> None:
        if self.boxes is not None:
            self.boxes.cover(
                self.witnesses,
                self.hidden,
                np.array(self.open_rows(), dtype=np.int64),
                only_hidden=only_hidden,
                stopped=self.search.stopped,
            )

    def pattern(self) -> Pattern:
        """Return what is hidden now, with the deviations it rests on as hints."""
        return replace(self.problem.pattern(self.hidden), hints=self.witnesses.hints())

    def _apply(self, cover: Cover, row: int) -> Move | None:
        return cover(
            int(self.demands.cell[row]),
            int(self.demands.sign[row]),
            float(self.demands.amount[row]),
            self.price(),
        )

    def _cover_the_hard_way(self) -> None:
        """Demands that no program covered: out of reach, or lost to rounding."""
        refuse_unreachable(self.engine, self.demands, self.open_rows())
        for row in self.open_rows():
            if self.witnesses.covered[row]:
                continue
            cell, sign = int(self.demands.cell[row]), int(self.demands.sign[row])
            amount = float(self.demands.amount[row])
            _, move = self.engine.farthest(cell, sign, amount)
            if move is not None:
                self.take(row, move)

    def _close_in_a_hurry(self) -> None:
        """Time is up: boxes, then totals, and last all that may be hidden.

        With everything hidden a demand is covered if any pattern covers it.
        """
        if self.boxes is not None:
            rows = np.array(self.open_rows(), dtype=np.int64)
            self.boxes.cover(self.witnesses, self.hidden, rows, in_parts=False)
        for row in self.open_rows():
            if self.witnesses.covered[row]:
                continue
            move = self._apply(partial(raise_totals, self.engine), row)
            if move is None:
                everything = self.problem.hideable
                self.hidden |= everything
                self.witnesses.rely_on(np.flatnonzero(everything))
                return
            self.take(row, move)
