"""Rules as text."""

from __future__ import annotations

import pytest

from evosdc.errors import InputError
from evosdc.rules import (
    PRESETS,
    Dominance,
    Frequency,
    Group,
    PPercent,
    PriorPosterior,
    Request,
    ZeroUnsafe,
    parse_rule,
    parse_rules,
    rule_text,
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


@pytest.mark.parametrize(
    "rule",
    [
        PPercent(10),
        PPercent(12.3456789, 2),
        Dominance(1, 200 / 3),
        PriorPosterior(10, 100),
        PriorPosterior(0.1, 100.5, 3),
        Frequency(3),
        Frequency(3, 20),
        Frequency(3, count="records"),
        ZeroUnsafe(1e-7),
        Request(70),
        Request(70, 50),
        Request(70, margin=10),
        Request(70, 50, 10),
        Group(),
        Group("size"),
        Group("size, in classes"),
        *(parse_rule(text) for texts in PRESETS.values() for text in texts),
    ],
    ids=str,
)
def test_what_is_written_of_a_rule_is_read_back(rule):
    assert parse_rule(rule_text(rule)) == rule


@pytest.mark.parametrize("text", ["p:,2", "p:10,", "req:70,,", "req:,,10"])
def test_blanks_stand_for_defaults_only_between_numbers(text):
    with pytest.raises(InputError, match="not a number"):
        parse_rule(text)
