"""One sub-table of HiTaS, solved by itself: what any worker can do.

The answer depends on the table, on which of its own cells are hidden so far and on the
seed, so that it may be worked out before it is its turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import LevelError, MethodError, ProtectionFailed
from evosdc.evolution.stopping import (
    AnyOf,
    Criterion,
    EvaluationLimit,
    TargetGap,
    TimeLimit,
)
from evosdc.suppress.engine.choose import engine_for
from evosdc.suppress.pattern import Pattern
from evosdc.suppress.problem import Problem
from evosdc.suppress.registry import find_method
from evosdc.suppress.search import Search
from evosdc.suppress.structure.part_problem import PartProblems
from evosdc.suppress.structure.subtables import Subtable

Flags = NDArray[np.bool_]
# Beyond so many cells that may be hidden a general sub-table takes cut and branch long.
_SMALL = 500
# Sub-tables that want all their time are few: each may have so many times its share.
_SHARES = 3.0
_OWN_NAMES = ("hitas", "modular")


@dataclass(frozen=True)
class HitasParameters:
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
    seconds: float = 3.0
    effort: int = 60
    inherit: float | None = 0.0
    margins: float = float("inf")
    again: int = 20

    def __post_init__(self) -> None:
        for name, good in (
            ("inner", self.inner not in _OWN_NAMES),
            ("seconds", self.seconds > 0),
            ("effort", self.effort > 0),
            ("inherit", 0 <= (self.inherit or 0.0) <= 1),
            ("margins", self.margins >= 1),
            ("again", self.again >= 0),
        ):
            if not good:
                raise MethodError(
                    f"option {name} of method 'hitas' is {getattr(self, name)!r}",
                    expected="inner another method; seconds and effort above 0; "
                    "inherit none or from 0 to 1; margins 1 or more; again 0 or more",
                    hint="see: evosdc methods",
                )
        if self.inner != "auto":
            find_method(self.inner)


@dataclass(frozen=True, eq=False)
class Parts:
    """A table cut into sub-tables, which come from the top down.

    `settled_in` is the first sub-table that has each cell.
    """

    problem: Problem
    parts: list[Subtable]
    settled_in: NDArray[np.int64]
    parameters: HitasParameters
    seed: int

    @cached_property
    def cut(self) -> PartProblems:
        return PartProblems(self.problem, self.parameters.inherit or 0.0)


@dataclass(frozen=True, eq=False)
class Asked:
    """A sub-table by its number, which of its cells are hidden, and how long it has."""

    number: int
    hidden: Flags
    seconds: float


@dataclass(frozen=True, eq=False)
class Answer:
    """Which cells of a sub-table are hidden in the end; None where nothing was found.

    `forced` says that leaving settled margins published did not do.
    """

    hidden: Flags | None
    forced: bool = False


def solve_part(whole: Parts, asked: Asked, stop: Criterion | None = None) -> Answer:
    """Solve a sub-table, with its settled margins published where that can be."""
    part = whole.parts[asked.number]
    hidden = np.zeros(len(whole.problem.table), dtype=bool)
    nothing = hidden.copy()
    hidden[part.cells] = asked.hidden
    margins = whole.settled_in < asked.number
    price = whole.problem.cost
    strict = not np.isfinite(whole.parameters.margins)
    if strict:
        tries = [(margins, True), (nothing, True), (nothing, False)]
    else:
        price = np.where(margins, price * whole.parameters.margins, price)
        tries = [(nothing, True), (nothing, False)]
    if whole.parameters.inherit is None:
        tries = [(shut, False) for shut, inherit in tries if inherit]
    for step, (shut, inherit) in enumerate(tries):
        piece = whole.cut.of(part, hidden, shut, price, inherit=inherit)
        try:
            found = solve_piece(
                piece, whole.parameters, whole.seed, asked.seconds, stop
            )
        except (LevelError, ProtectionFailed):
            continue
        if found is None:
            break
        return Answer(found.hidden | asked.hidden, strict and step > 0)
    return Answer(None)


def solve_piece(
    piece: Problem,
    parameters: HitasParameters,
    seed: int,
    seconds: float,
    stop: Criterion | None = None,
) -> Pattern | None:
    """Solve a problem; None where the time was too short for a first pattern.

    Without a limit of time no clock ends it: the same seed gives the same pattern.
    """
    if not len(piece.levels) and not len(piece.levels.slide):
        return piece.pattern(piece.primary)
    timed = isfinite(seconds)
    name = _method(piece, parameters.inner, timed)
    method = find_method(name)
    if timed and name != "attacker":
        # These go on to improve and prove; the other ends by itself.
        seconds = min(parameters.seconds, _SHARES * seconds)
    search = Search(
        seed=seed,
        stop=AnyOf(
            (
                TargetGap(1e-6),
                *(() if stop is None else (stop,)),
                *((TimeLimit(seconds),) if timed else ()),
                EvaluationLimit(parameters.effort),
            )
        ),
    )
    pattern: Pattern = method.run(piece, method.configure({}), search)
    first = next(e.seconds for e in search.record.entries if e.cost is not None)
    # What is put together after the end is safe but far too dear for one part.
    return None if search.reason == "time limit" and first > seconds else pattern


def _method(piece: Problem, name: str, timed: bool) -> str:
    if name != "auto" and find_method(name).takes(piece) is None:
        return name
    if engine_for(piece).quick:
        return "hybrid"
    # Cut and branch has no end of its own that is near.
    return "optimal" if timed and piece.hideable.sum() <= _SMALL else "attacker"
