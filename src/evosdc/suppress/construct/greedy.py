"""The greedy heuristic: the cheapest cells of each row and column, and so on outwards.

Staggemeier et al. describe the greedy heuristics of the ONS as choosing the cheapest
cells in the equations of a sensitive cell that leave enough slack; each cell chosen
needs slack in its other equations in turn. Slack in every equation is necessary but
not sufficient, so what the attacker can still undo is repaired by programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.construct.build import Builder
from evosdc.suppress.linear.model import Move
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method, register
from evosdc.suppress.search import Search


@dataclass(frozen=True)
class GreedyParameters:
    """No options."""


def run(problem: Problem, _: GreedyParameters, search: Search) -> Pattern:
    """Give each level slack, check it among hidden cells, repair what is exposed."""
    builder = Builder(problem, search)
    greedy = _Greedy(builder)
    exposed = builder.cover_all(greedy.cover)
    if exposed:
        search.note(f"repairing {exposed} levels by programs")
    return builder.finish("greedy")


class _Greedy:
    def __init__(self, builder: Builder) -> None:
        self._builder = builder
        table = builder.problem.table
        self._rows, self._columns = table.matrix, table.columns

    def cover(
        self, cell: int, sign: int, amount: float, price: NDArray[np.float64]
    ) -> Move | None:
        """Hide what the equations ask for; return a deviation of hidden cells."""
        problem, engine = self._builder.problem, self._builder.engine
        hidden = self._builder.hidden
        within = np.where(hidden, price, np.inf)
        move = engine.cheapest(cell, sign, amount, within)
        if move is not None:
            return move
        self._spread(cell, sign, amount, hidden)
        # Prices among hidden cells keep the witness to cheap ones.
        within = np.where(hidden, problem.cost, np.inf)
        return engine.cheapest(cell, sign, amount, within)

    def _spread(
        self, cell: int, sign: int, amount: float, hidden: NDArray[np.bool_]
    ) -> None:
        """Give slack to a cell, then to every cell that was hidden for it."""
        asked: dict[tuple[int, int], float] = {}
        waiting = [(cell, sign, amount)]
        while waiting:
            cell, sign, amount = waiting.pop()
            if asked.get((cell, sign), 0.0) >= amount:
                continue
            asked[cell, sign] = amount
            start, end = self._columns.indptr[cell : cell + 2]
            for entry in range(start, end):
                waiting += self._balance(
                    int(self._columns.indices[entry]),
                    cell,
                    sign * float(self._columns.data[entry]) * amount,
                    hidden,
                )

    def _balance(
        self, row: int, cell: int, change: float, hidden: NDArray[np.bool_]
    ) -> list[tuple[int, int, float]]:
        """Hide the cheapest cells of an equation until they can undo a change in it."""
        problem = self._builder.problem
        start, end = self._rows.indptr[row : row + 2]
        cells = self._rows.indices[start:end]
        factors = self._rows.data[start:end]
        usable = problem.hideable[cells] & (cells != cell) & (factors != 0)
        cells, factors = cells[usable], factors[usable]
        falls = factors * change > 0
        room = np.where(falls, problem.down[cells], problem.up[cells])
        slack = room * np.abs(factors)
        left = abs(change) - float(slack[hidden[cells]].sum())
        fresh: list[tuple[int, int, float]] = []
        cost = np.where(hidden[cells], np.inf, problem.cost[cells])
        for at in np.lexsort((cells, cost)).tolist():
            if left <= 0 or not np.isfinite(cost[at]):
                break
            if slack[at] <= 0:
                continue
            hidden[cells[at]] = True
            share = min(float(slack[at]), left)
            fresh.append(
                (
                    int(cells[at]),
                    -1 if falls[at] else 1,
                    share / abs(float(factors[at])),
                )
            )
            left -= share
        return fresh


register(
    Method(
        name="greedy",
        summary="cheapest cells of each equation outwards from sensitive cells",
        tables="any",
        source="Staggemeier et al., greedy heuristics of the ONS",
        parameters=GreedyParameters,
        run=run,
    )
)
