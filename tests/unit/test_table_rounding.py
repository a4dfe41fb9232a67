"""Rounding to digits leaves numbers of few digits as they are, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

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
