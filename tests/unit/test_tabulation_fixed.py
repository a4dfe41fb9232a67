"""Sums that do not depend on the order of adding."""

from __future__ import annotations

from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from evosdc.databases import DUCKDB
from evosdc.tabulation.check import EXACT, Fixed


def added(fixed: Fixed, numbers: np.ndarray) -> tuple[float, int]:
    rows = pa.table({"x": numbers})
    with duckdb.connect() as local:
        local.register("rows", rows)
        parts = ", ".join(fixed.sums(DUCKDB, "x", "s"))
        wanted = f"{fixed.as_double('s')}, {fixed.as_whole('s')}"
        query = f"SELECT {wanted} FROM (SELECT {parts} FROM rows)"
        return local.sql(query).fetchall()[0]


@pytest.mark.parametrize("scale", [1e-290, 1e-3, 1.0, 1e12, 1e290])
def test_any_order_gives_the_same_bits(scale):
    rng = np.random.default_rng(1)
    numbers = rng.lognormal(0, 4, 2_000) * rng.choice([1, -1], 2_000) * scale
    fixed = Fixed.binary(len(numbers), float(np.abs(numbers).max()))
    first = added(fixed, numbers)
    for _ in range(3):
        assert added(fixed, rng.permutation(numbers)) == first
    exact = sum(map(Fraction, numbers))
    most = float(np.abs(numbers).max())
    assert abs(Fraction(first[0]) - exact) <= Fraction(most) * 2_000 / 2**80 + abs(
        exact
    ) / Fraction(2**52)
    assert abs(first[1] * Fraction(fixed.unit) - exact) <= 2_000 * Fraction(fixed.unit)


def test_cancelling_numbers_leave_what_is_left():
    numbers = np.array([1e15, 0.1, -1e15])
    fixed = Fixed.binary(3, 1e15)
    assert added(fixed, numbers)[0] == 0.1


def test_parts_stay_exact():
    fixed = Fixed.binary(2**30, 3.7e9)
    assert 2**30 * 3.7e9 * fixed.factor <= EXACT
    assert 2**30 * 2.0**fixed.shift <= EXACT
    assert 52 + 2 * fixed.shift <= 126


def test_decimals_are_whole_numbers_of_the_last_one():
    numbers = np.round(np.random.default_rng(1).lognormal(3, 2, 1_000), 2)
    units = sum(round(x * 100) for x in numbers.tolist())
    assert added(Fixed.decimal(100.0), numbers) == (float(units), units)
