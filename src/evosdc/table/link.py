"""Linked tables: several tables over one population become one table.

A cell that two tables share (the same codes, where a table without a dimension stands
at its total) becomes one cell, so that an attacker's view of all tables is one system
of equations and one pattern protects them together.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import TableError
from evosdc.table.build import cell_keys
from evosdc.table.hierarchy import Dimension, Hierarchy
from evosdc.table.origin import Origin
from evosdc.table.status import FIXED, PRIMARY, SAFE, SECONDARY
from evosdc.table.table import ADDITIVITY, Table

# A cell that is sensitive in one table is sensitive in all.
_SEVERITY = {SAFE: 0, SECONDARY: 1, FIXED: 2, PRIMARY: 3}


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """The joint table and where the cells of each part went.

    Attributes
    ----------
    table
        All cells and all equations.
    places
        For each part, the number in `table` of each of its cells.
    """

    table: Table
    places: tuple[NDArray[np.int64], ...]


@dataclass(frozen=True, eq=False)
class Part:
    """One of the tables that a joint table was made of.

    `dimensions` are the numbers of its dimensions, `cells` those of its cells, both in
    the joint table.
    """

    dimensions: tuple[int, ...]
    cells: NDArray[np.int64]


def linked_parts(table: Table) -> tuple[Part, ...]:
    """Find the tables in a joint one by its labels: one part for an ordinary table.

    A cell spans the dimensions where it does not stand at the total. The largest spans
    are the tables, and a cell is in every table that has its span.
    """
    if not table.dimensions:
        return (Part((), np.arange(len(table))),)
    away = table.codes > 0
    spans = np.unique(away[table.shown], axis=0)
    largest = [
        span
        for k, span in enumerate(spans)
        if not any(np.all(other >= span) for j, other in enumerate(spans) if j != k)
    ]
    # As they were given: by the first cell that has a span.
    there = table.shown
    first = [int(np.argmax((away == span).all(axis=1) & there)) for span in largest]
    return tuple(
        Part(
            tuple(np.flatnonzero(largest[k]).tolist()),
            np.flatnonzero((away <= largest[k]).all(axis=1) & there),
        )
        for k in np.argsort(first, kind="stable")
    )


def cells_of_spans(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    spans: Sequence[Collection[str]],
) -> NDArray[np.bool_]:
    """Return which cells of a table of all variables stand in a table by a span."""
    away = codes > 0
    found = np.zeros(len(codes), dtype=bool)
    for span in spans:
        inside = np.array([d.name in span for d in dimensions])
        found |= (away <= inside).all(axis=1)
    return found


def in_a_ring(spans: Sequence[Collection[str]]) -> bool:
    """Whether tables by these variables hang together in a ring.

    Where they do not, any tables that agree in the cells they share are sums of one
    table of all variables, and nothing follows from it that does not follow from them.
    In a ring (a by b, b by c, c by a) more may follow: that no cell of the table of all
    variables is negative. Graham's reduction: variables of one span alone, and spans
    inside another, are taken away until nothing changes.
    """
    left = [set(span) for span in spans]
    while True:
        lone = {
            name
            for span in left
            for name in span
            if sum(name in other for other in left) == 1
        }
        smaller = [span - lone for span in left]
        kept = [
            span
            for k, span in enumerate(smaller)
            if span
            and not any(
                span < other or (span == other and j < k)
                for j, other in enumerate(smaller)
            )
        ]
        if kept == left:
            return bool(kept)
        left = kept


def link_tables(tables: Sequence[Table]) -> LinkedTables:
    """Join labelled tables over their shared cells; shared equations stand once."""
    if not tables or any(not t.dimensions for t in tables):
        raise TableError(
            "tables without labels cannot be linked",
            expected="at least one table, each with named dimensions",
            hint="write the joint equations into one JJ file instead",
        )
    dims = _union([d for t in tables for d in t.dimensions])
    position = {d.name: k for k, d in enumerate(dims)}
    sizes = [len(d.hierarchy) for d in dims]
    every: list[NDArray[np.int32]] = []
    for t in tables:
        codes = np.zeros((len(t), len(dims)), dtype=np.int32)
        for k, d in enumerate(t.dimensions):
            target = dims[position[d.name]].hierarchy
            translate = np.array([target.node_of[c] for c in d.hierarchy.codes])
            codes[:, position[d.name]] = translate[t.codes[:, k]]
        every.append(codes)
    keys = cell_keys(sizes, np.vstack(every))
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    # Number the joint cells in order of appearance: the first table keeps its own.
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    place = rank[place]
    first = np.sort(first)
    splits = np.cumsum([len(t) for t in tables])[:-1]
    places = tuple(np.split(place, splits))
    n = len(first)

    def joined(name: str) -> NDArray[np.float64]:
        return np.concatenate([getattr(t, name) for t in tables])

    value = joined("value")
    gap = np.abs(value - value[first][place])
    bad = np.flatnonzero(gap > ADDITIVITY * np.maximum(1.0, np.abs(value)))
    if len(bad):
        which = int(np.searchsorted(splits, bad[0], side="right"))
        inside = int(bad[0] - (splits[which - 1] if which else 0))
        raise TableError(
            f"{len(bad)} shared cells differ between linked tables, the first: "
            f"{tables[which].label(inside)}",
            expected="the same value for a cell in every table that has it",
            hint="tabulate all tables from the same records",
        )
    severity = np.array([_SEVERITY[s] for t in tables for s in t.status.tolist()])
    worst = np.zeros(n, dtype=np.int64)
    np.maximum.at(worst, place, severity)
    letters = np.array([s for s, _ in sorted(_SEVERITY.items(), key=lambda p: p[1])])

    def strictest(name: str, largest: bool) -> NDArray[np.float64]:
        out = np.full(n, -np.inf if largest else np.inf)
        (np.maximum if largest else np.minimum).at(out, place, joined(name))
        return out

    blocks = [
        sparse.csr_array(
            (t.matrix.data, place_of[t.matrix.indices], t.matrix.indptr),
            shape=(t.matrix.shape[0], n),
        )
        for t, place_of in zip(tables, places, strict=True)
    ]

    def counts(name: str) -> NDArray[np.int64] | None:
        known = [getattr(t, name) for t in tables]
        if any(count is None for count in known):
            return None
        return np.concatenate(known)[first]

    matrix, rhs = _distinct(sparse.vstack(blocks, format="csr"), joined("rhs"))
    table = Table.of(
        value[first],
        matrix,
        rhs=rhs,
        weight=strictest("weight", largest=True),
        status=letters[worst],
        lower=strictest("lower", largest=True),
        upper=strictest("upper", largest=False),
        lpl=strictest("lpl", largest=True),
        upl=strictest("upl", largest=True),
        spl=strictest("spl", largest=True),
        dimensions=dims,
        codes=np.vstack(every)[first],
        frequency=counts("frequency"),
        name=tables[0].name,
        holdings=counts("holdings"),
        respondent=_respondents(tables, first, place, n),
        origin=_origin(tables),
        notes=dict.fromkeys(note for t in tables for note in t.notes),
    )
    return LinkedTables(table, places)


def _origin(tables: Sequence[Table]) -> Origin:
    joint = Origin.joint(t.origin for t in tables)
    if in_a_ring([[d.name for d in t.dimensions] for t in tables]):
        return replace(joint, ring=True)
    return joint


def _respondents(
    tables: Sequence[Table],
    first: NDArray[np.int64],
    place: NDArray[np.int64],
    n: int,
) -> NDArray[np.str_] | None:
    """Who is alone in each joint cell, from whichever table knows it.

    Hashes are keyed by the records: those of tables of other records would not meet, so
    a table that knows nobody leaves it to the totals to tell.
    """
    known = [t.respondent for t in tables]
    if all(who is None for who in known):
        return None
    every = np.concatenate(
        [
            np.full(len(t), "") if who is None else who
            for t, who in zip(tables, known, strict=True)
        ]
    )
    out = every[first].copy()
    missing = (out == "")[place] & (every != "")
    out[place[missing]] = every[missing]
    return out[:n]


def _distinct(matrix: Any, rhs: NDArray[np.float64]) -> tuple[Any, Any]:
    """Leave out equations that stand there already."""
    matrix.sort_indices()
    seen: dict[tuple[bytes, bytes, float], int] = {}
    for row, (a, b) in enumerate(pairwise(matrix.indptr.tolist())):
        key = (matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes(), rhs[row])
        seen.setdefault(key, row)
    rows = list(seen.values())
    return matrix[rows], rhs[rows]


def _union(dimensions: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """One dimension a name; two trees of one name are merged where they agree."""
    merged: dict[str, Dimension] = {}
    for d in dimensions:
        known = merged.get(d.name)
        if known is None:
            merged[d.name] = d
        elif known != d:
            merged[d.name] = Dimension(d.name, _merge(d.name, known, d))
    return tuple(merged.values())


def _merge(name: str, one: Dimension, two: Dimension) -> Hierarchy:
    a, b = one.hierarchy, two.hierarchy
    if a.total != b.total:
        raise TableError(
            f"dimension {name!r} has total {a.total!r} in one table and {b.total!r} "
            "in another",
            expected="one code for the total",
            hint="rename the total in one of the tables",
        )
    parent_of: dict[str, str] = {}
    for tree in (a, b):
        for node in range(1, len(tree)):
            code, parent = tree.codes[node], tree.codes[tree.parents[node]]
            if parent_of.setdefault(code, parent) != parent:
                raise TableError(
                    f"code {code!r} of {name!r} has two parents in linked tables",
                    expected="hierarchies that agree where they meet",
                    hint="use one hierarchy file for both tables, or rename a level",
                )
    return Hierarchy.from_parents(parent_of, a.total)
