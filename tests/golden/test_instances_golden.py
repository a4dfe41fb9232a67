"""The same name, seed and options give the same table, today and tomorrow."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pytest

from evosdc.instances import make
from evosdc.table import Table

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("class1", {"rows": 30, "columns": 20}, "bd9b3a983f241588"),
    ("class2", {"rows": 30, "columns": 20}, "24ec745f4f4af117"),
    ("heurgene", {"rows": 30, "columns": 20}, "fe036bbfb7073c8d"),
    ("ons", {"table": "A"}, "dce1e6e02d05d256"),
    ("ons", {"table": "H3"}, "2e8f6271dad21bfb"),
    ("large", {"table": 3}, "859845f748c9fa65"),
    ("frequency", {}, "097914095c328fb4"),
    ("random", {"shape": (5, 4, 3), "trees": 2}, "189f265f620b0572"),
]


def checksum(table: Table) -> str:
    digest = hashlib.sha256()
    for column in (table.value, table.lpl, table.upl, table.lower, table.upper):
        digest.update(np.ascontiguousarray(column, dtype="<f8").tobytes())
    digest.update("".join(table.status.tolist()).encode())
    digest.update(table.codes.astype("<i4").tobytes())
    digest.update(
        "".join(c for d in table.dimensions for c in d.hierarchy.codes).encode()
    )
    digest.update(table.matrix.indices.astype("<i8").tobytes())
    return digest.hexdigest()[:16]


@pytest.mark.parametrize(("name", "options", "expected"), CASES)
def test_checksum(name: str, options: dict[str, Any], expected: str) -> None:
    assert checksum(make(name, seed=2026, **options)) == expected


@pytest.mark.parametrize(("name", "options", "expected"), CASES)
def test_another_seed_gives_another_table(
    name: str, options: dict[str, Any], expected: str
) -> None:
    assert checksum(make(name, seed=2027, **options)) != expected
