"""An initial model for large files: a small Bayesian network of the original.

Variables are drawn one after the other, each given the few drawn before that it depends
on most. With one parent each it is the tree of Chow and Liu (1968), which has the
pairs on its edges right; further parents are chosen by the information they add, as in
PrivBayes (Zhang et al. 2017), while the table of parents and child has enough records a
cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from evosdc.arrays import Long, Real
from evosdc.synth.data.encoding import Codes, cell_numbers, strides

_MIN_RECORDS_PER_CELL = 10
# A parents' combination with so many records is half drawn as if one parent fewer were
# known: few people must not be copied whole.
_SHRINKAGE_RECORDS = 10.0


@dataclass(frozen=True, eq=False)
class _Node:
    """A variable, its parents' strides and its cumulative shares by their cells."""

    variable: int
    stride: Long
    shares: Real


class BayesNetwork:
    """Draw each variable given at most `parents` others.

    The network is grown once, at the first draw.
    """

    def __init__(self, parents: int = 3) -> None:
        self.parents = parents
        self._nodes: list[_Node] = []

    def __call__(
        self, original: Codes, sizes: Long, rng: np.random.Generator, count: int
    ) -> Codes:
        if not self._nodes:
            self._grow(original, sizes)
        out = np.zeros((count, len(sizes)), np.int16)
        for node in self._nodes:
            cells = cell_numbers(out, node.stride)
            draws = rng.random(count)
            value = np.zeros(count, np.int16)
            for level in range(node.shares.shape[1] - 1):
                value += draws >= node.shares[cells, level]
            out[:, node.variable] = value
        return out

    def _grow(self, original: Codes, sizes: Long) -> None:
        for variable, parents in structure(original, sizes, self.parents):
            shares = _shares(original, sizes, variable, parents)
            shares = np.cumsum(shares, axis=1)
            # Rounding must not draw a level beyond the last that occurs.
            shares[shares > 1.0 - 1e-9] = 1.0
            self._nodes.append(_Node(variable, strides(sizes, parents)[0], shares))


def structure(
    original: Codes, sizes: Long, most: int
) -> list[tuple[int, tuple[int, ...]]]:
    """Return the variables in the order of drawing, each with its parents."""
    # 0 where a pair is too sparse to say.
    pairs = np.zeros((len(sizes), len(sizes)))
    for j, k in combinations(range(len(sizes)), 2):
        if _dense(original, sizes, (k, j)):
            pairs[j, k] = pairs[k, j] = _information(original, sizes, k, (j,))
    order = [int(pairs.sum(axis=0).argmax())]
    out: list[tuple[int, tuple[int, ...]]] = [(order[0], ())]
    while len(order) < len(sizes):
        left = [j for j in range(len(sizes)) if j not in order]
        strongest = pairs[np.ix_(left, order)]
        at, by = np.unravel_index(int(strongest.argmax()), strongest.shape)
        child = left[at]
        parents: tuple[int, ...] = ()
        if strongest[at, by] > 0.0:
            parents = _parents(original, sizes, child, order, order[by], most)
        out.append((child, parents))
        order.append(child)
    return out


def _parents(
    original: Codes, sizes: Long, child: int, drawn: list[int], first: int, most: int
) -> tuple[int, ...]:
    """Add to the first parent those that tell most about the child beyond it."""
    parents: tuple[int, ...] = (first,)
    known = _information(original, sizes, child, parents)
    while len(parents) < most:
        gains = [
            (_information(original, sizes, child, (*parents, j)) - known, j)
            for j in drawn
            if j not in parents and _dense(original, sizes, (child, *parents, j))
        ]
        gain, best = max(gains, default=(0.0, -1))
        if gain <= 0.0:
            break
        parents, known = (*parents, best), known + gain
    return parents


def _dense(original: Codes, sizes: Long, table: tuple[int, ...]) -> bool:
    """Whether a table has enough records per cell."""
    return strides(sizes, table)[1] * _MIN_RECORDS_PER_CELL <= len(original)


def _information(
    original: Codes, sizes: Long, child: int, parents: tuple[int, ...]
) -> float:
    """Return the mutual information of a child and its parents, less its bias.

    Independent variables show (r - 1)(c - 1) / 2n nats on average (Miller 1955).
    """
    table = _counts(original, sizes, child, parents)
    n = table.sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    joint = _negative_entropy(table) + float(n * np.log(n))
    gross = joint - _negative_entropy(rows) - _negative_entropy(columns)
    degrees = ((rows > 0).sum() - 1) * ((columns > 0).sum() - 1)
    return float(gross / n - degrees / (2.0 * n))


def _negative_entropy(counts: Long) -> float:
    seen = counts[counts > 0].astype(float)
    return float((seen * np.log(seen)).sum())


def _counts(original: Codes, sizes: Long, child: int, parents: tuple[int, ...]) -> Long:
    """Count records by the parents' cell and the child's level."""
    stride, cells = strides(sizes, (child, *parents))
    numbers = cell_numbers(original, stride)
    return np.bincount(numbers, minlength=cells).reshape(-1, int(sizes[child]))


def _shares(original: Codes, sizes: Long, child: int, parents: tuple[int, ...]) -> Real:
    """Return the child's shares by the parents' cell, drawn towards fewer parents."""
    counts = _counts(original, sizes, child, parents).astype(float)
    if len(parents) < 2:
        total = counts.sum(axis=1, keepdims=True)
        return counts / np.maximum(total, 1.0)
    # The last parent has the longest stride: coarser shares repeat along it.
    coarse = _shares(original, sizes, child, parents[:-1])
    coarse = np.tile(coarse, (int(sizes[parents[-1]]), 1))
    total = counts.sum(axis=1, keepdims=True)
    return np.asarray(
        (counts + _SHRINKAGE_RECORDS * coarse) / (total + _SHRINKAGE_RECORDS)
    )
