"""Sequential trees on values as they are: numbers by regression, the rest by classes.

The classification trees of `thesis_rivals` see numbers in bins. This is what synthpop
does with a file of both kinds (Nowok, Raab and Dibben 2016): every column in its order,
given those before it; a number is first missing or not, then that of a donor in the
leaf. Leaves hold five records or more; needs scikit-learn.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from evosdc.errors import MissingExtraError
from evosdc.metrics.binning import as_numbers, is_number

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

_LEAF = 5
# Categories with more levels are told by the order of their names.
_DUMMIES = 40


def mixed_cart(table: pa.Table, seed: int) -> pa.Table:
    """Draw each column from a tree on those before it."""
    rng = np.random.default_rng(seed)
    many = table.num_rows
    names = table.column_names
    donors = {names[0]: rng.integers(0, many, many)}
    for j, name in enumerate(names[1:], 1):
        before = [(table.column(n), donors[n]) for n in names[:j]]
        known = np.hstack([features(column) for column, _ in before])
        drawn = np.hstack([features(column)[rows] for column, rows in before])
        donors[name] = _donors(table.column(name), known, drawn, seed, rng)
    return pa.table({n: table.column(n).take(pa.array(donors[n])) for n in names})


def _donors(
    column: pa.ChunkedArray,
    known: Floats,
    drawn: Floats,
    seed: int,
    rng: np.random.Generator,
) -> Rows:
    """Return from which record each new one has the value of a column."""
    try:
        from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
    except ImportError:
        raise MissingExtraError("scikit-learn", "bench") from None
    rows = np.arange(len(column), dtype=np.int64)
    if not is_number(column.type):
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=seed)
        return _from_leaves(tree.fit(known, _classes(column)), known, drawn, rows, rng)
    numbers = as_numbers(column)
    there = np.isfinite(numbers)
    out = np.empty(len(column), np.int64)
    shown = np.ones(len(column), bool)
    if not there.all():
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=seed)
        out = _from_leaves(tree.fit(known, there), known, drawn, rows, rng)
        shown = there[out]
    if shown.any():
        tree = DecisionTreeRegressor(min_samples_leaf=_LEAF, random_state=seed)
        tree.fit(known[there], numbers[there])
        out[shown] = _from_leaves(tree, known[there], drawn[shown], rows[there], rng)
    return out


def _from_leaves(
    tree: Any, known: Floats, drawn: Floats, rows: Rows, rng: np.random.Generator
) -> Rows:
    """Return a donor of the leaf that each new record falls into."""
    leaf = tree.apply(known)
    order = np.argsort(leaf, kind="stable")
    mine = tree.apply(drawn)
    begin = np.searchsorted(leaf[order], mine, "left")
    end = np.searchsorted(leaf[order], mine, "right")
    at = begin + (rng.random(len(drawn)) * (end - begin)).astype(np.int64)
    return np.asarray(rows[order[at]])


def features(column: pa.ChunkedArray) -> Floats:
    """Return a column as trees take it: numbers and whether they are there, or 0/1."""
    if is_number(column.type):
        numbers = as_numbers(column)
        there = np.isfinite(numbers)
        return np.column_stack([np.where(there, numbers, 0.0), there])
    classes = _classes(column)
    if classes.max() < _DUMMIES:
        return np.asarray(np.eye(int(classes.max()) + 1)[classes])
    return classes[:, None].astype(float)


def _classes(column: pa.ChunkedArray) -> Rows:
    texts = np.array(["" if v is None else str(v) for v in column.to_pylist()])
    return np.asarray(np.unique(texts, return_inverse=True)[1], np.int64)
