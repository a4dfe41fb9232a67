"""Linked tables: several tables over one population become one table.

A cell that two tables share (the same codes of the same variables, where a table
without a variable has its total) becomes one cell. So the attacker's view of all tables
is one system of equations, and one pattern protects them together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import TableError
from evosdc.table.contributions import Contributions
from evosdc.table.hierarchy import Dimension
from evosdc.table.index import cell_keys
from evosdc.table.origin import Axis, Origin
from evosdc.table.parts import (
    in_a_ring,
    linked_parts,
    read_links,
    splits,
    union,
    unlinked_in,
    unsure_links,
)
from evosdc.table.status import FIXED, PRIMARY, SAFE, SECONDARY
from evosdc.table.table import ADDITIVITY, Table

# A cell that is sensitive in one table is sensitive in all.
_SEVERITY = {SAFE: 0, SECONDARY: 1, FIXED: 2, PRIMARY: 3}


@dataclass(frozen=True, eq=False)
class LinkedTables:
    """The joint table and the numbers in it of the cells of each part.

    Attributes
    ----------
    table
        All cells and all equations.
    cell_numbers
        For each part, the number in `table` of each of its cells.
    """

    table: Table
    cell_numbers: tuple[NDArray[np.int64], ...]


def link_tables(
    tables: Sequence[Table],
    *,
    links: Mapping[str, str] | None = None,
    unlinked: Sequence[str] | None = None,
) -> LinkedTables:
    """Join labelled tables over their shared cells and equations.

    Parameters
    ----------
    tables
        Dimensions of the same name are the same variable; tables may show different
        levels of it, as long as a code has the same meaning in all.
    links
        Dimensions of other names that are levels of one variable, ``{"A21": "A88"}``,
        or that are unrelated to all others, ``{"A21": "none"}``.
    unlinked
        Sentences of the claim on the other dimensions. Where None, these are compared
        by their codes and totals.

    Raises
    ------
    InputError
        Where two dimensions of different names look like one variable.
    """
    if not tables or any(not t.dimensions for t in tables):
        raise TableError(
            "tables without labels cannot be linked",
            expected="at least one table, each with named dimensions",
            hint="write the joint equations into one JJ file instead",
        )
    if len(tables) > 1 and any(t.unshown is not None for t in tables):
        raise TableError(
            "tables that are linked in a ring already cannot be linked with others",
            expected="tables whose cells are all published",
            hint="tabulate all of them together from the records",
        )
    given = dict(links or {})
    variable_of = read_links(given, [[d.name for d in t.dimensions] for t in tables])
    axes = [_axes(t, variable_of) for t in tables]
    tables = [_renamed(t, variable_of) for t in tables]
    if unlinked is None:
        known = [words for t in tables for words in unlinked_in(t)]
        unlinked = [*known, *unsure_links(tables, given)]
    dims = union([d for t in tables for d in t.dimensions])
    codes = np.vstack([_joint_codes(t, dims) for t in tables])
    cells = _JointCells.of(tables, cell_keys([len(d.hierarchy) for d in dims], codes))
    _refuse_other_values(tables, cells)
    matrix, rhs = _joint_equations(tables, cells)
    table = Table.of(
        cells.first_of("value"),
        matrix,
        rhs=rhs,
        weight=cells.largest("weight"),
        status=_most_severe(tables, cells),
        lower=cells.largest("lower"),
        upper=cells.smallest("upper"),
        lpl=cells.largest("lpl"),
        upl=cells.largest("upl"),
        spl=cells.largest("spl"),
        dimensions=dims,
        codes=codes[cells.first],
        frequency=cells.counts("frequency"),
        name=tables[0].name,
        holdings=cells.counts("holdings"),
        respondent=_respondents(tables, cells),
        contributions=_contributions(tables, cells),
        origin=_origin(tables, dims, [a for each in axes for a in each], unlinked),
        notes=dict.fromkeys(note for t in tables for note in t.notes),
    )
    return LinkedTables(table, cells.cell_numbers)


def _axes(table: Table, variable_of: Mapping[str, str]) -> list[tuple[Axis, ...]]:
    """Return the axes of the tables that a table consists of."""
    return [
        tuple(
            Axis(
                variable_of.get(table.dimensions[k].name, table.dimensions[k].name),
                name,
                tuple(
                    code
                    for code, shown in zip(
                        table.dimensions[k].hierarchy.codes, nodes, strict=True
                    )
                    if shown
                ),
            )
            for k, name, nodes in zip(
                part.dimensions, part.names, part.nodes, strict=True
            )
        )
        for part in linked_parts(table)
    ]


def _renamed(table: Table, variable_of: Mapping[str, str]) -> Table:
    if not any(d.name in variable_of for d in table.dimensions):
        return table
    return replace(
        table,
        dimensions=tuple(
            Dimension(variable_of.get(d.name, d.name), d.hierarchy)
            for d in table.dimensions
        ),
    )


@dataclass(frozen=True, eq=False)
class _JointCells:
    """The cells of some tables, of which those with the same codes are one.

    The cells of all tables, one table after the other, have the joint numbers `place`;
    `first` is the first of them for each joint cell.
    """

    tables: Sequence[Table]
    place: NDArray[np.int64]
    first: NDArray[np.int64]

    @classmethod
    def of(cls, tables: Sequence[Table], keys: NDArray[np.int64]) -> _JointCells:
        """Number cells with the same key in order of appearance.

        The cells of the first table keep their numbers.
        """
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        return cls(tables, rank[place], np.sort(first))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def starts(self) -> NDArray[np.int64]:
        """The positions at which the cells of the second and further tables begin."""
        return np.cumsum([len(t) for t in self.tables])[:-1]

    @property
    def cell_numbers(self) -> tuple[NDArray[np.int64], ...]:
        """The joint numbers of the cells of each table."""
        return tuple(np.split(self.place, self.starts))

    def all_of(self, name: str) -> NDArray[np.float64]:
        """Return a column of all tables, one table after the other."""
        return np.concatenate([getattr(t, name) for t in self.tables])

    def first_of(self, name: str) -> NDArray[np.float64]:
        """Return a column of the joint cells, from the first table that has each."""
        return self.all_of(name)[self.first]

    def largest(self, name: str, sign: int = 1) -> NDArray[np.float64]:
        """Return the maximum of a column over all tables that have a cell."""
        out = np.full(len(self), -np.inf)
        np.maximum.at(out, self.place, sign * self.all_of(name))
        return out

    def smallest(self, name: str) -> NDArray[np.float64]:
        """Return the minimum of a column over all tables that have a cell."""
        return -self.largest(name, -1)

    def counts(self, name: str) -> NDArray[np.int64] | None:
        """Return a column of counts of the joint cells, where every table has it."""
        known = [getattr(t, name) for t in self.tables]
        if any(count is None for count in known):
            return None
        return np.concatenate(known)[self.first]


def _joint_codes(table: Table, dims: Sequence[Dimension]) -> NDArray[np.int32]:
    """Return codes in the joint dimensions: totals where a table lacks one."""
    position = {d.name: k for k, d in enumerate(dims)}
    codes = np.zeros((len(table), len(dims)), dtype=np.int32)
    for k, d in enumerate(table.dimensions):
        target = dims[position[d.name]].hierarchy
        translate = np.array([target.node_of[c] for c in d.hierarchy.codes])
        codes[:, position[d.name]] = translate[table.codes[:, k]]
    return codes


def _refuse_other_values(tables: Sequence[Table], cells: _JointCells) -> None:
    """Refuse tables that do not agree on the value of a cell they share."""
    value = cells.all_of("value")
    gap = np.abs(value - value[cells.first][cells.place])
    bad = np.flatnonzero(gap > ADDITIVITY * np.maximum(1.0, np.abs(value)))
    if not len(bad):
        return
    which = int(np.searchsorted(cells.starts, bad[0], side="right"))
    inside = int(bad[0] - (cells.starts[which - 1] if which else 0))
    raise TableError(
        f"{len(bad)} shared cells differ between linked tables, the first: "
        f"{tables[which].label(inside)}",
        expected="the same value for a cell in every table that has it",
        hint="tabulate all tables from the same records",
    )


def _most_severe(tables: Sequence[Table], cells: _JointCells) -> NDArray[np.str_]:
    """Return the most severe status that any table gives to each joint cell."""
    severity = np.array([_SEVERITY[s] for t in tables for s in t.status.tolist()])
    worst = np.zeros(len(cells), dtype=np.int64)
    np.maximum.at(worst, cells.place, severity)
    letters = np.array([s for s, _ in sorted(_SEVERITY.items(), key=lambda p: p[1])])
    return letters[worst]


def _joint_equations(tables: Sequence[Table], cells: _JointCells) -> tuple[Any, Any]:
    """Return the distinct equations of all tables over the joint cells."""
    blocks = [
        sparse.csr_array(
            (t.matrix.data, place_of[t.matrix.indices], t.matrix.indptr),
            shape=(t.matrix.shape[0], len(cells)),
        )
        for t, place_of in zip(tables, cells.cell_numbers, strict=True)
    ]
    return _distinct(sparse.vstack(blocks, format="csr"), cells.all_of("rhs"))


def _origin(
    tables: Sequence[Table],
    dims: Sequence[Dimension],
    axes: Sequence[tuple[Axis, ...]],
    unlinked: Sequence[str],
) -> Origin:
    trees = {d.name: d.hierarchy for d in dims}
    spans = [
        set().union(*(splits(trees[a.variable], a.variable, a.codes) for a in span))
        for span in axes
    ]
    joint = Origin.joint(t.origin for t in tables)
    # Labels determine the parts, unless some show other levels of a variable.
    by_labels = all(
        a.column == a.variable and len(a.codes) == len(trees[a.variable])
        for span in axes
        for a in span
    )
    return replace(
        joint,
        ring=joint.ring or in_a_ring(spans),
        tables=() if by_labels else tuple(axes),
        unlinked=tuple(dict.fromkeys(unlinked)),
    )


def _respondents(
    tables: Sequence[Table], cells: _JointCells
) -> NDArray[np.str_] | None:
    """Return the lone respondent of each joint cell, from any table that knows it.

    Hashes are keyed by the records and differ between tables of different records.
    """
    if all(t.respondent is None for t in tables):
        return None
    every = np.concatenate(
        [np.full(len(t), "") if t.respondent is None else t.respondent for t in tables]
    )
    out = every[cells.first]
    missing = (out == "")[cells.place] & (every != "")
    out[cells.place[missing]] = every[missing]
    return out


def _contributions(tables: Sequence[Table], cells: _JointCells) -> Contributions | None:
    """Return the largest contributors of each joint cell, from a table that knows them.

    Only where all tables are of the same records: otherwise one contributor has several
    hashes.
    """
    parts = [t.contributions for t in tables if t.contributions is not None]
    sources = {t.origin.source for t in tables}
    differ = len(sources) > 1 or (len(tables) > 1 and "" in sources)
    if len(parts) < len(tables) or differ:
        return None
    every = Contributions(
        np.concatenate([found.count for found in parts]),
        np.vstack([found.who for found in parts]),
        np.vstack([found.amount for found in parts]),
    )
    order = np.lexsort((-every.count, cells.place))
    return every[order[np.searchsorted(cells.place[order], np.arange(len(cells)))]]


def _distinct(matrix: Any, rhs: NDArray[np.float64]) -> tuple[Any, Any]:
    """Leave out repeated equations."""
    matrix.sort_indices()
    seen: dict[tuple[bytes, bytes, float], int] = {}
    for row, (a, b) in enumerate(pairwise(matrix.indptr.tolist())):
        key = (matrix.indices[a:b].tobytes(), matrix.data[a:b].tobytes(), rhs[row])
        seen.setdefault(key, row)
    rows = list(seen.values())
    return matrix[rows], rhs[rows]
