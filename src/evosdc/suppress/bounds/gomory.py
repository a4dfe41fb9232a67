"""Gomory cuts: combinations of cuts that no whole pattern can meet as they stand.

In a basic solution of the master a fractional cell is a combination of cuts that hold
with equality. Rounding that combination gives an inequality that every whole pattern
meets and the solution violates (Gomory 1960, the mixed integer cut). Where all cells
have enough room, cuts only ask that cells be connected, single ones leave nothing to
round, and these combinations (odd sets among them) are what separates the relaxation
from the optimum.

The cuts hold for any multipliers, so these are rounded to a grid, and the right-hand
side is lowered a little: the cut is valid whatever the tolerances of the solver.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Real
from evosdc.suppress.bounds.master import Master, entries
from evosdc.suppress.engine.cut import MULTIPLIER_GRID, Cut

# Cells this far from whole are asked, so many in one round. Half as many cells give
# weaker rounds; twice as many take longer and give cuts that say the same.
_FRACTIONAL = 0.02
_CELLS_PER_ROUND = 100
# Fractions of the right-hand side too near a whole number make weak, unsafe cuts: a
# numerical bound.
_NEAR_WHOLE = 0.02
# A cut is added if it is violated by this share of its length: a tolerance.
_LEAST_VIOLATION = 1e-3
# Coefficients below are left out, and the right-hand side is lowered by this share: a
# tolerance.
_SAFE = 1e-7
# Coefficients may not be larger than this many times the right-hand side, so that the
# tolerance above covers their rounding.
_LARGEST_RATIO = 1e4
# Cells of a combination at most. At half of it large tables get hardly any, at twice of
# it each takes longer than it saves.
_MOST_CELLS = 3000
# With half as many cuts the bound rises more slowly, twice as many overlap.
_CUTS_PER_ROUND = 40


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
        cut = _round(combined[at], multiplier, rows, least, whole, x)
        if cut is None or len(cut.cells) > _MOST_CELLS:
            continue
        length = float(np.linalg.norm(cut.coefficients[x[cut.cells] > _SAFE]))
        violation = cut.missing(x) / max(length, _SAFE)
        if violation > _LEAST_VIOLATION:
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
    tight = np.bincount(row, up * x[cells], minlength=len(cuts)) < least + _SAFE
    whole = tight & ((least == 0.0) | (least == 1.0))
    terms = np.where(whole[row], up, terms)
    matrix = sparse.csr_array((terms, (row, cells)), shape=(len(cuts), len(x)))
    return matrix, least, whole


def _share(value: Real, f: float) -> Real:
    """What a whole variable of a coefficient contributes to the rounded equation."""
    fraction = value - np.floor(value)
    shares: Real = np.minimum(fraction / f, (1.0 - fraction) / (1.0 - f))
    return shares


def _round(
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
    if not _NEAR_WHOLE < f < 1.0 - _NEAR_WHOLE:
        return None
    g = _share(a, f)
    slack = -multiplier
    paid = np.where(whole, _share(slack, f), np.maximum(slack / f, -slack / (1.0 - f)))
    paid[multiplier == 0] = 0.0
    weight = np.zeros(len(x))
    weight[cells] = np.where(high, -g, g)
    weight += rows.T @ paid
    bound = 1.0 - float(g[high].sum()) + float(paid @ least)
    small = np.abs(weight) < _SAFE
    bound -= float(np.maximum(weight[small], 0.0).sum())
    weight[small] = 0.0
    bound -= _SAFE * max(1.0, abs(bound))
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
