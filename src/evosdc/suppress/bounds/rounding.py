"""Rounded cuts: what a cut says more, since a cell is hidden or not.

A cut ``sum of a_i x_i >= 1`` asks for room, and a relaxation meets it with shares of
cells. Some cells T are taken as hidden, the room that is then left to be found is
divided by a step, and coefficients are rounded so that no whole pattern is lost (mixed
integer rounding; Marchand and Wolsey 2001). With

    G(d) = floor(d) + min(1, frac(d) / f),    f = frac(b / step),    b = 1 - a(T)

every whole pattern that meets the cut has

    sum outside T of G(a_i / step) x_i + sum in T of G(-a_i / step) (1 - x_i)
        >= ceil(b / step).

Knapsack covers are a special case. No other cuts are worth as much where the room of
cells is small against the levels: on tables of 100x100 with 0.5 % sensitive cells they
close half of what is between relaxation and optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.engine.cut import Cut
from evosdc.suppress.engine.sort import order_of

# A cut is added if it is violated by this share of its length: a tolerance.
_LEAST_VIOLATION = 1e-2
# Fractions of the right-hand side too near a whole number make no safe cut: a
# numerical bound.
_NEAR_WHOLE = 1e-2
# What rounding errors in the coefficients may add up to.
_SAFE = 1e-9
# Cuts farther from being tight than this are not looked at. At half of it some that
# round well are missed, at twice of it most that are looked at do not.
_MOST_SLACK = 0.3
# Cells that suggest a step, and cells whose rounding is tried the other way, at most.
# Half of either gives weaker cuts, twice of either takes twice the time.
_STEPS = 24
_FLIPS = 16


def rounded(cuts: Sequence[Cut], x: Real) -> Iterator[Cut]:
    """Yield rounded cuts that cells hidden to the extent `x` violate."""
    for cut in cuts:
        if cut.least != 1.0:
            continue
        if cut.missing(x) < -_MOST_SLACK:
            continue
        share = x[cut.cells]
        support = np.flatnonzero(share > 1e-9)
        part = share[support]
        if not np.any((part > 1e-6) & (part < 1 - 1e-6)):
            continue
        worth, step, taken = best_rounding(cut.coefficients[support], part)
        if worth < _LEAST_VIOLATION:
            continue
        fresh = _round(cut, support[taken], step)
        if fresh is not None:
            yield fresh


def _round(cut: Cut, taken: Long, step: float) -> Cut | None:
    """Write a rounded cut, scaled so that its right-hand side is 1 again."""
    a = cut.coefficients
    left = (1.0 - float(a[taken].sum())) / step
    fraction = left - np.floor(left)
    d = a / step
    d[taken] *= -1.0
    whole = np.floor(d)
    g = whole + np.minimum(1.0, (d - whole) / fraction)
    least = np.ceil(left) - float(g[taken].sum())
    g[taken] *= -1.0
    least -= _SAFE * max(1.0, abs(least))
    keep = g > _SAFE
    # What is left out is at most this much.
    least -= float(np.maximum(g[~keep], 0.0).sum())
    if not least > 1e-3:
        return None
    return Cut(cut.cells[keep], np.minimum(g[keep] / least, 1.0))


@kernel(inner=True)
def _violation(a: Real, x: Real, taken: Flags, left: float, step: float) -> float:
    """By how much of its length a rounded cut is violated."""
    if left <= 1e-9 or step <= 1e-9:
        return -1.0
    ratio = left / step
    fraction = ratio - np.floor(ratio)
    if fraction < _NEAR_WHOLE or fraction > 1.0 - _NEAR_WHOLE:
        return -1.0
    lhs = 0.0
    length = 1e-12
    for i in range(len(a)):
        d = -a[i] / step if taken[i] else a[i] / step
        whole = np.floor(d)
        g = whole + min(1.0, (d - whole) / fraction)
        lhs += g * (1.0 - x[i] if taken[i] else x[i])
        length += g * g
    return (np.ceil(ratio) - lhs) / np.sqrt(length)


@kernel(inner=True)
def _best_step(
    a: Real, x: Real, taken: Flags, left: float, order: Long
) -> tuple[float, float]:
    """Try the steps that coefficients suggest; return the best violation and it."""
    best, best_step = -1.0, 1.0
    for i in order[:_STEPS]:
        # Cells in part, and what makes a knapsack cover of the cells that are taken.
        for kind in range(3):
            if kind == 0:
                if x[i] > 1.0 - 1e-6:
                    continue
                step = a[i]
            elif kind == 1:
                if not taken[i]:
                    continue
                step = left + a[i]
            else:
                if taken[i]:
                    continue
                step = a[i] - left
            now = _violation(a, x, taken, left, step)
            if now > best:
                best, best_step = now, step
    now = _violation(a, x, taken, left, left * 1.05)
    if now > best:
        best, best_step = now, left * 1.05
    return best, best_step


@kernel
def best_rounding(a: Real, x: Real) -> tuple[float, float, Flags]:
    """Find which cells to take as hidden, and the step, that violate most.

    Begins with the cells that are hidden by half or more, then tries the opposite for
    one cell after the other, those nearest a half first.
    """
    taken = np.zeros(len(a), np.bool_)
    left = 1.0
    for i in order_of(-x):
        if x[i] < 0.5:
            break
        if left - a[i] > 1e-6:
            taken[i] = True
            left -= a[i]
    order = order_of(np.abs(x - 0.5))
    best, step = _best_step(a, x, taken, left, order)
    for i in order[:_FLIPS]:
        if x[i] > 1.0 - 1e-6:
            continue
        other = left + a[i] if taken[i] else left - a[i]
        if other <= 1e-6:
            continue
        taken[i] = not taken[i]
        now, new_step = _best_step(a, x, taken, other, order)
        if now > best + 1e-9:
            best, step, left = now, new_step, other
        else:
            taken[i] = not taken[i]
    return best, step, taken
