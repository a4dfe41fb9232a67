"""How much copies of the same file differ: a metric distance between them.

The square root of the Jensen-Shannon divergence is a metric (Endres and Schindelin
2003), and so is its mean over tables: what two copies are apart is never more than what
each is apart from a third. Numbers are compared in bins.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.frames import to_arrow
from evosdc.metrics.data import bin_codes
from evosdc.synth.data.encoding import Codes
from evosdc.synth.objective.gaps import copy_gaps


def copy_distances(copies: Sequence[Any], order: int = 2) -> NDArray[np.float64]:
    """Return the distances between copies, or a file and its copies, by pairs.

    Parameters
    ----------
    copies
        Frames with the same columns and as many records.
    order
        How many variables the compared tables have.
    """
    tables = [to_arrow(copy) for copy in copies]
    if len(tables) < 2:
        raise InputError(
            f"there are {len(tables)} copies", expected="two or more to compare"
        )
    names, rows = tables[0].column_names, tables[0].num_rows
    for number, table in enumerate(tables[1:], 2):
        if set(table.column_names) != set(names) or table.num_rows != rows:
            raise InputError(
                f"copy {number} has other columns, or another number of records",
                expected="the columns of the first copy, and as many records",
            )
    if not 1 <= order <= len(names):
        raise InputError(
            f"order is {order}", expected=f"a whole number from 1 to {len(names)}"
        )
    joined = np.column_stack(
        [bin_codes(n, [t.column(n) for t in tables]) for n in names]
    )
    sizes = joined.max(axis=0).astype(np.int64) + 1
    codes: list[Codes] = [
        part.astype(np.int16) for part in np.split(joined, len(tables))
    ]
    chosen = list(combinations(range(len(names)), order))
    return copy_gaps(codes, sizes, chosen)
