"""Options are refused when they are not of their type: any text is true to Python."""

from __future__ import annotations

from typing import Any

import pytest

import evosdc
from evosdc.errors import InputError
from evosdc.synth import Coding, Operators, Scenario, Schedule, TradeOff

WRONG: list[tuple[type, dict[str, Any]]] = [
    (evosdc.Attackers, {"strict": "no"}),
    (evosdc.Attackers, {"who": "x"}),
    (evosdc.Prior, {"published_threshold": 2.5}),
    (evosdc.Prior, {"counts": "yes"}),
    (evosdc.Read, {"missing": "ignore"}),
    (evosdc.Read, {"level_percent": 0}),
    (evosdc.Read, {"flat": "region"}),
    (evosdc.Run, {"on_progress": 5}),
    (evosdc.Contributors, {"floor": -1}),
    (evosdc.Stop, {"evaluations": 1.5}),
    (evosdc.Stop, {"evaluations": True}),
    (evosdc.Stop, {"gap": None}),
    (Coding, {"bins": "x"}),
    (Coding, {"bins": 0}),
    (Coding, {"least": -1}),
    (Coding, {"least": "5"}),
    (Operators, {"elitism": "a"}),
    (Operators, {"elitism": -1}),
    (Schedule, {"time_limit": -1}),
    (Schedule, {"time_limit": float("nan")}),
    (Schedule, {"generations": 1.5}),
    (Schedule, {"patience": "3"}),
    (Schedule, {"memetic": "no"}),
    (TradeOff, {"risk_weight": "1"}),
    (TradeOff, {"risk_weight": -1}),
    (TradeOff, {"noise_floor": "no"}),
    (Scenario, {"risk": "foo"}),
    (Scenario, {"risk_limit": -1}),
    (Scenario, {"risk_limit": "a"}),
]


@pytest.mark.parametrize(("kind", "fields"), WRONG, ids=str)
def test_an_object_refuses_what_is_not_of_its_type(
    kind: type, fields: dict[str, Any]
) -> None:
    with pytest.raises(InputError) as found:
        kind(**fields)
    assert str(next(iter(fields.values()))) in str(found.value)


def test_an_unknown_keyword_is_named_with_those_there_are() -> None:
    cells = {"r": ["a", "b"], "value": [1, 2], "status": ["s", "s"]}
    with pytest.raises(InputError, match="tim_limit") as found:
        evosdc.protect(cells, tim_limit=5)
    assert "hierarchies" in str(found.value)
    assert "time_limit" in str(found.value)
