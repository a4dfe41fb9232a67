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
    cells = _Cells(
        {tuple(cell): i for i, cell in enumerate(codes.tolist())},
        value,
        [d.hierarchy for d in dimensions],
    )
    full: set[int] = set()
    added: dict[Codes, int] = {}
    possible: set[int] = set()
    for k, name in enumerate(names):
        if rule.variable not in ("", name):
            continue
        for cell, number in cells.number.items():
            parts = [_with(cell, k, part) for part in cells.trees[k].parts[cell[k]]]
            there = [part for part in parts if part in cells.number]
            if len(parts) < 2 or len(there) != 1 or value[number] < _MIN_GROUP:
                continue
            siblings = [part for part in parts if part not in there]
            empty = cells.most_plausible(siblings, k)
            if empty is None:
                continue
            full.add(cells.number[there[0]])
            above = cells.with_totals(empty)
            for one in above:
                if one not in cells.number:
                    added.setdefault(one, len(added))
            possible.add(added[next(one for one in above if one in siblings)])
    rows = np.array(list(added), dtype=np.int32).reshape(-1, len(dimensions))
    return Groups(
        np.array(sorted(full), dtype=np.int64),
        rows,
        np.array(sorted(possible), dtype=np.int64),
    )


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells that are not empty: their numbers by code, values and hierarchies."""

    number: dict[Codes, int]
    value: NDArray[np.float64]
    trees: Sequence[Hierarchy]

    def value_of(self, cell: Codes) -> float:
        """Return the value of a cell, 0 if it is empty."""
        number = self.number.get(cell)
        return 0.0 if number is None else float(self.value[number])

    def with_totals(self, cell: Codes) -> list[Codes]:
        """Return a cell and all its totals."""
        lines = (tree.line(node) for tree, node in zip(self.trees, cell, strict=True))
        return list(product(*lines))

    def most_plausible(self, siblings: Sequence[Codes], k: int) -> Codes | None:
        """Return the most plausible empty cell of the finest codes below the siblings.

        The smallest of its totals is as large as possible: a person alone in a total
        knows that nobody else is there. None where no code of variable `k` is used.
        """
        best: tuple[float, Codes] | None = None
        for sibling in siblings:
            margin = _with((0,) * len(sibling), k, sibling[k])
            if self.value_of(margin) <= 0:
                continue
            finest = self.finest(sibling, k)
            totals = [c for c in self.with_totals(finest) if c in self.number]
            smallest = min(map(self.value_of, totals))
            if best is None or smallest > best[0]:
                best = (smallest, finest)
        return None if best is None else best[1]

    def finest(self, cell: Codes, k: int) -> Codes:
        """Go down to the finest codes, along the parts with the largest values.

        Values of parts of variable `k` are those of its margin; of other variables
        those of the cell over all codes of `k`.
        """
        for j, tree in enumerate(self.trees):
            while parts := tree.parts[cell[j]]:
                over = (0,) * len(cell) if j == k else _with(cell, k, 0)
                sizes = [self.value_of(_with(over, j, part)) for part in parts]
                cell = _with(cell, j, parts[int(np.argmax(sizes))])
        return cell


def _with(cell: Codes, k: int, code: int) -> Codes:
    return (*cell[:k], code, *cell[k + 1 :])
