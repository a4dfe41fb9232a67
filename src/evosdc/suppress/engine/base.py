"""The protocols of an engine: what a method may do on any table.

An *engine* knows one table. Its *states* are patterns that stay safe while they change:
hidden cells with a witness for each demand that they cover. A method that is written on
these protocols runs on two-dimensional tables and on all others; `engine_for` chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evosdc.arrays import Flags, Long, Real
from evosdc.parallel import LazyPool
from evosdc.suppress.engine.evaluator import Evaluator
from evosdc.suppress.problem.problem import Pattern, Problem
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.unpick import Grouping

# Multipliers of tables are halves, thirds and the like; this grid holds them exactly.
MULTIPLIER_GRID = 720720
Cells = Long
Mask = Flags
Costs = Real
Stopped = Callable[[], bool]


@dataclass
class Cut:
    """``sum of coefficients * x >= least``, scaled so that `least` is 1 or 0."""

    cells: Long
    coefficients: Real
    least: float = 1.0

    def missing(self, x: Real) -> float:
        """By how much a pattern violates the cut; negative where it has slack."""
        return self.least - float(self.coefficients @ x[self.cells])

    def distance(self, x: Real) -> float:
        """How far a pattern is from satisfying the cut, negative where it does."""
        return self.missing(x) / float(np.linalg.norm(self.coefficients))


def capacity_cut(cells: Long, terms: Real, primary: Flags, short: float) -> Cut | None:
    """Write that a level needs cells, each of which can give a share of it (its term).

    What sensitive cells can give is free, and no other need give more than what is left
    to be found. None where that is no more than `short`, or no cell can give any.
    """
    rest = 1.0 - float(terms[primary].sum())
    needed = ~primary & (terms > 0)
    if not rest > short or not needed.any():
        return None
    return Cut(cells[needed], np.minimum(terms[needed] / rest, 1.0))


def never() -> bool:
    """Let a search run to its end."""
    return False


@dataclass(frozen=True, eq=False)
class Demands:
    """What must be reached: `cell` movable by `amount` in direction `sign`, per row.

    Sliding levels have been turned into ordinary ones. Levels that the primaries cover
    by themselves may be left out. `attacker` is the row of `Problem.knowledge` against
    which the cell must be movable: 0, the public, unless given. Rows beyond the
    attackers stand for sums, whose first cell is `cell`.
    """

    cell: Cells
    sign: NDArray[np.int8]
    amount: Real
    attacker: Cells = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if len(self.attacker) != len(self.cell):
            object.__setattr__(self, "attacker", np.zeros(len(self.cell), np.int64))

    def __len__(self) -> int:
        return len(self.cell)

    def by_weight(self, weight: Real, rows: Cells) -> Cells:
        """Order of some rows by falling weight, both directions of a cell together."""
        cell = self.cell[rows]
        return np.lexsort((-self.sign[rows], cell, -weight[cell]))


class State(Protocol):
    """Hidden cells of a table, with a witness for each demand that they cover."""

    @property
    def hidden(self) -> Mask:
        """Which cells are hidden; not to be written to."""
        ...

    @property
    def secondaries(self) -> Cells:
        """Hidden cells that are not sensitive, in order of number."""
        ...

    @property
    def cost(self) -> float:
        """What the secondaries cost."""
        ...

    @property
    def uncovered(self) -> Cells:
        """Demands without a witness."""
        ...

    def hide(self, cells: ArrayLike) -> None:
        """Hide cells, as far as they may be; no witness is lost."""
        ...

    def publish(self, cells: ArrayLike) -> Cells:
        """Publish cells again; return the demands that lost their cover by it.

        Sensitive cells stay hidden.
        """
        ...

    def become(self, hidden: Mask) -> None:
        """Hide exactly these cells and the primaries; keep the witnesses that hold."""
        ...

    def cover(
        self,
        order: ArrayLike | None = None,
        *,
        price: Costs | None = None,
        stopped: Stopped = never,
    ) -> None:
        """Cover every demand, or those of an order, hiding cells where it takes some.

        `price` is what hiding a cell costs meanwhile, the problem's costs unless given.
        When `stopped` says so the rest is covered the quick way, which may hide much.

        Raises
        ------
        LevelError
            For levels that no pattern can give.
        """
        ...

    def repair(self, price: Costs | None = None, stopped: Stopped = never) -> int:
        """Cover every demand, by hidden cells alone wherever these do.

        Returns how many demands needed more cells.
        """
        ...

    def clean_up(
        self, order: ArrayLike | None = None, stopped: Stopped = never
    ) -> bool:
        """Publish every cell that is not needed, the most expensive first by default.

        Needs every demand covered. Returns False where it was stopped half-way; the
        pattern is safe all the same.
        """
        ...

    def copy(self) -> Self:
        """Return an independent copy."""
        ...

    def pattern(self) -> Pattern:
        """Return the hidden cells as a priced pattern, with hints where there are."""
        ...


class Separator(Protocol):
    """A source of cuts."""

    def first(self) -> Iterator[Cut]:
        """Yield the cuts of single equations."""
        ...

    def violated(self, x: Real, stopped: Stopped) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate."""
        ...


@dataclass(frozen=True)
class WalkOptions:
    """How a walker ruins and recreates.

    Attributes
    ----------
    most
        Cells a step publishes at most.
    blur
        How far the guiding costs vary: the standard deviation of their logarithms.
    turn
        Steps between two blurs.
    memory
        Steps that late acceptance looks back; 1 never accepts a more expensive pattern.
    patience
        Steps without a better pattern after which the walk begins again from one that
        is largely rebuilt, and at least twenty per secondary; 0 for never.
    slack
        How much more than the best pattern met the next may cost, as a share of what a
        secondary costs on average.
    discount
        Share by which each cell is cheaper in some of the steps: where a relaxation
        hides it.
    """

    most: int
    blur: float
    turn: int
    memory: int = 1
    patience: int = 0
    slack: float = 0.0
    discount: Costs | None = None


class Walker(Protocol):
    """One pattern on its walk through ruin and recreate."""

    @property
    def steps(self) -> int:
        """Steps made so far."""
        ...

    @property
    def best_cost(self) -> float:
        """Cost of the best pattern met."""
        ...

    def best(self) -> Pattern:
        """Return the best pattern met."""
        ...

    def turn(self, stopped: Stopped, most: int | None = None) -> bool:
        """Make the steps of one turn under freshly blurred costs, `most` at most.

        Returns False where nothing is left to publish.
        """
        ...


S = TypeVar("S", bound=State)


class Mender(Protocol[S]):
    """Changes whole patterns and makes them safe again, by the short way."""

    def child(self, parent: S, hidden: Mask) -> S:
        """Return a safe pattern that hides these cells, or as few more as it takes.

        It starts from a copy of `parent`, all of whose demands are covered; redundant
        cells are published.
        """
        ...

    def prune(self, state: S) -> None:
        """Publish every cell that no demand needs, the most expensive first."""
        ...

    def drop_in_turn(self, state: S, order: Cells) -> None:
        """Drop each secondary in turn and keep what covers the demands at less cost."""
        ...


class Engine(Protocol[S]):
    """What a method can do with one table.

    One engine serves one run: it may keep solvers warm from one question to the next.
    """

    @property
    def problem(self) -> Problem:
        """The problem of the table."""
        ...

    @property
    def is_network(self) -> bool:
        """Whether the table is a network: flows cover a demand in microseconds."""
        ...

    @property
    def has_boxes(self) -> bool:
        """Whether ruin and recreate may take boxes (in networks, paths) to rebuild."""
        ...

    @property
    def has_walks(self) -> bool:
        """Whether walks in whole units build and change patterns, in place of boxes."""
        ...

    @property
    def program_walk(self) -> WalkOptions | None:
        """How to walk by programs, where they are known to be quick."""
        ...

    @property
    def programs_pay(self) -> bool:
        """Whether programs over the whole table build and change patterns.

        They do where they are known to be quick: see `build_by_programs`.
        """
        ...

    @property
    def demands(self) -> Demands:
        """What every pattern must reach; states number their demands by its rows."""
        ...

    def build_by_programs(
        self,
        stopped: Stopped = never,
        price: Costs | None = None,
        late: Stopped | None = None,
    ) -> S | None:
        """Build a pattern by programs over the whole table, which are measured.

        When `stopped` says so, or where they take too long, the rest is covered as by
        `State.cover`; otherwise `programs_pay` from then on. `price` is that of
        `State.cover`; `late` ends covering demands against attackers, once programs
        have shown that they are quick. None where they have not and there are any.
        """
        ...

    def start(self, hidden: Mask | None = None, after: S | None = None) -> S:
        """Return a state that hides these cells and the primaries.

        Its demands are not covered yet. What a state `after` which this one comes has
        found out is used again: it may be the same object, changed, or be given up.
        """
        ...

    def restore(self, pattern: Pattern) -> S:
        """Return a state that hides what a pattern hides.

        Demands that its hints cover are covered already.
        """
        ...

    def cuts(self, pool: LazyPool[Problem] | None = None, /) -> Separator:
        """Return a source of cuts, for which a `pool` may work where it is slow."""
        ...

    def learned(self) -> Sequence[Cut]:
        """Return cuts that patterns failed so far; every safe pattern meets them."""
        ...

    def walker(
        self, state: S, rng: np.random.Generator, options: WalkOptions | None = None
    ) -> Walker | None:
        """Ruin and recreate from a state whose demands are covered; it is changed.

        None where there is nothing to walk on. The options are the engine's own unless
        given.
        """
        ...

    def mender(self, rng: np.random.Generator, stopped: Stopped = never) -> Mender[S]:
        """Return what changes whole patterns, in little time once `stopped` says so."""
        ...

    def evaluator(self, grouping: Grouping, search: Search, clean: bool) -> Evaluator:
        """Return what prices orders of the sensitive cells, cleaned up or not."""
        ...


AnyEngine = Engine[Any]


def finish(state: State, search: Search, clean_up: bool, event: str) -> Pattern:
    """Offer a covered state, clean it up if `clean_up`, and return its pattern."""
    pattern = state.pattern()
    search.count()
    search.offer(pattern, event)
    if clean_up:
        state.clean_up(stopped=search.stopped)
        pattern = state.pattern()
        search.count()
        search.offer(pattern, f"{event}, cleaned up")
    return pattern


def cover_and_finish(
    state: State, search: Search, event: str, *, price: Costs | None = None
) -> Pattern:
    """Cover what is open, offer the pattern, clean it up, and return it.

    `price` replaces the costs while demands are covered.
    """
    state.cover(price=price, stopped=search.stopped)
    return finish(state, search, True, event)


def restored(engine: AnyEngine, pattern: Pattern, search: Search) -> State:
    """Return a covered state of a pattern that was found elsewhere."""
    state: State = engine.restore(pattern)
    # Solvers differ in their last digits: what rests on them is checked again.
    state.repair(stopped=search.stopped)
    return state


def reporter(search: Search, event: str, counted: int = 0) -> Callable[[Walker], None]:
    """Return what counts a walker's steps in a run and offers what is better.

    So many of them are counted already.
    """

    def report(walker: Walker) -> None:
        nonlocal counted
        search.count(walker.steps - counted)
        counted = walker.steps
        if search.best is None or walker.best_cost < search.best.cost:
            search.offer(walker.best(), event)

    return report
