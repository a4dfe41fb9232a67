"""Lone respondents: which cells are known to whom before anything is published?

Whoever is the only contributor of a cell knows its value, and so protects nothing by
it: in a row with two hidden cells the lone respondent of one works out the other
(tau-Argus user's manual, singletons in the modular approach; Hundepool et al. 2012,
section 4.2). A total with one contributor has the same contributor as its only part
that is not empty, so the two are known to the same respondent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from evosdc.errors import InputError
from evosdc.table.table import Table


def lone_respondents(table: Table) -> NDArray[np.int64]:
    """Number of the lone respondent that knows each cell, -1 where there is none.

    Contributors of one holding count as one where the table knows holdings.
    """
    count = table.holdings if table.holdings is not None else table.frequency
    if count is None:
        raise InputError(
            "the table does not say how many contributors its cells have",
            expected="a column 'frequency' (or 'holdings')",
            hint="tabulate from records, or leave singletons out",
        )
    lone = count == 1
    matrix = table.matrix
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    # The total is the cell that counts the other way in an equation.
    negative = np.bincount(row, weights=matrix.data < 0, minlength=matrix.shape[0])
    total = (matrix.data < 0) == (negative[row] == 1)
    by_one = np.zeros(matrix.shape[0], dtype=bool)
    by_one[row[total & lone[matrix.indices]]] = True
    use = by_one[row] & lone[matrix.indices]
    n = len(table)
    link = sparse.csr_array(
        (np.ones(use.sum()), (row[use], matrix.indices[use])), shape=(len(by_one), n)
    )
    _, group = connected_components(link.T @ link, directed=False)
    out = np.full(n, -1, dtype=np.int64)
    _, out[lone] = np.unique(group[lone], return_inverse=True)
    return out
