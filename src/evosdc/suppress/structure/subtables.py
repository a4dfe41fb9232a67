"""Sub-tables of a hierarchical or linked table, and the problem that each one is.

They are read from the equations alone. De Wolf (2002) crosses one group of each
dimension, a code with its parts, and calls the result a sub-table; sub-tables high up
come first. Labels are not needed to see these. Two equations belong to one *family*
when one is a copy of the other one step down a third equation: "the regions of the
north, for shops" is a copy of "the regions of the north, for all trades" along "shops
are a part of all trades". A family is what a code and its parts are in a labelled
table. The third equation belongs to a family of another dimension, and these two
families *cross*. A sub-table is a largest set of families that all cross each other and
split one total. Linked tables are no special case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.arrays import Flags, Long, Real
from evosdc.compile.kernels import kernel
from evosdc.suppress.problem.problem import Levels, Problem
from evosdc.suppress.structure.equations import single_totals
from evosdc.table import Table
from evosdc.table.status import FIXED, PRIMARY, SAFE

# Compiled searches for the structure that equations of a table have in common.

Clique = frozenset[int]
# What an inherited secondary must be movable by to count as not disclosed, where the
# share required is 0: this share of its value.
_MIN_SHARE_OF_VALUE = 1e-4


class _Totals(NamedTuple):
    """Equations as totals and parts; an equation without a single total has head -1.

    ``parts[part_start[e]:]`` are the parts of equation `e`, ``above[above_start[c]:]``
    the equations with cell `c` as a part, ``headed[headed_start[c]:]`` those with it as
    the total, each up to the next start.
    """

    head: Long
    part_start: Long
    parts: Long
    above_start: Long
    above: Long
    headed_start: Long
    headed: Long


@kernel
def parallel_pairs(totals: _Totals) -> tuple[Long, Long, Long]:
    """Find equations that split two totals of a third equation in the same way.

    Returns triples ``(e, f, g)``: equation `e` is a copy of `f` one step down `g`. The
    total of `e` is a part of `g`, whose total is that of `f`; and every part of `e` is
    a part of some equation whose total is a part of `f`.
    """
    head, above_start = totals.head, totals.above_start
    part_start, headed_start = totals.part_start, totals.headed_start
    stamp = np.full(len(above_start) - 1, -1, dtype=np.int64)
    small, large, along = [0], [0], [0]
    for e in range(len(head)):
        if head[e] < 0:
            continue
        for i in range(above_start[head[e]], above_start[head[e] + 1]):
            g = totals.above[i]
            for j in range(headed_start[head[g]], headed_start[head[g] + 1]):
                f = totals.headed[j]
                if f in (g, e):
                    continue
                for p in range(part_start[f], part_start[f + 1]):
                    stamp[totals.parts[p]] = f
                if _below(totals, e, f, stamp):
                    small.append(e)
                    large.append(f)
                    along.append(g)
                for p in range(part_start[f], part_start[f + 1]):
                    stamp[totals.parts[p]] = -1
    return (
        np.array(small[1:], np.int64),
        np.array(large[1:], np.int64),
        np.array(along[1:], np.int64),
    )


@kernel(inner=True)
def _below(totals: _Totals, e: int, f: int, stamp: Long) -> bool:
    """Whether every part of `e` is a part of an equation of one of the parts of `f`."""
    above_start, above = totals.above_start, totals.above
    for p in range(totals.part_start[e], totals.part_start[e + 1]):
        part = totals.parts[p]
        found = False
        for i in range(above_start[part], above_start[part + 1]):
            if above[i] != e and stamp[totals.head[above[i]]] == f:
                found = True
                break
        if not found:
            return False
    return True


@kernel
def depths(totals: _Totals) -> Long:
    """Longest way from each cell up to a total that is part of nothing."""
    waits = np.diff(totals.above_start)
    depth = np.zeros(len(waits), dtype=np.int64)
    ready = [cell for cell in range(len(waits)) if waits[cell] == 0]
    at = 0
    while at < len(ready):
        cell = ready[at]
        at += 1
        for k in range(totals.headed_start[cell], totals.headed_start[cell + 1]):
            e = totals.headed[k]
            for p in range(totals.part_start[e], totals.part_start[e + 1]):
                part = totals.parts[p]
                depth[part] = max(depth[part], depth[cell] + 1)
                waits[part] -= 1
                if waits[part] == 0:
                    ready.append(part)
    return depth


@dataclass(frozen=True, eq=False)
class Subtable:
    """Some cells of a table, equations among them, and how far down they are."""

    cells: Long
    equations: Long
    depth: int

    def covers(self, table: Table) -> bool:
        """Whether nothing of a table is outside."""
        return len(self.cells) == len(table)


def subtables(table: Table) -> list[Subtable]:
    """Cut a table into its sub-tables, the highest first; each equation is in one.

    An equation that stands twice, as the margins of linked tables do, counts once.
    """
    distinct = _distinct(table.matrix)
    matrix = table.matrix[distinct]
    totals = _totals(matrix)
    depth = depths(totals)
    copy, original, along = parallel_pairs(totals)
    family = _families(len(distinct), copy, original)
    crossing = _crossing(family, copy, along)
    cliques = _undominated(_cliques(totals, family, crossing, len(table)))
    found = [
        Subtable(s.cells, distinct[s.equations], s.depth)
        for s in _collect(matrix, totals.head, family, cliques, depth)
    ]
    return sorted(found, key=lambda s: (s.depth, int(s.cells[0]), len(s.cells)))


def _distinct(matrix: Any) -> Long:
    """First of each set of equations that are the same."""
    draw = np.random.default_rng(0).random((matrix.shape[1], 2))
    # Sums of random numbers tell sets of cells apart, up to the rounding of the sum.
    prints = np.column_stack([matrix @ draw, np.diff(matrix.indptr)]).round(9)
    _, first = np.unique(prints, axis=0, return_index=True)
    return np.sort(first)


def _totals(matrix: Any) -> _Totals:
    """Read which cell of each equation is the total of the others."""
    rows, n = matrix.shape
    row = np.repeat(np.arange(rows), np.diff(matrix.indptr))
    head, is_head = single_totals(matrix)
    part = ~is_head & (head[row] >= 0)
    part_row, part_cell = row[part], matrix.indices[part].astype(np.int64)
    whole = np.flatnonzero(head >= 0)
    return _Totals(
        head=head,
        part_start=_starts(part_row, rows),
        parts=part_cell,
        above_start=_starts(part_cell, n),
        above=part_row[np.argsort(part_cell, kind="stable")],
        headed_start=_starts(head[whole], n),
        headed=whole[np.argsort(head[whole], kind="stable")],
    )


def _starts(owner: Long, owners: int) -> Long:
    count = np.bincount(owner, minlength=owners)
    return np.concatenate([[0], np.cumsum(count)]).astype(np.int64)


def _families(rows: int, one: Long, other: Long) -> Long:
    """Family of each equation."""
    link = sparse.csr_array((np.ones(len(one)), (one, other)), shape=(rows, rows))
    _, family = connected_components(link, directed=False)
    return np.asarray(family, dtype=np.int64)


def _crossing(family: Long, one: Long, other: Long) -> set[tuple[int, int]]:
    """Pairs of families that cross, both ways round."""
    pairs = np.unique(np.column_stack([family[one], family[other]]), axis=0)
    found = {(a, b) for a, b in pairs.tolist() if a != b}
    return found | {(b, a) for a, b in found}


def _cliques(
    totals: _Totals, family: Long, crossing: set[tuple[int, int]], n: int
) -> set[Clique]:
    """Families that split the same total and cross each other, as many as can be."""
    together: set[tuple[int, ...]] = set()
    start = totals.headed_start.tolist()
    kind = family[totals.headed].tolist()
    for cell in range(n):
        if start[cell + 1] > start[cell]:
            together.add(tuple(sorted(set(kind[start[cell] : start[cell + 1]]))))
    lost = np.unique(family[totals.head < 0]).tolist()
    found: set[Clique] = {frozenset((f,)) for f in lost}
    for families in together:
        found.update(_largest(families, crossing))
    return found


def _largest(families: tuple[int, ...], crossing: set[tuple[int, int]]) -> list[Clique]:
    """Largest sets of families that all cross each other (Bron and Kerbosch 1973)."""
    near = {f: {g for g in families if (f, g) in crossing} for f in families}
    found: list[Clique] = []

    def grow(clique: set[int], open_to: set[int], done: set[int]) -> None:
        if not open_to and not done:
            found.append(frozenset(clique))
            return
        for f in sorted(open_to):
            grow(clique | {f}, open_to & near[f], done & near[f])
            open_to = open_to - {f}
            done = done | {f}

    grow(set(), set(families), set())
    return found


def _undominated(cliques: set[Clique]) -> list[Clique]:
    """Leave out sets that are part of another."""
    having: dict[int, list[Clique]] = {}
    for clique in cliques:
        for f in clique:
            having.setdefault(f, []).append(clique)
    return [
        clique
        for clique in sorted(cliques, key=sorted)
        if not any(
            clique < other
            for other in min((having[f] for f in clique), key=len, default=[])
        )
    ]


def _collect(
    matrix: Any, head: Long, family: Long, cliques: list[Clique], depth: Long
) -> list[Subtable]:
    """Gather the cells that every family of a clique has, and the equations of them."""
    order = np.argsort(family, kind="stable")
    starts = _starts(family, int(family.max(initial=-1)) + 1)
    cells_of = [
        np.unique(_entries(matrix, order[a:b]))
        for a, b in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True)
    ]
    covered = np.zeros(matrix.shape[0], dtype=bool)
    inside = np.zeros(matrix.shape[1], dtype=bool)
    found: list[Subtable] = []

    def add(cells: Long, rows: Long) -> None:
        covered[rows] = True
        found.append(Subtable(cells, rows, int(depth[cells].min())))

    for clique in cliques:
        members = sorted(clique, key=lambda f: len(cells_of[f]))
        cells = cells_of[members[0]]
        for f in members[1:]:
            cells = np.intersect1d(cells, cells_of[f], assume_unique=True)
        rows = np.concatenate([order[starts[f] : starts[f + 1]] for f in members])
        inside[cells] = True
        rows = rows[(head[rows] < 0) | inside[head[rows]]]
        rows = np.sort(rows[_all_inside(matrix, rows, inside)])
        inside[cells] = False
        if len(rows):
            add(np.unique(_entries(matrix, rows)), rows)
    # Where the pieces do not fit together an equation is left over: on its own it is
    # a sub-table too.
    for row in np.flatnonzero(~covered).tolist():
        own = np.array([row], dtype=np.int64)
        cells = np.unique(_entries(matrix, own))
        if len(cells):
            add(cells, own)
    return found


def _entries(matrix: Any, rows: Long) -> Long:
    """Cells of some equations."""
    count = np.diff(matrix.indptr)[rows]
    first = np.repeat(matrix.indptr[rows] - (np.cumsum(count) - count), count)
    return matrix.indices[first + np.arange(count.sum())].astype(np.int64)


def _all_inside(matrix: Any, rows: Long, inside: Flags) -> Flags:
    count = np.diff(matrix.indptr)[rows]
    owner = np.repeat(np.arange(len(rows)), count)
    hit = np.bincount(
        owner, weights=inside[_entries(matrix, rows)], minlength=len(rows)
    )
    return hit == count


class PartProblems:
    """Cuts problems of sub-tables out of the problem of a table.

    Parameters
    ----------
    share
        What inherited secondaries must be movable by, as a share of their value; 0
        requires only that they cannot be worked out exactly (de Wolf 2002).
    """

    def __init__(self, problem: Problem, share: float) -> None:
        self.problem = problem
        wanted = max(share, _MIN_SHARE_OF_VALUE) * np.maximum(
            1.0, np.abs(problem.table.value)
        )
        if problem.table.is_integer:
            wanted = np.maximum(1.0, np.rint(wanted))
        self._upwards = problem.up >= problem.down
        room = np.where(self._upwards, problem.up, problem.down)
        self._wanted = np.minimum(wanted, room)
        levels = problem.levels
        n = len(problem.table)
        self._amounts = {
            sign: _spread(n, levels.cell[way], levels.amount[way])
            for sign, way in ((1, levels.sign > 0), (-1, levels.sign < 0))
        }
        self._slides = _spread(n, levels.slide, levels.slide_amount)

    def of(
        self,
        part: Subtable,
        hidden: Flags,
        shut: Flags,
        price: Real,
        *,
        inherit: bool = True,
    ) -> Problem:
        """Return the problem of a sub-table.

        Parameters
        ----------
        hidden
            Cells of the table that are hidden so far: they cost nothing more, and are
            protected from being worked out exactly unless `inherit` is false.
        shut
            Cells of the table that must stay published.
        price
            What hiding a cell of the table costs.
        """
        whole, at = self.problem, part.cells
        taken = hidden[at]
        may = whole.hideable[at] & ~shut[at] | taken
        status = np.where(taken, PRIMARY, np.where(may, SAFE, FIXED))
        return Problem(
            table=_cut(whole.table, part, status),
            cost=np.where(taken, 0.0, price[at]),
            up=whole.up[at],
            down=whole.down[at],
            hideable=may,
            levels=self._levels(at, taken & ~whole.primary[at] & inherit),
        )

    def _levels(self, at: Long, inherited: Flags) -> Levels:
        up, down = self._amounts[1][at], self._amounts[-1][at]
        least = np.where(inherited, self._wanted[at], 0.0)
        up = np.where(inherited & self._upwards[at], least, up)
        down = np.where(inherited & ~self._upwards[at], least, down)
        cell = np.concatenate([np.flatnonzero(up > 0), np.flatnonzero(down > 0)])
        count = int((up > 0).sum())
        slide = np.flatnonzero(self._slides[at] > 0)
        return Levels(
            cell=cell,
            sign=np.where(np.arange(len(cell)) < count, 1, -1).astype(np.int8),
            amount=np.concatenate([up[up > 0], down[down > 0]]),
            slide=slide,
            slide_amount=self._slides[at][slide],
        )


def _spread(n: int, cells: Long, amounts: Real) -> Real:
    out = np.zeros(n)
    out[cells] = amounts
    return out


def _cut(table: Table, part: Subtable, status: NDArray[np.str_]) -> Table:
    at = part.cells
    labelled = bool(table.dimensions)
    return Table(
        value=table.value[at],
        weight=table.weight[at],
        status=status.astype("U1"),
        lower=table.lower[at],
        upper=table.upper[at],
        lpl=table.lpl[at],
        upl=table.upl[at],
        spl=table.spl[at],
        matrix=table.matrix[part.equations][:, at],
        rhs=table.rhs[part.equations],
        dimensions=table.dimensions,
        codes=table.codes[at] if labelled else np.empty((len(at), 0), np.int32),
        name=table.name,
    )
