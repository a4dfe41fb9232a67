"""Make the floating-point vertex of a linear program exact.

First the solution is rounded to small denominators. Where that does not add up, the
vertex is solved again in fractions: cells at a bound sit exactly there, the others
follow from the equations by sparse elimination.
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.ledger import in_time

Number = int | Fraction

_DENOMINATORS = (1, 2, 3, 4, 6, 12, 60)
_MOST_UNKNOWNS = 20_000
_NEARER = 1e-4
_MOST_WORK = 2_000_000  # steps of an elimination before it is given up


def exact_vertex(
    rows: Any,
    x: NDArray[np.float64],
    room: list[int | None],
    closeness: float,
    deadline: float | None = None,
) -> tuple[list[int], int] | None:
    """Return numerators and a denominator of an exact solution near `x`, or None.

    Parameters
    ----------
    rows
        Equations as CSR with a column an entry of `x`, coefficients whole numbers.
    x
        A solution of ``rows @ x = 0`` with ``0 <= x <= room``, in units in which
        bounds are whole numbers.
    room
        Upper bounds, None where open.
    closeness
        How near a bound counts as at the bound. Where a level lies that near to the end
        of an interval, cells that only come near a bound are taken for cells at it;
        then a much smaller distance is tried.
    deadline
        Moment of `evosdc.clock.moment` after which it ends with `Unfinished`.
    """
    return (
        _rounded(rows, x, room)
        or _solved(rows, x, room, closeness, 1e-9, deadline)
        or _solved(rows, x, room, _NEARER * closeness, _NEARER * 1e-9, deadline)
    )


def _rounded(
    rows: Any, x: NDArray[np.float64], room: list[int | None]
) -> tuple[list[int], int] | None:
    largest = float(np.abs(x).max(initial=0.0))
    if largest > 1e12:
        return None
    weights = rows.astype(np.int64)
    for den in _DENOMINATORS:
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
    """Solve again in fractions; near a bound is `closeness`, or a share of the room."""
    value: dict[int, Number] = {}
    for j, (xj, rj) in enumerate(zip(x.tolist(), room, strict=True)):
        if xj <= closeness:
            value[j] = 0
        elif rj is not None and xj >= rj - max(closeness, share * rj):
            value[j] = rj
    unknown = [j for j in range(len(x)) if j not in value]
    if len(unknown) > _MOST_UNKNOWNS:
        return None
    system = _system(rows, value)
    steps = _eliminate(system, deadline)
    if steps is None:
        return None
    pivots = {pivot for pivot, _, _ in steps}
    for j in unknown:
        if j not in pivots:
            value[j] = round(float(x[j]))
    for pivot, terms, rhs in reversed(steps):
        rest = sum(f * value[j] for j, f in terms.items() if j != pivot)
        value[pivot] = _ratio(rhs - rest, terms[pivot])
    for j in unknown:
        r = room[j]
        if value[j] < 0 or (r is not None and value[j] > r):
            return None
    den = lcm(*(v.denominator for v in value.values())) if value else 1
    return [int(value[j] * den) for j in range(len(x))], den


def _system(
    rows: Any, value: dict[int, Number]
) -> list[tuple[dict[int, Number], Number]]:
    """Equations of the unknowns, what is known moved to the right-hand side."""
    system = []
    indptr, indices, data = rows.indptr.tolist(), rows.indices.tolist(), rows.data
    factors = [int(f) for f in data.tolist()]
    for i in range(len(indptr) - 1):
        terms: dict[int, Number] = {}
        rhs: Number = 0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            if j in value:
                rhs -= factors[e] * value[j]
            else:
                terms[j] = factors[e]
        if terms or rhs:
            system.append((terms, rhs))
    return system


def _eliminate(
    system: list[tuple[dict[int, Number], Number]],
    deadline: float | None,
) -> list[tuple[int, dict[int, Number], Number]] | None:
    """Eliminate unknowns, shortest equations first; None where it is contradictory."""
    live = dict(enumerate(system))
    where: dict[int, set[int]] = {}
    for i, (terms, _) in live.items():
        for j in terms:
            where.setdefault(j, set()).add(i)
    steps: list[tuple[int, dict[int, Number], Number]] = []
    work = 0
    queue = [(len(terms), i) for i, (terms, _) in live.items()]
    heapq.heapify(queue)
    while live:
        length, i = heapq.heappop(queue)
        if i not in live or len(live[i][0]) != length:
            continue
        terms, rhs = live.pop(i)
        if not terms:
            if rhs:
                return None
            continue
        for j in terms:
            where[j].discard(i)
        if len(steps) % 64 == 0:
            in_time(deadline)
        pivot = min(terms, key=lambda j: len(where[j]))
        for other in list(where[pivot]):
            theirs, their_rhs = live[other]
            factor = _ratio(theirs[pivot], terms[pivot])
            for j, f in terms.items():
                new = theirs.get(j, 0) - factor * f
                if new:
                    theirs[j] = new
                    where[j].add(other)
                elif j in theirs:
                    del theirs[j]
                    where[j].discard(other)
            live[other] = (theirs, their_rhs - factor * rhs)
            heapq.heappush(queue, (len(theirs), other))
            work += len(terms)
        if work > _MOST_WORK:
            return None
        steps.append((pivot, terms, rhs))
    return steps


def _ratio(one: Number, two: Number) -> Number:
    """Divide exactly; whole numbers stay whole, which is most of them and faster."""
    if two in (1, -1):
        return one * two
    share = Fraction(one) / two
    return share.numerator if share.denominator == 1 else share
