"""Make the floating-point vertex of a linear program exact.

First the solution is rounded to small denominators. Where that does not add up, the
vertex is solved again in fractions: cells at a bound are set to it, the others follow
from the equations. Most follow one after the other, from an equation with one unknown;
the rest is solved by sparse elimination. Bounds read as decimals may contradict each
other in the last digit: then a cell at its bound is moved off it by the difference.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.ledger import in_time

Number = int | Fraction
Terms = dict[int, Number]

_SMALL_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60)
_MAX_UNKNOWNS = 20_000
_ELIMINATION_STEPS = 2_000_000  # before an elimination is given up
# A value this near to its bound, as a share of the bound, counts as at the bound.
_CLOSE = 1e-9
# The second attempt counts values as at a bound that are nearer by this factor.
_NEARER = 1e-4
# Bounds that are sums of doubles are off by up to 1e-15 of their size; a change of 1e-6
# of a bound would change a deviation visibly. As a share of the bound.
_MAX_CHANGE = 1e-9


def exact_vertex(
    rows: Any,
    x: NDArray[np.float64],
    room: list[int | None],
    closeness: float,
    deadline: float | None = None,
) -> tuple[list[int], int] | None:
    """Return numerators and a denominator of an exact solution near `x`, or None.

    `x` is a solution of ``rows @ x = 0`` with ``0 <= x <= room`` (None: open), in units
    in which bounds and coefficients are whole numbers. A value within `closeness` of a
    bound counts as at the bound. Where a level is that near to the end of an interval,
    values off a bound are mistaken for values at it; then a much smaller distance is
    tried. Raises `Unfinished` after the deadline.
    """
    return (
        _rounded(rows, x, room)
        or _solved(rows, x, room, closeness, _CLOSE, deadline)
        or _solved(rows, x, room, _NEARER * closeness, _NEARER * _CLOSE, deadline)
    )


def _rounded(
    rows: Any, x: NDArray[np.float64], room: list[int | None]
) -> tuple[list[int], int] | None:
    largest = float(np.abs(x).max(initial=0.0))
    if largest > 1e12:
        return None
    weights = rows.astype(np.int64)
    for den in _SMALL_DENOMINATORS:
        near = np.rint(x * den)
        if np.abs(x * den - near).max(initial=0.0) > 0.05:
            continue
        numerators = near.astype(np.int64)
        if (weights @ numerators).any():
            continue
        whole = numerators.tolist()
        if all(
            n >= 0 and (r is None or n <= r * den)
            for n, r in zip(whole, room, strict=True)
        ):
            return whole, den
    return None


def _solved(
    rows: Any,
    x: NDArray[np.float64],
    room: list[int | None],
    closeness: float,
    share: float,
    deadline: float | None,
) -> tuple[list[int], int] | None:
    """Solve in fractions, setting values to bounds that they are close to."""
    fixed: Terms = {}
    for j, (xj, rj) in enumerate(zip(x.tolist(), room, strict=True)):
        if xj <= closeness:
            fixed[j] = 0
        elif rj is not None and xj >= rj - max(closeness, share * rj):
            fixed[j] = rj
    if len(x) - len(fixed) > _MAX_UNKNOWNS:
        return None
    indptr, factors = rows.indptr.tolist(), [int(f) for f in rows.data.tolist()]
    columns = rows.indices.tolist()
    # Columns at 0 do not occur in the equations.
    equations: list[Terms] = [
        {
            j: f
            for j, f in zip(columns[a:b], factors[a:b], strict=True)
            if fixed.get(j) != 0
        }
        for a, b in pairwise(indptr)
    ]
    least = [0] * len(x)
    solution = exact_solution(
        equations, lambda j: round(float(x[j])), fixed, least, room, closeness, deadline
    )
    if solution is None:
        return None
    if any(
        v < 0 or (r is not None and v > r) for v, r in zip(solution, room, strict=True)
    ):
        return None
    return over_one_denominator(solution)


def over_one_denominator(numbers: Sequence[Number]) -> tuple[list[int], int]:
    """Return the numerators of some numbers over their least common denominator."""
    den = lcm(*{v.denominator for v in numbers})
    return [int(v * den) for v in numbers], den


def exact_solution(
    equations: Sequence[Terms],
    near: Callable[[int], int],
    fixed: Terms,
    least: Sequence[int],
    most: Sequence[int | None],
    close: float,
    deadline: float | None = None,
) -> list[Number] | None:
    """Solve homogeneous equations exactly, or return None.

    Where the values of `fixed` columns contradict each other, some are changed, within
    `least` and `most`, by at most `close` and a billionth of the value. `near` gives
    the values of columns that are not determined. Raises `Unfinished` after the
    deadline.
    """
    value = dict(fixed)
    count = len(most)
    if not _complete(equations, near, value, count, deadline):
        changed = _without_contradiction(equations, fixed, least, most, close, deadline)
        if changed is None:
            return None
        value = changed
        if not _complete(equations, near, value, count, deadline):
            return None
    return [value[j] for j in range(len(most))]


def _complete(
    equations: Sequence[Terms],
    near: Callable[[int], int],
    value: Terms,
    count: int,
    deadline: float | None,
) -> bool:
    """Add the missing columns to `value`; False where there is no solution."""
    rest = _follow(equations, value)
    if not rest and len(value) == count:
        return True
    found = _eliminate(rest, frozenset(), deadline)
    if found is None or any(row.right for row in found.left):
        return False
    pivots = {pivot for pivot, _ in found.steps}
    for j in range(count):
        if j not in value and j not in pivots:
            value[j] = near(j)
    for pivot, row in reversed(found.steps):
        others = sum(f * value[j] for j, f in row.terms.items() if j != pivot)
        value[pivot] = _ratio(row.right - others, row.terms[pivot])
    return True


@dataclass(eq=False)
class _Row:
    """An equation between unknown columns and a number on the right."""

    terms: Terms
    right: Number


@dataclass(frozen=True, eq=False)
class _Elimination:
    """Equations solved for one column each, in order, and those that remain."""

    steps: list[tuple[int, _Row]]
    left: list[_Row]


def _follow(equations: Sequence[Terms], value: Terms) -> list[_Row]:
    """Add to `value` what equations with one unknown say; return the other equations.

    These include equations that contradict known values.
    """
    rows = []
    where: dict[int, list[_Row]] = {}
    for terms in equations:
        right: Number = 0
        unknown: Terms = {}
        for j, f in terms.items():
            if j in value:
                right -= f * value[j]
            else:
                unknown[j] = f
        row = _Row(unknown, right)
        rows.append(row)
        for j in unknown:
            where.setdefault(j, []).append(row)
    ready = [row for row in rows if len(row.terms) == 1]
    while ready:
        row = ready.pop()
        if not row.terms:
            continue
        ((column, factor),) = row.terms.items()
        value[column] = known = _ratio(row.right, factor)
        for other in where[column]:
            other.right -= other.terms.pop(column) * known
            if len(other.terms) == 1:
                ready.append(other)
    return [row for row in rows if row.terms or row.right]


def _eliminate(
    system: Iterable[_Row], held: frozenset[int], deadline: float | None
) -> _Elimination | None:
    """Eliminate all columns except those held, the shortest equations first.

    None where it takes too many steps.
    """
    live = dict(enumerate(system))
    where: dict[int, set[int]] = {}
    for i, row in live.items():
        for j in row.terms:
            where.setdefault(j, set()).add(i)

    def length(row: _Row) -> int:
        return sum(j not in held for j in row.terms)

    steps: list[tuple[int, _Row]] = []
    left: list[_Row] = []
    work = 0
    queue = [(length(row), i) for i, row in live.items()]
    heapq.heapify(queue)
    while live:
        unknown, i = heapq.heappop(queue)
        if i not in live or length(live[i]) != unknown:
            continue
        row = live.pop(i)
        for j in row.terms:
            where[j].discard(i)
        if not unknown:
            left.append(row)
            continue
        if len(steps) % 64 == 0:
            in_time(deadline)
        pivot = min(row.terms.keys() - held, key=lambda j: (len(where[j]), j))
        for number in list(where[pivot]):
            other = live[number]
            factor = _ratio(other.terms[pivot], row.terms[pivot])
            _subtract(other, row, factor)
            for j in row.terms:
                if j in other.terms:
                    where[j].add(number)
                else:
                    where[j].discard(number)
            heapq.heappush(queue, (length(other), number))
            work += len(row.terms)
        if work > _ELIMINATION_STEPS:
            return None
        steps.append((pivot, row))
    return _Elimination(steps, left)


def _subtract(row: _Row, other: _Row, factor: Number) -> None:
    """Subtract a multiple of another equation."""
    terms = row.terms
    for j, f in other.terms.items():
        new = terms.get(j, 0) - factor * f
        if new:
            terms[j] = new
        elif j in terms:
            del terms[j]
    row.right -= factor * other.right


def _without_contradiction(
    equations: Sequence[Terms],
    fixed: Terms,
    least: Sequence[int],
    most: Sequence[int | None],
    close: float,
    deadline: float | None,
) -> Terms | None:
    """Change as few fixed values as possible so that equations can hold, or None."""
    rows = [_Row(dict(terms), 0) for terms in equations]
    found = _eliminate(rows, frozenset(fixed), deadline)
    if found is None:
        return None
    value = dict(fixed)
    between = [row for row in found.left if row.terms]
    dependent: list[tuple[int, _Row]] = []
    while True:
        gaps = (
            (row, sum(f * value[j] for j, f in row.terms.items())) for row in between
        )
        row, gap = next(((row, gap) for row, gap in gaps if gap), (None, 0))
        if row is None:
            break
        free: list[tuple[bool, int, Number]] = []
        for j, f in row.terms.items():
            off = _ratio(gap, f)
            new, top = value[j] - off, most[j]
            inside = least[j] <= new and (top is None or new <= top)
            if inside and abs(float(off)) <= close + _MAX_CHANGE * float(fixed[j]):
                free.append((least[j] > 0, j, new))
        if not free:
            return None
        # Values at bounds are changed rather than those that must meet a level.
        _, column, value[column] = min(free)
        between.remove(row)
        for other in between:
            if column in other.terms:
                factor = _ratio(other.terms[column], row.terms[column])
                _subtract(other, row, factor)
        dependent.append((column, row))
    for column, row in reversed(dependent):
        others = sum(f * value[j] for j, f in row.terms.items() if j != column)
        value[column] = _ratio(-others, row.terms[column])
    return value


def _ratio(one: Number, two: Number) -> Number:
    """Divide exactly; results that are whole stay integers, which are faster."""
    if two in (1, -1):
        return one * two
    share = Fraction(one) / two
    return share.numerator if share.denominator == 1 else share
