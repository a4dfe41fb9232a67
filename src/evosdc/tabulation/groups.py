"""Groups in one category: the empty cells beside full ones join the table.

That somebody in the group has another category must be possible in what is published.
So one empty cell beside each full one is listed, may be hidden, and must be able to be
1. An empty cell stands in the equations of all its totals down to the finest codes; the
ones between are listed with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.rules import Group
from evosdc.table import Dimension, Hierarchy

Codes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Groups:
    """Cells that hold everybody of a total, and empty cells to list beside them.

    `added` are codes of empty cells, `full` numbers of cells among those given, and
    `possible` numbers among `added` of those that must be able to be 1.
    """

    full: NDArray[np.int64]
    added: NDArray[np.int32]
    possible: NDArray[np.int64]


def find_groups(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    value: NDArray[np.float64],
    rule: Group,
) -> Groups:
    """Find the groups in one category of the rule's variable, or of any variable."""
    names = [d.name for d in dimensions]
    if rule.variable and rule.variable not in names:
        raise InputError(
            f"a group rule for {rule.variable!r}, which the table is not made by",
            expected=f"one of {', '.join(names)}",
            hint="check the name, or write group for all of them",
        )
    cells: dict[Codes, int] = {tuple(c): i for i, c in enumerate(codes.tolist())}
    trees = [d.hierarchy for d in dimensions]
    below = [_children(tree) for tree in trees]
    full: set[int] = set()
    added: dict[Codes, int] = {}
    possible: set[int] = set()
    for k, name in enumerate(names):
        if rule.variable not in ("", name):
            continue
        for cell, at in cells.items():
            parts = below[k][cell[k]]
            if len(parts) < 2:
                continue
            there = [p for p in parts if (*cell[:k], p, *cell[k + 1 :]) in cells]
            if len(there) != 1 or value[at] <= 0:
                continue
            beside = [p for p in parts if p not in there]
            empty = _largest_above(cells, value, below, cell, k, beside)
            if empty is None:
                continue
            full.add(cells[(*cell[:k], there[0], *cell[k + 1 :])])
            for above in _ancestors(trees, empty):
                if above not in cells:
                    added.setdefault(above, len(added))
            sibling = next(
                a
                for a in _ancestors(trees, empty)
                if a[:k] == cell[:k] and a[k + 1 :] == cell[k + 1 :] and a[k] in beside
            )
            possible.add(added[sibling])
    rows = np.array(list(added), dtype=np.int32).reshape(-1, len(dimensions))
    return Groups(
        np.array(sorted(full), dtype=np.int64),
        rows,
        np.array(sorted(possible), dtype=np.int64),
    )


def _children(tree: Hierarchy) -> list[list[int]]:
    below: list[list[int]] = [[] for _ in tree.codes]
    for node, parent in enumerate(tree.parents):
        if parent >= 0:
            below[parent].append(node)
    return below


def _ancestors(trees: Sequence[Hierarchy], leaf: Codes) -> list[Codes]:
    """A cell and all its totals."""
    lines = []
    for tree, node in zip(trees, leaf, strict=True):
        line = [node]
        while tree.parents[line[-1]] >= 0:
            line.append(tree.parents[line[-1]])
        lines.append(line)
    return list(product(*lines))


def _largest_above(
    cells: dict[Codes, int],
    value: NDArray[np.float64],
    below: Sequence[Sequence[Sequence[int]]],
    cell: Codes,
    k: int,
    beside: Sequence[int],
) -> Codes | None:
    """The finest empty cell beside a full one whose totals hold the most.

    It goes down the codes that hold the most of the group's own cells, so that its
    totals exist; None where a code of the variable is used nowhere.
    """

    def held(node: int) -> float:
        # What the category holds outside the group: its cell at all other totals.
        at = cells.get(tuple(node if j == k else 0 for j in range(len(cell))))
        return 0.0 if at is None else float(value[at])

    best = max(beside, key=lambda node: (held(node), -node))
    if held(best) <= 0:
        return None
    found = list(cell)
    found[k] = best
    for j, tree_below in enumerate(below):
        while tree_below[found[j]]:
            parts = tree_below[found[j]]
            if j == k:
                found[j] = max(parts, key=lambda node: (held(node), -node))
                continue
            sizes = []
            for p in parts:
                at = cells.get(tuple(p if i == j else c for i, c in enumerate(cell)))
                sizes.append(0.0 if at is None else float(value[at]))
            found[j] = parts[int(np.argmax(sizes))]
    return tuple(found)
