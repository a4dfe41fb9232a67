"""Local search by ruin and recreate for tables of any dimensions (``ls-rebuild``).

The pattern of the incremental attacker is improved step by step: a few secondaries near
one another are published, the levels that broke are covered again by the cheapest boxes
and cycles under costs blurred at random, and the result is kept if it is not dearer.
Ruin and recreate is due to Schrimpf et al. (2000). No program is solved on the way, so
tables of 200,000 cells take hundreds of steps a second.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evosdc.suppress.engine.general.state import Builder
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import Method
from evosdc.suppress.search import Search

# Steps under one blur of the costs, and between two looks at the clock.
_TURN = 32
# Secondaries drawn each turn and published if nothing needs them.
_TIDIED = 8


@dataclass(frozen=True)
class RebuildParameters:
    """Options of ruin and recreate on any table.

    Attributes
    ----------
    steps
        Steps in all; a time or evaluation limit may end the run before.
    most
        Cells a step publishes at most.
    blur
        How far the costs that steer the search stray: the standard deviation of their
        logarithms.
    """

    steps: int = 1_000_000
    most: int = 4
    blur: float = 0.3


def run(problem: Problem, parameters: RebuildParameters, search: Search) -> Pattern:
    """Build a pattern by the incremental attacker and rebuild it bit by bit."""
    builder = Builder(problem, search)
    pattern = builder.finish("attacker programs")
    if builder.boxes is None:
        search.note("the table has no dimensions to rebuild along")
        return pattern
    walk = Walk(builder, search.rng(1), parameters)
    made = 0
    while made < parameters.steps and not search.stopped():
        if not walk.turn(min(_TURN, parameters.steps - made), search.stopped):
            break
        made += _TURN
        search.count(_TURN)
        if search.best is None or walk.cost < search.best.cost:
            search.offer(problem.pattern(builder.hidden.copy()), "rebuilt")
    final = problem.pattern(builder.hidden)
    return replace(final, hints=builder.witnesses.hints())


class Walk:
    """One pattern that is rebuilt in place and never gets dearer."""

    def __init__(
        self,
        builder: Builder,
        rng: np.random.Generator,
        parameters: RebuildParameters,
    ) -> None:
        assert builder.boxes is not None
        self._builder = builder
        self._boxes = builder.boxes
        self._rng = rng
        self._parameters = parameters
        self.cost = builder.problem.pattern(builder.hidden).cost

    def turn(self, steps: int, stopped: Callable[[], bool]) -> bool:
        """Make some steps; False where there is nothing left to publish."""
        builder, rng = self._builder, self._rng
        problem, hidden = builder.problem, builder.hidden
        secondaries = np.flatnonzero(hidden & ~problem.primary)
        if not len(secondaries):
            return False
        noise = rng.normal(0.0, self._parameters.blur, len(hidden))
        blurred = self._boxes.with_price(problem.cost * np.exp(noise))
        shuffle = rng.random(len(builder.demands))
        for _ in range(steps):
            targets = self._targets(secondaries)
            self.cost += blurred.rebuild(
                builder.witnesses, hidden, targets, shuffle, problem.cost
            )
            if stopped():
                break
        few = rng.choice(secondaries, min(_TIDIED, len(secondaries)), replace=False)
        self._boxes.drop(builder.witnesses, hidden, few[hidden[few]])
        self.cost = problem.pattern(hidden).cost
        return True

    def _targets(self, secondaries: NDArray[np.int64]) -> NDArray[np.int64]:
        """Draw a secondary, dear ones more often, and others on one of its lines."""
        problem, rng = self._builder.problem, self._rng
        table, hidden = problem.table, self._builder.hidden
        # The dearest of two draws: quick, and no cell is left out.
        pair = secondaries[rng.integers(len(secondaries), size=2)]
        cell = int(pair[np.argmax(problem.cost[pair])])
        start, end = table.columns.indptr[cell : cell + 2]
        if end == start:
            return np.array([cell])
        row = int(table.columns.indices[rng.integers(start, end)])
        line = table.matrix.indices[
            table.matrix.indptr[row] : table.matrix.indptr[row + 1]
        ]
        line = line[hidden[line] & ~problem.primary[line]]
        more = int(rng.integers(0, self._parameters.most))
        near = rng.permutation(line)[:more]
        return np.append(cell, near).astype(np.int64)


METHOD = Method(
    name="ls-rebuild",
    summary="local search: ruin, recreate by cheapest boxes and cycles",
    tables="any; improves those that have dimensions, labelled or found",
    source="after Schrimpf et al. 2000",
    parameters=RebuildParameters,
    run=run,
)
