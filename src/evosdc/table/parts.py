"""The tables that a joint table consists of, what is published of each, its variables.

Variables of linked tables: which dimensions are one, and its hierarchy.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.errors import InputError, TableError, refuse_unknown
from evosdc.table.hierarchy import Dimension, Hierarchy, listed
from evosdc.table.origin import Axis, Origin
from evosdc.table.status import LEVELS, SECONDARY
from evosdc.table.table import ADDITIVITY, Table

# In `--link NAME=none`: the variable is no level of any other.
UNRELATED = "none"


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


def read_links(
    links: Mapping[str, str], spans: Sequence[Collection[str]]
) -> dict[str, str]:
    """Return the variable of each name that is declared to be a level of another.

    Names that are declared to be unrelated are variables themselves.
    """
    known = {name for span in spans for name in span}
    others = [other for other in links.values() if other != UNRELATED]
    named = [*links, *others]
    refuse_unknown(named, sorted(known), "--link (link) names {}, which no table has")
    found: dict[str, str] = {}
    for name in links:
        seen = [name]
        while links.get(seen[-1], UNRELATED) != UNRELATED:
            seen.append(links[seen[-1]])
            if seen[-1] in seen[:-1]:
                raise InputError(
                    f"--link (link) leads from {name!r} back to it",
                    expected="each level linked with a finer one: A10=A21, A21=A88",
                    hint="leave one of the links out",
                )
        found[name] = seen[-1]
    for span in spans:
        refuse_twice(span, found)
    return found


def refuse_twice(span: Collection[str], variable_of: Mapping[str, str]) -> None:
    """Refuse a table with a variable twice, by two of its levels."""
    seen: dict[str, str] = {}
    for name in span:
        other = seen.setdefault(variable_of.get(name, name), name)
        if other != name:
            raise InputError(
                f"{other!r} and {name!r} are levels of one variable, and one of "
                "several linked tables is by both",
                expected="one of them: the finer one has the totals of the other",
                hint="leave the coarser one out of this table",
            )


def unsure_links(tables: Sequence[Table], links: Mapping[str, str]) -> tuple[str, ...]:
    """Describe which variables of tables, already renamed, are taken for unrelated.

    Separate tables can be compared by codes and totals only.

    Raises
    ------
    InputError
        Where two variables have the same totals for the same codes and it is not
        declared whether they are one, and where two tables split a code differently.
    """
    unsure: dict[str, None] = {}
    for i, one in enumerate(tables):
        for two in tables[:i]:
            mine, theirs = ({d.name for d in t.dimensions} for t in (one, two))
            for name in sorted(mine & theirs):
                _refuse_two_splits(name, two, one)
            for a in sorted(mine - theirs):
                for b in sorted(theirs - mine):
                    if UNRELATED not in (links.get(a), links.get(b)):
                        _require_link(b, a, _margin(two, b), _margin(one, a))
                    unsure |= dict.fromkeys((b, a))
    declared = [name for name in unsure if links.get(name) == UNRELATED]
    found = _unrelated_note(unsure)
    if declared:
        found += (f"{listed(declared, 8)} because somebody declared it",)
    return found


def unlinked_in(table: Table) -> tuple[str, ...]:
    """Describe which variables of linked tables may be related after all.

    Where the origin does not say, as in files of other programs, variables of different
    names are taken for unrelated.
    """
    if table.origin.unlinked is not None:
        return table.origin.unlinked
    spans = [set(part.dimensions) for part in linked_parts(table)]
    unsure: dict[str, None] = {}
    for i, one in enumerate(spans):
        for two in spans[:i]:
            if one - two and two - one:
                unsure |= dict.fromkeys(
                    table.dimensions[k].name for k in sorted(one ^ two)
                )
    return _unrelated_note(unsure)


def _unrelated_note(names: Collection[str]) -> tuple[str, ...]:
    if not names:
        return ()
    return (f"{listed(list(names), 8)} are taken for unrelated variables",)


def _refuse_two_splits(name: str, one: Table, two: Table) -> None:
    """Refuse tables that split a code of a variable into different codes.

    The records of a code with a total are in both tables. Where these have different
    codes for them, sums of one are sums of the other without an equation.
    """
    a, b = (t.dimensions[_position(t, name)].hierarchy for t in (one, two))
    if a.total != b.total:
        return  # refused when the trees are merged
    mine = _own_codes(_margin(one, name), a, b)
    theirs = _own_codes(_margin(two, name), b, a)
    for code in mine:
        if code in theirs:
            raise InputError(
                f"linked tables split {code!r} of {name!r} in two ways: one into "
                f"{listed(mine[code], 3)}, the other into {listed(theirs[code], 3)}",
                expected="codes of one level, or sub-totals that join the levels",
                hint="tabulate the tables together from the records, with the levels "
                "as a hierarchy; or add the sub-totals to the finer table "
                f"(--hierarchy {name}=FILE); if the codes are unrelated, rename the "
                "column in one table",
            )


def _own_codes(
    codes: Iterable[str], tree: Hierarchy, other: Hierarchy
) -> dict[str, list[str]]:
    """Return the codes that another tree lacks, by the next ancestor that it has."""
    found: dict[str, list[str]] = {}
    for code in codes:
        if code in other.node_of:
            continue
        above = (tree.codes[node] for node in tree.line(tree.node_of[code])[1:])
        common = next(known for known in above if known in other.node_of)
        found.setdefault(common, []).append(code)
    return found


def _position(table: Table, name: str) -> int:
    return [d.name for d in table.dimensions].index(name)


def _margin(table: Table, name: str) -> dict[str, float]:
    """Return the totals of the codes of a dimension, without its total and zeros."""
    k = _position(table, name)
    others = np.delete(table.codes, k, axis=1)
    cells = np.flatnonzero((others == 0).all(axis=1) & (table.codes[:, k] > 0))
    codes = table.dimensions[k].hierarchy.codes
    return {
        codes[table.codes[cell, k]]: float(table.value[cell])
        for cell in cells.tolist()
        if table.value[cell] != 0
    }


def _require_link(
    a: str, b: str, one: Mapping[str, float], two: Mapping[str, float]
) -> None:
    """Refuse two variables with the same totals unless it is declared what they are."""
    common = [code for code in one if code in two]
    same = [
        code
        for code in common
        if abs(one[code] - two[code]) <= ADDITIVITY * max(1.0, abs(one[code]))
    ]
    if 2 * len(same) <= len(common) or len(same) < min(2, len(one), len(two)):
        return
    if len(one) < len(two):
        a, b = b, a
    raise InputError(
        f"{len(same)} of {len(common)} codes that {a!r} and {b!r} share have the same "
        "totals in two linked tables: they may be one variable",
        expected="to know whether a cell of one table is a cell of the other",
        hint=link_hint(b, a),
    )


def link_hint(level: str, variable: str) -> str:
    """Return the hint how to declare a column as a level of a variable, or not."""
    return (
        f"say that they are one variable: --link {level}={variable} "
        f"(Read(link={{{level!r}: {variable!r}}})), or that they are unrelated: "
        f"--link {level}={UNRELATED} (Read(link={{{level!r}: {UNRELATED!r}}})); the "
        "claim will say which"
    )


def union(dimensions: Sequence[Dimension]) -> tuple[Dimension, ...]:
    """Return one dimension for each name; two trees of one name are merged."""
    merged: dict[str, Dimension] = {}
    for d in dimensions:
        known = merged.get(d.name)
        if known is None:
            merged[d.name] = d
        elif known != d:
            merged[d.name] = Dimension(d.name, merge(d.name, known, d))
    return tuple(merged.values())


def merge(name: str, one: Dimension, two: Dimension) -> Hierarchy:
    """Merge two trees of a variable, of which one may leave out levels of the other."""
    a, b = one.hierarchy, two.hierarchy
    if a.total != b.total:
        raise TableError(
            f"dimension {name!r} has total {a.total!r} in one table and {b.total!r} "
            "in another",
            expected="one code for the total",
            hint="rename the total in one of the tables",
        )
    parent_of = {a.codes[n]: a.codes[a.parents[n]] for n in range(1, len(a))}
    for node in range(1, len(b)):
        code, parent = b.codes[node], b.codes[b.parents[node]]
        known = parent_of.get(code, parent)
        if known == parent or b.is_above(known, code):
            parent_of[code] = parent
        elif not a.is_above(parent, code):
            raise TableError(
                f"code {code!r} of {name!r} has two parents in linked tables, "
                f"{known!r} and {parent!r}",
                expected="hierarchies that agree where they meet",
                hint="use one hierarchy for both tables, or rename a level",
            )
    return Hierarchy.from_parents(parent_of, a.total)
