"""Fingerprints: of a table, so that a proof is of this table and no other, and a seal.

The bytes that are hashed are written down in ``docs/reference/certificate.md``. A seal
finds numbers that changed by accident; it is no signature, so nothing is believed for
it: the checker adds every witness up again.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from evosdc.table import Table
from evosdc.table.status import PRIMARY

# What each fingerprint is of, in words.
GROUPS: Mapping[str, str] = {
    "cells": "the cells and their order",
    "values": "values",
    "bounds": "bounds (lower, upper)",
    "levels": "protection levels (lpl, upl, spl)",
    "sensitive": "which cells are sensitive (status u)",
    "equations": "equations",
    "respondents": "lone respondents",
}
_END_OF_WORD, _END_OF_LINE = b"\x1f", b"\x1e"


def table_digests(table: Table, respondent: NDArray[np.int64]) -> dict[str, str]:
    """Fingerprints of a table by kind of column, as hexadecimal SHA-256.

    `respondent` numbers the lone respondents that are attackers, -1 for none.
    """
    parts = {
        "cells": _cells(table),
        "values": _doubles(table.value),
        "bounds": _doubles(table.lower) + _doubles(table.upper),
        "levels": _doubles(table.lpl) + _doubles(table.upl) + _doubles(table.spl),
        "sensitive": (table.status == PRIMARY).astype("u1").tobytes(),
        "equations": _equations(table),
        "respondents": numbered(respondent).astype("<i8").tobytes(),
    }
    return {name: sha256(parts[name]).hexdigest() for name in GROUPS}


def digest_of(digests: Mapping[str, str]) -> str:
    """One fingerprint of a table: that of its fingerprints by kind of column."""
    lines = "".join(f"{name} {digests[name]}\n" for name in GROUPS)
    return sha256(lines.encode()).hexdigest()


def seal_of(arrays: Mapping[str, NDArray[Any]]) -> str:
    """The fingerprint of all arrays but the seal itself, in the order of their names.

    For each its name, type and shape as text, each followed by a zero byte, and its
    bytes, little-endian and row by row.
    """
    whole = sha256()
    for name in sorted(arrays):
        if name == "seal":
            continue
        array = np.asarray(arrays[name])
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        array = array.reshape(np.shape(arrays[name]))
        shape = ",".join(map(str, array.shape))
        for word in (name, array.dtype.str, shape):
            whole.update(word.encode() + b"\0")
        whole.update(array.tobytes())
    return whole.hexdigest()


def numbered(respondent: NDArray[np.int64]) -> NDArray[np.int64]:
    """Respondents numbered from 0 in the order of their first cells, -1 for none."""
    out = np.full(len(respondent), -1, dtype=np.int64)
    alone = np.flatnonzero(respondent >= 0)
    if len(alone):
        _, first, group = np.unique(
            respondent[alone], return_index=True, return_inverse=True
        )
        rank = np.empty(len(first), dtype=np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        out[alone] = rank[group]
    return out


def _cells(table: Table) -> bytes:
    """Names of the dimensions, then the codes of each cell, or its number."""
    if not table.dimensions:
        lines = [[str(cell)] for cell in range(len(table))]
    else:
        words = [d.hierarchy.codes for d in table.dimensions]
        lines = [
            [words[k][c].strip() for k, c in enumerate(row)]
            for row in table.codes.tolist()
        ]
    head = [d.name for d in table.dimensions]
    return b"".join(
        b"".join(word.encode() + _END_OF_WORD for word in line) + _END_OF_LINE
        for line in [head, *lines]
    )


def _doubles(numbers: NDArray[np.float64]) -> bytes:
    # Adding 0 turns a negative zero into the other one.
    return (numbers + 0.0).astype("<f8").tobytes()


def _equations(table: Table) -> bytes:
    """Each equation by its cells in order, as a set: sorted, and each once."""
    rows = sparse.csr_array(table.matrix, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    rows.sort_indices()
    cells, factors = rows.indices.astype("<i8"), rows.data.astype("<f8")
    right = (table.rhs + 0.0).astype("<f8")
    found = {
        np.array([b - a], "<i8").tobytes()
        + cells[a:b].tobytes()
        + factors[a:b].tobytes()
        + right[row : row + 1].tobytes()
        for row, (a, b) in enumerate(pairwise(rows.indptr.tolist()))
        if a < b
    }
    return b"".join(sorted(found))
