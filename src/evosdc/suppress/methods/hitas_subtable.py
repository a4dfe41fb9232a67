"""One sub-table of HiTaS, solved by itself: what any worker can do.

The answer depends on the table, on which of its own cells are hidden so far and on the
seed, so that it may be worked out before it is its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np

from evosdc.arrays import Flags, Long
from evosdc.errors import LevelError, MethodError, ProtectionFailed
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    EvaluationLimit,
    TargetGap,
    TimeLimit,
)
from evosdc.options import MethodOptions, option
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.problem.pattern import Pattern
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.run.registry import find_method
from evosdc.suppress.run.search import Search
from evosdc.suppress.structure.part_problem import PartProblems
from evosdc.suppress.structure.subtables import Subtable, subtables

# Beyond so many cells that may be hidden a general sub-table takes cut and branch long.
_SMALL = 500
# Sub-tables that want all their time are few: each may have so many times its share.
_SHARES = 3.0
_OWN_NAMES = ("hitas", "modular")


@dataclass(frozen=True)
class HitasParameters(MethodOptions):
    """Options of HiTaS.

    Attributes
    ----------
    inner
        The method that solves a sub-table; auto takes the best for each: the hybrid for
        two dimensions, cut and branch for others while they are small and the run has
        a limit of time, else attacker.
    seconds
        Most seconds for one sub-table, where the method improves what it has and the
        run has a limit of time.
    effort
        Most evaluations of the inner method for one sub-table.
    inherit
        How far secondaries of one sub-table must be movable in the others, as a share
        of their value; 0 asks only that nobody can work them out exactly, as published;
        none leaves them to the check of the whole.
    margins
        How many times its cost a margin costs that was left published higher up; inf
        hides such a margin only where nothing else protects, as published.
    again
        How often a sub-table may be solved again.
    """

    inner: str = "auto"
    seconds: float = option(3.0, above=0)
    effort: int = option(60, least=1)
    inherit: float | None = option(0.0, least=0, most=1)
    margins: float = option(float("inf"), least=1)
    again: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inner in _OWN_NAMES:
            raise MethodError(
                f"option inner is {self.inner!r}", expected="auto or another method"
            )
        if self.inner != "auto":
            find_method(self.inner)


@dataclass(frozen=True, eq=False)
class Subtables:
    """A table cut into sub-tables, which come from the top down."""

    problem: Problem
    parameters: HitasParameters
    seed: int
    tables: list[Subtable]

    @classmethod
    def of(cls, problem: Problem, parameters: HitasParameters, seed: int) -> Subtables:
        """Cut the table of a problem."""
        return cls(problem, parameters, seed, subtables(problem.table))

    def __len__(self) -> int:
        return len(self.tables)

    @cached_property
    def problems(self) -> PartProblems:
        """What makes the problems of sub-tables."""
        return PartProblems(self.problem, self.parameters.inherit or 0.0)

    def entries(self) -> tuple[Long, Long]:
        """Each cell of each sub-table, and the number of the sub-table."""
        cells = [table.cells for table in self.tables]
        owner = np.repeat(np.arange(len(self)), [len(each) for each in cells])
        return np.concatenate([np.empty(0, np.int64), *cells]), owner

    @cached_property
    def settled_in(self) -> Long:
        """The first sub-table that has each cell: it settles the cell."""
        first = np.full(len(self.problem.table), len(self), dtype=np.int64)
        np.minimum.at(first, *self.entries())
        return first


@dataclass(frozen=True, eq=False)
class SubtableTask:
    """A sub-table by its number, which of its cells are hidden, and how long it has."""

    number: int
    hidden: Flags
    seconds: float


@dataclass(frozen=True, eq=False)
class SubtableAnswer:
    """Which cells of a sub-table are hidden in the end; None where nothing was found.

    `forced` says that leaving settled margins published did not do.
    """

    hidden: Flags | None
    forced: bool = False


def solve_subtable(
    whole: Subtables, task: SubtableTask, stop: Criterion | None = None
) -> SubtableAnswer:
    """Solve a sub-table, with its settled margins published where that can be."""
    parameters, price = whole.parameters, whole.problem.cost
    table = whole.tables[task.number]
    hidden = np.zeros(len(whole.problem.table), dtype=bool)
    nothing = hidden.copy()
    hidden[table.cells] = task.hidden
    margins = whole.settled_in < task.number
    strict = not isfinite(parameters.margins)
    tries = [(nothing, True), (nothing, False)]
    if strict:
        tries.insert(0, (margins, True))
    else:
        price = np.where(margins, price * parameters.margins, price)
    if parameters.inherit is None:
        tries = [(shut, False) for shut, inherit in tries if inherit]
    for step, (shut, inherit) in enumerate(tries):
        problem = whole.problems.of(table, hidden, shut, price, inherit=inherit)
        try:
            found = solve_problem(problem, parameters, whole.seed, task.seconds, stop)
        except (LevelError, ProtectionFailed):
            continue
        if found is None:
            break
        return SubtableAnswer(found.hidden | task.hidden, strict and step > 0)
    return SubtableAnswer(None)


def solve_problem(
    problem: Problem,
    parameters: HitasParameters,
    seed: int,
    seconds: float,
    stop: Criterion | None = None,
) -> Pattern | None:
    """Solve a problem; None where the time was too short for a first pattern.

    Without a limit of time no clock ends it: the same seed gives the same pattern.
    """
    if not len(problem.levels) and not len(problem.levels.slide):
        return problem.pattern(problem.primary)
    timed = isfinite(seconds)
    name = _method(problem, parameters.inner, timed)
    method = find_method(name)
    if timed and name != "attacker":
        # These go on to improve and prove; the other ends by itself.
        seconds = min(parameters.seconds, _SHARES * seconds)
    criteria: list[Criterion] = [TargetGap(1e-6), EvaluationLimit(parameters.effort)]
    if timed:
        criteria.insert(1, TimeLimit(seconds))
    if stop is not None:
        criteria.insert(1, stop)
    search = Search(seed=seed, stop=AnyOf(tuple(criteria)))
    pattern: Pattern = method.run(problem, method.configure({}), search)
    first = next(e.seconds for e in search.record.entries if e.cost is not None)
    # What is put together after the end is safe but far too expensive for a sub-table.
    return None if search.reason == "time limit" and first > seconds else pattern


def _method(problem: Problem, name: str, timed: bool) -> str:
    if name != "auto" and find_method(name).takes(problem) is None:
        return name
    if engine_for(problem).is_network:
        return "hybrid"
    # Cut and branch has no end of its own that is near.
    return "optimal" if timed and problem.hideable.sum() <= _SMALL else "attacker"
