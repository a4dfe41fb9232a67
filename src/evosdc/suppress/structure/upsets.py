"""Up-sets: an inner cell and every total it is part of, to the top of the table.

Raising an inner cell raises exactly these cells by the same amount, so the up-sets of
the inner cells span all deviations of a table whose equations say "the parts make the
total", whatever its dimensions and hierarchies. In linked tables a total is split up in
several ways, and one up-set alone may break an equation of another split.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from evosdc.arrays import Flags, Long
from evosdc.suppress.structure.equations import totals_of
from evosdc.table import Table


@dataclass(frozen=True, eq=False)
class UpSets:
    """The up-sets of a table.

    Attributes
    ----------
    reach
        CSR matrix of ones: one row per inner cell, one column per cell of the table.
    sound
        Which rows satisfy every equation.
    row_heads
        The total of each equation.
    part_of
        CSR: one row per inner cell, one column per equation with a part in its up-set.
    """

    reach: Any
    sound: Flags
    row_heads: Long
    part_of: Any

    @cached_property
    def below(self) -> Any:
        """CSR: one row per cell, one column per inner cell whose up-set has it."""
        return sparse.csr_array(self.reach.T)

    @cached_property
    def candidates(self) -> Any:
        """CSR: one row per equation, one column per inner cell that moves a part."""
        return sparse.csr_array(self.part_of.T)

    def inner_below(self, cell: int) -> Long:
        """Rows of `reach` that contain a cell."""
        start, end = self.below.indptr[cell : cell + 2]
        return np.asarray(self.below.indices[start:end], dtype=np.int64)


def up_sets(table: Table) -> UpSets | None:
    """Return the up-sets, or None where an equation is not "parts - total = 0"."""
    heads = totals_of(table.matrix)
    if heads is None:
        return None
    rows, n = table.matrix.shape
    row = np.repeat(np.arange(rows), np.diff(table.matrix.indptr))
    is_part = table.matrix.indices != heads[row]
    cells, equation = table.matrix.indices[is_part], row[is_part]
    ones = np.ones(len(cells))
    above = sparse.csr_array((ones, (cells, heads[equation])), shape=(n, n))
    parts = sparse.csr_array((ones, (cells, equation)), shape=(n, rows))
    inner = np.flatnonzero(np.bincount(heads, minlength=n) == 0)
    if not len(inner):
        return None
    step = sparse.csr_array(
        (np.ones(len(inner)), (np.arange(len(inner)), inner)), shape=(len(inner), n)
    )
    reach = step
    while step.nnz:
        step = step @ above
        step.data[:] = 1.0
        before = reach.nnz
        reach = reach + step
        reach.data[:] = 1.0
        if reach.nnz == before:
            # Nothing new: all totals are reached (or they go round in a circle).
            break
    off = abs(reach @ table.columns.T).sum(axis=1)
    part_of = reach @ parts
    return UpSets(reach, np.asarray(off).ravel() == 0, heads, part_of)


def independent_equations(table: Table, sets: UpSets | None) -> Any:
    """Leave out equations that follow from the others, where that is plain to see.

    When every up-set is sound, the deviations have one degree of freedom per inner
    cell, and so one equation for each total is enough: in a table of three dimensions
    most equations go, and with them the degeneracy that slows the simplex method down.
    """
    if sets is None or not sets.sound.all():
        return table.columns
    sizes = np.diff(table.matrix.indptr)
    order = np.lexsort((sizes, sets.row_heads))
    _, first = np.unique(sets.row_heads[order], return_index=True)
    return sparse.csc_array(table.matrix[np.sort(order[first])])
