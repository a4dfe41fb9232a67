"""The checker: adds witness tables up in exact rational arithmetic.

It shares no code with the search for witnesses and is, with `coverage` and
`coverage_against`, small enough to be read in one sitting. Numbers of the table are
taken as the shortest decimal that reads back as the same double, so 0.1 is one tenth. A
witness is a deviation ``d`` of the hidden cells: ``M d = 0``, ``d = 0`` on published
and known cells and ``lower - value <= d <= upper - value`` elsewhere; in a table of
counts ``d`` is whole. A valid witness counts for every cell that it moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from evosdc.attack.coverage import (
    Reach,
    RequiredLevels,
    exact_dtype,
    largest,
    over_one_scale,
    sums_uncovered,
)
from evosdc.attack.coverage_against import uncovered_against
from evosdc.compile.clock import moment
from evosdc.results import Certificate
from evosdc.table import Table
from evosdc.table.attackers import (
    AttackerKnowledge,
    OwnShares,
    RespondentSums,
    lone_attackers,
    respondent_sums,
)

_PART_ENTRIES = 400_000  # of witnesses that are checked together
# Tables read as decimals: each is checked many times.
_DECIMALS: WeakKeyDictionary[Table, Any] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class CheckReport:
    """The findings of the checker.

    Attributes
    ----------
    safe
        Every level of every judged cell is covered by witnesses that were accepted,
        against everyone and, if these are judged, each attacker who knows more.
    exact
        No accepted witness has an error: always so at tolerance 0.
    error
        The largest error of an accepted witness, as a share of its move.
    refused, reasons
        The witnesses that were not accepted, by number, and why.
    uncovered
        The judged cells with a level that no accepted witness covers.
    judged
        How many cells were judged.
    against
        Pairs of a sensitive cell and the first cell that an attacker knows more of, one
        row per pair, where the attacker excludes every accepted witness that covers a
        level of the sensitive cell. Cells of `uncovered` are left out.
    attacker
        The number of the attacker of each pair.
    sums
        The sums of cells of one respondent that no accepted witness covers, by number.
    late
        Cells that for lack of time were not checked against attackers who know more.
    insiders
        How many attackers know more than everyone; None where they were not judged.
    unchecked
        How many witnesses were not checked for lack of time; they cover nothing.
    """

    safe: bool
    exact: bool
    error: float
    refused: NDArray[np.int64]
    reasons: tuple[str, ...]
    uncovered: NDArray[np.int64]
    judged: int
    against: NDArray[np.int64]
    attacker: NDArray[np.int64]
    sums: NDArray[np.int64]
    late: NDArray[np.int64]
    insiders: int | None = None
    unchecked: int = 0


@dataclass(frozen=True, eq=False)
class _Exact:
    """The table in integers: bounds over `scale`, coefficients over `unit`."""

    hidden: NDArray[np.bool_]
    free: NDArray[np.bool_]
    whole: bool
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
    """Some witnesses, one entry per moved cell."""

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
    known: NDArray[np.bool_] | None = None,
    whole: bool | None = None,
    among: NDArray[np.bool_] | None = None,
    insiders: bool = False,
    attackers: AttackerKnowledge | None = None,
    sums: RespondentSums | None = None,
    deadline: float | None = None,
    room: Mapping[int, float] | None = None,
    fractions: bool = False,
) -> CheckReport:
    """Check a certificate against the table and its statuses.

    Parameters
    ----------
    strict, secondaries, known, whole, among
        As for `evosdc.attack.judge`.
    tolerance
        The error up to which a witness is accepted, as a share of its move; 0 accepts
        exact witnesses only.
    insiders
        Whether the sensitive cells are also judged against attackers who know more
        than everyone, by the witnesses that they believe possible.
    attackers
        Who these are; the lone respondents of the table where None.
    sums
        The sums of cells of one respondent to be judged then; those of the table where
        None.
    deadline
        Moment of `evosdc.compile.clock.moment` after which no further witness is
        checked.
    room
        How far down cells must be movable at most, for an attacker who contributes to
        them.
    fractions
        Whether witnesses may be tables with fractions although values are whole: their
        moves are then rounded down to whole numbers.
    """
    in_whole = table.origin.in_whole if whole is None else whole
    accepted = np.zeros(len(certificate.cells), dtype=bool)
    reach = Reach()
    wrong = _malformed(certificate, len(table))
    counted = in_whole and not table.origin.whole
    if counted and not wrong and (table.value != np.rint(table.value)).any():
        wrong = "the table does not hold whole numbers"
    bad: dict[int, str] = {}
    error, looked_at = 0.0, 0
    if wrong:
        bad = dict.fromkeys(range(len(certificate.cells)), wrong)
        looked_at = len(bad)
    else:
        exact = _read(table, known, in_whole, fractions)
        for part in _parts(certificate):
            if deadline is not None and moment() >= deadline:
                break
            faults, off = _faults(exact, certificate, part, tolerance)
            bad.update(faults)
            error = max(error, off)
            good = np.ones(part.count, dtype=bool)
            good[[w - part.first for w in faults]] = False
            accepted[part.first : part.first + part.count] = good
            reach.take(part.at, part.num, part.den[part.owner], good[part.owner])
            looked_at = part.first + part.count
    levels = RequiredLevels.of(table, strict, secondaries, tolerance, among, in_whole)
    uncovered = levels.uncovered(reach, room or {})
    against: list[tuple[int, int]] = []
    late: list[int] = []
    open_sums: list[int] = []
    who = AttackerKnowledge.public()
    if insiders:
        who = lone_attackers(table) if attackers is None else attackers
        sums = respondent_sums(table) if sums is None else sums
        shares = OwnShares(table)
        against, late = uncovered_against(
            levels,
            certificate,
            accepted,
            who,
            set(uncovered),
            deadline,
            lambda number: who.room_below(shares, number),
        )
        open_sums = sums_uncovered(
            table, certificate, accepted, sums, strict, tolerance, in_whole
        )
    refused = sorted(bad)
    return CheckReport(
        safe=not (uncovered or against or late or open_sums),
        exact=error == 0.0,
        error=error,
        refused=np.array(refused, dtype=np.int64),
        reasons=tuple(bad[w] for w in refused),
        uncovered=np.array(uncovered, dtype=np.int64),
        judged=len(levels.cells),
        against=np.array(
            [(cell, int(who.cells(number)[0])) for cell, number in against], np.int64
        ).reshape(-1, 2),
        attacker=np.array([number for _, number in against], dtype=np.int64),
        sums=np.array(open_sums, dtype=np.int64),
        late=np.array(late, dtype=np.int64),
        insiders=len(who) - 1 if insiders else None,
        unchecked=len(certificate.cells) - looked_at,
    )


def _malformed(c: Certificate, n: int) -> str:
    """Say why a certificate cannot be read at all; '' where it can."""
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


def _read(
    table: Table, known: NDArray[np.bool_] | None, in_whole: bool, fractions: bool
) -> _Exact:
    numbers = _DECIMALS.get(table)
    if numbers is None:
        numbers = _DECIMALS[table] = (
            over_one_scale(table.value, table.lower, table.upper),
            over_one_scale(table.columns.data),
        )
    (scale, (value, lower, upper)), (unit, (coefficients,)) = numbers
    hidden = np.isin(table.status, ("u", "m"))
    # A bound rounded in a file must not exclude the true value.
    low, high = np.minimum(lower - value, 0), np.maximum(upper - value, 0)
    if in_whole:
        low, high = -(-low // scale) * scale, high // scale * scale
    return _Exact(
        hidden=hidden,
        free=hidden if known is None else hidden & ~known,
        whole=in_whole and not fractions,
        scale=scale,
        low=low,
        high=high,
        low_open=np.isneginf(table.lower),
        high_open=np.isposinf(table.upper),
        columns=table.columns,
        unit=unit,
        coefficients=coefficients,
    )


def _parts(c: Certificate) -> Iterator[_Part]:
    first, count = 0, len(c.cells)
    while first < count:
        end = (
            int(np.searchsorted(c.indptr, c.indptr[first] + _PART_ENTRIES, "right")) - 1
        )
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
    refuse(owner[~exact.free[at] & (num != 0)], "moves a cell that is known")
    if exact.whole:
        share = num % part.den[owner]
        refuse(owner[share != 0], "moves a cell by a fraction")
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
    """Return which entries break a bound: num / den against bound / scale."""
    low, high, den = exact.low[part.at], exact.high[part.at], part.den[part.owner]
    room = max(largest(low), largest(high))
    form = exact_dtype(largest(part.num) * exact.scale, room * largest(den))
    move = part.num.astype(form) * exact.scale
    below = move < low.astype(form) * den.astype(form)
    above = move > high.astype(form) * den.astype(form)
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
    form = exact_dtype(largest(part.num) * largest(factor) * len(entry))
    terms = part.num.astype(form)[entry] * factor.astype(form)
    row, who = columns.indices[place], part.owner[entry]
    order = np.lexsort((row, who))
    row, who = row[order], who[order]
    heads = np.flatnonzero(np.r_[True, (np.diff(who) != 0) | (np.diff(row) != 0)])
    sums = np.add.reduceat(terms[order], heads)
    return np.asarray(who[heads[np.flatnonzero(sums != 0)]])


def _error(exact: _Exact, c: Certificate, w: int) -> float:
    """Return the largest error of a witness as a share of its move."""
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
