"""Lone respondents: which cells are known to whom before anything is published?

Whoever is the only contributor of a cell knows its value (who contributes zero beside
it knows no more of it than everyone), and so protects nothing by
it: in a row with two hidden cells the lone respondent of one works out the other
(tau-Argus user's manual, singletons in the modular approach; Hundepool et al. 2012,
section 4.2). A total with one contributor has the same contributor as its only part
that is not empty, so the two are known to the same respondent. One firm may be alone
in several cells that no total joins: a table made of records says so by a keyed hash.
"""

from __future__ import annotations

from decimal import Decimal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.errors import InputError
from evosdc.table.table import Table
from evosdc.table.totals import total_entries


def knows_contributors(table: Table) -> bool:
    """Whether a table says which cells have one contributor."""
    return any(
        known is not None
        for known in (table.respondent, table.holdings, table.frequency)
    )


def lone_respondents(table: Table) -> NDArray[np.int64]:
    """Number of the lone respondent that knows each cell, -1 where there is none.

    Contributors of one holding count as one where the table knows holdings.
    """
    if not knows_contributors(table):
        raise InputError(
            "the table does not say how many contributors its cells have",
            expected="a column 'frequency' (or 'holdings', 'respondent')",
            hint="tabulate from records, or leave singletons out",
        )
    lone = _lone(table)
    matrix = table.matrix
    row, total = total_entries(matrix)
    by_one = np.zeros(matrix.shape[0], dtype=bool)
    by_one[row[total & lone[matrix.indices]]] = True
    use = by_one[row] & lone[matrix.indices]
    if table.respondent is not None:
        # Beside the only one who contributes somebody may be alone with a zero.
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


class OwnCells:
    """The cells of each lone respondent, sorted once for all of them."""

    def __init__(self, respondent: NDArray[np.int64]) -> None:
        known = np.flatnonzero(respondent >= 0)
        self._cells = known[np.argsort(respondent[known], kind="stable")]
        many = int(respondent.max(initial=-1)) + 1
        self._start = np.searchsorted(respondent[self._cells], np.arange(many + 1))

    def of(self, who: int) -> NDArray[np.int64]:
        """Return the cells that a respondent knows, in order."""
        return self._cells[self._start[who] : self._start[who + 1]]


class OwnShares:
    """What a respondent knows that a total cannot be below: its own cells in it.

    Nobody believes that a total is less than what they contributed to it themselves, so
    no pattern can make them: a lower level is asked against a respondent down to there.
    Neither do they of the only part of such a total, which equals it.
    """

    def __init__(self, table: Table) -> None:
        self._value = table.value
        matrix = table.matrix
        row, total = total_entries(matrix)
        m = matrix.shape[0]
        self._total = np.full(m, -1, dtype=np.int64)
        self._total[row[total]] = matrix.indices[total]
        # Only plain sums of cells that are not negative say anything.
        odd = np.abs(matrix.data) != 1
        odd |= ~total & (table.lower[matrix.indices] < 0)
        self._total[row[odd]] = -1
        self._total[table.rhs != 0] = -1
        self._rows, self._columns = matrix, table.columns

    def room(self, cells: NDArray[np.int64]) -> dict[int, float]:
        """Return how far totals can be below their value, for who is alone in `cells`.

        Totals that are not there are not bounded by what the respondent knows. Added up
        as decimals: what is written with a few digits stays so.
        """
        own = {int(cell): self._decimal(int(cell)) for cell in cells}
        known, queue = dict(own), list(own)
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
                parts.remove(total)
                if cell != total:
                    above = total
                elif len(parts) == 1:
                    # The only part of a total is the same cell under another code.
                    above, parts = parts[0], [total]
                else:
                    continue
                if above in own:
                    continue
                least = sum((known.get(p, nothing) for p in parts), nothing)
                if least > known.get(above, nothing):
                    known[above] = least
                    queue.append(above)
        return {
            cell: max(0.0, float(self._decimal(cell) - least))
            for cell, least in known.items()
            if cell not in own
        }

    def _decimal(self, cell: int) -> Decimal:
        return Decimal(repr(float(self._value[cell])))
