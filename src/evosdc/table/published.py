"""A table as strangers see it: what is not published is not in it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evosdc.table.origin import Origin
from evosdc.table.status import SECONDARY
from evosdc.table.table import Table


def as_published(table: Table) -> Table:
    """Return a copy of a table without anything that is not published.

    It is no table to compute with: hidden values are not a number. Cells that no table
    shows are not in it.
    """
    table = table.visible()
    hidden = table.hidden
    nothing = np.full(len(table), np.nan)
    status = table.status.copy()
    status[hidden] = SECONDARY
    # Not `Table.replace`, which would check that the values add up.
    return replace(
        table,
        value=np.where(hidden, np.nan, table.value),
        status=status,
        weight=nothing,
        lower=nothing,
        upper=nothing,
        lpl=nothing,
        upl=nothing,
        spl=nothing,
        # With those of published cells the others could be worked out.
        frequency=None,
        holdings=None,
        respondent=None,
        contributions=None,
        origin=Origin(),
        notes=(),
    )
