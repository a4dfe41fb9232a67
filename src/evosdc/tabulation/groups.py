"""Groups in one category, and the empty cells that a table lists to protect them.

The published table must allow that somebody in the group has another category. So for
each full cell one empty sibling is listed, may be hidden, and must be able to be 1. An
empty cell is in the equations of all its totals down to the finest codes; those between
are listed with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import refuse_unknown
from evosdc.rules import Group
from evosdc.table import Dimension, Hierarchy

Codes = tuple[int, ...]
_MIN_GROUP = 2  # people; a person alone is left to rules that count


@dataclass(frozen=True, eq=False)
class Groups:
    """Cells that hold everybody of a total, and empty cells to list with them.

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
    if rule.variable:
        what = "a group rule for {}, which the table is not made by"
        refuse_unknown([rule.variable], names, what)
    cells: dict[Codes, int] = {tuple(c): i for i, c in enumerate(codes.tolist())}
    trees = [d.hierarchy for d in dimensions]
    below = [tree.parts for tree in trees]
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
            if len(there) != 1 or value[at] < _MIN_GROUP:
                continue
            siblings = [p for p in parts if p not in there]
            empty = _empty_sibling(cells, value, trees, below, cell, k, siblings)
            if empty is None:
                continue
            full.add(cells[(*cell[:k], there[0], *cell[k + 1 :])])
            for above in _ancestors(trees, empty):
                if above not in cells:
                    added.setdefault(above, len(added))
            sibling = next(
                a
                for a in _ancestors(trees, empty)
                if a[:k] == cell[:k]
                and a[k + 1 :] == cell[k + 1 :]
                and a[k] in siblings
            )
            possible.add(added[sibling])
    rows = np.array(list(added), dtype=np.int32).reshape(-1, len(dimensions))
    return Groups(
        np.array(sorted(full), dtype=np.int64),
        rows,
        np.array(sorted(possible), dtype=np.int64),
    )


def _ancestors(trees: Sequence[Hierarchy], leaf: Codes) -> list[Codes]:
    """A cell and all its totals."""
    lines = (tree.line(node) for tree, node in zip(trees, leaf, strict=True))
    return list(product(*lines))


def _empty_sibling(
    cells: dict[Codes, int],
    value: NDArray[np.float64],
    trees: Sequence[Hierarchy],
    below: Sequence[Sequence[Sequence[int]]],
    cell: Codes,
    k: int,
    siblings: Sequence[int],
) -> Codes | None:
    """Return the most plausible empty cell of the finest codes below the siblings.

    The smallest of its totals is as large as possible: a person alone in a total knows
    that nobody else is there. None where no other code is used anywhere.
    """
    best: tuple[float, Codes] | None = None
    for node in siblings:
        leaf = _finest(cells, value, below, (*cell[:k], node, *cell[k + 1 :]), k)
        used = cells.get(tuple(node if j == k else 0 for j in range(len(cell))))
        if used is None or value[used] <= 0:
            continue
        held = [value[cells[a]] for a in _ancestors(trees, leaf) if a in cells]
        if best is None or min(held) > best[0]:
            best = (float(min(held)), leaf)
    return None if best is None else best[1]


def _finest(
    cells: dict[Codes, int],
    value: NDArray[np.float64],
    below: Sequence[Sequence[Sequence[int]]],
    cell: Codes,
    k: int,
) -> Codes:
    """Go down to the finest codes, along the largest one-way totals."""
    found = list(cell)
    for j, parts_of in enumerate(below):
        while parts_of[found[j]]:
            sizes = []
            for part in parts_of[found[j]]:
                total = k if j != k else -1
                at = cells.get(
                    tuple(
                        part if i == j else 0 if i == total or j == k else c
                        for i, c in enumerate(found)
                    )
                )
                sizes.append(0.0 if at is None else float(value[at]))
            found[j] = parts_of[found[j]][int(np.argmax(sizes))]
    return tuple(found)
