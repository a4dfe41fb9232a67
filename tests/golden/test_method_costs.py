"""A method whose costs change is noticed, even where every pattern is still safe."""

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
def test_cost_is_the_stored_one(name: str, kind: str) -> None:
    before = COSTS[name][kind]
    now = measure(name, kind)
    assert (now is None) == (before is None), f"{name} on {kind!r}; {_AGAIN}"
    if now is not None:
        assert now == pytest.approx(before, rel=_SLACK), _AGAIN
