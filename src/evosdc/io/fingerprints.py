"""Fingerprints of a table and a pattern, by which the next run knows them again.

They are confidential: what a fingerprint of a small table was made of can be guessed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evosdc.table import Table


def fingerprints(table: Table, hidden: NDArray[np.bool_]) -> dict[str, Any]:
    """Return SHA-256 of a table, of a pattern of it, and of what its kin share.

    Cells count by their labels, in whatever order they stand. Kin are tables of the
    same variable with the same grand total, or of the same records.
    """
    labels = [table.label(cell) for cell in range(len(table))]
    order = sorted(range(len(table)), key=labels.__getitem__)
    values = table.value.tolist()
    return {
        "table": _sha(f"{labels[c]}\t{values[c]!r}" for c in order),
        "pattern": _sha(f"{labels[c]}\t{int(hidden[c])}" for c in order),
        "kin": _kin(table),
    }


def _kin(table: Table) -> list[str]:
    """What tables of the same records have in common."""
    marks = []
    if table.dimensions:
        top = np.flatnonzero((table.codes == 0).all(axis=1))
        if len(top) and table.value[top[0]]:
            marks.append(_sha((table.name, repr(float(table.value[top[0]])))))
    if table.origin.source:
        marks.append(_sha((table.name, "records", table.origin.source)))
    return marks


def _sha(lines: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8") + b"\n")
    return digest.hexdigest()
