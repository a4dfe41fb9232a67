"""The checker: adds witness tables up in exact rational arithmetic.

It shares nothing with the code that finds witnesses and is small enough to be read in
one sitting. Numbers of the table are taken as the shortest decimal that reads back as
the same double, so 0.1 is one tenth. A witness is a deviation ``d`` of the hidden
cells: ``M d = 0``, ``d = 0`` on published cells and ``lower - value <= d <= upper -
value`` elsewhere. A valid witness counts for every cell that it moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.results import Certificate
from evosdc.table import Table

_FITS = 2**62  # whole numbers below this are added and multiplied in 64 bits
_CHUNK = 400_000  # entries looked at together


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What the checker found.

    Attributes
    ----------
    safe
        Every level of every judged cell is covered by witnesses that were accepted.
    exact
        No accepted witness has an error: always so at tolerance 0.
    error
        The largest error of an accepted witness, as a share of the move it shows.
    refused, reasons
        The witnesses that were not accepted, by number, and why.
    uncovered
        The judged cells with a level that no accepted witness covers.
    judged
        How many cells were judged.
    """

    safe: bool
    exact: bool
    error: float
    refused: NDArray[np.int64]
    reasons: tuple[str, ...]
    uncovered: NDArray[np.int64]
    judged: int


@dataclass(frozen=True, eq=False)
class _Exact:
    """The table in whole numbers: bounds over `scale`, coefficients over `unit`."""

    hidden: NDArray[np.bool_]
    scale: int
    low: Any
    high: Any
    low_open: NDArray[np.bool_]
    high_open: NDArray[np.bool_]
    columns: Any
    unit: int
    coefficients: Any


@dataclass(frozen=True, eq=False)
class _Part:
    """Some witnesses, an entry a moved cell."""

    first: int
    count: int
    owner: NDArray[np.int64]
    at: NDArray[np.int64]
    num: Any
    den: Any


def verify(
    table: Table,
    certificate: Certificate,
    *,
    strict: bool = False,
    secondaries: bool = False,
    tolerance: float = 0.0,
) -> CheckReport:
    """Check a certificate against the table and its statuses.

    Parameters
    ----------
    strict
        Whether levels must be exceeded.
    secondaries
        Whether secondaries are judged as well.
    tolerance
        The error up to which a witness is accepted, as a share of the move it shows;
        0 accepts exact witnesses only.
    """
    up: dict[int, Fraction] = {}
    down: dict[int, Fraction] = {}
    wrong = _malformed(certificate, len(table))
    bad: dict[int, str] = {}
    error = 0.0
    if wrong:
        bad = dict.fromkeys(range(len(certificate.cells)), wrong)
    else:
        exact = _read(table)
        for part in _parts(certificate):
            faults, off = _faults(exact, certificate, part, tolerance)
            bad.update(faults)
            error = max(error, off)
            good = np.ones(part.count, dtype=bool)
            good[[w - part.first for w in faults]] = False
            _furthest(up, part, good[part.owner] & (part.num > 0))
            _furthest(down, part, good[part.owner] & (part.num < 0))
    judged, uncovered = _uncovered(table, up, down, strict, secondaries, tolerance)
    refused = sorted(bad)
    return CheckReport(
        safe=not uncovered,
        exact=error == 0.0,
        error=error,
        refused=np.array(refused, dtype=np.int64),
        reasons=tuple(bad[w] for w in refused),
        uncovered=np.array(uncovered, dtype=np.int64),
        judged=judged,
    )


def _malformed(c: Certificate, n: int) -> str:
    """Say what keeps a certificate from being read at all."""
    count = len(c.cells)
    if len(c.signs) != count or len(c.denominators) != count:
        return "cells, signs and denominators differ in number"
    if len(c.indptr) != count + 1 or c.indptr[0] != 0 or (np.diff(c.indptr) < 0).any():
        return "indptr is not one start for each witness"
    if len(c.indices) != c.indptr[-1] or len(c.numerators) != c.indptr[-1]:
        return "indices and numerators differ in number"
    if any(
        len(cells) and not 0 <= cells.min() <= cells.max() < n
        for cells in (c.indices, c.cells)
    ):
        return "a cell number outside the table"
    if count and min(c.denominators) <= 0:
        return "a denominator that is not positive"
    return ""


def _read(table: Table) -> _Exact:
    scale, (value, lower, upper) = _decimals(table.value, table.lower, table.upper)
    unit, (coefficients,) = _decimals(table.columns.data)
    return _Exact(
        hidden=np.isin(table.status, ("u", "m")),
        scale=scale,
        # A bound rounded in a file must not exclude the true value.
        low=np.minimum(lower - value, 0),
        high=np.maximum(upper - value, 0),
        low_open=np.isneginf(table.lower),
        high_open=np.isposinf(table.upper),
        columns=table.columns,
        unit=unit,
        coefficients=coefficients,
    )


def _parts(c: Certificate) -> Iterator[_Part]:
    first, count = 0, len(c.cells)
    while first < count:
        end = int(np.searchsorted(c.indptr, c.indptr[first] + _CHUNK, "right")) - 1
        end = min(max(end, first + 1), count)
        part = slice(int(c.indptr[first]), int(c.indptr[end]))
        yield _Part(
            first=first,
            count=end - first,
            owner=np.repeat(np.arange(end - first), np.diff(c.indptr[first : end + 1])),
            at=np.asarray(c.indices[part], dtype=np.int64),
            num=np.asarray(c.numerators[part]),
            den=np.asarray(c.denominators[first:end]),
        )
        first = end


def _faults(
    exact: _Exact, c: Certificate, part: _Part, tolerance: float
) -> tuple[dict[int, str], float]:
    """Find the witnesses to refuse, and the largest error of those that are not."""
    at, owner, num = part.at, part.owner, part.num
    bad: dict[int, str] = {}

    def refuse(witnesses: Any, why: str) -> None:
        for w in np.unique(witnesses).tolist():
            bad.setdefault(part.first + w, why)

    refuse(owner[~exact.hidden[at] & (num != 0)], "moves a published cell")
    order = np.lexsort((at, owner))
    twice = (np.diff(at[order]) == 0) & (np.diff(owner[order]) == 0)
    refuse(owner[order][1:][twice], "names a cell twice")
    last = part.first + part.count
    own = at == np.asarray(c.cells[part.first : last])[owner]
    way = np.asarray(c.signs[part.first : last])[owner]
    moved = np.bincount(
        owner[own & (((num > 0) & (way == 1)) | ((num < 0) & (way == -1)))],
        minlength=part.count,
    )
    refuse(np.flatnonzero(moved == 0), "does not move its own cell its own way")
    outside = owner[_outside(exact, part)]
    unequal = _unequal(exact, part)
    if tolerance == 0.0:
        refuse(outside, "breaks a bound")
        refuse(unequal, "breaks an equation")
        return bad, 0.0
    worst = 0.0
    for w in np.union1d(outside, unequal).tolist():
        if part.first + w not in bad:
            off = _error(exact, c, part.first + w)
            if off > tolerance:
                bad[part.first + w] = "is off by more than the tolerance"
            else:
                worst = max(worst, off)
    return bad, worst


def _outside(exact: _Exact, part: _Part) -> NDArray[np.bool_]:
    """Which entries break a bound: compares num / den with bound / scale."""
    low, high, den = exact.low[part.at], exact.high[part.at], part.den[part.owner]
    room = max(_largest(low), _largest(high))
    kind = _kind(_largest(part.num) * exact.scale, room * _largest(den))
    move = part.num.astype(kind) * exact.scale
    below = move < low.astype(kind) * den.astype(kind)
    above = move > high.astype(kind) * den.astype(kind)
    return np.asarray(
        (below & ~exact.low_open[part.at]) | (above & ~exact.high_open[part.at]),
        dtype=bool,
    )


def _unequal(exact: _Exact, part: _Part) -> NDArray[np.int64]:
    """Return the witnesses with an equation that does not add up to 0."""
    columns = exact.columns
    count = np.diff(columns.indptr)[part.at]
    entry = np.repeat(np.arange(len(part.at)), count)
    if not len(entry):
        return np.empty(0, dtype=np.int64)
    inside = np.arange(len(entry)) - np.repeat(np.cumsum(count) - count, count)
    place = columns.indptr[part.at][entry] + inside
    factor = exact.coefficients[place]
    kind = _kind(_largest(part.num) * _largest(factor) * len(entry))
    terms = part.num.astype(kind)[entry] * factor.astype(kind)
    row, who = columns.indices[place], part.owner[entry]
    order = np.lexsort((row, who))
    row, who = row[order], who[order]
    heads = np.flatnonzero(np.r_[True, (np.diff(who) != 0) | (np.diff(row) != 0)])
    sums = np.add.reduceat(terms[order], heads)
    return np.asarray(who[heads[np.flatnonzero(sums != 0)]])


def _error(exact: _Exact, c: Certificate, w: int) -> float:
    """Add one witness up in fractions: its largest error as a share of its move."""
    den = int(c.denominators[w])
    sums: dict[int, Fraction] = {}
    gap = move = Fraction(0)
    for j in range(int(c.indptr[w]), int(c.indptr[w + 1])):
        cell, step = int(c.indices[j]), Fraction(int(c.numerators[j]), den)
        if cell == c.cells[w]:
            move = abs(step)
        if not exact.low_open[cell]:
            gap = max(gap, Fraction(int(exact.low[cell]), exact.scale) - step)
        if not exact.high_open[cell]:
            gap = max(gap, step - Fraction(int(exact.high[cell]), exact.scale))
        for i in range(exact.columns.indptr[cell], exact.columns.indptr[cell + 1]):
            row = int(exact.columns.indices[i])
            factor = Fraction(int(exact.coefficients[i]), exact.unit)
            sums[row] = sums.get(row, Fraction(0)) + step * factor
    return float(max([gap, *map(abs, sums.values())]) / move)


def _furthest(best: dict[int, Fraction], part: _Part, use: NDArray[np.bool_]) -> None:
    """Keep the furthest move of each cell one way."""
    at, num, den = part.at[use], part.num[use], part.den[part.owner[use]]
    # Doubles only leave out what is clearly shorter; fractions decide.
    size = np.abs(num.astype(np.float64) / den.astype(np.float64))
    top = np.zeros(int(at.max(initial=0)) + 1)
    np.maximum.at(top, at, size)
    seen: set[tuple[int, int, int]] = set()
    for i in np.flatnonzero(size >= (1 - 1e-9) * top[at]).tolist():
        key = (int(at[i]), abs(int(num[i])), int(den[i]))
        if key not in seen:
            seen.add(key)
            move = Fraction(key[1], key[2])
            best[key[0]] = max(move, best.get(key[0], move))


def _uncovered(
    table: Table,
    up: dict[int, Fraction],
    down: dict[int, Fraction],
    strict: bool,
    secondaries: bool,
    tolerance: float,
) -> tuple[int, list[int]]:
    """Count the judged cells and find those with a level that is not covered."""
    size = np.abs(table.value)
    margin = np.zeros(len(table))
    if strict and table.is_integer:
        margin += 1.0
    elif strict:
        margin += 2e-6 * np.maximum(1.0, size) + 2e-10 * max(1.0, float(size.max()))
    share, zero = 1 - Fraction(tolerance), Fraction(0)
    asked = ("u", "m") if secondaries else ("u",)
    judged = np.flatnonzero(np.isin(table.status, asked)).tolist()
    uncovered = []
    for cell in judged:
        more, less = up.get(cell, zero), down.get(cell, zero)
        levels = [float(a[cell]) for a in (table.upl, table.lpl, table.spl)]
        if table.status[cell] == "m" and not any(levels):
            covered = more + less > 0
        else:
            over, under, wide = (
                share * Fraction(repr(level + float(margin[cell]))) for level in levels
            )
            covered = more >= over and less >= under and more + less >= wide
        if not covered:
            uncovered.append(cell)
    return len(judged), uncovered


def _decimals(*arrays: NDArray[np.float64]) -> tuple[int, list[Any]]:
    """Read doubles as shortest decimals: whole numbers over one common scale.

    Infinite entries are read as 0.
    """
    finite = [np.where(np.isfinite(a), a, 0.0) for a in arrays]
    if all(np.all((a == np.rint(a)) & (np.abs(a) < 2.0**53)) for a in finite):
        return 1, [a.astype(np.int64) for a in finite]
    read = [[Decimal(repr(x)) for x in a.tolist()] for a in finite]
    digits = max(
        (-int(x.as_tuple().exponent) for numbers in read for x in numbers), default=0
    )
    scale = 10 ** max(digits, 0)
    return scale, [
        np.array([*(int(Fraction(x) * scale) for x in numbers), None], object)[:-1]
        for numbers in read
    ]


def _largest(numbers: Any) -> int:
    if not len(numbers):
        return 0
    return max(abs(int(numbers.min())), abs(int(numbers.max())))


def _kind(*largest: int) -> type:
    """The dtype in which numbers of this size are handled without overflow."""
    return np.int64 if max(largest) < _FITS else object
