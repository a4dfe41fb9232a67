"""Deviations suggested by the maker of a pattern, used only where they hold exactly.

A search knows the deviations that it relied on, which saves the judge from looking for
them. That weakens nothing: a suggestion is turned into integers and dropped unless it
keeps every equation and every bound in exact arithmetic.

Most are vertices of a linear program: steps at a bound or at a level are known exactly,
and the others follow from the equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.certificate import witness_of
from evosdc.attack.exact import Terms, exact_solution, over_one_denominator
from evosdc.attack.ledger import Ledger, Unfinished, is_over
from evosdc.attack.model import AttackModel
from evosdc.results import Certificate

Hint = tuple[NDArray[np.int64], NDArray[np.float64]]
Places = dict[tuple[int, int], list[NDArray[np.int64]]]

# Steps that differ by no more than this share are read as equal.
_EQUAL_SHARE = 1e-9
# Steps of several sizes are first read as decimals with at most so many digits after
# the point, where each is off by no more than this part of the last digit.
_MAX_DECIMALS = 12
_MAX_OFF = 1e-4
# Nodes of the integer program that makes a deviation whole: most need one. At half of
# it fewer are made whole, at twice of it those that cannot be take longer.
_ROUNDING_NODES = 8
# A step is at a bound or at a level if it is off by no more than this share of the
# largest one. Solvers are exact to about 1e-15 of it; at 1e-6 bounds of different cells
# would be confused.
_CLOSE_SHARE = 1e-9


class Suggestion:
    """A suggested deviation with its exact readings, which are computed once.

    Equations, and mostly bounds, are the same for all attackers, so that the readings
    serve each of them.
    """

    def __init__(self, hint: Hint, attacker: AttackModel) -> None:
        self.cells, self.by = hint
        self.at: list[int] = self.cells.tolist()
        self._attacker = attacker
        size = np.abs(self.by)
        # Each cell once, with a step that is finite and not 0.
        self.is_valid = bool(
            len(self.at)
            and size.all()
            and np.isfinite(size).all()
            and len(set(self.at)) == len(self.at)
        )

    def seen_by(self, attacker: AttackModel) -> Suggestion:
        """Return the suggestion for an attacker, whose bounds may be different."""
        own = self._attacker
        if attacker.up is own.up and attacker.down is own.down:
            return self
        return Suggestion((self.cells, self.by), attacker)

    def readings(self) -> Iterator[_Reading]:
        """Yield integer steps in the proportions of the deviation, likeliest first."""
        if self._plain is not None:
            yield self._plain
        if self._solved is not None:
            yield self._solved

    @cached_property
    def _plain(self) -> _Reading | None:
        """The reading as equal steps, or as steps of few digits."""
        steps = (
            np.sign(self.by).astype(int).tolist() if self.even else _decimals(self.by)
        )
        return None if steps is None else _Reading(self._attacker, self.at, steps)

    @cached_property
    def _solved(self) -> _Reading | None:
        """The reading as steps of a vertex."""
        steps = None if self.even else _vertex(self._attacker, self.at, self.by)
        return None if steps is None else _Reading(self._attacker, self.at, steps)

    @property
    def even(self) -> bool:
        """Whether all steps are of one size."""
        size = np.abs(self.by)
        return bool(size.max() <= size.min() * (1 + _EQUAL_SHARE))


def take_hints(
    ledger: Ledger, hints: Sequence[Hint], deadline: float | None = None
) -> Places:
    """Add the witnesses that suggested deviations give.

    Where one cannot be made exact by rounding, its cells are returned by the level that
    they might cover: a program over so few cells is fast.
    """
    suggestions = (Suggestion(hint, ledger.attacker) for hint in hints)
    return take_suggestions(ledger, suggestions, deadline)


def take_suggestions(
    ledger: Ledger, suggestions: Iterable[Suggestion], deadline: float | None = None
) -> Places:
    """Add the witnesses that suggestions give, until the deadline: see `take_hints`."""
    places: Places = {}
    free = ledger.attacker.free

    def over() -> bool:
        return is_over(deadline) or not (ledger.open_up or ledger.open_down)

    unread: list[Suggestion] = []
    for suggestion in suggestions:
        if over():
            break
        # It moves a cell that is published or known: no reading of it holds.
        if not suggestion.is_valid or not free[suggestion.cells].all():
            continue
        for reading in suggestion.readings():
            forth = reading.extend(ledger, 1)
            back = reading.extend(ledger, -1)
            if forth and back:
                break
        else:
            if not suggestion.even:
                unread.append(suggestion)
    # Programs over few cells are the fastest, and leave less for the others.
    for suggestion in sorted(unread, key=lambda s: len(s.at)):
        if over():
            break
        if ledger.attacker.whole and _made_whole(ledger, suggestion, deadline):
            continue
        ways = np.sign(suggestion.by).astype(int).tolist()
        for cell, way in zip(suggestion.at, ways, strict=True):
            if ledger.is_open(cell, way):
                places.setdefault((cell, way), []).append(suggestion.cells)
    return places


def _made_whole(ledger: Ledger, suggestion: Suggestion, deadline: float | None) -> bool:
    """Replace fractional steps by whole ones, in both directions.

    One deviation is a witness of up to hundreds of levels: where it has fractions and
    only whole numbers are possible, each of these would need a program of its own.
    Returns whether all open levels that it reaches are covered by whole steps.
    """
    # Checking certificates must not load a solver.
    from evosdc.attack.program import whole_move

    attacker, cells = ledger.attacker, suggestion.cells
    rows, needs = attacker.equations_over(cells), attacker.needs
    complete = True
    for way in (1, -1):
        by = way * suggestion.by
        low, high = -attacker.down_size[cells], attacker.up_size[cells].copy()
        reached = [
            (at, cell, 1 if step > 0 else -1, needs[cell][int(step < 0)])
            for at, (cell, step) in enumerate(zip(suggestion.at, by, strict=True))
            if ledger.is_open(cell, 1 if step > 0 else -1)
            and abs(step) * attacker.scale >= needs[cell][int(step < 0)] - _MAX_OFF
        ]
        if not reached:
            continue
        for at, _, sign, need in reached:
            least = -(-need // attacker.scale)
            if sign > 0:
                low[at] = least
            else:
                high[at] = -least
        at, cell, sign, need = max(reached, key=lambda level: level[3])
        try:
            moves = whole_move(
                rows,
                low,
                high,
                at,
                sign,
                -(-need // attacker.scale),
                deadline,
                _ROUNDING_NODES,
            )
        except Unfinished:
            moves = None
        if moves is None:
            complete = False
            continue
        moved = np.flatnonzero(moves)
        steps = [int(x) * attacker.scale for x in moves[moved].tolist()]
        complete &= ledger.add(cell, sign, cells[moved], steps, 1, "hint")
    return complete


def take_earlier(ledger: Ledger, earlier: Certificate) -> None:
    """Keep the witnesses of an earlier pattern that move only cells free in this one.

    Equations and bounds are those of the table, so they hold as they did.
    """
    if not len(earlier.cells):
        return
    fixed = ~ledger.attacker.free[earlier.indices]
    broken = np.logical_or.reduceat(fixed, earlier.indptr[:-1])
    for number in np.flatnonzero(~broken).tolist():
        ledger.keep(witness_of(earlier, number, "earlier rounds"))


def _decimals(by: NDArray[np.float64]) -> list[int] | None:
    """Return steps of few digits as integers in the same proportions."""
    for digits in range(_MAX_DECIMALS + 1):
        steps = by * 10.0**digits
        nearest = np.rint(steps)
        if np.abs(nearest).max() < 2.0**53 and np.abs(steps - nearest).max() < _MAX_OFF:
            whole: list[int] = nearest.astype(np.int64).tolist()
            return whole if nearest.all() else None
    return None


def _vertex(
    attacker: AttackModel, cells: list[int], by: NDArray[np.float64]
) -> list[int] | None:
    """Return integer steps in proportion, exactly at the bounds and levels near by."""
    scale = attacker.scale
    close = _CLOSE_SHARE * float(np.abs(by).max()) * scale
    indptr, rows, factors = attacker.coefficients
    equations: dict[int, Terms] = {}
    least, most = [], []
    fixed: Terms = {}
    for j, (cell, step) in enumerate(zip(cells, by.tolist(), strict=True)):
        way = 1 if step > 0 else -1
        for i in range(indptr[cell], indptr[cell + 1]):
            equations.setdefault(rows[i], {})[j] = way * factors[i]
        size = abs(step) * scale
        room = attacker.room(cell, way)
        need = attacker.needs.get(cell, (0, 0, 0))[0 if way > 0 else 1]
        at_level = need and abs(size - need) <= close
        if at_level:
            fixed[j] = need
        elif room is not None and abs(size - room) <= close:
            fixed[j] = room
        least.append(need if at_level else 0)
        most.append(room)

    def near(j: int) -> int:
        # Levels have at most the digits of a double.
        return round(Fraction(repr(abs(float(by[j])))) * scale)

    solution = exact_solution(list(equations.values()), near, fixed, least, most, close)
    if solution is None:
        return None
    numbers, _ = over_one_denominator(solution)
    return [n if step > 0 else -n for n, step in zip(numbers, by.tolist(), strict=True)]


class _Reading:
    """A deviation in integer steps, of which only multiples are used."""

    def __init__(self, attacker: AttackModel, cells: list[int], steps: list[int]):
        if attacker.whole:
            # The shortest deviation in whole numbers; multiples must be whole as well.
            part = gcd(*steps) or 1
            steps = [step // part for step in steps]
        moved = [(cell, step) for cell, step in zip(cells, steps, strict=True) if step]
        self._attacker = attacker
        self._cells, self._steps = [c for c, _ in moved], [s for _, s in moved]
        self._most: dict[int, Fraction | None] = {}

    def extend(self, ledger: Ledger, way: int) -> bool:
        """Add a multiple for the largest open level that it can reach, one way.

        False where it breaks an equation or, perhaps by rounding alone, reaches none.
        """
        rising, falling = ledger.open_up, ledger.open_down
        if way < 0:
            rising, falling = falling, rising
        needs = ledger.attacker.needs
        # The multiple of the deviation that each open level needs.
        wanted = [
            (
                Fraction(needs[c][0 if step * way > 0 else 1], abs(step)),
                c,
                1 if step * way > 0 else -1,
            )
            for c, step in zip(self._cells, self._steps, strict=True)
            if c in (rising if step > 0 else falling)
        ]
        if not wanted:
            return True
        if not self.balanced:
            return False
        if self._attacker.whole:
            wanted = [(Fraction(ceil(times)), c, sign) for times, c, sign in wanted]
        if way not in self._most:
            self._most[way] = self._times(way)
        most = self._most[way]
        reachable = [level for level in wanted if most is None or level[0] <= most]
        if not reachable:
            return False
        times, cell, sign = max(reachable)
        moves = [way * times.numerator * step for step in self._steps]
        return ledger.add(cell, sign, self._cells, moves, times.denominator, "hint")

    @cached_property
    def balanced(self) -> bool:
        """Whether every equation is kept."""
        return self._attacker.is_balanced(self._cells, self._steps)

    def _times(self, way: int) -> Fraction | None:
        """The largest multiple within the bounds of its cells; None where unbounded.

        Only cells that are tightest in double precision are compared exactly.
        """
        slacks = [
            (self._attacker.room(c, 1 if step * way > 0 else -1), abs(step))
            for c, step in zip(self._cells, self._steps, strict=True)
        ]
        bound = [(r / s, r, s) for r, s in slacks if r is not None]
        if not bound:
            return None
        near = min(ratio for ratio, _, _ in bound) * (1 + _EQUAL_SHARE)
        return min(Fraction(r, s) for ratio, r, s in bound if ratio <= near)
