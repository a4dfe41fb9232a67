"""Files that mix records with totals of records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.errors import InputError
from evosdc.io.flat import rows_of
from evosdc.table import Dimension
from evosdc.table.codes import listed, look_alikes
from evosdc.table.subtotals import find_sums

# Bits beyond chance: records that are sums of records are rare, and sums of small
# numbers agree now and then.
_SURE = 20.0


def code_notes(
    dimensions: Sequence[Dimension], codes: NDArray[np.int32]
) -> tuple[str, ...]:
    """Say which codes of the records differ in case or in leading zeros only."""
    notes: list[str] = []
    for k, d in enumerate(dimensions):
        used = [d.hierarchy.codes[node] for node in np.unique(codes[:, k])]
        notes += look_alikes(d.name, used)
    return tuple(notes)


def refuse_mixed(
    dimensions: Sequence[Dimension],
    codes: NDArray[np.int32],
    values: NDArray[Any],
    names: Collection[str],
) -> None:
    """Refuse codes of flat dimensions whose cells are the sums of other codes' cells.

    They are totals among the records: every total would count them twice, and what is
    hidden of their parts would follow by subtraction.
    """
    for k, d in enumerate(dimensions):
        if d.name not in names or len(d.hierarchy) < 4:
            continue
        local = codes.astype(np.int64)
        local[:, k] -= 1
        rows = rows_of(
            d.hierarchy.codes[1:],
            k,
            local,
            np.asarray(values, dtype=np.float64),
            None,
            np.ones(len(codes), dtype=bool),
        )
        for found in find_sums(rows):
            if not found.sure or found.bits < _SURE or len(found.parts) < 2:
                continue
            parts = [rows.names[p] for p in found.parts]
            raise InputError(
                f"the records of {d.name}={rows.names[found.code]!r} add up to those "
                f"of {listed(parts, 8)} in every cell",
                expected="records of the parts only: totals are computed",
                hint="leave the records of totals out; if it is chance, say so: "
                f"--flat {d.name} (Read(flat=[{d.name!r}]))",
            )
