"""Cuts of networks inside a table that is none: its planes, and more of the kind.

An attacker who knows only some of the equations is weaker, so every cut of a part of
the equations is one of the table. Where they form a network, cuts are minimum cuts and
bridges are found by maximum flows, in microseconds; only what they leave open needs the
attacker's programs, which take milliseconds to seconds each. Bridges are asked for
last: one flow per hidden cell adds up, and combined equations find most of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.network.cuts import NetworkCuts
from evosdc.suppress.problem.problem import Problem
from evosdc.suppress.structure.subnetworks import moving_equations, subnetworks

# Sets of equations that are looked at: the three pairs of flat dimensions, and more
# where trees give a cell up to six equations. With half as many, planes of such tables
# are left to programs; twice as many repeat one another.
_MOST_SETS = 12
# A round ends with the first set that has given so many cuts. At half of it there are
# more relaxations, at twice of it more cuts that one relaxation would have spared.
_CUTS_PER_ROUND = 50
# A set is left where it has given so many. Half as many take more rounds, and most of
# twice as many would be of use for one level only.
_CUTS_PER_SET = 500


class PlaneCuts:
    """Find the cuts that a fractional pattern violates in parts that are networks."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._packings = subnetworks(problem, _MOST_SETS)
        self._parts: list[NetworkCuts] = []
        self._next = 0

    def violated(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield cuts that cells hidden to the extent `x` violate.

        A round goes on where the last one ended; one without cuts has asked every set.
        Sets are packed when it is their turn for the first time.
        """
        found = asked = 0
        while found < _CUTS_PER_ROUND and not stopped():
            if self._next >= len(self._parts):
                rows = next(self._packings, None)
                if rows is not None:
                    self._parts.append(NetworkCuts(_part(self._problem, rows)))
                else:
                    self._next = 0
            if asked == len(self._parts):
                return
            asked += 1
            before = found
            part = self._parts[self._next]
            for cut in part.violated(x, stopped, _CUTS_PER_SET, bridges=False):
                found += 1
                yield cut
            # A set that has more to give has the next round too.
            if found - before < _CUTS_PER_SET:
                self._next += 1

    def bridges(self, x: Real, stopped: Callable[[], bool]) -> Iterator[Cut]:
        """Yield bridge cuts of the sets packed so far, until one has given some."""
        for part in self._parts:
            found = 0
            for cut in part.bridges(x, stopped):
                found += 1
                yield cut
            if found or stopped():
                return


def _part(problem: Problem, rows: Long) -> Problem:
    """Return the problem of an attacker who knows some of the equations only."""
    table = problem.table
    matrix = moving_equations(problem, rows)
    known = replace(table, matrix=matrix, rhs=np.asarray(matrix @ table.value))
    return replace(problem, table=known)
