"""Codes and their hierarchies: trees of any depth, ragged or not.

An invisible blank must not make two codes of one: a cell hidden under one spelling
would be published under the other. So codes are compared in one spelling.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import HierarchyError

# Blanks beyond ASCII, which spreadsheets and web pages use for a plain one.
ODD_BLANKS = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
# Blanks that are stripped from codes, after those beyond ASCII became plain ones.
BLANKS = " \t\n\r\x0b\x0c"
# Characters without width: byte-order marks and the like.
NO_WIDTH = "\u200b\u2060\ufeff"

_SWAP = str.maketrans({**dict.fromkeys(ODD_BLANKS, " "), **dict.fromkeys(NO_WIDTH)})

# Words that stand for a total in any table; compared without case and punctuation.
TOTAL_WORDS = frozenset(
    {
        "total",
        "totals",
        "tot",
        "_t",
        "all",
        "grand total",
        "sum",
        "overall",
        "gesamt",
        "insgesamt",
        "summe",
        "ensemble",
        "tous",
        "toutes",
        "totaal",
        "alle",
        "totale",
        "totali",
        "totales",
        "todos",
        "todas",
        "i alt",
        "yhteensä",
        "totalt",
        "summa",
        "ogółem",
        "celkem",
        "spolu",
        "összesen",
        "ukupno",
        "skupaj",
        "kokku",
        "kopā",
        "iš viso",
        "σύνολο",
        "общо",
        "всего",
        "toplam",
    }
)
MERGED = "differ in blanks or in how accents are written"
# Codes that are a total in some tables and an ordinary code in others.
MAYBE_TOTALS = frozenset({"t", "tt", "s", "a", "0", "00", "000", "9", "99", "999", "*"})
TOTAL = "Total"


def tidy_code(code: str) -> str:
    """Return a code without surrounding blanks, its accents in composed form."""
    if code.isascii():
        return code.strip(BLANKS)
    return unicodedata.normalize("NFC", code.translate(_SWAP)).strip(BLANKS)


def is_total_word(code: str) -> bool:
    """Whether a code is a word for a total, in any case."""
    return _bare(code) in TOTAL_WORDS


def may_be_total(code: str) -> bool:
    """Whether a code is a total in some tables only, so that numbers must decide."""
    return _bare(code) in MAYBE_TOTALS


def merged_note(column: str, written: Iterable[str], codes: Iterable[str]) -> str:
    """Return a note on spellings that became one code; '' where none did."""
    spellings: dict[str, set[str]] = {}
    for raw, code in zip(written, codes, strict=True):
        spellings.setdefault(code, set()).add(raw)
    merged = [code for code, raw in spellings.items() if len(raw) > 1]
    if not merged:
        return ""
    count = sum(len(spellings[code]) for code in merged)
    return (
        f"column {column!r}: {count} codes that {MERGED} are taken for {len(merged)}: "
        f"{listed(merged)}"
    )


def look_alikes(column: str, codes: Sequence[str]) -> list[str]:
    """Return notes on codes, kept distinct, that differ in case or leading zeros."""
    notes: list[str] = []
    for what, key in (
        ("case", str.casefold),
        ("leading zeros", lambda c: c.lstrip("0") or "0" if c.isdecimal() else c),
    ):
        groups: dict[str, list[str]] = {}
        for code in dict.fromkeys(codes):
            groups.setdefault(key(code), []).append(code)
        twins = ["/".join(group) for group in groups.values() if len(group) > 1]
        if twins:
            notes.append(
                f"column {column!r}: codes that differ in {what} only are different "
                f"codes: {listed(twins)}"
            )
    return notes


def listed(words: Sequence[str], most: int = 5) -> str:
    """Join words for a sentence, only the first few of many."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(map(repr, words[:most])) + more


def _bare(code: str) -> str:
    return tidy_code(code).casefold().strip("<>()[]{}-–—=:. ")


@dataclass(frozen=True)
class Hierarchy:
    """A tree of codes; node 0 is the root (the total), a parent precedes its children.

    Attributes
    ----------
    codes
        The code of each node, unique and stripped of blanks.
    parents
        The node number of each node's parent, -1 for the root.
    """

    codes: tuple[str, ...]
    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", tuple(map(tidy_code, self.codes)))
        if len(self.codes) != len(self.parents) or not self.codes:
            raise HierarchyError(
                f"{len(self.codes)} codes but {len(self.parents)} parents",
                expected="one parent for each code, and at least the total",
            )
        seen: set[str] = set()
        for code in self.codes:
            if code in seen:
                raise HierarchyError(
                    f"code {code!r} stands twice in a hierarchy",
                    expected="each code once",
                    hint="rename one of them",
                )
            seen.add(code)
        if self.parents[0] != -1 or any(
            not 0 <= p < i for i, p in enumerate(self.parents) if i > 0
        ):
            raise HierarchyError(
                "nodes of a hierarchy are out of order",
                expected="the total first and every parent before its children",
                hint="build it with Hierarchy.from_parents, which sorts them",
            )

    @classmethod
    def flat(cls, codes: Iterable[str], total: str = TOTAL) -> Hierarchy:
        """Build a total and its parts, without levels between them."""
        total = tidy_code(total)
        parts = [c for c in map(tidy_code, codes) if c != total]
        return cls((total, *parts), (-1, *([0] * len(parts))))

    @classmethod
    def from_parents(
        cls, parent_of: Mapping[str, str], total: str = TOTAL
    ) -> Hierarchy:
        """Build from a mapping code -> parent code; the order of codes is kept.

        A code whose parent is not a key of the mapping has the parent below the total.
        """
        total = tidy_code(total)
        parent_of = _tidied(parent_of)
        children: dict[str, list[str]] = {}
        for code, parent in parent_of.items():
            if code == total:
                raise HierarchyError(
                    f"the total {total!r} has a parent, {parent!r}",
                    expected="a total at the top",
                    hint="name another code as the total",
                )
            if parent != total and parent not in parent_of:
                children.setdefault(total, []).append(parent)
                children.setdefault(parent, []).append(code)
            else:
                children.setdefault(parent, []).append(code)
        codes: list[str] = []
        parents: list[int] = []
        stack: list[tuple[str, int]] = [(total, -1)]
        while stack:
            code, parent_node = stack.pop()
            codes.append(code)
            parents.append(parent_node)
            node = len(codes) - 1
            below = list(dict.fromkeys(children.get(code, [])))
            stack.extend((c, node) for c in reversed(below))
        lost = sorted(set(parent_of) - set(codes))
        if lost:
            raise HierarchyError(
                f"codes {', '.join(map(repr, lost[:5]))} go round in a cycle",
                expected=f"every code to lead up to the total {total!r}",
                hint="give one of them a parent outside the cycle",
            )
        return cls(tuple(codes), tuple(parents))

    @classmethod
    def from_levels(
        cls, rows: Iterable[Sequence[str]], total: str = TOTAL
    ) -> Hierarchy:
        """Build from rows of codes, coarse to fine (a correspondence table).

        A code repeated on the next level is one node (a branch with one part); an
        empty code ends a ragged branch.
        """
        parent_of: dict[str, str] = {}
        total = tidy_code(total)
        for row in rows:
            parent = total
            for code in map(tidy_code, row):
                if not code or code == parent:
                    continue
                known = parent_of.setdefault(code, parent)
                if known != parent:
                    raise HierarchyError(
                        f"code {code!r} has two parents, {known!r} and {parent!r}",
                        expected="one parent for each code",
                        hint="rename one of the two codes",
                    )
                parent = code
        return cls.from_parents(parent_of, total)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def total(self) -> str:
        """The code of the root."""
        return self.codes[0]

    @cached_property
    def node_of(self) -> dict[str, int]:
        """Node number of each code."""
        return {code: node for node, code in enumerate(self.codes)}

    @cached_property
    def parent_array(self) -> NDArray[np.int64]:
        """`parents` as an array."""
        return np.array(self.parents, dtype=np.int64)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Distance of each node from the root."""
        depth = np.zeros(len(self.codes), dtype=np.int64)
        for node in range(1, len(self.codes)):
            depth[node] = depth[self.parents[node]] + 1
        return depth

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether a node has no parts."""
        leaf = np.ones(len(self.codes), dtype=bool)
        leaf[[p for p in self.parents if p >= 0]] = False
        return leaf

    @property
    def is_flat(self) -> bool:
        """Whether all nodes are parts of the total."""
        return all(p <= 0 for p in self.parents)

    def is_above(self, upper: str, code: str) -> bool:
        """Whether a code has another one among its ancestors."""
        line = self.line(self.node_of.get(code, 0))
        return any(self.codes[node] == upper for node in line[1:])

    def line(self, node: int) -> list[int]:
        """Return a node and its ancestors, the total last."""
        found = [node]
        while found[-1]:
            found.append(self.parents[found[-1]])
        return found

    def restricted(self, kept: NDArray[np.bool_]) -> Hierarchy:
        """Return the tree of some nodes and the total, without the others."""
        if kept[1:].all():
            return self
        above = list(self.parents)
        for node in range(1, len(above)):
            if above[node] and not kept[above[node]]:
                above[node] = above[above[node]]
        nodes = [0, *(np.flatnonzero(kept[1:]) + 1).tolist()]
        number = {node: at for at, node in enumerate(nodes)}
        return Hierarchy(
            tuple(self.codes[node] for node in nodes),
            (-1, *(number[above[node]] for node in nodes[1:])),
        )

    @cached_property
    def parts(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node."""
        below: list[list[int]] = [[] for _ in self.codes]
        for node, parent in enumerate(self.parents[1:], 1):
            below[parent].append(node)
        return tuple(map(tuple, below))

    def children(self, node: int) -> list[int]:
        """Return the children of a node."""
        return list(self.parts[node])


def _tidied(parent_of: Mapping[str, str]) -> dict[str, str]:
    tidy: dict[str, str] = {}
    for code, parent in parent_of.items():
        above = tidy_code(parent)
        if tidy.setdefault(tidy_code(code), above) != above:
            raise HierarchyError(
                f"code {tidy_code(code)!r} stands twice in a hierarchy, under "
                f"{tidy[tidy_code(code)]!r} and under {above!r}",
                expected="each code once; blanks around codes do not count",
                hint="rename one of them",
            )
    return tidy


@dataclass(frozen=True)
class Dimension:
    """A named spanning variable of a table and its tree of codes."""

    name: str
    hierarchy: Hierarchy
