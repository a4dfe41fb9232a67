"""Covariances of numbers, held by who has which number of a bin.

The search holds covariances by levels (`objective/covariances.py`). What numbers of one
bin have to do with other numbers is drawn from trees (`ranks.py`), and comes out a
little too weak or too strong. So two records of the same bin exchange their places in
it where that brings covariances nearer to the original's, until all are within half a
standard error or nothing helps. Bins, numbers and their distribution stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes
from evosdc.synth.moments import numbers_aimed_at
from evosdc.synth.objective.covariances import (
    NUMBER,
    TOLERATED_ERRORS,
    Covariances,
    excess,
    wanted_products,
)
from evosdc.synth.search.rng import below, stream

# Exchanges are tried so often for each number, at most so many in all, and no more
# after so many in a row without gain.
_TRIES_PER_NUMBER, _MAX_TRIES, _MAX_IDLE_TRIES = 20, 4_000_000, 50_000


@dataclass(frozen=True, eq=False)
class Dependence:
    """Terms of numbers, the mean products wanted, and what these may be off."""

    terms: Covariances
    wanted: Real
    tolerance: Real


def find_dependence(
    domain: Domain, table: pa.Table, codes: Codes, terms: Covariances
) -> Dependence | None:
    """Return what the original's numbers have to do with each other.

    It is None where there are no two.
    """
    number = terms.kind == NUMBER
    if number.sum() < 2:
        return None
    columns = _by_level(terms, codes)
    for variable, (q, _, square) in zip(domain.variables, terms.term, strict=True):
        if q >= 0:
            numbers = numbers_aimed_at(variable, table.column(variable.name))
            columns[:, q] = _standard(numbers)
            if square >= 0:
                columns[:, square] = columns[:, q] ** 2
    wanted, tolerance = wanted_products(columns, terms.kind, terms.variable)
    known = np.ones(columns.shape)
    for q, says, _ in terms.term:
        if says >= 0:
            known[:, q] = columns[:, says]
    both = np.ix_(number, number)
    tolerance[both] = np.minimum(
        tolerance[both], _tolerance(columns[:, number], known[:, number])
    )
    return Dependence(terms, wanted, tolerance)


def _tolerance(standard: Real, known: Real) -> Real:
    """Return what correlations may be off: those near 1 or -1 have small errors."""
    records = len(standard)
    r = standard.T @ standard / np.maximum(1.0, known.T @ known)
    squares = (standard**2).T @ standard**2 / records
    cubes = (standard**3).T @ standard / records
    fourth = (standard**4).T @ known / records
    variance = squares - r * (cubes + cubes.T)
    variance += 0.25 * r**2 * (fourth + fourth.T + 2.0 * squares)
    return np.asarray(TOLERATED_ERRORS * np.sqrt(np.maximum(0.0, variance) / records))


def _standard(numbers: Real) -> Real:
    """Return numbers less their mean by their standard deviation, 0 where unknown."""
    spread = float(np.nanstd(numbers))
    if not spread > 0.0:
        return np.zeros(len(numbers))
    return np.nan_to_num((numbers - np.nanmean(numbers)) / spread)


def _by_level(terms: Covariances, codes: Codes) -> Real:
    """Return the terms of records by their levels."""
    return np.column_stack(
        [
            terms.score[first + codes[:, j].astype(np.int64)]
            for first, j in zip(terms.first, terms.variable, strict=True)
        ]
    )


def hold_dependence(
    domain: Domain,
    codes: Codes,
    ranks: Mapping[int, Real],
    wanted: Dependence,
    rng: np.random.Generator,
) -> dict[int, Real]:
    """Return ranks exchanged within bins so that covariances are as wanted."""
    terms = wanted.terms
    out = dict(ranks)
    movable = [j for j in ranks if terms.term[j, 0] >= 0]
    if not movable:
        return out
    values = _by_level(terms, codes)
    for j, (q, says, square) in enumerate(terms.term):
        if q < 0:
            continue
        numbers = values[:, q]
        if j in ranks:
            numbers = domain.variables[j].numbers(codes[:, j], ranks[j])
        unknown = says >= 0 and values[:, says] == 0.0
        # In their own measure: what is held are correlations.
        values[:, q] = _standard(np.where(unknown, np.nan, numbers))
        if square >= 0:
            values[:, square] = values[:, q] ** 2
    products = values.T @ values
    place = np.array([ranks[j] for j in movable])
    exchange(
        values,
        products,
        wanted.wanted,
        wanted.tolerance,
        terms.term[movable],
        np.ascontiguousarray(codes[:, movable].T),
        np.array([np.argsort(codes[:, j], kind="stable") for j in movable]),
        _starts(codes[:, movable]),
        place,
        stream(rng),
        min(_MAX_TRIES, _TRIES_PER_NUMBER * place.size),
    )
    return out | dict(zip(movable, place, strict=True))


def _starts(codes: Codes) -> Long:
    """Return where each level begins among records in the order of their levels."""
    many = int(codes.max()) + 2
    return np.array([np.searchsorted(np.sort(c), np.arange(many)) for c in codes.T])


@kernel(nogil=True)
def exchange(  # type: ignore[no-untyped-def]
    values, products, wanted, tolerance, term, level, order, start, place, state, tries
):
    """Exchange places within bins, in place, where that brings products nearer.

    Parameters
    ----------
    values, products
        The terms of each record, and the sums of their products.
    term, level, order, start, place
        By column that may be moved: its two terms; the level of each record; records in
        the order of levels; where each level begins; ranks.
    """
    records, many = values.shape
    idle = 0
    for _ in range(tries):
        idle += 1
        if idle > _MAX_IDLE_TRIES:
            return
        c = below(state, len(term))
        i = below(state, records)
        begin = start[c, level[c, i]]
        size = start[c, level[c, i] + 1] - begin
        k = order[c, begin + below(state, size)]
        # The number and its square; whether it is known stays.
        gain = 0.0
        for p in (term[c, 0], term[c, 2]):
            for q in range(many if p >= 0 else 0):
                if (
                    q not in (term[c, 0], term[c, 1], term[c, 2])
                    and tolerance[p, q] < np.inf
                ):
                    now = products[p, q]
                    new = now + _moved(values, i, k, p, q)
                    before = excess(now, records, wanted[p, q], tolerance[p, q])
                    after = excess(new, records, wanted[p, q], tolerance[p, q])
                    gain += before * before - after * after
        if gain <= 0.0:
            continue
        idle = 0
        for p in (term[c, 0], term[c, 2]):
            for q in range(many if p >= 0 else 0):
                if q not in (term[c, 0], term[c, 1], term[c, 2]):
                    products[p, q] += _moved(values, i, k, p, q)
                    products[q, p] = products[p, q]
        for p in (term[c, 0], term[c, 2]):
            if p >= 0:
                values[i, p], values[k, p] = values[k, p], values[i, p]
        place[c, i], place[c, k] = place[c, k], place[c, i]


@kernel(inline="always")
def _moved(values, i, k, p, q):  # type: ignore[no-untyped-def]
    """Return what the product of two terms gains where records exchange the first."""
    return (values[k, p] - values[i, p]) * (values[i, q] - values[k, q])
