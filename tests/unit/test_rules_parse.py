"""Rules as text."""

from __future__ import annotations

import pytest

from evosdc.errors import InputError
from evosdc.rules import (
    PRESETS,
    Dominance,
    Frequency,
    PPercent,
    PriorPosterior,
    Request,
    ZeroUnsafe,
    parse_rule,
    parse_rules,
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("p:15", PPercent(15)),
        ("p:12.5,2", PPercent(12.5, 2)),
        (" NK : 1, 75 ", Dominance(1, 75)),
        ("pq:10,100", PriorPosterior(10, 100)),
        ("pq:10,100,3", PriorPosterior(10, 100, 3)),
        ("freq:3", Frequency(3)),
        ("freq:3,25", Frequency(3, 25)),
        ("freq:3,25,records", Frequency(3, 25, "records")),
        ("zero:10", ZeroUnsafe(10)),
        ("req:70", Request(70)),
        ("req:70,60,20", Request(70, 60, 20)),
    ],
)
def test_rules(text, rule):
    assert parse_rule(text) == rule


@pytest.mark.parametrize(
    "text",
    ["", "q:3", "p", "p:", "p:x", "p:1,2,3", "nk:1", "nk:1.5,75", "freq:a", "15"],
)
def test_what_is_not_a_rule(text):
    with pytest.raises(InputError, match=r"Expected: p:P.*Next step"):
        parse_rule(text)


def test_a_rule_out_of_range_says_so():
    with pytest.raises(InputError, match="120"):
        parse_rule("nk:1,120")


def test_presets():
    assert parse_rules(["business", "zero:5"]) == (
        PPercent(10),
        Frequency(3),
        ZeroUnsafe(5),
    )
    for name in PRESETS:
        assert parse_rules([name])
