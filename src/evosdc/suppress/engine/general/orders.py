"""Orders on any table: every order is a run of the attacker's linear programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.evaluator import Order, Outcome, Prefix
from evosdc.suppress.engine.general.joint import JointProgram
from evosdc.suppress.engine.general.state import Builder
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.search import Search
from evosdc.suppress.structure.elements import Grouping, by_weight, group_cells
from evosdc.suppress.structure.unpick import unpick

Cells = NDArray[np.int64]


class ProgramEvaluator:
    """Evaluates orders by the incremental attacker's programs.

    The parameters are those of `FlowEvaluator`. All orders share one engine, whose
    solver stays warm, so they are evaluated one after another.
    """

    def __init__(
        self, problem: Problem, grouping: Grouping, search: Search, clean: bool
    ) -> None:
        self._problem, self._search, self._clean = problem, search, clean
        self._base = Builder(problem, search)
        demands = self._base.demands
        self._rows: dict[int, list[int]] = {}
        # The upper level of a cell first.
        for row in np.lexsort((-demands.sign, demands.cell)).tolist():
            self._rows.setdefault(int(demands.cell[row]), []).append(row)
        with_levels = np.array(sorted(self._rows), dtype=np.int64)
        chosen = self._chosen(with_levels, grouping.cells)
        self.elements = group_cells(problem, chosen, grouping.groups, grouping.by)
        self._element_rows = [self._rows_of(element) for element in self.elements]
        rest = by_weight(problem, np.setdiff1d(with_levels, chosen))
        self._closing = self._rows_of(rest) if grouping.cells == "unpicked" else []
        together = grouping.together and grouping.groups > 0
        self._joint = JointProgram(problem) if together else None
        self._unfinished: Builder | None = None
        self._latest: tuple[Outcome, Builder] | None = None

    @property
    def length(self) -> int:
        return len(self.elements)

    def evaluate(
        self, tasks: Sequence[tuple[Order, Prefix | None]]
    ) -> list[Outcome | None]:
        return [self._evaluate(*task) for task in tasks]

    def complete(self, outcome: Outcome, clean: bool) -> Pattern | None:
        if not clean:
            builder = self._built(outcome)
            everything = builder.demands.by_weight(self._problem.table.weight)
            builder.order = np.array(self._closing, dtype=np.int64)
            builder.cover_open()
            if builder.open_rows():
                return None
            # The judge is quick where a pattern says what it rests on.
            builder.order = everything
            builder.cover_free()
            return builder.pattern()
        builder = self._builder(outcome.secondaries)
        # Clean-up needs a witness for every level, those of the order included.
        builder.cover_open()
        if self._search.stopped():
            safe = not self._closing or not builder.open_rows()
            return builder.pattern() if safe else None
        return builder.finish("order")

    def rescue(self) -> Pattern:
        builder = self._unfinished or Builder(
            self._problem, self._search, like=self._base
        )
        builder.order = builder.demands.by_weight(self._problem.table.weight)
        return builder.finish("in a hurry")

    def _evaluate(self, order: Order, prefix: Prefix | None) -> Outcome | None:
        begin = 0 if prefix is None else prefix.shared(order)
        upto = np.zeros(len(order), dtype=np.int32)
        known = np.zeros(0, dtype=np.int64)
        if prefix is not None and begin:
            upto[:begin] = prefix.outcome.upto[:begin]
            known = prefix.outcome.secondaries[: upto[begin - 1]]
        builder = self._builder(known)
        found = [known]
        missed = False
        for place in range(begin, len(order)):
            before = builder.hidden.copy()
            self._protect(builder, self._element_rows[int(order[place])])
            if builder.open_rows():
                if self._search.stopped():
                    self._unfinished = None if begin else builder
                    return None
                missed = True
            fresh = np.flatnonzero(builder.hidden & ~before)
            found.append(fresh)
            upto[place] = (upto[place - 1] if place else 0) + len(fresh)
        secondaries = np.concatenate(found)
        if missed:
            return self._the_hard_way(secondaries, upto)
        cost = float(self._problem.cost[np.sort(secondaries)].sum())
        if self._clean:
            pattern = self.complete(Outcome(cost, secondaries, upto), True)
            if pattern is None or self._search.stopped():
                return None
            cost = pattern.cost
        outcome = Outcome(cost, secondaries, upto)
        self._latest = outcome, builder
        return outcome

    def _protect(self, builder: Builder, rows: list[int]) -> None:
        """Cover the rows of one element."""
        if self._joint is not None:
            self._joint.cover(builder, rows, self._search)
        builder.order = np.array(rows, dtype=np.int64)
        if not builder.witnesses.covered[builder.order].all():
            builder.cover_open()

    def _the_hard_way(
        self, secondaries: Cells, upto: NDArray[np.int32]
    ) -> Outcome | None:
        """A level that no program covered: out of reach, or lost to rounding.

        The builder's finish tells which; the pattern it makes is safe but says nothing
        about where in the order its cells came in, so all belong to the last place.
        """
        builder = self._builder(secondaries)
        builder.finish("order")
        if self._search.stopped():
            return None
        hidden = np.flatnonzero(builder.hidden & ~self._problem.primary)
        late = np.setdiff1d(hidden, secondaries)
        total = np.concatenate([secondaries, late])
        upto = upto.copy()
        upto[-1] = len(total)
        return Outcome(float(self._problem.cost[np.sort(total)].sum()), total, upto)

    def _built(self, outcome: Outcome) -> Builder:
        """The builder of an outcome, with its witnesses where it was the latest."""
        if self._latest is not None and self._latest[0] is outcome:
            return self._latest[1]
        return self._builder(outcome.secondaries)

    def _builder(self, secondaries: Cells) -> Builder:
        return Builder(
            self._problem,
            self._search,
            like=self._base,
            start=self._mask(secondaries),
        )

    def _mask(self, cells: Cells) -> NDArray[np.bool_]:
        hidden = np.zeros(len(self._problem.table), dtype=bool)
        hidden[cells] = True
        return hidden

    def _rows_of(self, cells: Cells) -> list[int]:
        return [row for cell in cells.tolist() for row in self._rows.get(cell, ())]

    def _chosen(self, cells: Cells, which: str) -> Cells:
        """The sensitive cells whose order is sought."""
        if which == "all":
            return np.flatnonzero(self._problem.primary)
        if which == "unpicked":
            return cells[unpick(self._problem).exposed[cells]]
        free = self._base.engine.movable(self._problem.primary)
        return cells[self._exposed(cells, free)]

    def _exposed(self, cells: Cells, free: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Which cells the primaries alone leave short, as far as time allows.

        A cell called exposed by mistake costs time only.
        """
        primary = self._problem.primary
        builder = Builder(self._problem, self._search, like=self._base)
        builder.cover_free()
        ask = builder.engine.among(primary)
        price = np.where(free, 0.0, np.inf)
        demands = builder.demands
        exposed = ~free[cells]
        for i, cell in enumerate(cells.tolist()):
            if self._search.stopped():
                exposed[i:] = True
                break
            for row in self._rows[cell]:
                if exposed[i] or builder.witnesses.covered[row]:
                    continue
                amount = float(demands.amount[row])
                move = ask(cell, int(demands.sign[row]), amount, price)
                if move is None:
                    exposed[i] = True
                else:
                    builder.witnesses.add(move, row)
        return exposed
