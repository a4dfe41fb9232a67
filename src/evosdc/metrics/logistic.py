"""Logistic regression on counted rows, by iteratively reweighted least squares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpstrf
from scipy.sparse import csr_array
from scipy.special import expit

from evosdc.compile.kernels import kernel
from evosdc.metrics.deadline import check_time

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Design:
    """A sparse matrix of zeros and ones: intercept, levels and products of levels.

    `names` say what each column stands for.
    """

    matrix: csr_array
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """Coefficients of the columns that are not aliased; the others are not a number.

    `rank` counts the coefficients fitted, the intercept included.
    """

    coefficients: Floats
    errors: Floats
    rank: int

    def logits(self, design: Design) -> Floats:
        """Return the linear predictor of the rows of a design, aliased columns 0."""
        return np.asarray(design.matrix @ np.nan_to_num(self.coefficients))


def build_design(
    codes: NDArray[np.int32],
    names: Sequence[str],
    labels: Sequence[Sequence[str]],
    reference: Sequence[int],
    *,
    interactions: bool = False,
) -> Design:
    """Return intercept and indicators of the levels that occur, but the references.

    With `interactions`, also the products of two indicators that occur.
    """
    rows = len(codes)
    row_parts = [np.arange(rows)]
    col_parts = [np.zeros(rows, dtype=np.int64)]
    titles = ["intercept"]

    def add(members: NDArray[np.intp], values: NDArray[np.int64]) -> NDArray[np.int64]:
        found, places = np.unique(values, return_inverse=True)
        row_parts.append(members)
        col_parts.append(places + len(titles))
        return found

    for j, base in enumerate(reference):
        members = np.flatnonzero(codes[:, j] != base)
        found = add(members, codes[members, j].astype(np.int64))
        titles += [f"{names[j]}={labels[j][v]}" for v in found]
    if interactions:
        for j, k in combinations(range(codes.shape[1]), 2):
            both = (codes[:, j] != reference[j]) & (codes[:, k] != reference[k])
            members = np.flatnonzero(both)
            width = len(labels[k])
            found = add(
                members, codes[members, j].astype(np.int64) * width + codes[members, k]
            )
            titles += [
                f"{names[j]}={labels[j][a]} x {names[k]}={labels[k][b]}"
                for a, b in zip(found // width, found % width, strict=True)
            ]
    at_rows, at_cols = np.concatenate(row_parts), np.concatenate(col_parts)
    matrix = csr_array(
        (np.ones(len(at_rows)), (at_rows, at_cols)), shape=(rows, len(titles))
    )
    return Design(matrix, tuple(titles))


def fit_logistic(
    design: Design, successes: Floats, trials: Floats, *, iterations: int = 60
) -> LogisticFit:
    """Fit by Newton steps with halving until the deviance is constant.

    Aliased columns are found by a pivoted Cholesky factor and left out. Where the data
    separate, coefficients grow until the deviance no longer moves: probabilities are
    right and the large standard errors show it.
    """
    keep = _independent(design.matrix, trials)
    matrix = design.matrix[:, keep]
    transposed = matrix.T.tocsr()

    def loss_of(beta: Floats) -> float:
        return _loss(np.asarray(matrix @ beta), successes, trials)

    beta = np.zeros(len(keep))
    loss = loss_of(beta)
    for _ in range(iterations):
        check_time()
        chance = expit(np.asarray(matrix @ beta))
        factor = _factor(matrix, trials * chance * (1 - chance))
        step = cho_solve(factor, transposed @ (successes - trials * chance))
        better, found = _halve(loss_of, beta, np.asarray(step), loss)
        settled = loss - found < 1e-8 * (abs(loss) + 1)
        beta, loss = better, found
        if settled:
            break
    chance = expit(np.asarray(matrix @ beta))
    factor = _factor(matrix, trials * chance * (1 - chance))
    spread = np.sqrt(np.diag(cho_solve(factor, np.eye(len(keep)))))
    width = len(design.names)
    coefficients, errors = np.full(width, np.nan), np.full(width, np.nan)
    coefficients[keep], errors[keep] = beta, spread
    return LogisticFit(coefficients, errors, len(keep))


def _halve(
    loss_of: Callable[[Floats], float], beta: Floats, step: Floats, loss: float
) -> tuple[Floats, float]:
    """Return the first point of ever shorter steps that is no worse, or stay."""
    for _ in range(12):
        found = loss_of(beta + step)
        if found <= loss:
            return beta + step, found
        step = step / 2
    return beta, loss


def _loss(eta: Floats, successes: Floats, trials: Floats) -> float:
    return float((trials * np.logaddexp(0, eta) - successes * eta).sum())


@kernel
def pair_sums(starts, columns, weights, width):  # type: ignore[no-untyped-def]
    """Return X'WX of a matrix of zeros and ones, given by the ones of each row.

    Rows have few ones, so adding up their pairs is far cheaper than a sparse product.
    """
    out = np.zeros((width, width))
    for row in range(len(starts) - 1):
        weight = weights[row]
        if weight == 0.0:
            continue
        for i in range(starts[row], starts[row + 1]):
            for k in range(starts[row], i + 1):
                out[columns[i], columns[k]] += weight
    for i in range(width):
        for k in range(i):
            both = out[i, k] + out[k, i]
            out[i, k] = both
            out[k, i] = both
    return out


def _factor(matrix: csr_array, weights: Floats) -> tuple[Floats, bool]:
    gram = pair_sums(matrix.indptr, matrix.indices, weights, matrix.shape[1])
    # Separation drives weights to zero; a trace of ridge keeps the factor alive.
    gram[np.diag_indices_from(gram)] += 1e-9 * max(1.0, float(gram.max()))
    factor: tuple[Floats, bool] = cho_factor(gram)
    return factor


def _independent(matrix: csr_array, trials: Floats) -> NDArray[np.intp]:
    seen = (trials > 0).astype(float)
    gram = pair_sums(matrix.indptr, matrix.indices, seen, matrix.shape[1])
    size = np.sqrt(np.diag(gram))
    size[size == 0] = 1.0
    _, pivots, rank, _ = dpstrf(gram / np.outer(size, size), tol=1e-8)
    return np.sort(pivots[:rank] - 1)
