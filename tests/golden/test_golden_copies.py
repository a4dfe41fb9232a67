"""The same file, seed and options give the same copy, today and tomorrow."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from evosdc.synth import Synthesiser

KEY = ["age", "marital", "sex"]
MEMETIC = {"moves": 40_000, "generations": 4, "time_limit": None}
GENETIC = {"memetic": False, "population": 8, "generations": 4, "time_limit": None}
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("codes", MEMETIC, "ddc1375c65f744f2"),
    (
        "codes",
        {**MEMETIC, "least": 0, "columns": ["marital", "health"]},
        "909f81f4d9d4237a",
    ),
    ("codes", {**MEMETIC, "mode": "pareto", "population": 4}, "f11eba117fe2b0ba"),
    (
        "codes",
        {**MEMETIC, "initial": "network", "acceptance": "late"},
        "52fce481c9c18b0e",
    ),
    (
        "codes",
        {**GENETIC, "mode": "weighted", "crossover": "matrix"},
        "554f403d1481691e",
    ),
    ("codes", {**GENETIC, "mode": "pareto", "algorithm": "npga"}, "84058399476a09a7"),
    (
        "numbers",
        {**MEMETIC, "rules": ["age < 2 and marital != 'a'"]},
        "4ba42b5d0f2ed478",
    ),
]


def people(kind: str) -> pa.Table:
    rng = np.random.default_rng(7)
    n = 300
    age = rng.integers(0, 8, n)
    columns = {
        "age": age,
        "marital": np.where(age < 2, "a", rng.choice(["a", "b", "c"], n)),
        "sex": rng.choice(["m", "f"], n),
        "health": np.clip(age // 2 + rng.integers(-1, 2, n), 0, 4),
    }
    if kind == "numbers":
        income = rng.integers(0, 10_000, n) * (1 + age)
        columns["income"] = np.where(rng.random(n) < 0.2, 0, income)
    return pa.table(columns)


@pytest.mark.parametrize(("kind", "options", "expected"), CASES)
def test_checksum(kind: str, options: dict[str, Any], expected: str) -> None:
    model = Synthesiser(KEY, "health", seed=3, workers=1, **options).fit(people(kind))
    digest = hashlib.sha256()
    for copy in model.samples():
        for name in copy.column_names:
            digest.update(repr((name, copy[name].to_pylist())).encode())
    assert digest.hexdigest()[:16] == expected
