"""A table as strangers see it: what is not published is not in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from evosdc.table.origin import Origin
from evosdc.table.parts import Part
from evosdc.table.status import SECONDARY
from evosdc.table.table import Table


def as_published(table: Table, part: Part | None = None) -> Table:
    """Return a copy of a table without anything that is not published.

    It is no table to compute with: hidden values are not a number, and one of several
    linked tables (`part`) has no equations. Cells that no table shows are not in it.
    """
    table = table.visible()
    cells = np.arange(len(table)) if part is None else part.cells
    hidden = table.hidden[cells]
    status = np.where(hidden, SECONDARY, table.status[cells])
    dimensions, codes = table.dimensions, table.codes
    matrix, rhs = table.matrix, table.rhs
    if part is not None:
        dimensions, codes = part.labels(table)
        matrix, rhs = sparse.csr_array((0, len(cells))), np.zeros(0)
    unknown: dict[str, Any] = dict.fromkeys(
        ("weight", "lower", "upper", "lpl", "upl", "spl"), np.full(len(cells), np.nan)
    )
    # Not `Table.replace`, which would check that the values add up.
    return replace(
        table,
        value=np.where(hidden, np.nan, table.value[cells]),
        status=status,
        **unknown,
        matrix=matrix,
        rhs=rhs,
        dimensions=dimensions,
        codes=codes,
        # With those of published cells the others could be worked out.
        frequency=None,
        holdings=None,
        respondent=None,
        contributions=None,
        origin=Origin(),
        notes=(),
    )
