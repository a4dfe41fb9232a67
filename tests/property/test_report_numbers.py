"""Numbers in the report read back; ticks span what they are for."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import examples
from evosdc.report.kit.chart import ticks
from evosdc.report.kit.parts import brief, count, duration, fixed, number

sane = st.floats(-1e12, 1e12, allow_nan=False)


@examples(200)
@given(st.integers(-(10**15), 10**15), st.integers(0, 6))
def test_numbers_read_back(units: int, decimals: int) -> None:
    value = units / 10**decimals
    text = number(value).replace(",", "").replace("−", "-")
    assert float(text) == value
    assert "." not in text or not text.endswith("0")


@examples(200)
@given(sane, sane)
def test_ticks_span_the_range(one: float, two: float) -> None:
    low, high = min(one, two), max(one, two)
    marks = ticks(low, high)
    slack = 1e-9 * max(abs(low), abs(high), 1.0)
    assert marks[0] <= low + slack
    assert marks[-1] >= high - slack
    assert 2 <= len(marks) <= 12
    assert all(a < b for a, b in pairwise(marks))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (100.0, "100"),
        (-1234.5, "−1,234.5"),
        (1e-9, "1e−09"),
        (5.25, "5.25"),
    ],
)
def test_number_examples(value: float, text: str) -> None:
    assert number(value) == text


def test_other_words() -> None:
    assert number(math.inf) == "∞"
    assert number(-math.inf) == "−∞"
    assert fixed(1234.5, 2) == "1,234.50"
    assert brief(1272451.2) == "1,272,451"
    assert brief(1.5) == "1.5"
    assert count(1, "cell") == "1 cell"
    assert count(2000, "cell") == "2,000 cells"
    assert [duration(s) for s in (0.5, 90, 150, 7300)] == [
        "0.5 s",
        "90 s",
        "2 min 30 s",
        "2 h 1 min",
    ]
