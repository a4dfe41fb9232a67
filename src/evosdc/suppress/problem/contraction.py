"""Contract a problem: cells that can only move together become one.

Real hierarchies are full of chains: a region with one district, an industry with one
firm class. Their equation has two cells that can move, so both move by the same amount,
and hiding one without the other is of no use. Zeros that everybody knows and cells that
must be published do not move at all, which leaves many longer equations with two cells
as well. What remains is a smaller problem with the same safe patterns:

- cells that cannot move are left out, and so is an equation that ties nothing;
- an equation of two cells makes them one class, hidden together: it costs what its
  members cost, moves as far as the tightest of them, and must reach every level of
  theirs;
- a class that has a level to reach is hidden in every safe pattern, and so are its
  members;
- equations that say the same are kept once;
- classes that no equation ties to a level, directly or through others, are left out.

Every cost, pattern and bound of the small problem is one of the whole problem, with the
cost of the members that are hidden anyway (`base`) on top. The judge never sees it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.arrays import Flags, Long, Real
from evosdc.suppress.problem.problem import Levels, Pattern, Problem
from evosdc.table import Table
from evosdc.table.status import PRIMARY, SAFE


@dataclass(frozen=True, eq=False)
class Contraction:
    """A problem and the smaller one it is contracted to.

    Attributes
    ----------
    whole, small
        The problem, and the contracted one: a cell of it is a class of cells.
    group
        Class of each cell, -1 where it is left out.
    side
        Whether a cell moves with its class (1) or against it (-1).
    forced
        Cells that are hidden in every safe pattern, sensitive ones aside.
    """

    whole: Problem
    small: Problem
    group: Long
    side: Real
    forced: Flags

    @property
    def base(self) -> float:
        """What the cells cost that every safe pattern hides."""
        return float(self.whole.cost[self.forced].sum())

    def expand(self, pattern: Pattern) -> Pattern:
        """Return the pattern of the whole problem, with its hints."""
        hidden = self.forced.copy()
        inside = self.group >= 0
        hidden[inside] |= pattern.hidden[self.group[inside]]
        whole = self.whole.pattern(hidden)
        order, start = self._members
        hints = tuple(
            self._expand_move(cells, steps, order, start)
            for cells, steps in pattern.hints
        )
        return Pattern(whole.hidden, whole.cost, hints)

    def shrink(self, pattern: Pattern) -> Pattern:
        """Return the pattern of the small problem that is as safe as one of the whole.

        A class of which a cell is published is no use: all of it is known then.
        """
        hidden = np.ones(len(self.small.table), dtype=bool)
        inside = self.group >= 0
        hidden[self.group[inside & ~pattern.hidden]] = False
        return self.small.pattern(hidden)

    @property
    def _members(self) -> tuple[Long, Long]:
        """Cells in order of class, and where each class begins."""
        order = np.argsort(self.group, kind="stable")
        start = np.searchsorted(
            self.group[order], np.arange(len(self.small.table) + 1)
        ).astype(np.int64)
        return order, start

    def _expand_move(
        self, cells: Long, steps: Real, order: Long, start: Long
    ) -> tuple[Long, Real]:
        count = start[cells + 1] - start[cells]
        places = np.repeat(start[cells] - (np.cumsum(count) - count), count)
        members = order[places + np.arange(int(count.sum()))]
        return members, np.repeat(steps, count) * self.side[members]


def contract(problem: Problem) -> Contraction | None:
    """Contract a problem; None where nothing would become smaller.

    None as well where a class cannot reach a level of its members: no pattern can give
    it then, and the whole problem says so with the names of its cells.
    """
    group, side, matrix = _classes(problem)
    if not matrix.shape[1]:
        return None  # no cell can move, and none has a level that any pattern gives
    levels = _levels(problem, group, side)
    up, down = _room(problem, group, side, matrix.shape[1])
    if _beyond(problem, group, levels, up, down):
        return None
    wanted = np.zeros(matrix.shape[1], dtype=bool)
    wanted[levels.cell] = wanted[levels.slide] = True
    keep = _tied(matrix, wanted)
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    group = np.where(group >= 0, number[group], -1)
    if int(keep.sum()) == len(problem.table):
        return None
    matrix = _distinct(matrix[:, keep])
    forced = np.zeros(len(group), dtype=bool)
    inside = group >= 0
    forced[inside] = wanted[keep][group[inside]]
    forced &= ~problem.primary
    levels = Levels(
        cell=number[levels.cell],
        sign=levels.sign,
        amount=levels.amount,
        slide=number[levels.slide],
        slide_amount=levels.slide_amount,
    )
    count = int(keep.sum())
    cost = np.bincount(
        group[inside], weights=problem.cost[inside], minlength=count
    ).astype(np.float64)
    cost[wanted[keep]] = 0.0
    table = _table(problem, group, matrix, wanted[keep], up[keep], down[keep], cost)
    small = Problem(
        table=table,
        cost=cost,
        up=up[keep],
        down=down[keep],
        hideable=np.ones(count, dtype=bool),
        levels=levels,
    )
    return Contraction(problem, small, group, side, forced)


def _classes(problem: Problem) -> tuple[Long, Real, Any]:
    """Class and side of each cell, and the equations between the classes."""
    n = len(problem.table)
    group = np.where(problem.hideable, np.cumsum(problem.hideable) - 1, -1)
    group = group.astype(np.int64)
    side = np.ones(n)
    matrix = sparse.csr_array(problem.table.matrix[:, problem.hideable])
    while True:
        matrix = _cleaned(matrix)
        size = np.diff(matrix.indptr)
        alone = np.zeros(matrix.shape[1], dtype=bool)
        alone[matrix.indices[matrix.indptr[:-1][size == 1]]] = True
        parent, sign = _unite(matrix, np.flatnonzero(size == 2), alone)
        if not alone.any() and np.array_equal(parent, np.arange(len(parent))):
            return group, side, matrix
        # What an equation leaves alone cannot move, nor can what moves with it.
        stuck = np.zeros(len(parent), dtype=bool)
        stuck[parent[alone]] = True
        stays = (parent == np.arange(len(parent))) & ~stuck
        number = np.where(stays, np.cumsum(stays) - 1, -1)
        follow = np.where(stuck[parent], -1, number[parent])
        inside = group >= 0
        side[inside] *= sign[group[inside]]
        group[inside] = follow[group[inside]]
        moves = np.flatnonzero(follow >= 0)
        onto = sparse.csr_array(
            (sign[moves], (moves, follow[moves])), shape=(len(parent), int(stays.sum()))
        )
        matrix = sparse.csr_array(matrix @ onto)


def _cleaned(matrix: Any) -> Any:
    """Leave out entries of nothing and equations without any."""
    matrix.eliminate_zeros()
    return matrix[np.diff(matrix.indptr) > 0]


def _unite(matrix: Any, rows: Long, stuck: Flags) -> tuple[Long, Real]:
    """First of each class after joining the two of each row, and the side it is on.

    Those that would have to move with and against each other are marked as stuck.
    """
    n, starts = matrix.shape[1], matrix.indptr[rows]
    x, y = matrix.data[starts], matrix.data[starts + 1]
    alike = np.abs(x) == np.abs(y)
    one, two = matrix.indices[starts][alike], matrix.indices[starts + 1][alike]
    # Each has two nodes: n + i stands for moving against what node i stands for.
    turned = (x == y)[alike] * n
    ends = (
        np.concatenate([one, one + n]),
        np.concatenate([two + turned, two + n - turned]),
    )
    ties = sparse.coo_array((np.ones(2 * len(one)), ends), shape=(2 * n, 2 * n))
    _, part = connected_components(ties, directed=False)
    along, against = part[:n], part[n:]
    stuck |= along == against
    _, first, of = np.unique(
        np.minimum(along, against), return_index=True, return_inverse=True
    )
    parent = first[of].astype(np.int64)
    return parent, np.where(along == along[parent], 1.0, -1.0)


def _levels(problem: Problem, group: Long, side: Real) -> Levels:
    """The largest level of each class and direction, and its widest sliding level."""
    levels = problem.levels
    there = group[levels.cell] >= 0
    cell = group[levels.cell[there]]
    sign = (levels.sign[there] * side[levels.cell[there]]).astype(np.int8)
    key, place = np.unique(2 * cell + (sign < 0), return_inverse=True)
    amount = np.zeros(len(key))
    np.maximum.at(amount, place, levels.amount[there])
    slides = group[levels.slide] >= 0
    slide, at = np.unique(group[levels.slide[slides]], return_inverse=True)
    width = np.zeros(len(slide))
    np.maximum.at(width, at, levels.slide_amount[slides])
    return Levels(
        cell=key // 2,
        sign=np.where(key % 2, -1, 1).astype(np.int8),
        amount=amount,
        slide=slide,
        slide_amount=width,
    )


def _room(problem: Problem, group: Long, side: Real, classes: int) -> tuple[Real, Real]:
    """How far each class can move: as far as the tightest of its cells."""
    up, down = np.full(classes, np.inf), np.full(classes, np.inf)
    inside = group >= 0
    of_class, same = group[inside], side[inside] > 0
    above, under = problem.up[inside], problem.down[inside]
    np.minimum.at(up, of_class, np.where(same, above, under))
    np.minimum.at(down, of_class, np.where(same, under, above))
    return up, down


def _beyond(
    problem: Problem, group: Long, levels: Levels, up: Real, down: Real
) -> bool:
    """Whether a level is beyond what its class can do, or its cell cannot move."""
    asked = np.concatenate([problem.levels.cell, problem.levels.slide])
    if np.any(group[asked] < 0):
        return True
    room = np.where(levels.sign > 0, up[levels.cell], down[levels.cell])
    wide = up[levels.slide] + down[levels.slide]
    return bool(np.any(room < levels.amount) or np.any(wide < levels.slide_amount))


def _tied(matrix: Any, wanted: Flags) -> Flags:
    """Classes that equations tie to one with a level, directly or through others."""
    _, part = connected_components(abs(matrix).T @ abs(matrix), directed=False)
    tied: Flags = np.isin(part, part[wanted])
    return tied


def _distinct(matrix: Any) -> Any:
    """Keep one of the equations that say the same."""
    matrix = sparse.csr_array(matrix)
    matrix.sort_indices()
    matrix = _cleaned(matrix)
    seen: set[tuple[bytes, bytes]] = set()
    kept = []
    for row in range(matrix.shape[0]):
        part = slice(matrix.indptr[row], matrix.indptr[row + 1])
        data = matrix.data[part]
        key = (matrix.indices[part].tobytes(), (data / data[0]).tobytes())
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return matrix[kept]


def _table(
    problem: Problem,
    group: Long,
    matrix: Any,
    wanted: Flags,
    up: Real,
    down: Real,
    cost: Real,
) -> Table:
    """A table of the classes: values of their first cells, and no labels."""
    inside = np.flatnonzero(group >= 0)
    _, first = np.unique(group[inside], return_index=True)
    at = inside[first]
    value = problem.table.value[at]
    none = np.zeros(len(at))
    return Table(
        value=value,
        weight=cost,
        status=np.where(wanted, PRIMARY, SAFE).astype("U1"),
        lower=value - down,
        upper=value + up,
        lpl=none,
        upl=none,
        spl=none,
        matrix=matrix,
        rhs=matrix @ value,
        codes=np.empty((len(at), 0), np.int32),
        name=problem.table.name,
    )
