"""A hyper-heuristic: which low-level move to make next is what it learns.

Staggemeier et al. name hyper-heuristics without saying which. Here moves under the
relaxed check are chosen by the choice function of Cowling, Kendall & Soubeiga (2000),
by adaptive chances, or at random for comparison. Each round changes a safe pattern by
one heuristic and makes it safe again, so that what is learned is the strict gain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.options import option
from evosdc.suppress.papers.relaxed_moves import (
    ANYWHERE,
    EXPENSIVE,
    TOGETHER,
    MoveChoice,
    move,
)
from evosdc.suppress.papers.relaxed_search import RelaxedOptions, RelaxedSearch
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.registry import Method
from evosdc.suppress.run.search import Search


@dataclass(frozen=True)
class LowLevel:
    """A low-level heuristic: what it publishes, and what fills the gap.

    `way` is a way of `move` to choose cells. `rule` is a greedy rule under the relaxed
    check, empty where the gap is left to the strict repair.
    """

    name: str
    way: int
    rule: str = ""
    candidates: int = 1
    ruin: bool = False
    may_hide: bool = True


LOW_LEVEL = (
    LowLevel("publish", EXPENSIVE, "cheapest", may_hide=False),
    LowLevel("swap, cheapest", EXPENSIVE, "cheapest"),
    LowLevel("swap, per unit", EXPENSIVE, "per-unit"),
    LowLevel("swap, largest", EXPENSIVE, "largest"),
    LowLevel("swap, ahead", EXPENSIVE, "ahead"),
    LowLevel("ruin an equation, ahead", TOGETHER, "ahead", ruin=True),
    LowLevel("ruin an equation, drawn", TOGETHER, "ahead", 3, ruin=True),
    LowLevel("ruin anywhere, drawn", ANYWHERE, "ahead", 3, ruin=True),
    LowLevel("ruin anywhere, repaired", ANYWHERE, ruin=True),
    LowLevel("ruin expensive cells, repaired", EXPENSIVE, ruin=True),
    LowLevel("ruin an equation, repaired", TOGETHER, ruin=True),
)


class RandomChoice:
    """Chooses among low-level heuristics and learns nothing: what others must beat."""

    def __init__(self, count: int) -> None:
        self._count = count

    def choose(self, rng: np.random.Generator) -> int:
        """Return the number of the heuristic to try next."""
        return int(rng.integers(self._count))

    def learn(self, heuristic: int, gain: float) -> None:
        """Take note of what a heuristic gained."""


class ChoiceFunction(RandomChoice):
    """Recent gain, recent gain after the last heuristic, and moves since its last turn.

    Gains are shares of the cost. The weights follow Drake, Ozcan & Burke (2012): gain
    counts in full after an improvement and ever less without one, when waiting counts.
    """

    def __init__(self, count: int) -> None:
        self._alone = np.zeros(count)
        self._after = np.zeros((count, count))
        self._waited = np.zeros(count)
        self._last = 0
        self._phi = 0.99

    def choose(self, rng: np.random.Generator) -> int:
        worth = self._phi * (self._alone + self._after[self._last])
        worth += (1 - self._phi) * self._waited
        # Waiting makes ties rare; those there are go to a random one.
        best = np.flatnonzero(worth >= worth.max())
        return int(best[rng.integers(len(best))])

    def learn(self, heuristic: int, gain: float) -> None:
        phi, last = self._phi, self._last
        self._alone[heuristic] = gain + phi * self._alone[heuristic]
        self._after[last, heuristic] = gain + phi * self._after[last, heuristic]
        self._phi = 0.99 if gain > 0 else max(0.01, phi - 0.01)
        # In thousandths: what a move gains is a small share of the cost as well.
        self._waited += 1e-3
        self._waited[heuristic] = 0.0
        self._last = heuristic


class AdaptiveChances(RandomChoice):
    """Chances that follow the mean gain, with a floor for each heuristic."""

    def __init__(self, count: int) -> None:
        self._gain = np.zeros(count)

    def choose(self, rng: np.random.Generator) -> int:
        total = self._gain.sum()
        count = len(self._gain)
        share = self._gain / total if total > 0 else np.full(count, 1 / count)
        return int(rng.choice(count, p=0.8 * share + 0.2 / count))

    def learn(self, heuristic: int, gain: float) -> None:
        self._gain[heuristic] += 0.1 * (max(0.0, gain) - self._gain[heuristic])


SELECTORS: dict[str, type[RandomChoice]] = {
    "choice": ChoiceFunction,
    "adaptive": AdaptiveChances,
    "random": RandomChoice,
}


@dataclass(frozen=True)
class HyperParameters(RelaxedOptions):
    """Options of the hyper-heuristic; the document gives no figures.

    Attributes
    ----------
    selection
        choice (choice function), adaptive (chances by reward) or random.
    rounds
        Rounds in all; a time or evaluation limit may end the run before.
    patience
        Rounds without a better pattern before the run ends.
    moves
        Moves under the relaxed check between two strict ones, at most.
    most
        Cells a ruin publishes at most.
    deviation
        How much more than the best a pattern to go on from may cost, as a share.
    """

    selection: str = option("choice", known=SELECTORS)
    rounds: int = option(10_000, least=1)
    patience: int = option(300, least=1)
    moves: int = option(5, least=1)
    most: int = option(4, least=1)
    deviation: float = option(0.005, least=0)


class _Moves:
    """The low-level heuristics, each ending in a safe pattern."""

    def __init__(
        self,
        relaxed: RelaxedSearch,
        parameters: HyperParameters,
        rng: np.random.Generator,
    ) -> None:
        self._relaxed = relaxed
        self._parameters = parameters
        self._rng = rng
        self._ahead: MoveChoice = relaxed.choice("ahead")
        self._live = relaxed.build(self._ahead)
        self._choices: list[MoveChoice | None] = [
            relaxed.choice(low.rule, low.candidates, rng=rng) if low.rule else None
            for low in LOW_LEVEL
        ]

    def make(self, now: Pattern, heuristic: int, event: str) -> Pattern:
        """Change a pattern by a heuristic and make it safe."""
        low, choice = LOW_LEVEL[heuristic], self._choices[heuristic]
        if choice is None:
            hidden, gone = now.hidden.copy(), self._pick(now, low.way)
            hidden[gone] = False
        else:
            hidden = self._move(now, low, choice)
            gone = np.flatnonzero(now.hidden & ~hidden)
        return self._relaxed.repair(hidden, event, gone, passed=choice is not None)

    def _move(self, now: Pattern, low: LowLevel, choice: MoveChoice) -> Flags:
        """Make a few moves under the relaxed check; none may cost much more."""
        relaxed, live = self._relaxed, self._live
        relaxed.restart(live, now.hidden, self._ahead)
        ceiling = (1 + 2 * self._parameters.deviation) * float(live.total[0])
        for _ in range(int(self._rng.integers(1, self._parameters.moves + 1))):
            many = self._many() if low.ruin else 1
            move(relaxed.frame, live, choice, low.way, -1, many, low.may_hide, ceiling)
        return live.hidden.copy()

    def _pick(self, now: Pattern, way: int) -> Long:
        """Choose secondaries to publish."""
        problem, rng = self._relaxed.problem, self._rng
        cells = np.flatnonzero(now.hidden & ~problem.primary)
        if way == TOGETHER:
            table = problem.table
            start = int(cells[rng.integers(len(cells))])
            rows = table.columns[:, [start]].indices
            row = int(rows[rng.integers(len(rows))])
            cells = np.intersect1d(cells, table.matrix[[row]].indices)
        chance = problem.cost[cells] if way == EXPENSIVE else np.ones(len(cells))
        # A weighted draw without replacement by exponential keys.
        keys = rng.exponential(size=len(cells)) / np.maximum(chance, 1e-300)
        return np.sort(cells[np.argsort(keys, kind="stable")[: self._many()]])

    def _many(self) -> int:
        return int(self._rng.integers(1, self._parameters.most + 1))


def run_hyper(problem: Problem, parameters: HyperParameters, search: Search) -> Pattern:
    """Run the hyper-heuristic from the better of a greedy and an attacker's pattern."""
    relaxed = RelaxedSearch(problem, search, parameters.check)
    now = relaxed.repair(relaxed.build(relaxed.choice("ahead")).hidden, "greedy")
    if relaxed.repair.affordable():
        bare = relaxed.repair(problem.primary, "strict check alone", passed=False)
        now = min(now, bare, key=lambda pattern: pattern.cost)
    rng = search.rng(1)
    moves = _Moves(relaxed, parameters, rng)
    selector = SELECTORS[parameters.selection](len(LOW_LEVEL))
    used = np.zeros(len(LOW_LEVEL), dtype=np.int64)
    held, best = 0, now.cost
    for number in range(parameters.rounds):
        over = held >= parameters.patience or not now.cost > 0
        if over or not relaxed.repair.affordable():
            break
        heuristic = selector.choose(rng)
        found = moves.make(now, heuristic, f"round {number + 1}")
        used[heuristic] += 1
        selector.learn(heuristic, max(0.0, now.cost - found.cost) / now.cost)
        held = 0 if found.cost < best else held + 1
        best = min(best, found.cost)
        if found.cost <= best * (1 + parameters.deviation):
            now = found
        search.generations += 1
    share = used / max(1, used.sum())
    named = zip(LOW_LEVEL, share.tolist(), strict=True)
    shares = ", ".join(f"{low.name} {100 * one:.0f} %" for low, one in named)
    search.note(f"choice shares: {shares}")
    return relaxed.answer()


METHOD = Method(
    name="hyper",
    summary="hyper-heuristic: learns which low-level moves to make",
    source="Cowling et al. 2000; Staggemeier et al., hyper-heuristics of the ONS",
    parameters=HyperParameters,
    run=run_hyper,
)
