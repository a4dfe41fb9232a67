"""Variables of linked tables: which dimensions are one, and its hierarchy."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from evosdc.errors import InputError, TableError, refuse_unknown
from evosdc.table.codes import listed
from evosdc.table.hierarchy import Dimension, Hierarchy
from evosdc.table.parts import linked_parts
from evosdc.table.table import ADDITIVITY, Table

# In `--link NAME=none`: the variable is no level of any other.
UNRELATED = "none"


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
