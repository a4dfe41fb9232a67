"""Means, variances and covariances of numbers as a part of the objective.

Tables know levels, not how far they are apart: a copy may be at the noise floor of each
of its tables and have a correlation that is off by what many small gaps add up to. So
sums of products are counted beside the tables: of each number with 1 (its mean), with
itself, with each other number, and, where another one is not always known, its mean and
square among those for whom it is. A level counts as the mean of its numbers, in
standard deviations. What is within half a standard error of the original's is right,
and worth nothing more; correlations and partial correlations follow from these sums
(Chen 2020, section 7.2.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from evosdc.arrays import Long, Real
from evosdc.compile.kernels import kernel
from evosdc.synth.data.domain import Domain
from evosdc.synth.data.encoding import Codes

# Closer than so many standard errors is near enough, as it is for margins.
TOLERATED_ERRORS = 0.5
# The weight of all covariances beside the mean distance of all pairs.
_WEIGHT = 2.0
# What is so far off, in variances, counts twice, what is further still more. If all
# counted alike, a dozen related columns would outweigh one pair of two others, and its
# correlation would be lost for small gains of theirs.
_DOUBLE_COST_EXCESS = 0.02


# What a term is: 1, a number, whether it is known, or its square.
ONE, NUMBER, KNOWN, SQUARE = 0, 1, 2, 3


class Covariances(NamedTuple):
    """Terms whose products are counted; plain arrays for kernels.

    Term `q` of a record is ``score[first[q] + level]`` of its `variable`; `kind` says
    what that is. ``term[j]`` are the number, the known and the square of variable `j`,
    -1 where there is none. `wanted` and `tolerance` are means of products: those aimed
    at, and what they may be off; infinite where nobody looks.
    """

    variable: Long
    kind: Long
    first: Long
    score: Real
    term: Long
    wanted: Real
    tolerance: Real
    weight: float


NONE = Covariances(
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0, np.int64),
    np.zeros(0),
    np.full((1, 3), -1, np.int64),
    np.zeros((0, 0)),
    np.zeros((0, 0)),
    0.0,
)


def find_covariances(
    domain: Domain, table: pa.Table, codes: Codes, without: Sequence[str] = ()
) -> Covariances:
    """Return the terms of the numbers of an original, and what is wanted of them.

    Columns `without` distances between their levels are left out.
    """
    found = {
        j: _standard(v.level_means(table.column(v.name), codes[:, j]), codes[:, j])
        for j, v in enumerate(domain.variables)
        if v.ordered and v.name not in without
    }
    found = {j: numbers for j, numbers in found.items() if np.nansum(numbers**2) > 0.0}
    if not found:
        return NONE
    # Where all are known, squares are only needed with themselves.
    gaps = {j for j, numbers in found.items() if np.isnan(numbers[codes[:, j]]).any()}
    variable, kind = [0], [ONE]
    scores = [np.ones(domain.variables[0].size)]
    term = np.full((codes.shape[1], 3), -1, np.int64)
    for j, numbers in found.items():
        there = ~np.isnan(numbers)
        plain = np.where(there, numbers, 0.0)
        mine = {NUMBER: plain}
        if j in gaps:
            mine[KNOWN] = there.astype(float)
        if gaps - {j}:
            mine[SQUARE] = plain**2
        for k, score in mine.items():
            term[j, k - 1] = len(variable)
            variable.append(j)
            kind.append(k)
            scores.append(score)
    sizes = [len(s) for s in scores]
    terms = np.column_stack(
        [s[codes[:, j]] for s, j in zip(scores, variable, strict=True)]
    )
    wanted, tolerance = wanted_products(terms, np.array(kind), np.array(variable))
    watched = int(np.isfinite(tolerance[np.triu_indices(len(tolerance))]).sum())
    return Covariances(
        np.array(variable, np.int64),
        np.array(kind, np.int64),
        np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64),
        np.concatenate(scores),
        term,
        wanted,
        tolerance,
        _WEIGHT / watched,
    )


def _standard(numbers: Real, codes: Codes) -> Real:
    """Return the numbers of levels in standard deviations from their mean."""
    mine = numbers[codes]
    mine = mine[~np.isnan(mine)]
    spread = float(mine.std()) if len(mine) else 0.0
    return (numbers - mine.mean()) / spread if spread > 0.0 else 0.0 * numbers


def wanted_products(terms: Real, kind: Long, variable: Long) -> tuple[Real, Real]:
    """Return the mean products of terms, and how far they may be off.

    Looked at are means, variances and covariances of numbers, and means and variances
    of those who are known in another variable: correlations are theirs.
    """
    records = len(terms)
    wanted = terms.T @ terms / records
    squares = terms**2
    spread = np.maximum(0.0, squares.T @ squares / records - wanted**2)
    one, two = np.minimum.outer(kind, kind), np.maximum.outer(kind, kind)
    other = variable[:, None] != variable
    seen = (two == NUMBER) | ((two == KNOWN) & (one == NUMBER) & other)
    seen |= (two == SQUARE) & (one == KNOWN) & other
    tolerance = np.where(seen, TOLERATED_ERRORS * np.sqrt(spread / records), np.inf)
    return wanted, tolerance


@kernel(nogil=True)
def products_of(covariances, codes):  # type: ignore[no-untyped-def]
    """Return the sums of products of the terms of all records."""
    variable, first, score = covariances.variable, covariances.first, covariances.score
    many = len(variable)
    out = np.zeros((many, many))
    record = np.empty(many)
    for i in range(len(codes) if many > 0 else 0):
        for q in range(many):
            record[q] = score[first[q] + codes[i, variable[q]]]
        for p in range(many):
            for q in range(p, many):
                out[p, q] += record[p] * record[q]
    for p in range(many):
        for q in range(p):
            out[p, q] = out[q, p]
    return out


@kernel(inner=True)
def excess(total, records, wanted, tolerance):  # type: ignore[no-untyped-def]
    """Return what a mean product costs that is beyond what it may be off."""
    beyond = max(0.0, abs(total / records - wanted) - tolerance)
    return beyond * (1.0 + beyond / _DOUBLE_COST_EXCESS)


@kernel
def covariance_value(covariances, products, records):  # type: ignore[no-untyped-def]
    """Return the distance of all covariances."""
    wanted, tolerance = covariances.wanted, covariances.tolerance
    total = 0.0
    for p in range(len(wanted)):
        for q in range(p, len(wanted)):
            total += excess(products[p, q], records, wanted[p, q], tolerance[p, q])
    return covariances.weight * total


@kernel(inner=True, borrows=True)
def try_products(covariances, products, codes, records, i, k, j, new, swap, shift):  # type: ignore[no-untyped-def]
    """Return what a new value of variable `j` of record `i` does to the distance.

    A swap gives record `k` the value that `i` had. `shift` is set to what it adds to
    the products of each term of the variable.
    """
    variable, first, score = covariances.variable, covariances.first, covariances.score
    total = 0.0
    for place in range(3):
        p = covariances.term[j, place]
        if p < 0:
            continue
        old_score = score[first[p] + codes[i, j]]
        new_score = score[first[p] + new]
        step = new_score - old_score
        for q in range(len(variable)):
            add = 0.0
            if q == p:
                if not swap:
                    add = new_score * new_score - old_score * old_score
            # What the terms of one variable have in common are its moments.
            elif step != 0.0 and (q == 0 or variable[q] != j):
                add = score[first[q] + codes[i, variable[q]]]
                if swap:
                    add -= score[first[q] + codes[k, variable[q]]]
                add *= step
            shift[place, q] = add
            wanted, tolerance = covariances.wanted[p, q], covariances.tolerance[p, q]
            if add != 0.0 and tolerance < np.inf:
                now = products[p, q]
                total += excess(now + add, records, wanted, tolerance)
                total -= excess(now, records, wanted, tolerance)
    return covariances.weight * total


@kernel(inner=True, borrows=True)
def settle_products(covariances, products, j, shift):  # type: ignore[no-untyped-def]
    """Add what `try_products` found to the sums of products."""
    for place in range(3):
        p = covariances.term[j, place]
        if p < 0:
            continue
        for q in range(len(products)):
            products[p, q] += shift[place, q]
            if q != p:
                products[q, p] = products[p, q]


@kernel(inner=True, borrows=True)
def try_record(covariances, products, records, old, record, added):  # type: ignore[no-untyped-def]
    """Return what a record in place of another does to the distance.

    `added` is set to what that adds to the products.
    """
    variable, first, score = covariances.variable, covariances.first, covariances.score
    wanted, tolerance = covariances.wanted, covariances.tolerance
    total = 0.0
    for p in range(len(variable)):
        before = score[first[p] + old[variable[p]]]
        after = score[first[p] + record[variable[p]]]
        for q in range(p, len(variable)):
            change = after * score[first[q] + record[variable[q]]]
            change -= before * score[first[q] + old[variable[q]]]
            added[p, q] = change
            added[q, p] = change
            now = products[p, q]
            total += excess(now + change, records, wanted[p, q], tolerance[p, q])
            total -= excess(now, records, wanted[p, q], tolerance[p, q])
    return covariances.weight * total
