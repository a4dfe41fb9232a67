"""Rounding to digits leaves numbers of few digits as they are, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from evosdc.attack import judge
from evosdc.table import Table
from evosdc.table.rounding import significant


@pytest.mark.parametrize("divisor", [1.0, 100.0, 1000.0])
@pytest.mark.parametrize("digits", [12, 14])
def test_decimals_stay_what_they_are(divisor: float, digits: int) -> None:
    numbers = np.arange(-20_000, 200_000) / divisor
    assert np.array_equal(significant(numbers, digits), numbers)


def test_dirt_is_taken_away() -> None:
    dirty = np.array([0.1 + 0.2, 1.1 * 3, 670 * 1.5000000000000002, 1004.9999999999999])
    assert significant(dirty, 12).tolist() == [0.3, 3.3, 1005.0, 1005.0]


def test_few_digits_of_large_and_small_numbers() -> None:
    numbers = np.array([123456.789, -0.00123456, 0.0, 9.96])
    assert significant(numbers, 2).tolist() == [120000.0, -0.0012, 0.0, 10.0]


def test_a_level_that_reaches_to_its_bound_can_be_had() -> None:
    """Nine tenths of 127.682 as a double are a hair nearer than a tenth of it."""
    value, level = 127.682, 12.7682
    columns = {"upl": [level, 0], "lpl": [level, 0], "status": ["u", "s"]}
    bounds = {"lower": [0.9 * value, 0], "upper": [1.1 * value, 200]}
    given = Table.of([value, value], [[1, -1]], **columns, **bounds)
    changed = Table.of([value, value], [[1, -1]], **columns).replace(
        lower=np.array(bounds["lower"]), upper=np.array(bounds["upper"])
    )
    for table in (given, changed):
        assert table.lower.tolist() == [114.9138, 0.0]
        assert table.upper.tolist() == [140.4502, 200.0]
        verdict, _ = judge(table.with_pattern(np.array([True, True])))
        assert verdict.safe


def test_other_bounds_keep_their_digits() -> None:
    noisy = 0.1 + 0.2
    table = Table.of([1.0, 1.0], [[1, -1]], upl=[0.5, 0], lower=noisy, status="u")
    assert table.lower.tolist() == [noisy, noisy]
