"""Build a table from labelled cells: add missing totals, write the equations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from evosdc.errors import TableError
from evosdc.table.contributions import Contributions
from evosdc.table.hierarchy import Dimension
from evosdc.table.index import CellIndex, cell_keys, label_of
from evosdc.table.origin import Origin
from evosdc.table.table import Table, default_columns

Codes = NDArray[np.int32]


def build_table(
    dimensions: Sequence[Dimension],
    codes: ArrayLike,
    value: ArrayLike,
    *,
    missing: Literal["error", "empty"] = "error",
    name: str = "value",
    frequency: ArrayLike | None = None,
    holdings: ArrayLike | None = None,
    respondent: ArrayLike | None = None,
    contributions: Contributions | None = None,
    unshown: ArrayLike | None = None,
    origin: Origin | None = None,
    **columns: ArrayLike | None,
) -> Table:
    """Build a table from labelled cells.

    Parameters
    ----------
    dimensions
        The spanning variables with their hierarchies.
    codes
        Node numbers, one row per cell and one column per dimension.
    value
        The content of each cell given.
    missing
        What a missing inner cell means: an error, or an empty cell, which everyone
        knows to be zero and which therefore needs no row in the table. Missing totals
        are computed in either case.
    columns
        Any of weight, status, lower, upper, lpl, upl and spl, one entry per cell given.

    Raises
    ------
    TableError
        For duplicate or missing cells; `NotAdditiveError` for wrong totals.
    """
    dims = tuple(dimensions)
    given = np.array(codes, dtype=np.int32).reshape(-1, len(dims))
    values = np.array(value, dtype=np.float64).ravel()
    if not len(given):
        raise TableError(
            "the table has no cells",
            expected="at least one cell",
            hint="check that the file is not empty",
        )
    refuse_duplicates(dims, given)
    if missing == "error":
        absent = missing_cells(dims, given, most=3)
        if absent:
            raise TableError(
                f"inner cells are missing, the first: {'; '.join(absent)}",
                expected="a row for every combination of codes",
                hint="add them with value 0, or say that absent cells are empty "
                "(missing='empty', --missing empty)",
            )
    counts = None if frequency is None else np.array(frequency, np.int64).ravel()
    full, full_values, full_counts = complete(dims, given, values, counts)
    n, extra = len(full), len(full) - len(given)
    if extra and holdings is not None:
        raise TableError(
            f"{extra} totals without a number of holdings",
            expected="all totals in the table: a holding may stand in several parts",
            hint="tabulate from records, or leave the holdings out",
        )
    if respondent is not None:
        # Computed totals are at the end: their parts tell who is alone in them.
        respondent = np.append(np.asarray(respondent, dtype=str), [""] * extra)
    if contributions is not None:
        contributions = contributions.padded(extra)
    if unshown is not None:
        unshown = np.append(np.asarray(unshown, dtype=bool), [False] * extra)
        unshown = unshown if unshown.any() else None
    filled: dict[str, Any] = {}
    defaults = default_columns(full_values)
    for key, column in columns.items():
        if column is None:
            continue
        first = np.asarray(column).ravel()
        if len(first) != len(given):
            raise TableError(
                f"{len(first)} entries of {key} for {len(given)} cells",
                expected=f"one {key} for each cell",
            )
        filled[key] = np.concatenate([first, defaults[key][n - extra :]])
    return Table.of(
        full_values,
        equations(dims, full),
        dimensions=dims,
        codes=full,
        frequency=full_counts,
        holdings=holdings,
        respondent=respondent,
        contributions=contributions,
        unshown=unshown,
        origin=origin,
        name=name,
        **filled,
    )


def missing_cells(
    dimensions: Sequence[Dimension], codes: Codes, most: int = 10
) -> list[str]:
    """Return labels of inner cells (leaf codes only) that are not among `codes`."""
    leaves = [np.flatnonzero(d.hierarchy.is_leaf) for d in dimensions]
    if count_missing(dimensions, codes) == 0:
        return []
    inner = _inner(dimensions, codes)
    have = {tuple(row) for row in codes[inner].tolist()}
    found: list[str] = []
    for position in np.ndindex(*(len(leaf) for leaf in leaves)):
        row = tuple(int(leaves[k][i]) for k, i in enumerate(position))
        if row not in have:
            found.append(label_of(dimensions, row))
            if len(found) == most:
                break
    return found


def count_missing(dimensions: Sequence[Dimension], codes: Codes) -> int:
    """Return how many inner cells are not among `codes`, which are distinct."""
    expected = 1
    for d in dimensions:
        expected *= int(d.hierarchy.is_leaf.sum())
    return max(0, expected - int(_inner(dimensions, codes).sum()))


def _inner(dimensions: Sequence[Dimension], codes: Codes) -> NDArray[np.bool_]:
    inner = np.ones(len(codes), dtype=bool)
    for k, d in enumerate(dimensions):
        inner &= d.hierarchy.is_leaf[codes[:, k]]
    return inner


def equations(dimensions: Sequence[Dimension], codes: Codes) -> Any:
    """Return ``sum of parts - total = 0`` for every total with parts, as CSR."""
    index = CellIndex.of(dimensions, codes)
    n = len(codes)
    rows: list[NDArray[np.int64]] = []
    cols: list[NDArray[np.int64]] = []
    data: list[NDArray[np.float64]] = []
    count = 0
    for k, d in enumerate(dimensions):
        parent = d.hierarchy.parent_array[codes[:, k]]
        parts = np.flatnonzero(parent >= 0)
        if not len(parts):
            continue
        above = codes[parts].copy()
        above[:, k] = parent[parts]
        total = index.find(above)
        known = total >= 0
        parts, total = parts[known], total[known]
        heads, row = np.unique(total, return_inverse=True)
        rows += [count + row, count + np.arange(len(heads))]
        cols += [parts, heads]
        data += [np.ones(len(parts)), -np.ones(len(heads))]
        count += len(heads)
    if not rows:
        return sparse.csr_array((0, n), dtype=np.float64)
    coo = (np.concatenate(data), (np.concatenate(rows), np.concatenate(cols)))
    return sparse.csr_array(coo, shape=(count, n))


def refuse_duplicates(dimensions: Sequence[Dimension], codes: Codes) -> None:
    """Raise a `TableError` for a combination of codes that occurs twice."""
    twice = CellIndex.of(dimensions, codes).repeated()
    if len(twice):
        raise TableError(
            f"{len(twice)} cells stand twice, the first: "
            f"{label_of(dimensions, codes[twice[0]])}",
            expected="each combination of codes once",
            hint="add the duplicates up or remove them",
        )


def complete(
    dimensions: Sequence[Dimension],
    codes: Codes,
    values: NDArray[np.float64],
    counts: NDArray[np.int64] | None,
) -> tuple[Codes, NDArray[np.float64], NDArray[np.int64] | None]:
    """Append the totals that are missing, with their values and counts."""
    full = codes
    for more, parts, group in add_totals(dimensions, codes):
        full = more
        values = np.append(values, np.bincount(group, weights=values[parts]))
        if counts is not None:
            added = np.zeros(int(group.max()) + 1, dtype=np.int64)
            np.add.at(added, group, counts[parts])
            counts = np.append(counts, added)
    return full, values, counts


def add_totals(
    dimensions: Sequence[Dimension], codes: Codes
) -> Iterator[tuple[Codes, NDArray[np.int64], NDArray[np.int64]]]:
    """Append the totals that are missing, dimension by dimension, bottom up.

    Yields
    ------
    The codes of all cells so far, the numbers of the cells that make up the totals
    appended last, and the numbers of their totals: 0 for the first one appended.
    """
    for k, d in enumerate(dimensions):
        tree = d.hierarchy
        for level in range(int(tree.depth.max()), 0, -1):
            depth = tree.depth[codes[:, k]]
            parts = np.flatnonzero(depth == level)
            above = codes[parts].copy()
            above[:, k] = tree.parent_array[codes[parts, k]]
            if np.any((depth == level - 1) & ~tree.is_leaf[codes[:, k]]):
                unknown = CellIndex.of(dimensions, codes).find(above) < 0
                parts, above = parts[unknown], above[unknown]
            if not len(parts):
                continue
            keys = cell_keys([len(d.hierarchy) for d in dimensions], above)
            _, first, group = np.unique(keys, return_index=True, return_inverse=True)
            codes = np.vstack([codes, above[first]])
            yield codes, parts, group
