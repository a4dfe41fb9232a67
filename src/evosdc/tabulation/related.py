"""Which columns of linked tables are levels of one variable: declared, or found.

The records show whether two columns are the same, whether one is a level of the other,
or whether their codes fall into groups that have the same records. Then sums of one
table are sums of the other, and tables that are protected without regard to this
disclose each other's cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from evosdc.errors import InputError
from evosdc.table import Hierarchy
from evosdc.table.origin import Axis
from evosdc.table.parts import UNRELATED, link_hint, read_links, refuse_twice
from evosdc.tabulation.hierarchy_from_columns import LevelColumns, Pair

Trees = Mapping[str, Hierarchy | Sequence[str]]

# Bits beyond chance from which a dependence of columns is taken as real. Two unrelated
# columns reach it once in 2**15 times; half as many bits about once in 180.
_MIN_BITS = 15.0
# With more records than these a column that determines another is related, whatever the
# bits: places with one firm each give none, and lie in one region each.
_FEW_RECORDS = 20
# Groups of codes in common are refused where this share of the records is outside the
# largest group; smaller groups are named in the claim.
_MIN_SHARE_OUTSIDE = 0.5


@dataclass(frozen=True, eq=False)
class Variables:
    """The variables of linked tables.

    Attributes
    ----------
    trees
        The hierarchies of columns that have one; of a level, that down to the level.
    variable_of
        The variable of each column that is a level of one with several.
    unlinked
        Sentences on what was judged as unrelated although it may be related.
    """

    trees: Mapping[str, Hierarchy]
    variable_of: Mapping[str, str] = field(default_factory=dict)
    unlinked: tuple[str, ...] = ()

    def axes(self, span: Sequence[str]) -> tuple[Axis, ...]:
        """Return the variables of a table with the codes that it shows of them."""
        return tuple(
            Axis(self.variable_of[name], name, self.trees[name].codes)
            if name in self.variable_of
            else Axis(name, name)
            for name in span
        )


def find_variables(
    levels: LevelColumns,
    spans: Sequence[Sequence[str]],
    hierarchies: Trees,
    links: Mapping[str, str],
    total: str,
) -> Variables:
    """Find the variables of tables by some columns of the same records.

    Parameters
    ----------
    hierarchies
        Trees, or columns from coarse to fine, whose names are then levels.
    links
        Columns that are levels of another one, or unrelated: see
        `evosdc.table.link_tables`.

    Raises
    ------
    InputError
        Where hierarchies, links and records contradict each other, and where columns
        are related and nobody said how.
    """
    trees = {n: t for n, t in hierarchies.items() if isinstance(t, Hierarchy)}
    chains = {n: columns_of(n, t) for n, t in hierarchies.items() if n not in trees}
    read_links(links, spans)
    trees |= {n: levels.tree(c, total) for n, c in chains.items()}
    if len(spans) == 1:
        return Variables(trees)
    return _VariableSearch(levels, spans, chains, trees, links, total).variables()


def columns_of(name: str, tree: Any) -> list[str]:
    """Return the columns that a hierarchy is given by."""
    if isinstance(tree, (list, tuple)) and all(isinstance(c, str) for c in tree):
        return list(tree)
    raise InputError(
        f"the hierarchy of {name!r} is of type {type(tree).__name__}",
        expected="a Hierarchy, the path of a file, or columns from coarse to fine",
        hint=f"for instance hierarchies={{{name!r}: ['coarse', {name!r}]}}",
    )


@dataclass(frozen=True, eq=False)
class _VariableSearch:
    levels: LevelColumns
    spans: Sequence[Sequence[str]]
    chains: Mapping[str, Sequence[str]]
    declared: Mapping[str, Hierarchy]
    links: Mapping[str, str]
    total: str

    def variables(self) -> Variables:
        """Group the columns, join what the records show to be one, check the others."""
        groups = self._groups()
        trees = {columns[-1]: self._tree(columns) for columns in groups}
        groups = self._joined(groups, trees)
        shown = dict(self.declared)
        variable_of: dict[str, str] = {}
        for columns in groups:
            if len(columns) > 1:
                finest = columns[-1]
                variable_of |= dict.fromkeys(columns, finest)
                for name in columns:
                    shown[name] = self._level(name, finest, trees[finest])
        for span in self.spans:
            refuse_twice(span, variable_of)
        finest_of = [columns[-1] for columns in groups]
        sentences = [
            sentence
            for one, two in self._in_different_tables(variable_of, finest_of)
            for sentence in self._relation(one, two)
        ]
        return Variables(shown, variable_of, tuple(sentences))

    def _groups(self) -> list[list[str]]:
        """Put the columns of the tables together that are declared to be levels.

        In each group they go from coarse to fine.
        """
        known = list(dict.fromkeys(name for span in self.spans for name in span))
        group_of = {name: {name} for name in known}
        pairs = [(n, c) for n, chain in self.chains.items() for c in chain]
        pairs += [(n, o) for n, o in self.links.items() if o != UNRELATED]
        for one, two in pairs:
            joint = group_of.get(one, {one}) | group_of.get(two, {two})
            group_of |= dict.fromkeys(joint, joint)
        found: list[list[str]] = []
        for name in known:
            columns = [c for c in known if c in group_of[name]]
            if columns[0] != name:
                continue
            if len(columns) > 1:
                self._refuse_unrelated(columns)
                columns = self._ordered(columns)
            found.append(columns)
        return found

    def _refuse_unrelated(self, columns: Sequence[str]) -> None:
        for name in columns:
            if self.links.get(name) == UNRELATED:
                raise InputError(
                    f"{name!r} is declared to be unrelated, and a level of "
                    f"{next(c for c in columns if c != name)!r}",
                    expected="one of the two",
                    hint=f"leave --link {name}={UNRELATED} or the hierarchy out",
                )

    def _ordered(self, columns: Sequence[str]) -> list[str]:
        """Order levels by how many codes they have; those declared in their order."""
        order = {n: k for chain in self.chains.values() for k, n in enumerate(chain)}
        size = {c: len(self.levels.pair(c, columns[0]).one) for c in columns}
        return sorted(
            columns, key=lambda c: (size[c], order.get(c, 0), c in self.declared)
        )

    def _tree(self, columns: Sequence[str]) -> Hierarchy:
        """Return the hierarchy of the finest of some levels."""
        finest = columns[-1]
        for name in columns[:-1]:
            self._refuse_no_level(name, finest)
        if finest in self.declared and finest not in self.chains:
            return self.declared[finest]
        every = dict.fromkeys(columns)
        every |= dict.fromkeys(c for n in columns for c in self.chains.get(n, ()))
        if list(every) == [finest]:
            codes = self.levels.pair(finest, finest).one
            return Hierarchy.flat(codes, self.total)
        chain = self.chains.get(finest, ())
        if set(every) <= set(chain):
            return self.declared[finest]
        return self.levels.tree(self._ordered(list(every)), self.total)

    def _refuse_no_level(self, name: str, finest: str) -> None:
        pair = self.levels.pair(finest, name)
        if not pair.determines:
            several = np.bincount(pair.rows[:, 0]) > 1
            raise InputError(
                f"{name!r} is declared to be a level of {finest!r}, and "
                f"{int(several.sum()):,} of {len(pair.one):,} codes of {finest!r} have "
                f"several codes of {name!r} in the records",
                expected=f"one code of {name!r} for each code of {finest!r}",
                hint="correct the records or the hierarchy; of two ways to split one "
                "level, tabulate one table first and name its publication with "
                "--already-published when the other is protected",
            )
        levels = any({name, finest} <= {n, *c} for n, c in self.chains.items())
        if not levels and pair.renamed:
            raise InputError(
                f"{name!r} and {finest!r} have the same records under other codes",
                expected="one code for one cell",
                hint=_one_column(name, finest),
            )

    def _level(self, name: str, finest: str, tree: Hierarchy) -> Hierarchy:
        """Return the hierarchy down to a level; a code is the records that have it."""
        found = self._find_level(name, finest, tree)
        if isinstance(found, str):
            raise InputError(
                f"{name!r} is declared to be a level of {finest!r}, and {found}",
                expected="one hierarchy for all levels of a variable, with each code "
                "once, for the same records as in the column of its level",
                hint="give codes of different levels different names, the hierarchy "
                f"all codes of its levels, and leave a hierarchy of {name!r} out",
            )
        return found

    def _find_level(self, name: str, finest: str, tree: Hierarchy) -> Hierarchy | str:
        """Return the hierarchy down to a level, or a sentence why it is none."""
        if name == finest:
            return tree
        pair = self.levels.pair(finest, name)
        if not pair.determines:
            return f"its codes do not follow from those of {finest!r}"
        unknown = [code for code in pair.two if code not in tree.node_of]
        if unknown:
            return f"code {unknown[0]!r} is not in the hierarchy of {finest!r}"
        # Which code of the level each node of the tree leads to: one and the same for
        # everything below the node of a code, and for nothing else.
        level_of = {pair.one[a]: pair.two[b] for a, b, _ in pair.rows.tolist()}
        kept = np.zeros(len(tree), dtype=bool)
        for fine, code in level_of.items():
            line = tree.line(tree.node_of.get(fine, 0))[:-1]
            at = tree.node_of[code]
            others = [tree.codes[n] for n in line if tree.codes[n] in pair.two]
            if at not in line or others != [code]:
                return f"code {code!r} stands for other records in the hierarchy"
            kept[line[line.index(at) :]] = True
        found = tree.restricted(kept)
        mine = self.declared.get(name, found)
        for code, parent in zip(mine.codes[1:], mine.parents[1:], strict=True):
            above = mine.codes[parent]
            if code in found.node_of and not found.is_above(above, code):
                return f"code {code!r} is below {above!r} in one hierarchy only"
        return found

    def _joined(
        self, groups: list[list[str]], trees: Mapping[str, Hierarchy]
    ) -> list[list[str]]:
        """Join groups whose columns are levels of a hierarchy by codes and records."""
        groups = [list(columns) for columns in groups]
        variable_of = {name: columns[-1] for columns in groups for name in columns}
        for one, two in self._in_different_tables(variable_of, [c[-1] for c in groups]):
            if UNRELATED in (self.links.get(one), self.links.get(two)):
                continue
            for finest, other in ((one, two), (two, one)):
                mine = next((g for g in groups if g[-1] == finest), None)
                theirs = next((g for g in groups if g[-1] == other), None)
                if mine is None or theirs is None:
                    continue
                together = all(len({*mine, *theirs} & set(s)) < 2 for s in self.spans)
                if together and all(
                    isinstance(self._find_level(name, finest, trees[finest]), Hierarchy)
                    for name in theirs
                ):
                    mine[:0] = theirs
                    groups.remove(theirs)
        return groups

    def _in_different_tables(
        self, variable_of: Mapping[str, str], variables: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        """Yield pairs of variables of which each has a table without the other."""
        spans = [{variable_of.get(n, n) for n in span} for span in self.spans]
        for one, two in combinations(variables, 2):
            if any(one in s and two not in s for s in spans) and any(
                two in s and one not in s for s in spans
            ):
                yield one, two

    def _relation(self, one: str, two: str) -> Iterator[str]:
        """Refuse columns that are related in the records, or yield a note on them."""
        pair = self.levels.pair(one, two)
        groups = _groups_in_common(pair)
        if groups.max(initial=0) == 0:
            return
        if pair.determines or pair.swapped().determines:
            fine, coarse = (one, two) if pair.determines else (two, one)
            what = f"each code of {fine!r} has one code of {coarse!r} in the records"
            sure = True
            hint = (
                _one_column(coarse, fine)
                if pair.renamed
                else f"give the hierarchy, --hierarchy {fine}={coarse},{fine}, or "
                + link_hint(coarse, fine)
            )
        else:
            fine, coarse, hint = one, two, link_hint(two, one)
            what = (
                f"the codes of {one!r} and {two!r} fall into {groups.max() + 1:,} "
                "groups of records with no code in common"
            )
            size = np.bincount(groups, weights=pair.rows[:, 2])
            sure = 1.0 - size.max() / size.sum() >= _MIN_SHARE_OUTSIDE
        chance = _bits(pair, groups) < _MIN_BITS and (
            pair.rows[:, 2].sum() < _FEW_RECORDS
            or not (pair.determines or pair.swapped().determines)
        )
        if UNRELATED in (self.links.get(one), self.links.get(two)):
            yield (
                f"{coarse!r} and {fine!r} are judged as unrelated because somebody "
                f"declared it, although {what}"
            )
        elif sure and not chance:
            raise InputError(
                f"{what}: sums of one table are sums of the other",
                expected="to know how the variables of linked tables are related",
                hint=hint,
            )
        else:
            yield (
                f"{coarse!r} and {fine!r} are judged as unrelated, although {what}"
                + (", which may be chance" if chance else ", most of them in one")
            )


def _one_column(name: str, other: str) -> str:
    return (
        f"tabulate both tables by one of the two columns; if they are unrelated, say "
        f"so: --link {name}={UNRELATED} (Read(link={{{name!r}: {UNRELATED!r}}})), "
        f"which the claim will say; or give both the codes of {other!r}"
    )


def _groups_in_common(pair: Pair) -> NDArray[np.int64]:
    """Number the groups of codes of two columns that have the same records.

    The groups are the finest: codes are in one group where a record has both, or where
    a chain of records leads from one to the other. One number for each row of `pair`.
    """
    n = len(pair.one)
    edges = (
        np.ones(len(pair.rows)),
        (pair.rows[:, 0], n + pair.rows[:, 1]),
    )
    size = n + len(pair.two)
    labels = connected_components(coo_array(edges, (size, size)), directed=False)[1]
    found = np.unique(labels[pair.rows[:, 0]], return_inverse=True)[1]
    return np.asarray(found, dtype=np.int64)


def _bits(pair: Pair, groups: NDArray[np.int64]) -> float:
    """Return how unlikely such groups are for unrelated columns, in bits.

    The first record of a code may be in any group, and all others of this code are then
    in the same one by chance: as likely as the sizes of the groups say.
    """
    records = pair.rows[:, 2].astype(np.float64)
    share = np.bincount(groups, weights=records) / records.sum()
    found = []
    for k in (0, 1):
        sizes = np.bincount(pair.rows[:, k], weights=records)
        each, count = np.unique(sizes, return_counts=True)
        chance = np.array([np.sum(share**m) for m in each])
        found.append(-float(np.sum(count * np.log2(np.maximum(chance, 1e-300)))))
    return min(found)
