"""Cuts by rounding: a single cut, or a combination of cuts, since cells are whole.

`rounded`: a cut ``sum of a_i x_i >= 1`` requires capacity, and a relaxation meets it
with shares of cells. Some cells T are taken as hidden, the capacity that is then still
required is divided by a step, and coefficients are rounded so that no whole pattern is
lost (mixed integer rounding; Marchand and Wolsey 2001). With

    G(d) = floor(d) + min(1, frac(d) / f),    f = frac(b / step),    b = 1 - a(T)

every whole pattern that meets the cut has

    sum outside T of G(a_i / step) x_i + sum in T of G(-a_i / step) (1 - x_i)
        >= ceil(b / step).

Knapsack covers are a special case. No other cuts are worth as much where capacities are
small against the levels: on tables of 100x100 with 0.5 % sensitive cells they close
half of the gap between relaxation and optimum.

`gomory_cuts`: in a basic solution of the master a fractional cell is a combination of
cuts that hold with equality. Rounding that combination gives an inequality that every
whole pattern meets and the solution violates (Gomory 1960, the mixed integer cut).
Where capacities are ample, cuts only require that cells be connected, single ones leave
nothing to round, and these combinations (odd sets among them) are what separates the
relaxation from the optimum. The cuts hold for any multipliers, so these are rounded to
a grid, and the right-hand side is lowered a little: the cut is valid whatever the
tolerances of the solver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.bounds.master import Master, entries
from evosdc.suppress.engine.base import MULTIPLIER_GRID, Cut
from evosdc.suppress.structure.primitives import order_of

# A cut is added if it is violated by this share of its length: a tolerance.
_MIN_VIOLATION = 1e-2
# Fractions of the right-hand side too near a whole number make no safe cut: a
# numerical bound.
_MIN_FRACTION = 1e-2
# What rounding errors in the coefficients may add up to.
_ROUNDING_TOLERANCE = 1e-9
# Cuts farther from being tight than this are not looked at. At half of it some that
# round well are missed, at twice of it most that are looked at do not.
_MOST_SLACK = 0.3
# Cells that suggest a step, and cells whose rounding is tried the other way, at most.
# Half of either gives weaker cuts, twice of either takes twice the time.
_STEPS = 24
_FLIPS = 16
# Cells this far from whole are tried, so many in one round. Half as many cells give
# weaker rounds; twice as many take longer and give cuts that say the same.
_FRACTIONAL = 0.02
_CELLS_PER_ROUND = 100
# Fractions of the right-hand side too near a whole number make weak, unsafe cuts: a
# numerical bound.
_GOMORY_MIN_FRACTION = 0.02
# A cut is added if it is violated by this share of its length: a tolerance.
_GOMORY_MIN_VIOLATION = 1e-3
# Coefficients below are left out, and the right-hand side is lowered by this share: a
# tolerance.
_COEFFICIENT_TOLERANCE = 1e-7
# Coefficients may not be larger than this many times the right-hand side, so that the
# tolerance above covers their rounding.
_LARGEST_RATIO = 1e4
# Cells of a combination at most. At half of it large tables get hardly any, at twice of
# it each takes longer than it saves.
_MOST_CELLS = 3000
# With half as many cuts the bound rises more slowly, twice as many overlap.
_CUTS_PER_ROUND = 40


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
        if worth < _MIN_VIOLATION:
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
    least -= _ROUNDING_TOLERANCE * max(1.0, abs(least))
    keep = g > _ROUNDING_TOLERANCE
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
    if fraction < _MIN_FRACTION or fraction > 1.0 - _MIN_FRACTION:
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


def gomory_cuts(master: Master) -> Iterator[Cut]:
    """Yield combinations of the master's cuts that its solution violates."""
    # Dropped rows have cost the LP its inverse; it has it back at once.
    if not master.solve():
        return
    x = master.fractions()
    multipliers = _multipliers(master)
    if not len(multipliers):
        return
    rows, least, whole = _rows(master, x)
    combined = np.asarray((rows.T @ multipliers.T).T)
    found: list[tuple[float, Cut]] = []
    for at, multiplier in enumerate(multipliers):
        if np.count_nonzero(combined[at]) > _MOST_CELLS:
            continue
        cut = _gomory_cut(combined[at], multiplier, rows, least, whole, x)
        if cut is None or len(cut.cells) > _MOST_CELLS:
            continue
        length = float(
            np.linalg.norm(cut.coefficients[x[cut.cells] > _COEFFICIENT_TOLERANCE])
        )
        violation = cut.missing(x) / max(length, _COEFFICIENT_TOLERANCE)
        if violation > _GOMORY_MIN_VIOLATION:
            found.append((violation, cut))
    found.sort(key=lambda pair: -pair[0])
    for _, cut in found[:_CUTS_PER_ROUND]:
        yield cut


def _multipliers(master: Master) -> Real:
    """What combines the rows of the master to a fractional cell, one row per cell."""
    basic = master.basic_columns()
    value = np.where(basic >= 0, master.values[np.maximum(basic, 0)], 0.0)
    off = np.minimum(value, 1.0 - value)
    places = np.flatnonzero(off > _FRACTIONAL)
    places = places[np.argsort(-off[places], kind="stable")[:_CELLS_PER_ROUND]]
    found = [master.inverse_row(int(place)) for place in places]
    return np.rint(np.array(found) * MULTIPLIER_GRID) / MULTIPLIER_GRID


def _rows(master: Master, x: Real) -> tuple[sparse.csr_array, Real, Flags]:
    """The cuts of the master's rows, and which of them have whole coefficients.

    Coefficients are rounded up where the cut stays tight by it: its slack is a whole
    number then, which makes combinations stronger.
    """
    cuts = master.rows()
    row, cells, terms = entries(cuts)
    least = np.array([cut.least for cut in cuts])
    up = np.ceil(terms - 1e-9)
    tight = (
        np.bincount(row, up * x[cells], minlength=len(cuts))
        < least + _COEFFICIENT_TOLERANCE
    )
    whole = tight & ((least == 0.0) | (least == 1.0))
    terms = np.where(whole[row], up, terms)
    matrix = sparse.csr_array((terms, (row, cells)), shape=(len(cuts), len(x)))
    return matrix, least, whole


def _share(value: Real, f: float) -> Real:
    """What a whole variable of a coefficient contributes to the rounded equation."""
    fraction = value - np.floor(value)
    shares: Real = np.minimum(fraction / f, (1.0 - fraction) / (1.0 - f))
    return shares


def _gomory_cut(
    combined: Real,
    multiplier: Real,
    rows: sparse.csr_array,
    least: Real,
    whole: Flags,
    x: Real,
) -> Cut | None:
    """Round the equation ``combined . x - multiplier . slack = multiplier . least``.

    Cells hidden by more than half count from the other side, as 1 - x. Slacks are
    written back as cuts.
    """
    cells = np.flatnonzero(combined)
    a = combined[cells]
    high = x[cells] > 0.5
    right = float(multiplier @ least) - float(a[high].sum())
    a = np.where(high, -a, a)
    f = right - np.floor(right)
    if not _GOMORY_MIN_FRACTION < f < 1.0 - _GOMORY_MIN_FRACTION:
        return None
    g = _share(a, f)
    slack = -multiplier
    paid = np.where(whole, _share(slack, f), np.maximum(slack / f, -slack / (1.0 - f)))
    paid[multiplier == 0] = 0.0
    weight = np.zeros(len(x))
    weight[cells] = np.where(high, -g, g)
    weight += rows.T @ paid
    bound = 1.0 - float(g[high].sum()) + float(paid @ least)
    small = np.abs(weight) < _COEFFICIENT_TOLERANCE
    bound -= float(np.maximum(weight[small], 0.0).sum())
    weight[small] = 0.0
    bound -= _COEFFICIENT_TOLERANCE * max(1.0, abs(bound))
    chosen = np.flatnonzero(weight)
    if not len(chosen):
        return None
    weight = weight[chosen]
    if bound > 0 and np.all(weight >= 0):
        weight = np.minimum(weight, bound)
    scale = abs(bound) if abs(bound) > 1e-3 else 1.0
    if float(np.abs(weight).max()) > _LARGEST_RATIO * scale:
        return None
    return Cut(chosen, weight / scale, bound / scale)
