"""Attackers: who knows more of a table than everyone, and what they know.

Fischetti and Salazar (2001) protect each cell against several attackers, each with
knowledge of its own. The only contributor of a cell knows its value (apart from others
who contribute zero), so suppressing this cell protects nothing against it: in a row
with two suppressed cells the lone respondent of one works out the other (tau-Argus
user's manual, singletons in the modular approach; Hundepool et al. 2012, section 4.2).
A total with one contributor has the same contributor as its only part that is not
empty, so the same respondent knows both. One firm may be alone in several cells that no
total joins: a table made of records identifies it by a keyed hash.

A contributor that is not alone in a cell knows that the cell is at least its own
contribution, and a coalition knows the same of the sum of its members' contributions;
whoever contributes all of a cell knows it. No more follows: of a cell with two
contributors the second largest knows the contribution of the largest only as well as
everyone knows the cell. A contributor is a holding where records belong to holdings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.errors import InputError, refuse_unknown
from evosdc.table.shares import TABULATE_AGAIN, Coalition, Shares, decimal_of
from evosdc.table.status import PRIMARY
from evosdc.table.structure import total_entries
from evosdc.table.table import Table

PUBLIC: Final = "public"
LONE: Final = "lone"
PAIRS: Final = "pairs"
KINDS: Final = (PUBLIC, LONE, PAIRS)
# Kinds of single attackers: lone, or the rank among contributors of their first cell.
_SINGLE: Final = (LONE, "largest", "second largest")
_COALITION: Final = "coalition "


@dataclass(frozen=True, eq=False)
class AttackerKnowledge:
    """Attackers and what each knows besides the publication; the first is the public.

    Attributes
    ----------
    start, cell
        Attacker `a` knows more than everyone of ``cell[start[a] : start[a + 1]]``.
    up, down
        How far above and below its value the attacker believes each of them to be at
        most: 0 and 0 for a cell that it knows; infinity and the contributions of others
        for a cell to which it contributes.
    kind
        The kind of each attacker: ``public``, ``lone`` (a lone respondent), ``largest``
        and ``second largest`` (that contributor of the first of its cells), or the name
        of a coalition.
    """

    start: NDArray[np.int64]
    cell: NDArray[np.int64]
    up: NDArray[np.float64]
    down: NDArray[np.float64]
    kind: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.kind)

    @classmethod
    def public(cls) -> AttackerKnowledge:
        """Return the public alone, which knows only the publication."""
        none = np.zeros(0)
        return cls(
            np.zeros(2, np.int64), none.astype(np.int64), none, none.copy(), (PUBLIC,)
        )

    @cached_property
    def owner(self) -> NDArray[np.int64]:
        """The attacker of each entry of `cell`, `up` and `down`."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def exact(self) -> NDArray[np.bool_]:
        """Which entries are cells that their attacker knows exactly."""
        return (self.up == 0) & (self.down == 0)

    def entries(self, attacker: int) -> slice:
        """Return the entries of an attacker in `cell`, `up` and `down`."""
        return slice(int(self.start[attacker]), int(self.start[attacker + 1]))

    def cells(self, attacker: int) -> NDArray[np.int64]:
        """Return the cells of which an attacker knows more than everyone, in order."""
        return self.cell[self.entries(attacker)]

    def known(self, attacker: int) -> NDArray[np.int64]:
        """Return the cells that an attacker knows exactly, in order."""
        at = self.entries(attacker)
        return self.cell[at][self.exact[at]]

    def describe(self, table: Table, attacker: int) -> str:
        """Name an attacker by a cell that it knows more of, without values."""
        kind = self.kind[attacker]
        if kind == PUBLIC:
            return "everyone"
        if kind.startswith(_COALITION):
            return kind
        lone = kind == LONE
        cell = (self.known if lone else self.cells)(attacker)[0]
        who = "lone respondent" if lone else f"{kind} contributor"
        return f"the {who} of {table.label(int(cell))}"

    def room_below(self, shares: OwnShares, attacker: int) -> dict[int, float]:
        """Return how far below its value an attacker believes cells to be at most.

        Other cells are bounded only by what everyone knows; cells that the attacker
        knows exactly are left out.
        """
        at = self.entries(attacker)
        own = dict(zip(self.cell[at].tolist(), self.down[at].tolist(), strict=True))
        return shares.room(own, set(self.known(attacker).tolist()))


def lone_attackers(table: Table) -> AttackerKnowledge:
    """Return the public and every lone respondent of a table."""
    respondent = lone_respondents(table)
    known = np.flatnonzero(respondent >= 0)
    many = int(respondent.max(initial=-1)) + 1
    nothing = np.zeros(len(known))
    return _grouped(respondent[known], known, nothing, nothing, (LONE,) * many)


def find_attackers(
    table: Table, kind: str | None = None, coalitions: Sequence[Coalition] = ()
) -> AttackerKnowledge:
    """Return the public and other attackers of a table.

    Parameters
    ----------
    kind
        ``public``: nobody else. ``lone``: every lone respondent. ``pairs``: also every
        contributor that is one of the two largest of a cell; the table does not say
        what it contributes to other cells, so this is not taken as known. None: lone
        respondents where the table knows its contributors.
    coalitions
        Respondents who share what they know, in addition to those.
    """
    if kind is None:
        kind = LONE if knows_contributors(table) else PUBLIC
    refuse_unknown([kind], KINDS, "attackers are {}", hint="use one of these")
    if kind == PAIRS and table.contributions is None:
        raise InputError(
            "the table does not say who contributes most to its cells",
            expected="the two largest contributors of each cell",
            hint=TABULATE_AGAIN,
        )
    if kind == PUBLIC and not coalitions:
        return AttackerKnowledge.public()
    if kind == LONE and not coalitions:
        return lone_attackers(table)
    shares = Shares(table, lone_respondents(table))
    found = [] if kind == PUBLIC else shares.single(pairs=kind == PAIRS)
    known_by = [known for _, known in found] + [shares.coalition(c) for c in coalitions]
    entries = [
        (number, cell, room)
        for number, known in enumerate(known_by)
        for cell, room in known.items()
    ]
    return _grouped(
        np.array([number for number, _, _ in entries], dtype=np.int64),
        np.array([cell for _, cell, _ in entries], dtype=np.int64),
        np.array([0.0 if room is None else np.inf for _, _, room in entries]),
        np.array([0.0 if room is None else room for _, _, room in entries]),
        (
            *(_SINGLE[rank] for rank, _ in found),
            *(_COALITION + c.name for c in coalitions),
        ),
    )


def _grouped(
    attacker: NDArray[np.int64],
    cell: NDArray[np.int64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    kind: tuple[str, ...],
) -> AttackerKnowledge:
    """Return the public and attackers numbered from 0, one entry per known cell."""
    order = np.lexsort((cell, attacker))
    start = np.searchsorted(attacker[order], np.arange(len(kind) + 1))
    return AttackerKnowledge(
        np.concatenate([[0], start]).astype(np.int64),
        cell[order],
        up[order],
        down[order],
        (PUBLIC, *kind),
    )


@dataclass(frozen=True, eq=False)
class RespondentSums:
    """Sums of sensitive cells in which one respondent is alone, and their levels.

    A respondent that is alone in several suppressed cells is disclosed by their sum as
    well as by each of them: sum `s` is over ``cell[start[s] : start[s + 1]]``, and
    deviations must move it by `upl` upwards and by `lpl` downwards.
    """

    start: NDArray[np.int64]
    cell: NDArray[np.int64]
    upl: NDArray[np.float64]
    lpl: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.upl)

    @classmethod
    def none(cls) -> RespondentSums:
        """Return no sums."""
        none = np.zeros(0)
        return cls(np.zeros(1, np.int64), none.astype(np.int64), none, none.copy())

    def cells(self, number: int) -> NDArray[np.int64]:
        """Return the cells of a sum, in order."""
        return self.cell[int(self.start[number]) : int(self.start[number + 1])]


def respondent_sums(table: Table) -> RespondentSums:
    """List the sums to be protected: per equation, and over all cells of a respondent.

    A cell is left out of the overall sum where it is the total of others of the same
    respondent. The rules' levels of a single contribution are proportional to it, so
    the level of a sum is the sum of the levels.
    """
    found: dict[tuple[int, ...], None] = {}
    if table.respondent is not None:
        respondent = np.where(table.status == PRIMARY, lone_respondents(table), -1)
        found = dict.fromkeys(_sums_of(table, respondent))
    sets = [np.array(cells, dtype=np.int64) for cells in found]
    none = np.zeros(0, dtype=np.int64)
    return RespondentSums(
        np.cumsum([0, *(len(cells) for cells in sets)]).astype(np.int64),
        np.concatenate([none, *sets]),
        np.array([float(table.upl[cells].sum()) for cells in sets]),
        np.array([float(table.lpl[cells].sum()) for cells in sets]),
    )


def _sums_of(table: Table, respondent: NDArray[np.int64]) -> Iterator[tuple[int, ...]]:
    """Yield sets of cells of one respondent whose sums must be protected."""
    matrix = table.matrix
    row, total = total_entries(matrix)
    who = respondent[matrix.indices]
    covered = np.zeros(len(table), dtype=bool)  # totals of the respondent's own cells
    order = np.lexsort((matrix.indices, who, row))
    part = order[(who[order] >= 0) & ~total[order]]
    key = np.stack([row[part], who[part]], axis=1)
    ends = np.flatnonzero(np.any(np.diff(key, axis=0) != 0, axis=1)) + 1
    own_total = dict(
        zip(row[total].tolist(), matrix.indices[total].tolist(), strict=True)
    )
    for entries in np.split(part, ends):
        if not len(entries):
            continue
        above = own_total.get(int(row[entries[0]]), -1)
        if above >= 0 and respondent[above] == who[entries[0]]:
            covered[above] = True  # the levels of the total protect the same sum
        elif len(entries) > 1:
            yield tuple(sorted(matrix.indices[entries].tolist()))
    for cells in _by_respondent(np.where(covered, -1, respondent)):
        if len(cells) > 1:
            yield tuple(cells.tolist())


def _by_respondent(respondent: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Split the cells of lone respondents by respondent, each part in order."""
    known = np.flatnonzero(respondent >= 0)
    known = known[np.argsort(respondent[known], kind="stable")]
    return np.split(known, np.flatnonzero(np.diff(respondent[known])) + 1)


def knows_contributors(table: Table) -> bool:
    """Whether a table says which cells have one contributor."""
    return any(
        known is not None
        for known in (table.respondent, table.holdings, table.frequency)
    )


def lone_respondents(table: Table) -> NDArray[np.int64]:
    """Return the number of the lone respondent of each cell, -1 where there is none.

    Contributors of one holding count as one where the table knows holdings.
    """
    if not knows_contributors(table):
        raise InputError(
            "the table does not say how many contributors its cells have",
            expected="a column 'frequency' (or 'holdings', 'respondent')",
            hint="tabulate from records, or leave them out (--attackers public)",
        )
    lone = _lone(table)
    matrix = table.matrix
    row, total = total_entries(matrix)
    by_one = np.zeros(matrix.shape[0], dtype=bool)
    by_one[row[total & lone[matrix.indices]]] = True
    use = by_one[row] & lone[matrix.indices]
    if table.respondent is not None:
        # Others may be alone in cells of such a total with a contribution of zero.
        of_total = np.full(matrix.shape[0], "", dtype=table.respondent.dtype)
        of_total[row[total]] = table.respondent[matrix.indices[total]]
        mine, theirs = table.respondent[matrix.indices], of_total[row]
        use &= (mine == theirs) | (mine == "") | (theirs == "")
    groups, cells = [row[use]], [matrix.indices[use]]
    if table.respondent is not None:
        named = np.flatnonzero(table.respondent != "")
        _, who = np.unique(table.respondent[named], return_inverse=True)
        groups.append(len(by_one) + who)
        cells.append(named)
    group, cell = np.concatenate(groups), np.concatenate(cells)
    shape = (int(group.max(initial=0)) + 1, len(table))
    link = sparse.csr_array((np.ones(len(group)), (group, cell)), shape=shape)
    _, joined = connected_components(link.T @ link, directed=False)
    out = np.full(len(table), -1, dtype=np.int64)
    _, out[lone] = np.unique(joined[lone], return_inverse=True)
    return out


def _lone(table: Table) -> NDArray[np.bool_]:
    lone = np.zeros(len(table), dtype=bool)
    count = table.holdings if table.holdings is not None else table.frequency
    if count is not None:
        lone |= count == 1
    if table.respondent is not None:
        lone |= table.respondent != ""
    return lone


class OwnShares:
    """Lower bounds of totals that a respondent derives from its own contributions.

    No respondent believes a total to be less than its own contribution, whatever is
    suppressed, so lower levels are required only down to there. The same holds for the
    only part of such a total, which equals it.
    """

    def __init__(self, table: Table) -> None:
        self._value = table.value
        matrix = table.matrix
        row, total = total_entries(matrix)
        m = matrix.shape[0]
        self._total = np.full(m, -1, dtype=np.int64)
        self._total[row[total]] = matrix.indices[total]
        # Only sums of cells that cannot be negative bound a total.
        odd = np.abs(matrix.data) != 1
        odd |= ~total & (table.lower[matrix.indices] < 0)
        self._total[row[odd]] = -1
        self._total[table.rhs != 0] = -1
        self._rows, self._columns = matrix, table.columns
        self._decimals: dict[int, Decimal] = {}
        self._sums: dict[int, Decimal] = {}  # of the parts, by equation

    def room(self, own: Mapping[int, float], exact: set[int]) -> dict[int, float]:
        """Return how far cells can be below their value, for one attacker.

        Parameters
        ----------
        own
            How far below its value the attacker believes each cell to which it
            contributes: 0 where it is alone.
        exact
            Those of them that it knows exactly, which are left out of the result.

        Cells that are missing are not bounded by what the attacker knows. Parts of
        totals are added up as decimals: where a total itself was rounded, they are what
        it can be moved by.
        """
        known: dict[int, Decimal] = {}
        room: dict[int, Decimal] = {}
        for cell, down in own.items():
            room[cell] = decimal_of(down)
            known[cell] = self._decimal(cell) - room[cell]
        queue = list(known)
        nothing = Decimal(0)
        while queue:
            cell = queue.pop()
            start, end = self._columns.indptr[cell : cell + 2]
            for row in self._columns.indices[start:end].tolist():
                total = int(self._total[row])
                if total < 0:
                    continue
                first, last = self._rows.indptr[row : row + 2]
                parts = self._rows.indices[first:last].tolist()
                if cell != total:
                    above = total
                elif len(parts) == 2:
                    # The only part of a total equals the total.
                    above = parts[0] if parts[1] == total else parts[1]
                else:
                    continue
                if above in exact:
                    continue
                mine = [p for p in parts if p in known and p != above]
                least = sum((known[p] for p in mine), nothing)
                if least > known.get(above, nothing):
                    known[above] = least
                    rest = sum((room[p] - self._decimal(p) for p in mine), nothing)
                    if cell == total:
                        rest += self._decimal(total)
                    else:
                        rest += self._parts_of(row, parts)
                    room[above] = min(self._decimal(above) - least, rest)
                    queue.append(above)
        return {
            cell: max(0.0, _rounded_down(most))
            for cell, most in room.items()
            if cell not in exact
        }

    def _parts_of(self, row: int, cells: list[int]) -> Decimal:
        """Add up the parts of a total."""
        if row not in self._sums:
            total = int(self._total[row])
            parts = (self._decimal(cell) for cell in cells if cell != total)
            self._sums[row] = sum(parts, Decimal(0))
        return self._sums[row]

    def _decimal(self, cell: int) -> Decimal:
        if cell not in self._decimals:
            self._decimals[cell] = decimal_of(self._value[cell])
        return self._decimals[cell]


def _rounded_down(number: Decimal) -> float:
    """Return the largest double that, as a shortest decimal, is not above a number."""
    near = float(number)
    if decimal_of(near) > number:
        return float(np.nextafter(near, -np.inf))
    return near
