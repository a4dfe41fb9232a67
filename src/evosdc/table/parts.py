"""The tables that a joint table consists of, and what is published of each."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.table.hierarchy import Dimension, Hierarchy
from evosdc.table.origin import Axis, Origin
from evosdc.table.status import LEVELS, SECONDARY
from evosdc.table.table import Table


@dataclass(frozen=True, eq=False)
class Part:
    """One of the tables that a joint table consists of.

    Attributes
    ----------
    dimensions, cells
        Numbers of its dimensions and of its cells in the joint table.
    names
        The names of its dimensions in the table itself.
    nodes
        For each of its dimensions, the nodes of the joint hierarchy that it shows.
    """

    dimensions: tuple[int, ...]
    cells: NDArray[np.int64]
    names: tuple[str, ...]
    nodes: tuple[NDArray[np.bool_], ...]

    def finest(self, table: Table) -> tuple[NDArray[np.bool_], ...]:
        """Return the finest nodes that it shows of each of its dimensions."""
        found = []
        for k, kept in zip(self.dimensions, self.nodes, strict=True):
            parents = table.dimensions[k].hierarchy.parents
            split = np.zeros(len(kept), dtype=bool)
            for node in range(len(parents) - 1, 0, -1):
                split[parents[node]] |= split[node] or kept[node]
            found.append(kept & ~split)
        return tuple(found)

    def labels(self, table: Table) -> tuple[tuple[Dimension, ...], NDArray[np.int32]]:
        """Return its own dimensions, and the codes of its cells in them."""
        codes = np.empty((len(self.cells), len(self.dimensions)), dtype=np.int32)
        found: list[Dimension] = []
        for at, (k, name, kept) in enumerate(
            zip(self.dimensions, self.names, self.nodes, strict=True)
        ):
            tree = table.dimensions[k].hierarchy
            number = np.cumsum(kept) - 1
            codes[:, at] = number[table.codes[self.cells, k]]
            found.append(Dimension(name, tree.restricted(kept)))
        return tuple(found), codes


def linked_parts(table: Table) -> tuple[Part, ...]:
    """Find the parts of a joint table; an ordinary table is its only part.

    They are listed in its origin, or else derived from its labels: a cell spans the
    dimensions in which it has a code other than the total. Each largest span is a
    table, which has all cells whose span it contains.
    """
    if not table.dimensions:
        return (Part((), np.arange(len(table)), (), ()),)
    if table.origin.tables:
        return tuple(_part(table, axes) for axes in table.origin.tables)
    away = table.codes > 0
    spans = np.unique(away[table.shown], axis=0)
    largest = [
        span
        for k, span in enumerate(spans)
        if not any(np.all(other >= span) for j, other in enumerate(spans) if j != k)
    ]
    # In the order of the first cells of the spans.
    there = table.shown
    first = [int(np.argmax((away == span).all(axis=1) & there)) for span in largest]
    return tuple(
        _part(
            table,
            [
                Axis(table.dimensions[d].name, table.dimensions[d].name)
                for d in np.flatnonzero(largest[k]).tolist()
            ],
        )
        for k in np.argsort(first, kind="stable")
    )


def _part(table: Table, axes: Sequence[Axis]) -> Part:
    position = {d.name: k for k, d in enumerate(table.dimensions)}
    numbers = tuple(position[axis.variable] for axis in axes)
    nodes = tuple(
        shown_nodes(table.dimensions[k].hierarchy, axis)
        for k, axis in zip(numbers, axes, strict=True)
    )
    inside = cells_of_spans(table.dimensions, table.codes, [axes])
    return Part(
        numbers,
        np.flatnonzero(inside & table.shown),
        tuple(axis.column for axis in axes),
        nodes,
    )


def shown_nodes(tree: Hierarchy, axis: Axis) -> NDArray[np.bool_]:
    """Return the nodes of a hierarchy that a table shows, the total among them."""
    if not axis.codes:
        return np.ones(len(tree), dtype=bool)
    shown = {tree.total, *axis.codes}
    return np.array([code in shown for code in tree.codes])


def cells_of_spans(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    spans: Sequence[Sequence[Axis]],
) -> NDArray[np.bool_]:
    """Return which cells of a table of all variables are in a table of some span."""
    found = np.zeros(len(codes), dtype=bool)
    for span in spans:
        axis_of = {axis.variable: axis for axis in span}
        inside = np.ones(len(codes), dtype=bool)
        for k, d in enumerate(dimensions):
            if d.name in axis_of:
                inside &= shown_nodes(d.hierarchy, axis_of[d.name])[codes[:, k]]
            else:
                inside &= codes[:, k] == 0
        found |= inside
    return found


def splits(tree: Hierarchy, name: str, codes: Collection[str]) -> set[tuple[str, str]]:
    """Return the nodes of a hierarchy that a table with some of its codes splits.

    Tables that show different levels of a variable share the splits of the coarser one,
    so `in_a_ring` can treat splits as variables.
    """
    found: set[tuple[str, str]] = set()
    for code in codes:
        above = tree.line(tree.node_of[code])[1:]
        found |= {(name, tree.codes[node]) for node in above}
    return found


def in_a_ring(spans: Sequence[Collection[Hashable]]) -> bool:
    """Whether tables by these variables (or splits of variables) form a ring.

    Where they do not, any tables that agree in their shared cells are margins of one
    table of all variables, which implies nothing more. In a ring (a by b, b by c, c by
    a) more may follow: that no cell of the table of all variables is negative. Graham's
    reduction: variables of a single span, and spans contained in another, are removed
    until nothing changes.
    """
    # Variables that occur in the same spans are treated as one.
    where: dict[Hashable, tuple[int, ...]] = {}
    for k, span in enumerate(spans):
        for name in set(span):
            where[name] = (*where.get(name, ()), k)
    left: list[set[tuple[int, ...]]] = [
        {at for at in where.values() if k in at} for k in range(len(spans))
    ]
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


def as_published(table: Table, part: Part | None = None) -> Table:
    """Return a copy of a table, or of one part of it, with published data only.

    It is not for computing: hidden values are NaN, and a part has no equations. Cells
    that no table shows are left out.
    """
    table = table.visible()
    cells = np.arange(len(table)) if part is None else part.cells
    hidden = table.hidden[cells]
    status = np.where(hidden, SECONDARY, table.status[cells])
    dimensions, codes = table.dimensions, table.codes
    matrix, rhs = table.matrix, table.rhs
    if part is not None:
        dimensions, codes = part.labels(table)
        matrix, rhs = sparse.csr_array((0, len(cells))), np.zeros(0)
    unknown: dict[str, Any] = dict.fromkeys(
        ("weight", "lower", "upper", *LEVELS), np.full(len(cells), np.nan)
    )
    # Not `Table.replace`, which would check that the values add up.
    return replace(
        table,
        value=np.where(hidden, np.nan, table.value[cells]),
        status=status,
        **unknown,
        matrix=matrix,
        rhs=rhs,
        dimensions=dimensions,
        codes=codes,
        # Hidden ones could be worked out from those of published cells.
        frequency=None,
        holdings=None,
        respondent=None,
        contributions=None,
        origin=Origin(),
        notes=(),
    )
