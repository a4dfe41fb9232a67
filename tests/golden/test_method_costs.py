"""A method whose costs change is noticed, even where every pattern is still safe.

The conformance suite compares the costs on the tables that it runs anyway.
"""

from __future__ import annotations

import json
from pathlib import Path

import method_costs
import pytest
from method_costs import CASES, assert_stored, measure, pairs, stored_costs

# Several seconds, all others of them less than one.
SLOW = ("greedy", "cube")
SPECIAL = [
    pytest.param(*pair, marks=[pytest.mark.slow] if pair == SLOW else [])
    for pair in pairs()
    if pair[1] in CASES
]


def test_every_method_and_table_is_stored() -> None:
    stored = [(name, kind) for name, found in stored_costs().items() for kind in found]
    assert sorted(stored) == sorted(pairs()), method_costs._AGAIN


@pytest.mark.parametrize(("name", "kind"), SPECIAL)
def test_cost_is_the_stored_one(name: str, kind: str) -> None:
    assert_stored(name, kind, measure(name, kind))


@pytest.mark.parametrize(
    ("content", "cost", "said"),
    [
        (None, 100.0, r"costs\.json is missing"),
        ({}, 100.0, "no costs of the method 'greedy' are stored"),
        ({"greedy": {}}, 100.0, "no cost of greedy on 'cube' is stored"),
        ({"greedy": {"cube": 100.0}}, 106.0, r"costs 106\.0, stored is 100\.0"),
        ({"greedy": {"cube": 100.0}}, 94.0, r"costs 94\.0, stored is 100\.0"),
        ({"greedy": {"cube": 100.0}}, None, r"costs None, stored is 100\.0"),
        ({"greedy": {"cube": None}}, 100.0, r"costs 100\.0, stored is None"),
    ],
)
def test_a_difference_is_said_with_the_next_step(
    content: object,
    cost: float | None,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "costs.json"
    if content is not None:
        path.write_text(json.dumps(content))
    monkeypatch.setattr(method_costs, "STORED", path)
    with pytest.raises(AssertionError, match=f"{said}.*run: python tests/golden"):
        assert_stored("greedy", "cube", cost)
    if content == {"greedy": {"cube": 100.0}}:
        assert_stored("greedy", "cube", 100.0)
