"""A method that became dearer is noticed, even where every pattern is still safe."""

from __future__ import annotations

import json

import pytest
from method_costs import STORED, measure, pairs

COSTS = json.loads(STORED.read_text())
PAIRS = pairs()
# Solvers of other versions choose other ones of equally good solutions.
_SLACK = 0.05
_AGAIN = "if that is meant, run: python tests/golden/method_costs.py"


def test_every_method_and_table_is_stored() -> None:
    stored = [(name, kind) for name, found in COSTS.items() for kind in found]
    assert sorted(stored) == sorted(PAIRS), _AGAIN


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_cost_is_no_worse_than_stored(name: str, kind: str) -> None:
    before = COSTS[name][kind]
    now = measure(name, kind)
    if before is None:
        return
    assert now is not None, f"{name} fails on the table {kind!r}; {_AGAIN}"
    assert now <= (1 + _SLACK) * before, f"{now:g} instead of {before:g}; {_AGAIN}"
